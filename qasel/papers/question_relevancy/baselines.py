"""The two rows of table 1 that learn nothing, as a recipe runs them."""

import json
from pathlib import Path
from typing import Self

import torch

from qasel.datasets.base import Split
from qasel.evaluation import Run
from qasel.files import write_whole
from qasel.papers.question_relevancy.recipes import BASELINES as OF_TABLE_1
from qasel.papers.question_relevancy.recipes import RelevancyRecipe
from qasel.rankers import BASELINES, History
from qasel.text import Vectors
from qasel.training.neural import recipe_from


class Reference:
    """A baseline under its name in table 1: nothing to train, nothing to save but the name."""

    def __init__(self, recipe: RelevancyRecipe, vectors: Vectors, device: torch.device) -> None:
        self.recipe = recipe
        self.ranker = BASELINES[OF_TABLE_1[recipe.variant]]()

    def fit(self, train_split: Split, dev_split: Split, folder: Path | None = None) -> History:
        """Nothing to learn."""
        return History()

    def rank(self, split: Split) -> Run:
        """Score every candidate."""
        return self.ranker.rank(split)

    def save(self, folder: Path) -> None:
        """Write the recipe to a folder."""
        text = json.dumps(self.recipe.as_dict(), indent=1) + "\n"
        write_whole(Path(folder) / "recipe.json", text)

    @classmethod
    def load(cls, folder: Path, vectors: Vectors, device: torch.device) -> Self:
        """Read what `save` wrote."""
        saved = json.loads((Path(folder) / "recipe.json").read_text(encoding="utf-8"))
        return cls(recipe_from(saved, RelevancyRecipe), vectors, device)
