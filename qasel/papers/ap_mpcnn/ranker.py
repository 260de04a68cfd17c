"""Paper 5 as a ranker: the model, its losses and optimiser, and a pair's intermediate values."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from torch import Tensor
from torch.nn import functional as F

from qasel.datasets.base import Split
from qasel.errors import QaselError
from qasel.papers.ap_mpcnn.convolution import HolisticConvolution
from qasel.papers.ap_mpcnn.model import APMPCNN, attention_weights
from qasel.papers.ap_mpcnn.negatives import CountedLists, choose, triplet_loss
from qasel.papers.ap_mpcnn.recipes import APMPCNNRecipe
from qasel.text import tokenize
from qasel.text.features.overlap import Idf
from qasel.training.batching import Batch
from qasel.training.neural import NeuralRanker

SWITCHES = ("attention", "wide", "sparse")
"""The parts that can be switched off in a trained network, as named in the recipe."""
OUTSIDE = "∅"
"""Stands for a place outside the sentence in the words of a window."""


@dataclass(frozen=True)
class Sentence:
    """A sentence of a pair: its n `words` (a single "" if it has none) and intermediate values.

    `weights` `[n]` are attention weights, None without attention; `maps` are the `feature_maps`.
    """

    words: tuple[str, ...]
    weights: np.ndarray | None
    maps: tuple[pd.DataFrame, ...]

    @property
    def pooled(self) -> np.ndarray:
        """The maps after max pooling, `[M, F]`."""
        return np.stack([values.max() for values in self.maps])


@dataclass(frozen=True)
class Inside:
    """Both sentences of a pair, their comparison vector `[entries]`, and its log odds."""

    question: Sentence
    answer: Sentence
    compared: np.ndarray
    log_odds: float


class APMPCNNRanker(NeuralRanker):
    """Any variant of paper 5."""

    recipe_type = APMPCNNRecipe
    recipe: APMPCNNRecipe
    network: APMPCNN

    def build(self, vectors: Tensor) -> APMPCNN:
        """Return the untrained network with the recipe's sizes and parts."""
        return APMPCNN(vectors, self.recipe)

    def prepare(self, *splits: Split) -> None:
        """Build the network for the words of some splits; idf is of the first one's candidates."""
        super().prepare(*splits)
        if self.recipe.sparse:
            idf = Idf.of(c.text for question in splits[0] for c in question.candidates)
            self.network.set_words(self.vocabulary.words, idf)

    def training_data(self, split: Split) -> CountedLists:
        """Return the lists of a split that the loss can learn from."""
        return CountedLists(self._on_device(split), self.recipe.pairwise)

    def optimizer(self) -> torch.optim.Optimizer:
        """Adam with the regularisation as weight decay, except for word vectors."""
        adam = super().optimizer()
        adam.param_groups[0]["weight_decay"] = self.recipe.regularization
        return adam

    def losses(self, batch: Batch) -> dict[str, Tensor]:
        """The triplet loss, or cross entropy where ranking is not pairwise."""
        r = self.recipe
        log_odds, hidden = self.network.with_hidden(batch)
        if not r.pairwise:
            wanted = batch.labels[batch.mask]
            return {"loss": F.binary_cross_entropy_with_logits(log_odds[batch.mask], wanted)}
        f = log_odds.sigmoid() if r.hinge == "sigmoid" else log_odds
        triplets = choose(f, batch.labels, batch.mask, r.negatives, r.negatives_by, hidden)
        return {"loss": triplet_loss(f, triplets, r.margin)}

    @torch.inference_mode()
    def inside(self, question: str, answer: str, off: str = "") -> Inside:
        """Return what the network computes of a pair of texts, with one part switched `off`.

        The trained weights stay the same. Without "attention", all n words of a sentence have the
        weight 1/n; without "wide", windows lie within the sentence; without "sparse", the four
        features are 0. A part that the network does not have is off already. Raises `QaselError`
        for unknown parts, and if neither trained nor loaded.
        """
        if off not in ("", *SWITCHES):
            raise QaselError(f"unknown part {off!r}: choose from {', '.join(SWITCHES)}")
        tile, network = self.pair(question, answer), self.network
        vectors = network.words(tile.question), network.words(tile.answer)
        weights: Sequence[Tensor | None] = (None, None)
        if network.attention:
            asked, given = (F.normalize(x, dim=-1) for x in vectors)
            found = attention_weights(asked, given, tile.real_question, tile.real_answer)
            alike = off == "attention"
            weights = [torch.full_like(w[0], 1 / w.shape[1]) if alike else w[0] for w in found]
        wide = network.convolution.wide and off != "wide"
        sides = []
        for text, x, weight in zip((question, answer), vectors, weights, strict=True):
            words = tokenize(text) or ("",)
            maps = feature_maps(network.convolution, words, x[0], weight, wide)
            sides.append(Sentence(words, None if weight is None else weight.cpu().numpy(), maps))
        x, y = (torch.from_numpy(side.pooled)[None].to(self.device) for side in sides)
        compared = network.compare(x, y, network.overlap(tile) * (off != "sparse"))
        log_odds, _ = network.predict(compared)
        return Inside(sides[0], sides[1], compared[0].cpu().numpy(), float(log_odds))

    def _extend(self, words: list[str]) -> None:
        known = len(self.vocabulary)
        super()._extend(words)
        self.network.add_words(self.vocabulary.words[known:])


def feature_maps(
    convolution: HolisticConvolution,
    words: Sequence[str],
    vectors: Tensor,
    weight: Tensor | None,
    wide: bool,
) -> tuple[pd.DataFrame, ...]:
    """Equations 11 and 12: tanh of all windows of each width from 1, `[windows, F]`.

    Rows are named by their words, filters count from 1. `vectors` `[n, d]` are those of the words,
    `weight` `[n]` their attention weights. Training never builds these maps: see `convolution`.
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
