"""Recipes of saved models: what another version of the code wrote is told in a line."""

import dataclasses
import json
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from qasel.errors import QaselError
from qasel.files import write_whole
from qasel.training.recipe import Recipe, before

SomeRecipe = TypeVar("SomeRecipe", bound=Recipe)


FILE = "recipe.json"
"""The file of a model's folder that says what it is."""


def write_recipe(folder: Path, recipe: Recipe) -> None:
    """Write a model's recipe into its folder."""
    write_whole(Path(folder) / FILE, json.dumps(recipe.as_dict(), indent=1) + "\n")


def read_recipe(folder: Path) -> dict[str, Any]:
    """The plain values of a model's recipe; raises `OSError` or `ValueError` if they are not there.

    They may be another version's: see `recipe_from`.
    """
    return json.loads((Path(folder) / FILE).read_text(encoding="utf-8"))


def recipe_from(values: dict[str, Any], kind: type[SomeRecipe]) -> SomeRecipe:
    """A recipe from the plain values of `as_dict`; raises `QaselError` if they do not fit.

    All fields have to be there: a default of today may not be what a saved model was trained with.
    """
    given: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
    plain = before(kind) | given
    try:
        if missing := {field.name for field in dataclasses.fields(kind)} - plain.keys():
            raise TypeError(f"no {', '.join(sorted(missing))}")
        return kind(**plain)
    except (TypeError, QaselError) as error:
        raise QaselError(
            f"the model's recipe is not one of this version of qasel ({error}); train it again"
        ) from error


@contextmanager
def of_this_version(folder: Path) -> Iterator[None]:
    """Around the reading of a saved model: `QaselError` for what the code does not expect."""
    try:
        yield
    except QaselError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, RuntimeError) as error:
        reason = textwrap.shorten(f"{type(error).__name__}: {error}", 150)
        raise QaselError(
            f"{folder}: the model was written by another version of qasel ({reason}); "
            "train it again"
        ) from error
