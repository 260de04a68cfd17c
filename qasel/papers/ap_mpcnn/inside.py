"""One pair as the network sees it, step by step as the text tells it: to look at, not to train.

The network itself never has the feature maps (see `convolution`); here those of one pair are made.
Shapes: n words of a sentence, M widths, F filters.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from qasel.errors import QaselError
from qasel.papers.ap_mpcnn.convolution import HolisticConvolution
from qasel.papers.ap_mpcnn.model import APMPCNN, attention_weights, horizontal, vertical
from qasel.training.batching import Tile

PARTS = ("attention", "wide", "sparse")
"""The parts that can be switched off in a trained network; as in the recipe."""


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

    def window(self, width: int, number: int) -> tuple[str, ...]:
        """The words of a window, numbered from 0; "" for a place outside of the sentence."""
        begin = number + self.first[width - 1]
        inside = range(len(self.words))
        return tuple(self.words[i] if i in inside else "" for i in range(begin, begin + width))

    def winner(self, width: int, number: int) -> tuple[int, tuple[str, ...]]:
        """The (first) window that pooling keeps for a filter, both numbered from 0; its words."""
        window = int(self.maps[width - 1][:, number].argmax())
        return window, self.window(width, window)


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
    if off not in ("", *PARTS):
        raise QaselError(f"unknown part {off!r}: choose from {', '.join(PARTS)}")
    wide = network.convolution.wide and off != "wide"
    vectors = [network.words(tile.question)[0], network.words(tile.answer)[0]]
    weights: list[Tensor | None] = [None, None]
    if network.attention:
        asked, given = (F.normalize(x[None], dim=-1) for x in vectors)
        found = attention_weights(asked, given, tile.real_question, tile.real_answer)
        alike = off == "attention"
        weights = [torch.full_like(w[0], 1 / w.shape[1]) if alike else w[0] for w in found]
    sentences = []
    for x, weight, told in zip(vectors, weights, words, strict=True):
        maps = feature_maps(network.convolution, x, weight, wide)
        first = tuple(1 - width if wide else 0 for width in network.convolution.widths)
        numbers = None if weight is None else weight.cpu().numpy()
        sentences.append(
            Sentence(told or ("",), numbers, tuple(m.cpu().numpy() for m in maps), first)
        )
    x, y = (torch.from_numpy(s.pooled)[None].to(vectors[0].device) for s in sentences)
    parts = [horizontal(x, y), vertical(x, y, network.difference)]
    if network.sparse:
        overlap = network.overlap(tile)
        parts.append(torch.zeros_like(overlap) if off == "sparse" else overlap)
    compared = torch.cat(parts, dim=1)
    log_odds = network.eval().predict(compared)
    question, answer = sentences
    return Inside(question, answer, compared[0].cpu().numpy(), float(log_odds))


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
