"""What no paper has: baselines as recipes, and fine-tuned cross-encoders with the papers' ideas.

A room like a paper's, but without published numbers.
"""

import json
from pathlib import Path

import torch

from qasel.papers.yardsticks.baselines import Reference
from qasel.papers.yardsticks.ranker import CrossEncoderRanker
from qasel.papers.yardsticks.recipes import (
    BASELINES,
    MAIN,
    VARIANTS,
    BaselineRecipe,
    CrossEncoderRecipe,
    recipe,
)
from qasel.text import Vectors

__all__ = ["MAIN", "VARIANTS", "CrossEncoderRanker", "Reference", "load", "ranker", "recipe"]


def ranker(
    settings: BaselineRecipe | CrossEncoderRecipe, vectors: Vectors, device: torch.device
) -> Reference | CrossEncoderRanker:
    """The ranker of a variant, untrained."""
    kind = Reference if settings.variant in BASELINES else CrossEncoderRanker
    return kind(settings, vectors, device)


def load(folder: Path, vectors: Vectors, device: torch.device) -> Reference | CrossEncoderRanker:
    """A ranker that was saved in a folder."""
    saved = json.loads((Path(folder) / "recipe.json").read_text(encoding="utf-8"))
    kind = Reference if saved["variant"] in BASELINES else CrossEncoderRanker
    return kind.load(folder, vectors, device)
