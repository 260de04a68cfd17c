"""Paper 2: latent structured prediction for passage reranking (Haponchyk and Moschitti 2019)."""

from pathlib import Path

from qasel.papers.latent_structured.cnn import PairCNN
from qasel.papers.latent_structured.ranker import StructuredRanker
from qasel.papers.latent_structured.recipes import CNN, MAIN, VARIANTS, recipe
from qasel.results import Room
from qasel.training.loss_augmented import most_violating

__all__ = [
    "MAIN", "ROOM", "VARIANTS", "PairCNN", "StructuredRanker", "most_violating", "recipe",
]  # fmt: skip

ROOM = Room(
    name="latent-structured",
    title="A Study of Latent Structured Prediction Approaches to Passage Reranking "
    "(Haponchyk and Moschitti 2019)",
    variants=tuple(VARIANTS),
    main=MAIN,
    recipe=recipe,
    kind=lambda variant: PairCNN if variant == CNN else StructuredRanker,
    published=Path(__file__).with_name("published.csv"),
)
