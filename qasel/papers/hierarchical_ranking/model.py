"""The compare-aggregate backbone with its heads (equations 1-7), padding masked throughout.

Shapes: P pairs of a tile, n words of a question, m of an answer, d numbers a
word vector, h hidden, K kernels of c channels each, H heads.
"""

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from qasel.layers import masked_softmax
from qasel.layers.convolution import MaxOverTime
from qasel.training.batching import Batch, Tile
from qasel.training.losses import Scheme

RECOMPUTE = 800
"""Pairs a batch above which encoding and attention are computed anew in the backward pass
rather than kept: TREC-QA's lists would fill the memory otherwise. The numbers are the same."""


def clipped_softmax(scores: Tensor, mask: Tensor, k: int) -> Tensor:
    """Softmax over the last axis where `mask`; with k > 0 only the k largest weights stay.

    The weights that stay are scaled to sum to 1 again (k-max attention, Bian
    et al. 2017). Padding gets weight 0; a row that is all padding is all 0.
    """
    if 0 < k < scores.shape[-1]:
        scores = scores.masked_fill(~mask, -torch.inf)
        mask = mask & (scores >= scores.topk(k, dim=-1).values[..., -1:])
    return masked_softmax(scores, mask)


ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh}


class CompareAggregate(nn.Module):
    """One model for every variant: the backbone and the heads of a `Scheme`."""

    def __init__(
        self,
        vectors: Tensor,
        scheme: Scheme,
        *,
        hidden: int,
        channels: int,
        kernels: tuple[int, ...],
        wide: bool,
        k_max: int,
        dropout: float,
        train_vectors: bool,
        pair_head: str = "relu",
    ) -> None:
        super().__init__()
        self.scheme = scheme
        self.k_max = k_max
        self.kernels, self.heads = len(kernels), len(scheme.heads)
        self.vectors = nn.Parameter(vectors.clone(), requires_grad=train_vectors)
        self.gates = nn.Linear(vectors.shape[1], 2 * hidden)
        # All heads look at the same words, so one convolution serves them all.
        self.aggregate = MaxOverTime(hidden, channels * len(scheme.heads), kernels, wide=wide)
        self.dropout = nn.Dropout(dropout)
        size = 2 * len(kernels) * channels
        self.predict = nn.ModuleDict(
            {
                head.name: nn.Sequential(
                    nn.Linear(size * len(scheme.sources(head.name)), hidden),
                    ACTIVATIONS[pair_head if head.loss == "pair" else "relu"](),
                    nn.Dropout(dropout),
                    nn.Linear(hidden, 1),
                )
                for head in scheme.heads
            }
        )

    def encode(self, numbers: Tensor, real: Tensor) -> Tensor:
        """Equation 1: word numbers `[rows, length]` → gated vectors `[rows, length, h]`."""
        gate, value = self.gates(self.dropout(self.vectors[numbers])).chunk(2, dim=-1)
        return gate.sigmoid() * value.tanh() * real[..., None]

    def attend(self, tile: Tile) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Equations 2 and 3 for a tile: H^q, H^a, and the attention weights.

        Those are of each question word over the answer's words, `[P, n, m]`, and of each answer
        word over the question's, `[P, m, n]`.
        """
        question = self.encode(tile.question, tile.real_question)[tile.question_of]
        answer = self.encode(tile.answer, tile.real_answer)
        match = question @ answer.transpose(1, 2)
        real_question = tile.real_question[tile.question_of]
        over_answer = clipped_softmax(match, tile.real_answer[:, None, :], self.k_max)
        over_question = clipped_softmax(
            match.transpose(1, 2), real_question[:, None, :], self.k_max
        )
        return question, answer, over_answer, over_question

    def compare(self, tile: Tile) -> tuple[Tensor, Tensor]:
        """Equations 3 and 4 for a tile: the real words of C^q and C^a, `[words, h]`, by pair."""
        question, answer, over_answer, over_question = self.attend(tile)
        compared_question = (over_answer @ answer) * question
        compared_answer = (over_question @ question) * answer
        real_question = tile.real_question[tile.question_of]
        return compared_question[real_question], compared_answer[tile.real_answer]

    def features(self, batch: Batch) -> Tensor:
        """Matching vectors r = [r^q; r^a] of each head, `[pairs, H, 2·K·c]` (equation 5)."""
        large = torch.is_grad_enabled() and len(batch.slot) > RECOMPUTE
        compared = [
            checkpoint(self.compare, tile, use_reentrant=False) if large else self.compare(tile)
            for tile in batch.tiles
        ]
        words = torch.cat(
            [question for question, _ in compared] + [answer for _, answer in compared]
        )
        length = torch.cat(
            [tile.question_length[tile.question_of] for tile in batch.tiles]
            + [tile.answer_length for tile in batch.tiles]
        )
        # [both sides · pairs, kernels, heads, channels]: the convolution's columns go by kernel.
        parts = self.aggregate(words, length).unflatten(1, (self.kernels, self.heads, -1))
        question, answer = parts.transpose(1, 2).flatten(2).chunk(2)
        return torch.cat([question, answer], dim=-1)

    def forward(self, batch: Batch) -> dict[str, Tensor]:
        """Scores of every head, `[questions, candidates]`, 0 at padding."""
        features = self.dropout(self.features(batch))
        own = {head.name: features[:, i] for i, head in enumerate(self.scheme.heads)}
        scores = {}
        for head in self.scheme.heads:
            enhanced = torch.cat([own[source] for source in self.scheme.sources(head.name)], dim=-1)
            scores[head.name] = batch.as_lists(self.predict[head.name](enhanced)[:, 0].float())
        return scores
