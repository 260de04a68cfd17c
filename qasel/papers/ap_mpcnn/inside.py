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
    each width from 1, `[windows, F]`: tanh of every window, indexed by the window's words.
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
    vectors = network.words(tile.question)[0], network.words(tile.answer)[0]
    weights: list[Tensor | None] = [None, None]
    if network.attention:
        units = (F.normalize(x[None], dim=-1) for x in vectors)
        both: Sequence[Tensor] = attention_weights(*units, tile.real_question, tile.real_answer)
        if off == "attention":
            both = [torch.full_like(weight, 1 / weight.shape[1]) for weight in both]
        weights = [weight[0] for weight in both]
    wide = network.convolution.wide and off != "wide"
    sentences = []
    for known, x, weight in zip(words, vectors, weights, strict=True):
        known = known or ("",)
        maps = feature_maps(network.convolution, known, x, weight, wide)
        shown = None if weight is None else weight.cpu().numpy()
        sentences.append(Sentence(known, shown, maps))
    pooled = (torch.from_numpy(s.pooled)[None].to(vectors[0].device) for s in sentences)
    compared = network.compare(*pooled, network.overlap(tile) * (off != "sparse"))
    log_odds, _ = network.predict(compared)
    return Inside(*sentences, compared[0].cpu().numpy(), float(log_odds))


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
        maps.append(pd.DataFrame(values.cpu().numpy(), windows))
    return tuple(maps)
