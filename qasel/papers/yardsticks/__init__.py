"""What no paper has: baselines as recipes, and fine-tuned cross-encoders with the papers' ideas.

A room like a paper's, but without published numbers.
"""

from pathlib import Path

import torch

from qasel.papers.yardsticks.ranker import CrossEncoderRanker, Reference
from qasel.papers.yardsticks.recipes import (
    BASELINES,
    MAIN,
    VARIANTS,
    BaselineRecipe,
    CrossEncoderRecipe,
    recipe,
)
from qasel.results import Room
from qasel.text import Vectors
from qasel.training.recipe import read_recipe

__all__ = [
    "MAIN",
    "ROOM",
    "VARIANTS",
    "CrossEncoderRanker",
    "Reference",
    "load",
    "ranker",
    "recipe",
]


def ranker(
    settings: BaselineRecipe | CrossEncoderRecipe, vectors: Vectors, device: torch.device
) -> Reference | CrossEncoderRanker:
    """The ranker of a variant, untrained."""
    kind = Reference if settings.variant in BASELINES else CrossEncoderRanker
    return kind(settings, vectors, device)


def load(folder: Path, vectors: Vectors, device: torch.device) -> Reference | CrossEncoderRanker:
    """A ranker that was saved in a folder."""
    kind = Reference if read_recipe(folder)["variant"] in BASELINES else CrossEncoderRanker
    return kind.load(folder, vectors, device)


ROOM = Room(
    name="yardsticks",
    title="What needs no paper: baselines and fine-tuned cross-encoders",
    variants=tuple(VARIANTS),
    main=MAIN,
    recipe=recipe,
    ranker=ranker,
    load=load,
)
