"""The sentence-pair CNN (Severyn and Moschitti 2015) in the paper's form (section 5.1.2)."""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from qasel.datasets.base import Split
from qasel.layers.convolution import MaxOverTime
from qasel.papers.latent_structured.recipes import StructuredRecipe
from qasel.training.batching import Batch, Tile
from qasel.training.neural import NeuralRanker
from qasel.training.trainer import Schedule


class PairNetwork(nn.Module):
    """Two sentence encoders, and a hidden layer over both sentence vectors.

    Each word vector is extended by a learnt embedding of whether the word is in the other sentence
    too (Severyn and Moschitti 2016), the only link between the encoders. The convolution is wide.
    """

    def __init__(self, vectors: Tensor, recipe: StructuredRecipe) -> None:
        super().__init__()
        r = recipe
        self.vectors = nn.Parameter(vectors.clone(), requires_grad=r.vectors_rate > 0)
        self.shared = nn.Embedding(2, r.overlap)
        size = vectors.shape[1] + r.overlap
        self.question = MaxOverTime(size, r.filters, (r.width,), wide=True)
        self.answer = MaxOverTime(size, r.filters, (r.width,), wide=True)
        self.predict = nn.Sequential(
            nn.Dropout(r.dropout),
            nn.Linear(2 * r.filters, r.hidden),
            nn.ReLU(),
            nn.Dropout(r.dropout),
            nn.Linear(r.hidden, 1),
        )

    def sentences(self, batch: Batch) -> Tensor:
        """The vectors of question and passage, concatenated: `[pairs, 2 · filters]`."""
        return torch.cat([self._of_tile(tile) for tile in batch.tiles])

    def _of_tile(self, tile: Tile) -> Tensor:
        numbers = tile.question[tile.question_of]
        real = tile.real_question[tile.question_of]
        both = real[:, :, None] & tile.real_answer[:, None, :]
        same = both & (numbers[:, :, None] == tile.answer[:, None, :])
        words = self._words(numbers, same.any(2), real)
        question = self.question(words, tile.question_length[tile.question_of])
        words = self._words(tile.answer, same.any(1), tile.real_answer)
        return torch.cat([question, self.answer(words, tile.answer_length)], dim=1)

    def _words(self, numbers: Tensor, shared: Tensor, real: Tensor) -> Tensor:
        """Inputs of the real words of `[pairs, length]`, pair by pair: `[words, d + overlap]`."""
        return torch.cat([self.vectors[numbers[real]], self.shared(shared[real].long())], dim=1)

    def forward(self, batch: Batch) -> Tensor:
        """Log odds of being relevant, `[questions, candidates]`, 0 at padding."""
        return batch.as_lists(self.predict(self.sentences(batch))[:, 0].float())


class PairCNN(NeuralRanker):
    """The row "CNN" of table 2, which also provides the vectors of the other rows."""

    recipe_type = StructuredRecipe
    recipe: StructuredRecipe
    network: PairNetwork

    def build(self, vectors: Tensor) -> PairNetwork:
        """The network in the recipe's sizes."""
        return PairNetwork(vectors, self.recipe)

    def losses(self, batch: Batch) -> dict[str, Tensor]:
        """Cross entropy, as the mean over the batch's pairs."""
        scores, labels = self.network(batch)[batch.mask], batch.labels[batch.mask]
        return {"loss": F.binary_cross_entropy_with_logits(scores, labels)}

    def schedule(self) -> Schedule:
        """Early stopping on dev MAP."""
        r = self.recipe
        return Schedule(r.cnn_epochs, r.patience, r.batch, r.seed, keep=r.keep)

    def vectors_of(self, split: Split) -> list[np.ndarray]:
        """Question and passage vectors, float64 `[candidates, 2 · filters]` per question."""
        data = self.encode(split)
        return self.rows_of(data, lambda batch: batch.as_lists(self.network.sentences(batch)))
