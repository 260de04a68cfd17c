"""One pair as the network sees it, step by step as the text tells it: to look at, not to train.

The network itself never has the feature maps (see `convolution`); here those of one pair are made.
Shapes: n words of a sentence, M widths, F filters.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from scipy.special import expit
from torch import Tensor
from torch.nn import functional as F

from qasel.datasets.base import Split
from qasel.errors import QaselError
from qasel.evaluation import Run
from qasel.papers.ap_mpcnn.convolution import HolisticConvolution
from qasel.papers.ap_mpcnn.model import APMPCNN, attention_weights, horizontal, unit, vertical
from qasel.training.batching import Tile

OFF = ("attention", "wide", "sparse")
"""The parts that can be switched off in a trained network."""


@dataclass(frozen=True)
class Sentence:
    """A sentence of a pair: its n `words` (a single "" if it has none) and what is found in it.

    `weights` `[n]` are attention weights, None without attention. `maps` has, for each width from
    1, the tanh of all windows, `[windows, F]`; the first window begins at word `first[width − 1]`,
    which is below 0 where zeros stand before the sentence.
    """

    words: tuple[str, ...]
    weights: np.ndarray | None
    maps: tuple[np.ndarray, ...]
    first: tuple[int, ...]

    @property
    def pooled(self) -> np.ndarray:
        """What max pooling leaves, `[M, F]`."""
        return np.stack([values.max(0) for values in self.maps])

    def winner(self, width: int, number: int) -> tuple[int, tuple[str, ...]]:
        """The window that pooling keeps for a filter, numbered from 0: which, and its words.

        Of equal windows it is the first. "" stands for a place outside of the sentence.
        """
        window = int(self.maps[width - 1][:, number].argmax())
        begin = window + self.first[width - 1]
        inside = range(len(self.words))
        places = range(begin, begin + width)
        return window, tuple(self.words[i] if i in inside else "" for i in places)


@dataclass(frozen=True)
class Inside:
    """Both sentences of a pair, their comparison vector `[entries]`, and its log odds."""

    question: Sentence
    answer: Sentence
    compared: np.ndarray
    log_odds: float


@torch.inference_mode()
def look(network: APMPCNN, tile: Tile, words: Sequence[tuple[str, ...]], off: str = "") -> Inside:
    """The pair of a tile that has one, whose words are given; a part may be switched `off`.

    The weights stay as they were trained with all parts. Off means, for `attention`, that every
    word of a sentence has the same weight 1/n: the copies of the words stay, what tells them apart
    goes (with weights of 0 the copies would go too, and no sentence was like that in training).
    For `wide`, that windows lie within the sentence; for `sparse`, that the four features are 0.
    A part that the network does not have is off already. Raises `QaselError` for other parts.
    """
    if off not in ("", *OFF):
        raise QaselError(f"unknown part {off!r}: choose from {', '.join(OFF)}")
    wide = network.convolution.wide and off != "wide"
    vectors = [network.words(tile.question)[0], network.words(tile.answer)[0]]
    weights = _weights(network, tile, off)
    maps = [
        feature_maps(network.convolution, x, weight, wide)
        for x, weight in zip(vectors, weights, strict=True)
    ]
    x, y = (torch.stack([values.amax(0) for values in found])[None] for found in maps)
    parts = [horizontal(x, y), vertical(x, y, network.difference)]
    if network.sparse:
        overlap = network.overlap(tile)
        parts.append(torch.zeros_like(overlap) if off == "sparse" else overlap)
    compared = torch.cat(parts, dim=1)
    first = tuple(1 - width if wide else 0 for width in network.convolution.widths)
    question, answer = (
        Sentence(
            told or ("",),
            None if weight is None else weight.cpu().numpy(),
            tuple(values.cpu().numpy() for values in found),
            first,
        )
        for told, weight, found in zip(words, weights, maps, strict=True)
    )
    log_odds = float(network.eval().predict(compared))
    return Inside(question, answer, compared[0].cpu().numpy(), log_odds)


def _weights(network: APMPCNN, tile: Tile, off: str) -> list[Tensor | None]:
    """Attention weights `[n]` of both sentences."""
    if not network.attention:
        return [None, None]
    question, answer = (unit(network.words(part)) for part in (tile.question, tile.answer))
    found = attention_weights(question, answer, tile.real_question, tile.real_answer)
    alike = off == "attention"
    return [torch.full_like(w[0], 1 / w.shape[1]) if alike else w[0] for w in found]


def feature_maps(
    convolution: HolisticConvolution, words: Tensor, weight: Tensor | None, wide: bool
) -> list[Tensor]:
    """Equations 11 and 12: tanh of all windows of each width, `[windows, F]`.

    `words` `[n, d]` are vectors, `weight` `[n]` their attention weights.
    """
    if weight is not None:
        words = torch.cat([words, weight[:, None] * words], dim=1)
    maps = []
    for width, filters in zip(convolution.widths, convolution.convolutions, strict=True):
        zeros = (width - 1, width - 1) if wide else (0, max(width - len(words), 0))
        maps.append(filters(F.pad(words.T, zeros)).tanh().T)
    return maps


FILTERS, ENTRIES = 3, 10
"""Filters of each width, and entries of the comparison vector, that are shown."""
PARTS = ("attention", "wide", "sparse")
"""Parts that are switched off; as in the recipe."""


class SeesPerspectives(Protocol):
    """A trained ranker that can be looked into; `qasel.papers.ap_mpcnn.APMPCNNRanker` is one.

    `recipe` tells which of `PARTS` it has; `entries` have a `kind` and a `name`, in the order of
    the comparison vector.
    """

    recipe: Any
    network: Any
    entries: Sequence[Any]

    def inside(self, question: str, answer: str, off: str = "") -> Any:
        """Sentences `question` and `answer`, `compared` `[E]` and `log_odds` of a pair."""
        ...

    def log_odds(self, compared: np.ndarray) -> np.ndarray:
        """Log odds `[P]` of comparison vectors `[P, E]`."""
        ...

    def rank(self, split: Split) -> Run:
        """Score every candidate."""
        ...


def check(ranker: SeesPerspectives) -> None:
    """Raise `QaselError` for a ranker that is not trained."""
    if getattr(ranker, "network", None) is None:
        raise QaselError("the ranker has no trained network to explore: fit or load it first")


@dataclass(frozen=True)
class Scores:
    """Log odds of both candidates."""

    right: float
    wrong: float

    @property
    def f(self) -> tuple[float, float]:
        """f(q, p) of both, the sigmoid of the log odds."""
        return float(expit(self.right)), float(expit(self.wrong))


def switched(
    ranker: SeesPerspectives, question: str, right: str, wrong: str
) -> dict[str, Scores | None]:
    """Part → scores with it switched off, None if the recipe lacks it; first "": all are on."""

    def scores(off: str) -> Scores:
        return Scores(*(ranker.inside(question, text, off).log_odds for text in (right, wrong)))

    found: dict[str, Scores | None] = {"": scores("")}
    for part in PARTS:
        found[part] = scores(part) if getattr(ranker.recipe, part) else None
    return found


def strongest(right: Any, wrong: Any, width: int) -> list[int]:
    """The `FILTERS` filters of a width that find most in one candidate and least in the other.

    By the difference of what max pooling leaves of the two candidates `right` and `wrong`.
    """
    gap = np.abs(right.pooled[width - 1] - wrong.pooled[width - 1])
    return np.argsort(-gap, kind="stable")[:FILTERS].tolist()


@dataclass(frozen=True)
class Difference:
    """Entries of both comparison vectors, and their `effect` on the difference of the log odds.

    `right` and `wrong` are the values of a single entry, None for `count` entries of a kind.
    """

    name: str
    effect: float
    right: float | None = None
    wrong: float | None = None
    count: int = 1


@dataclass(frozen=True)
class Differences:
    """By `kind` of entry; by single `entries`, the largest first; `total`, the sum over all E."""

    kinds: Sequence[Difference]
    entries: Sequence[Difference]
    total: float


def exchanged(
    log_odds: Callable[[np.ndarray], np.ndarray],
    right: np.ndarray,
    wrong: np.ndarray,
    which: np.ndarray,
) -> np.ndarray:
    """What sets `[K, E]` of entries do to the difference of the log odds of two vectors, `[K]`.

    The entries of a set are exchanged: how much the right one's log odds fall when it gets the
    wrong one's values, and how much the wrong one's rise when it gets the right one's; the mean
    of both. (By one alone, an entry would seem to do nothing where tanh is saturated.) Where the
    network is linear, the effects of all entries add up to the difference; tanh keeps them from it.
    """
    given = np.where(which, wrong, right), np.where(which, right, wrong)
    odds = log_odds(np.concatenate([right[None], wrong[None], *given]).astype(np.float32))
    fall, rise = odds[0] - odds[2 : 2 + len(which)], odds[2 + len(which) :] - odds[1]
    return (fall + rise) / 2


def differences(ranker: SeesPerspectives, right: np.ndarray, wrong: np.ndarray) -> Differences:
    """The largest differences of two comparison vectors `[E]`, in what they do to the score."""
    kinds = [entry.kind for entry in ranker.entries]
    different = list(dict.fromkeys(kinds))
    of_kind = np.array([[kind == one for kind in kinds] for one in different])
    which = np.concatenate([of_kind, np.eye(len(kinds), dtype=bool)])
    together, single = np.split(exchanged(ranker.log_odds, right, wrong, which), [len(different)])
    largest = np.argsort(-np.abs(single), kind="stable")[:ENTRIES].tolist()
    return Differences(
        [
            Difference(kind, float(effect), count=kinds.count(kind))
            for kind, effect in zip(different, together, strict=True)
        ],
        [
            Difference(ranker.entries[i].name, float(single[i]), float(right[i]), float(wrong[i]))
            for i in largest
        ],
        float(single.sum()),
    )
