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
    """Two sentence encoders, and a hidden layer over both sentences' vectors.

    Each word vector is followed by a few learnt numbers that say whether the word also stands
    in the other sentence (as in Severyn and Moschitti 2016): without them neither encoder knows
    anything of the other sentence. The convolution is wide, as theirs.
    """

    def __init__(
        self,
        vectors: Tensor,
        *,
        filters: int,
        width: int,
        overlap: int,
        hidden: int,
        dropout: float,
        train_vectors: bool,
    ) -> None:
        super().__init__()
        self.vectors = nn.Parameter(vectors.clone(), requires_grad=train_vectors)
        self.shared = nn.Embedding(2, overlap)
        size = vectors.shape[1] + overlap
        self.question = MaxOverTime(size, filters, (width,), wide=True)
        self.answer = MaxOverTime(size, filters, (width,), wide=True)
        self.predict = nn.Sequential(
            nn.Dropout(dropout),
            nn.Linear(2 * filters, hidden),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(hidden, 1),
        )

    def sentences(self, batch: Batch) -> Tensor:
        """The vectors of question and passage, one after the other, `[pairs, 2 · filters]`."""
        return torch.cat([self._of_tile(tile) for tile in batch.tiles])

    def _of_tile(self, tile: Tile) -> Tensor:
        numbers = tile.question[tile.question_of]
        real = tile.real_question[tile.question_of]
        same = (numbers[:, :, None] == tile.answer[:, None, :]) & (
            real[:, :, None] & tile.real_answer[:, None, :]
        )
        question = self._words(numbers, same.any(2), real)
        answer = self._words(tile.answer, same.any(1), tile.real_answer)
        return torch.cat(
            [
                self.question(question, tile.question_length[tile.question_of]),
                self.answer(answer, tile.answer_length),
            ],
            dim=1,
        )

    def _words(self, numbers: Tensor, shared: Tensor, real: Tensor) -> Tensor:
        """The real words of `[pairs, length]`, one after the other, `[words, d + overlap]`."""
        return torch.cat([self.vectors[numbers[real]], self.shared(shared[real].long())], dim=1)

    def forward(self, batch: Batch) -> Tensor:
        """Log odds of being right, `[questions, candidates]`, 0 at padding."""
        return batch.as_lists(self.predict(self.sentences(batch))[:, 0].float())


class PairCNN(NeuralRanker):
    """The row "CNN" of table 2, and where the vectors of the other rows come from."""

    recipe_type = StructuredRecipe
    recipe: StructuredRecipe
    network: PairNetwork

    def build(self, vectors: Tensor) -> PairNetwork:
        """The network in the recipe's sizes."""
        sizes = self.recipe.model_dump(include={"filters", "width", "overlap", "hidden", "dropout"})
        return PairNetwork(vectors, train_vectors=self.recipe.vectors_rate > 0, **sizes)

    def losses(self, batch: Batch) -> dict[str, Tensor]:
        """Cross entropy of each pair, a mean over the batch's pairs."""
        scores = self.network(batch)
        return {
            "loss": F.binary_cross_entropy_with_logits(scores[batch.mask], batch.labels[batch.mask])
        }

    def scores(self, batch: Batch) -> Tensor:
        """Log odds."""
        return self.network(batch)

    def schedule(self) -> Schedule:
        """Early stopping on dev MAP."""
        r = self.recipe
        return Schedule(epochs=r.cnn_epochs, patience=r.patience, batch=r.batch, seed=r.seed)

    def vectors_of(self, split: Split) -> list[np.ndarray]:
        """Question and passage vectors, float64 `[candidates, 2 · filters]` per question."""
        return self.rows_of(
            self.encode(split), lambda batch: batch.as_lists(self.network.sentences(batch))
        )
