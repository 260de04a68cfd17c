"""Paper 3: MS-Ranker (Zhang, Meng, Li, Jian and Zhou 2020)."""

from qasel.papers.ms_ranker.ranker import MSRanker, PreRanking
from qasel.papers.ms_ranker.recipes import ALONE, MAIN, VARIANTS, recipe
from qasel.training.neural import by_variant

__all__ = ["MAIN", "VARIANTS", "MSRanker", "PreRanking", "load", "ranker", "recipe"]

ranker, load = by_variant(lambda variant: PreRanking if variant in ALONE else MSRanker)
