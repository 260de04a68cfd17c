"""What a network of perspectives makes of a right and of a wrong candidate (paper 5): no drawing.

Shapes: M widths, F filters, E entries of a comparison vector.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.special import expit

from qasel.datasets.base import Split
from qasel.errors import QaselError
from qasel.evaluation import Run

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
