"""The compare-aggregate backbone with its heads (equations 1-7), padding masked throughout.

Shapes: P pairs of a tile, n words of a question, m of an answer, word vectors of size d, hidden
states of size h, K kernels of c channels each, H heads.
"""

import torch
from torch import Tensor, nn

from qasel.layers import masked_softmax
from qasel.layers.convolution import MaxOverTime
from qasel.papers.hierarchical_ranking.recipes import HierarchicalRecipe
from qasel.training.batching import Batch, Tile


def clipped_softmax(scores: Tensor, mask: Tensor, k: int) -> Tensor:
    """Softmax over the last axis where `mask` is true; with k > 0 only the k largest weights stay.

    These are rescaled to sum to 1 (k-max attention, Bian et al. 2017). Padding gets weight 0; a
    row of padding only is all 0.
    """
    if 0 < k < scores.shape[-1]:
        scores = scores.masked_fill(~mask, -torch.inf)
        mask = mask & (scores >= scores.topk(k, dim=-1).values[..., -1:])
    return masked_softmax(scores, mask)


class CompareAggregate(nn.Module):
    """One model for every variant: the backbone and the heads of the recipe's `Scheme`.

    `vectors` `[words, d]` are the word vectors, trained if `recipe.vectors_rate` is above 0.
    """

    def __init__(self, vectors: Tensor, recipe: HierarchicalRecipe) -> None:
        super().__init__()
        self.scheme, self.k_max = recipe.scheme, recipe.k_max
        self.kernels, self.heads = len(recipe.kernels), len(self.scheme.heads)
        self.vectors = nn.Parameter(vectors.clone(), requires_grad=recipe.vectors_rate > 0)
        self.gates = nn.Linear(vectors.shape[1], 2 * recipe.hidden)
        # All heads read the same words, so one convolution serves them all.
        columns = recipe.channels * self.heads
        self.aggregate = MaxOverTime(recipe.hidden, columns, recipe.kernels, wide=recipe.wide)
        self.dropout = nn.Dropout(recipe.dropout)
        self.predict = nn.ModuleDict()
        for head in self.scheme.heads:
            self.predict[head.name] = nn.Sequential(
                nn.Linear(recipe.feature_size * len(self.scheme.sources(head.name)), recipe.hidden),
                nn.Tanh() if recipe.activation(head) == "tanh" else nn.ReLU(),
                nn.Dropout(recipe.dropout),
                nn.Linear(recipe.hidden, 1),
            )

    def encode(self, numbers: Tensor, real: Tensor) -> Tensor:
        """Equation 1: word numbers `[rows, length]` → gated vectors `[rows, length, h]`."""
        gate, value = self.gates(self.dropout(self.vectors[numbers])).chunk(2, dim=-1)
        return gate.sigmoid() * value.tanh() * real[..., None]

    def attend(self, tile: Tile) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Equations 2 and 3 for a tile: H^q, H^a, and the attention weights.

        The weights are those of each question word over the answer's words, `[P, n, m]`, and of
        each answer word over the question's words, `[P, m, n]`.
        """
        question = self.encode(tile.question, tile.real_question)[tile.question_of]
        answer = self.encode(tile.answer, tile.real_answer)
        match = question @ answer.mT
        real_question = tile.real_question[tile.question_of]
        over_answer = clipped_softmax(match, tile.real_answer[:, None, :], self.k_max)
        over_question = clipped_softmax(match.mT, real_question[:, None, :], self.k_max)
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
        questions, answers = zip(*map(self.compare, batch.tiles), strict=True)
        words = torch.cat([*questions, *answers])
        lengths = [tile.question_length[tile.question_of] for tile in batch.tiles]
        length = torch.cat(lengths + [tile.answer_length for tile in batch.tiles])
        # [both sides · pairs, kernels, heads, channels]: the convolution's output is by kernel.
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
