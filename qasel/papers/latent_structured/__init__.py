"""Paper 2: latent structured prediction for passage reranking (Haponchyk and Moschitti 2019)."""

from pathlib import Path

from qasel.papers.latent_structured.cnn import PairCNN
from qasel.papers.latent_structured.ranker import StructuredRanker
from qasel.papers.latent_structured.recipes import CNN, MAIN, VARIANTS, recipe
from qasel.results import Room
from qasel.training.loss_augmented import most_violating
from qasel.training.neural import by_variant

__all__ = [
    "MAIN", "ROOM", "VARIANTS", "PairCNN", "StructuredRanker", "load", "most_violating", "ranker",
    "recipe",
]  # fmt: skip

ranker, load = by_variant(lambda variant: PairCNN if variant == CNN else StructuredRanker)

ROOM = Room(
    name="latent-structured",
    title="A Study of Latent Structured Prediction Approaches to Passage Reranking "
    "(Haponchyk and Moschitti 2019)",
    variants=tuple(VARIANTS),
    main=MAIN,
    recipe=recipe,
    ranker=ranker,
    load=load,
    published=Path(__file__).with_name("published.csv"),
)
