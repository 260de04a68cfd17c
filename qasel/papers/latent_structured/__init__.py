"""Paper 2: latent structured prediction for passage reranking (Haponchyk and Moschitti 2019)."""

from pathlib import Path

import torch

from qasel.papers.latent_structured.cnn import PairCNN
from qasel.papers.latent_structured.inference import most_violating
from qasel.papers.latent_structured.ranker import StructuredRanker
from qasel.papers.latent_structured.recipes import CNN, MAIN, VARIANTS, StructuredRecipe, recipe
from qasel.results import Room
from qasel.text import Vectors
from qasel.training.recipe import read_recipe

__all__ = [
    "MAIN",
    "ROOM",
    "VARIANTS",
    "PairCNN",
    "StructuredRanker",
    "load",
    "most_violating",
    "ranker",
    "recipe",
]


def ranker(
    settings: StructuredRecipe, vectors: Vectors, device: torch.device
) -> StructuredRanker | PairCNN:
    """The ranker of a variant, untrained."""
    kind = PairCNN if settings.variant == CNN else StructuredRanker
    return kind(settings, vectors, device)


def load(folder: Path, vectors: Vectors, device: torch.device) -> StructuredRanker | PairCNN:
    """A ranker that was saved in a folder."""
    kind = PairCNN if read_recipe(folder)["variant"] == CNN else StructuredRanker
    return kind.load(folder, vectors, device)


def figures() -> dict:
    """The paper's figures by name, from the ledger."""
    from qasel.papers.latent_structured import report  # drawing is imported only here

    return report.figures()


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
    figures=figures,
)
