"""Fine-tuned cross-encoders as rankers: the honest yardstick, and the papers' ideas on top."""

import torch
from torch import Tensor

from qasel.datasets.base import Split
from qasel.papers.yardsticks.lists import cut_lists
from qasel.papers.yardsticks.model import CrossEncoder
from qasel.papers.yardsticks.recipes import EVIDENCE, CrossEncoderRecipe
from qasel.text.encoders import Encoder
from qasel.training.batching import Batch
from qasel.training.losses import joint_loss
from qasel.training.neural import NeuralRanker
from qasel.training.trainer import Schedule, TrainingData


class CrossEncoderRanker(NeuralRanker):
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
