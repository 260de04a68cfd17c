"""The yardsticks as rankers: baselines, and cross-encoders."""

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from qasel.datasets.base import Question, Split
from qasel.papers.yardsticks.model import CrossEncoder
from qasel.papers.yardsticks.recipes import EVIDENCE, BaselineRecipe, CrossEncoderRecipe
from qasel.text.encoders import Encoder
from qasel.training import neural
from qasel.training.batching import Batch
from qasel.training.losses import joint_loss
from qasel.training.trainer import Schedule, TrainingData


class Reference(neural.Reference):
    """A baseline of this room."""

    recipe_type = BaselineRecipe


def cut_lists(split: Split, most: int, seed: int) -> Split:
    """The split with at most `most` candidates a list, in their order; 0 keeps all.

    All right ones stay, even where they are more, and at least one wrong one beside them, if
    there is any; which wrong ones is drawn by `seed`.
    """
    generator = np.random.default_rng(seed)

    def cut(question: Question) -> Question:
        if not most or len(question.candidates) <= most:
            return question
        right = question.labels == 1
        kept = generator.permutation(np.flatnonzero(~right))[: max(most - right.sum(), 1)]
        chosen = np.sort(np.concatenate([np.flatnonzero(right), kept]))
        return replace(question, candidates=tuple(question.candidates[i] for i in chosen))

    return Split(split.name, tuple(cut(question) for question in split))


class CrossEncoderRanker(neural.NeuralRanker):
    """Any cross-encoder of this room: the same budget, other heads and losses."""

    recipe_type = CrossEncoderRecipe
    recipe: CrossEncoderRecipe
    network: CrossEncoder
    encoder: Encoder

    def build(self, vectors: Tensor) -> CrossEncoder:
        """The pre-trained encoder with the variant's heads, those untrained."""
        r = self.recipe
        return CrossEncoder(
            vectors,
            self.encoder,
            r.scheme,
            averages=r.averages,
            longest=r.longest,
            dropout=r.dropout,
            evidence=r.variant == EVIDENCE,
        )

    def training_data(self, split: Split) -> TrainingData:
        """Whole lists, but for wrong candidates of the longest ones."""
        return super().training_data(cut_lists(split, self.recipe.cut, self.recipe.seed))

    def optimizer(self) -> torch.optim.Optimizer:
        """AdamW; biases and norms, which are vectors, do not decay."""
        learnt = [p for p in self.network.parameters() if p.requires_grad]
        groups = [
            {"params": [p for p in learnt if p.ndim > 1], "weight_decay": self.recipe.weight_decay},
            {"params": [p for p in learnt if p.ndim < 2], "weight_decay": 0.0},
        ]
        return torch.optim.AdamW(groups, lr=self.rate)

    def losses(self, batch: Batch) -> dict[str, Tensor]:
        """The loss of each head, and their weighted sum."""
        r, scores = self.recipe, self.network(batch)
        weights = dict(zip(("point", "pair", "list"), r.weights, strict=True))
        how = {"margin": r.margin, "pairs": r.pairs}
        return joint_loss(r.scheme.heads, scores, batch.labels, batch.mask, weights, **how)

    def scores(self, batch: Batch) -> Tensor:
        """Scores of the head that ranks."""
        return self.network(batch)[self.recipe.scheme.ranks]

    def schedule(self) -> Schedule:
        """A fixed number of epochs, of which the best one on dev is kept."""
        r = self.recipe
        return Schedule(r.epochs, r.epochs, r.batch, r.seed, warmup=r.warmup)
