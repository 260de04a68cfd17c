"""Paper 1 as a ranker: the model, its joint loss (equation 10) and its optimiser."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from qasel.datasets.base import Split
from qasel.evaluation import Run
from qasel.papers.hierarchical_ranking.model import CompareAggregate
from qasel.papers.hierarchical_ranking.recipes import HierarchicalRecipe
from qasel.text import tokenize
from qasel.training.batching import Batch
from qasel.training.losses import joint_loss
from qasel.training.neural import NeuralRanker


@dataclass(frozen=True)
class Attention:
    """Co-attention of a pair: n question words, m answer words.

    `over_answer` `[n, m]`: what each question word looks at in the answer;
    `over_question` `[m, n]`: what each answer word looks at in the question.
    Rows sum to 1.
    """

    question: tuple[str, ...]
    answer: tuple[str, ...]
    over_answer: np.ndarray
    over_question: np.ndarray


class HierarchicalRanker(NeuralRanker):
    """Any variant of paper 1."""

    recipe_type = HierarchicalRecipe
    recipe: HierarchicalRecipe
    network: CompareAggregate

    def build(self, vectors: Tensor) -> CompareAggregate:
        """The backbone with the variant's heads."""
        r = self.recipe
        names = {"hidden", "channels", "kernels", "wide", "k_max", "dropout", "pair_head"}
        sizes = r.model_dump(include=names)
        return CompareAggregate(vectors, r.scheme, train_vectors=r.vectors_rate > 0, **sizes)

    def losses(self, batch: Batch) -> dict[str, Tensor]:
        """The loss of each head, and their weighted sum (equation 10)."""
        r, scores = self.recipe, self.network(batch)
        weights = {"point": r.point_weight, "pair": r.pair_weight, "list": r.list_weight}
        how = {"margin": r.margin, "pairs": r.pairs, "mean": r.list_mean}
        return joint_loss(r.scheme.heads, scores, batch.labels, batch.mask, weights, **how)

    def scores(self, batch: Batch) -> Tensor:
        """Scores of the head that ranks."""
        return self.network(batch)[self.recipe.scheme.ranks]

    def rank_heads(self, split: Split) -> dict[str, Run]:
        """One run a head, by name: how each level of ranking orders the candidates."""
        data = self.encode(split)

        def run_of(name: str) -> Run:
            return self.run_of(data, lambda batch: self.network(batch)[name], name)

        return {head.name: run_of(head.name) for head in self.recipe.scheme.heads}

    @torch.inference_mode()
    def attention(self, question: str, answer: str) -> Attention:
        """The co-attention of one pair, typed or taken from the data (equations 2 and 3)."""
        _, _, over_answer, over_question = self.network.attend(self.pair(question, answer))
        return Attention(
            tokenize(question),
            tokenize(answer),
            over_answer[0].float().cpu().numpy(),
            over_question[0].float().cpu().numpy(),
        )
