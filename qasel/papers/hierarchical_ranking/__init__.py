"""Paper 1: Hierarchical Ranking for Answer Selection (Gao, Hu, Cheng and Gao 2020)."""

from qasel.papers.hierarchical_ranking.heads import SCHEMES
from qasel.papers.hierarchical_ranking.ranker import HierarchicalRanker
from qasel.papers.hierarchical_ranking.recipes import MAIN, HierarchicalRecipe, recipe

VARIANTS = tuple(SCHEMES)
Ranker = HierarchicalRanker

__all__ = ["MAIN", "SCHEMES", "VARIANTS", "HierarchicalRanker", "HierarchicalRecipe", "recipe"]
