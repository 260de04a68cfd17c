"""A baseline as a recipe runs it: next to nothing to train, saved with its recipe."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Self

import torch

from qasel.datasets.base import Split
from qasel.evaluation import Run
from qasel.rankers.base import History
from qasel.rankers.baselines import Baseline
from qasel.text import Vectors
from qasel.training.recipe import Recipe
from qasel.training.saved import read_recipe, recipe_from, write_recipe


class Reference(ABC):
    """One of `qasel.rankers` under a name of its own; vectors and device are not used."""

    recipe_type: type[Recipe]

    def __init__(self, recipe: Recipe, vectors: Vectors, device: torch.device) -> None:
        self.recipe = recipe
        self.ranker = self.make()

    @abstractmethod
    def make(self) -> Baseline:
        """The baseline of the recipe, as it is before it has seen a text."""

    def fit(self, train_split: Split, dev_split: Split, folder: Path | None = None) -> History:
        """Learn word counts where the baseline has such; labels are not looked at."""
        return self.ranker.fit(train_split, dev_split)

    def rank(self, split: Split) -> Run:
        """Score every candidate."""
        return self.ranker.rank(split)

    def save(self, folder: Path) -> None:
        """Write the recipe and what was learnt to a folder."""
        write_recipe(folder, self.recipe)
        self.ranker.save(folder)

    @classmethod
    def load(cls, folder: Path, vectors: Vectors, device: torch.device) -> Self:
        """Read what `save` wrote."""
        found = cls(recipe_from(read_recipe(folder), cls.recipe_type), vectors, device)
        found.ranker = type(found.ranker).load(folder)
        return found
