"""Paper 1 as a ranker: the model and its joint loss (equation 10)."""

from functools import partial

import pandas as pd
import torch
from torch import Tensor

from qasel.datasets.base import Split
from qasel.errors import QaselError
from qasel.evaluation import Run
from qasel.papers.hierarchical_ranking.model import CompareAggregate
from qasel.papers.hierarchical_ranking.recipes import HierarchicalRecipe
from qasel.text import tokenize
from qasel.training.batching import Batch
from qasel.training.losses import joint_loss
from qasel.training.neural import NeuralRanker


class HierarchicalRanker(NeuralRanker):
    """Any variant of paper 1."""

    recipe_type = HierarchicalRecipe
    recipe: HierarchicalRecipe
    network: CompareAggregate

    def build(self, vectors: Tensor) -> CompareAggregate:
        """The backbone with the variant's heads."""
        return CompareAggregate(vectors, self.recipe)

    def losses(self, batch: Batch) -> dict[str, Tensor]:
        """The loss of each head, and their weighted sum (equation 10)."""
        r, scores = self.recipe, self.network(batch)
        weights = {"point": r.point_weight, "pair": r.pair_weight, "list": r.list_weight}
        how = {"margin": r.margin, "pairs": r.pairs, "mean": r.list_mean}
        return joint_loss(r.scheme.heads, scores, batch.labels, batch.mask, weights, **how)

    def scores(self, batch: Batch, head: str = "") -> Tensor:
        """Scores of a head, by default of the one that ranks."""
        return self.network(batch)[head or self.recipe.scheme.ranks]

    def rank_heads(self, split: Split) -> dict[str, Run]:
        """Return one run per head, by name: how each level orders the candidates."""
        data = self.encode(split)
        names = [head.name for head in self.recipe.scheme.heads]
        return {name: self.run_of(data, partial(self.scores, head=name), name) for name in names}

    @torch.inference_mode()
    def attention(self, question: str, answer: str) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return the co-attention weights of a pair of texts (equations 2 and 3); rows sum to 1.

        First those of each question word over the answer, `[question words, answer words]`, then
        those of each answer word over the question, `[answer words, question words]`. Raises
        `QaselError` for a text without words, and if neither trained nor loaded.
        """
        asked, told = tokenize(question), tokenize(answer)
        if not (asked and told):
            raise QaselError("There is no word here to look at: type a few more.")
        _, _, over_answer, over_question = self.network.attend(self.pair(question, answer))
        return (
            pd.DataFrame(over_answer[0].float().cpu().numpy(), asked, told),
            pd.DataFrame(over_question[0].float().cpu().numpy(), told, asked),
        )
