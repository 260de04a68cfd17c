"""One pair as the network sees it, step by step as the text tells it: to look at, not to train.

The network itself never has the feature maps (see `convolution`); here those of one pair are made.
Shapes: n words of a sentence, M widths, F filters.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from torch import Tensor
from torch.nn import functional as F

from qasel.errors import QaselError
from qasel.papers.ap_mpcnn.convolution import HolisticConvolution
from qasel.papers.ap_mpcnn.model import APMPCNN, attention_weights
from qasel.training.batching import Tile

PARTS = ("attention", "wide", "sparse")
"""The parts that can be switched off in a trained network; as in the recipe."""
OUTSIDE = "∅"
"""Stands for a place before or after the sentence in the words of a window."""


@dataclass(frozen=True)
class Sentence:
    """A sentence of a pair: its n `words` (a single "" if it has none) and what is computed of it.

    `weights` `[n]` are attention weights, None without attention. `maps` are the feature maps of
    each width from 1, `[windows, F]`: tanh of every window, a row each under
    the window's words; filters count from 1.
    """

    words: tuple[str, ...]
    weights: np.ndarray | None
    maps: tuple[pd.DataFrame, ...]

    @property
    def pooled(self) -> np.ndarray:
        """What max pooling leaves, `[M, F]`."""
        return np.stack([values.max() for values in self.maps])


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
    network.eval()
    vectors = network.words(tile.question), network.words(tile.answer)
    weights: list[Tensor | None] = [None, None]
    if network.attention:
        asked, given = (F.normalize(x, dim=-1) for x in vectors)
        found = attention_weights(asked, given, tile.real_question, tile.real_answer)
        alike = off == "attention"
        weights = [torch.full_like(w[0], 1 / w.shape[1]) if alike else w[0] for w in found]
    wide = network.convolution.wide and off != "wide"
    question, answer = (
        Sentence(
            known or ("",),
            None if weight is None else weight.cpu().numpy(),
            feature_maps(network.convolution, known or ("",), x[0], weight, wide),
        )
        for known, x, weight in zip(words, vectors, weights, strict=True)
    )
    x, y = (torch.from_numpy(s.pooled)[None].to(vectors[0].device) for s in (question, answer))
    compared = network.compare(x, y, network.overlap(tile) * (off != "sparse"))
    log_odds, _ = network.predict(compared)
    return Inside(question, answer, compared[0].cpu().numpy(), float(log_odds))


def feature_maps(
    convolution: HolisticConvolution,
    words: Sequence[str],
    vectors: Tensor,
    weight: Tensor | None,
    wide: bool,
) -> tuple[pd.DataFrame, ...]:
    """Equations 11 and 12: tanh of all windows of each width, `[windows, F]`.

    `vectors` `[n, d]` are those of the words, `weight` `[n]` their attention weights.
    """
    x = vectors if weight is None else torch.cat([vectors, weight[:, None] * vectors], dim=1)
    maps = []
    for width, filters in zip(convolution.widths, convolution.convolutions, strict=True):
        before, after = (width - 1, width - 1) if wide else (0, max(width - len(words), 0))
        padded = [OUTSIDE] * before + list(words) + [OUTSIDE] * after
        windows = [" ".join(padded[i : i + width]) for i in range(len(padded) - width + 1)]
        values = filters(F.pad(x.T, (before, after))).tanh().T
        numbers = pd.RangeIndex(1, convolution.filters + 1, name="filter")
        maps.append(pd.DataFrame(values.cpu().numpy(), pd.Index(windows, name="window"), numbers))
    return tuple(maps)
