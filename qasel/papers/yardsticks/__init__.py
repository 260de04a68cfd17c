"""What no paper has: baselines as recipes, and fine-tuned cross-encoders with the papers' ideas.

A room like a paper's, but without published numbers.
"""

from qasel.papers.yardsticks.ranker import CrossEncoderRanker, Reference
from qasel.papers.yardsticks.recipes import BASELINES, MAIN, VARIANTS, recipe
from qasel.training.neural import by_variant

__all__ = ["MAIN", "VARIANTS", "CrossEncoderRanker", "Reference", "load", "ranker", "recipe"]

ranker, load = by_variant(lambda variant: Reference if variant in BASELINES else CrossEncoderRanker)
