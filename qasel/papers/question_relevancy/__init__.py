"""Paper 4: a strong baseline for question relevancy ranking (González-Garduño et al. 2018)."""

from qasel.papers.question_relevancy.ranker import Reference, RelevancyRanker
from qasel.papers.question_relevancy.recipes import BASELINES, MAIN, VARIANTS, recipe
from qasel.training.neural import by_variant

__all__ = ["MAIN", "VARIANTS", "Reference", "RelevancyRanker", "load", "ranker", "recipe"]

ranker, load = by_variant(lambda variant: Reference if variant in BASELINES else RelevancyRanker)
