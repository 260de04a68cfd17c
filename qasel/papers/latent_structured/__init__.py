"""Paper 2: latent structured prediction for passage reranking (Haponchyk and Moschitti 2019)."""

from pathlib import Path

import torch

from qasel.papers.latent_structured.cnn import PairCNN
from qasel.papers.latent_structured.inference import most_violating
from qasel.papers.latent_structured.ranker import StructuredRanker
from qasel.papers.latent_structured.recipes import CNN, MAIN, VARIANTS, StructuredRecipe, recipe
from qasel.text import Vectors
from qasel.training.recipe import read_recipe

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
