"""Reading saved models: what another version of the code wrote is told in a line."""

import dataclasses
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from qasel.errors import QaselError
from qasel.training.recipe import Recipe, before

SomeRecipe = TypeVar("SomeRecipe", bound=Recipe)


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
