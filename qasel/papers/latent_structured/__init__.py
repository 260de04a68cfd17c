"""Paper 2: latent structured prediction for passage reranking (Haponchyk and Moschitti 2019)."""

from qasel.papers.latent_structured.cnn import PairCNN
from qasel.papers.latent_structured.inference import most_violating
from qasel.papers.latent_structured.ranker import StructuredRanker
from qasel.papers.latent_structured.recipes import CNN, MAIN, VARIANTS, recipe
from qasel.training.neural import by_variant

__all__ = [
    "MAIN",
    "VARIANTS",
    "PairCNN",
    "StructuredRanker",
    "load",
    "most_violating",
    "ranker",
    "recipe",
]

ranker, load = by_variant(lambda variant: PairCNN if variant == CNN else StructuredRanker)
