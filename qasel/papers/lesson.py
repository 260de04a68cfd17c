"""What the notebooks of all papers need: recipes from parameters, and a look inside."""

from collections.abc import Collection

import pandas as pd
from torch import Tensor

from qasel.datasets.base import Split
from qasel.errors import QaselError
from qasel.papers import configured
from qasel.papers import paper as room
from qasel.training import NeuralRanker, Recipe
from qasel.training.recipe import settings as recipe_settings


def chosen_recipes(
    paper: str,
    variants: str,
    dataset: str,
    *,
    scale: str,
    seed: int,
    epochs: int = 0,
    vectors: str = "",
    settings: str = "",
) -> dict[str, Recipe]:
    """The recipes of the variants named (with commas between), by name.

    `epochs` 0 and `vectors` "" keep the recipe's own; `settings` are others of its fields, as
    `key=value` with blanks between. Raises `QaselError` for what is not valid.
    """
    names = _named(variants, room(paper).VARIANTS)
    if not names or len(set(names)) < len(names):
        raise QaselError(f"variants {variants!r}: name at least one, and each once")
    if not isinstance(epochs, int) or epochs < 0:
        raise QaselError(f"epochs {epochs!r}: give a number of epochs, or 0 for the recipe's")
    others = recipe_settings(settings.split())
    if "scale" in others:
        raise QaselError(f"settings {settings!r}: the scale is a parameter of its own")
    changes = {"scale": scale} | ({"epochs": epochs} if epochs else {}) | others
    return {
        name: configured(paper, name, dataset, changes, vectors).change(seed=seed) for name in names
    }


def _named(variants: str, known: Collection[str]) -> list[str]:
    """Names with commas between; some of the known ones have a comma themselves."""
    parts = [part.strip() for part in variants.split(",") if part.strip()]
    names = []
    while parts:
        lengths = range(len(parts), 0, -1)
        length = next((n for n in lengths if ", ".join(parts[:n]) in known), 1)
        names.append(", ".join(parts[:length]))
        parts = parts[length:]
    return names


def untrained(ranker: NeuralRanker, split: Split) -> NeuralRanker:
    """The ranker as it is before the first epoch on a split."""
    ranker.prepare(split)
    ranker.network.eval()
    return ranker


def shapes(**tensors: Tensor) -> pd.DataFrame:
    """Names and shapes of tensors, one a line."""
    return pd.DataFrame(
        [(name, list(tensor.shape)) for name, tensor in tensors.items()],
        columns=["tensor", "shape"],
    ).set_index("tensor")
