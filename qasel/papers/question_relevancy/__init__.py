"""Paper 4: a strong baseline for question relevancy ranking (González-Garduño et al. 2018)."""

from pathlib import Path

import torch

from qasel.papers.question_relevancy.ranker import Reference, RelevancyRanker
from qasel.papers.question_relevancy.recipes import (
    BASELINES,
    MAIN,
    VARIANTS,
    RelevancyRecipe,
    recipe,
)
from qasel.text import Vectors
from qasel.training.recipe import read_recipe

__all__ = ["MAIN", "VARIANTS", "Reference", "RelevancyRanker", "load", "ranker", "recipe"]


def ranker(
    settings: RelevancyRecipe, vectors: Vectors, device: torch.device
) -> RelevancyRanker | Reference:
    """The ranker of a variant, untrained."""
    kind = Reference if settings.variant in BASELINES else RelevancyRanker
    return kind(settings, vectors, device)


def load(folder: Path, vectors: Vectors, device: torch.device) -> RelevancyRanker | Reference:
    """A ranker that was saved in a folder."""
    kind = Reference if read_recipe(folder)["variant"] in BASELINES else RelevancyRanker
    return kind.load(folder, vectors, device)
