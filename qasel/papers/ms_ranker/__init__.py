"""Paper 3: MS-Ranker (Zhang, Meng, Li, Jian and Zhou 2020)."""

from pathlib import Path

import torch

from qasel.papers.ms_ranker.ranker import MSRanker, PreRanking
from qasel.papers.ms_ranker.recipes import MAIN, VARIANTS, MSRankerRecipe, recipe
from qasel.text import Vectors
from qasel.training.recipe import read_recipe, recipe_from

__all__ = ["MAIN", "VARIANTS", "MSRanker", "PreRanking", "load", "ranker", "recipe"]


def ranker(
    settings: MSRankerRecipe, vectors: Vectors, device: torch.device
) -> MSRanker | PreRanking:
    """The ranker of a variant, untrained."""
    kind = PreRanking if settings.alone else MSRanker
    return kind(settings, vectors, device)


def load(folder: Path, vectors: Vectors, device: torch.device) -> MSRanker | PreRanking:
    """A ranker that was saved in a folder."""
    kind = PreRanking if recipe_from(read_recipe(folder), MSRankerRecipe).alone else MSRanker
    return kind.load(folder, vectors, device)
