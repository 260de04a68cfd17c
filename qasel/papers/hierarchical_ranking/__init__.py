"""Paper 1: Hierarchical Ranking for Answer Selection (Gao, Hu, Cheng and Gao 2020)."""

from qasel.papers.hierarchical_ranking.ranker import HierarchicalRanker
from qasel.papers.hierarchical_ranking.recipes import (
    BEYOND,
    MAIN,
    SCHEMES,
    HierarchicalRecipe,
    recipe,
)

VARIANTS = tuple(SCHEMES | BEYOND)
ranker = HierarchicalRanker
load = HierarchicalRanker.load

__all__ = ["MAIN", "SCHEMES", "VARIANTS", "HierarchicalRanker", "HierarchicalRecipe", "recipe"]
