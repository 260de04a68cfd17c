"""A `Recipe` names everything that a run depends on."""

import ast
import dataclasses
import difflib
import hashlib
import json
import math
import sys
import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

from qasel.datasets import Dataset, load_dataset
from qasel.datasets.registry import COLLECTIONS
from qasel.errors import QaselError
from qasel.files import FilePath, write_whole

SCALES = ("paper", "quick")
_AXES = ("paper", "variant", "dataset", "seed")  # which run it is: options, and no settings
_MOST = 2**31 - 1
_LARGEST = 1e30  # well inside float32, as optimisers divide a rate (Adam by 0.1 at first)
_WANTED = {
    int: "a whole number",
    float: "a number such as 0.5",
    tuple: "numbers such as 1,2,3 (one alone: 1,)",
    bool: "True or False",
    str: "a text",
}


def added(default: Any, before: Any) -> Any:
    """A field that came later: recipes without it were as with the value `before`.

    Where it has that value it is not written down, so older recipes keep their hash.
    """
    return dataclasses.field(default=default, metadata={"before": before})


def before(kind: "type[Recipe]") -> dict[str, Any]:
    """What the `added` fields of a kind of recipe were before they were there."""
    fields = dataclasses.fields(kind)
    return {f.name: f.metadata["before"] for f in fields if "before" in f.metadata}


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What a run depends on; a paper's recipe adds its hyperparameters.

    The defaults of a paper's recipe are the paper's settings. Two recipes with
    the same `hash` give the same scores on the same machine.
    """

    paper: str
    variant: str
    dataset: str
    protocol: str
    vectors: str
    scale: str = "paper"
    seed: int = 0

    def check(
        self,
        known: Mapping[str, Collection[Any]],
        *,
        positive: Iterable[str] = (),
        shares: Iterable[str] = (),
        signed: Collection[str] = (),
    ) -> None:
        """Raise `QaselError` for a setting (or a part of a tuple) that is not among those `known`,
        one of `positive` below 1, or one of `shares` that is not in [0, 1).

        All other numbers, and the parts of all other tuples, have to be at least 0 and at most
        1e30; those of `signed` may be as far below 0.
        """
        for name, values in known.items():
            for value in _parts(getattr(self, name)):
                if value not in tuple(values):
                    told = f"unknown {name} {value!r} of {self.paper}"
                    raise QaselError(f"{told}; known: {', '.join(values)}")
        others = {field.name for field in dataclasses.fields(self)} - known.keys()
        for name in sorted(others):
            chosen = getattr(self, name)
            for value in _parts(chosen):
                number = isinstance(value, int | float)
                if isinstance(chosen, tuple) and (not number or isinstance(value, bool)):
                    raise QaselError(f"setting {name}: expected numbers, got {value!r}")
                least = -_LARGEST if name in signed else 0
                if number and not least <= value <= _LARGEST:
                    told = f"at least {least} and at most {_LARGEST}, got {value}"
                    raise QaselError(f"setting {name}: must be {told}")
        for name in positive:
            if not 1 <= getattr(self, name) <= _MOST:
                told = f"at least 1 and at most {_MOST}, got {getattr(self, name)}"
                raise QaselError(f"setting {name}: must be {told}")
        for name in shares:
            if not 0 <= getattr(self, name) < 1:
                raise QaselError(f"setting {name}: must be in [0, 1), got {getattr(self, name)}")

    @property
    def seeded(self) -> bool:
        """Whether another seed gives another run; a system that draws nothing needs one only."""
        return True

    def load(self, data_dir: FilePath | None = None) -> Dataset:
        """The data that the recipe learns from and is measured on."""
        return load_dataset(self.dataset, self.protocol, data_dir)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as they are written to the ledger (see `added` for what is not)."""
        plain, unsaid = json.loads(json.dumps(dataclasses.asdict(self))), before(type(self))
        return {k: v for k, v in plain.items() if k not in unsaid or v != unsaid[k]}

    @property
    def hash(self) -> str:
        """Twelve hexadecimal digits over all fields: stable across processes and machines."""
        text = json.dumps(self.as_dict(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def slug(self) -> str:
        """A readable, unique name for folders and run tags."""
        variant = "".join(c if c.isalnum() else "-" for c in self.variant).strip("-").lower()
        return f"{variant}-{self.seed}-{self.hash}"

    def change(self, **changes: Any) -> Self:
        """A copy with other values; raises `QaselError` for an unknown field or a wrong type."""
        types = {f.name: type(getattr(self, f.name)) for f in dataclasses.fields(self)}
        for key, value in changes.items():
            if key not in types:
                names = [name for name in types if name not in _AXES]
                close = difflib.get_close_matches(key, names, n=1)
                hint = f"; did you mean {close[0]!r}?" if close else f"; known: {', '.join(names)}"
                raise QaselError(f"a recipe of {self.paper} has no setting {key!r}{hint}")
            wanted = types[key]
            if wanted is float and isinstance(value, int) and not isinstance(value, bool):
                # A whole number may be larger than any float; `check` refuses both.
                changes[key] = float(value) if abs(value) <= sys.float_info.max else math.inf
            elif wanted is tuple and isinstance(value, list):
                changes[key] = tuple(value)
            elif wanted is tuple and isinstance(value, str) and _names(getattr(self, key)):
                changes[key] = tuple(name for part in value.split(",") if (name := part.strip()))
            elif not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
                named = wanted is tuple and _names(getattr(self, key))
                told = "names such as a,b" if named else _WANTED[wanted]
                raise QaselError(f"setting {key}: expected {told}, got {value!r}")
        changed = dataclasses.replace(self, **changes)
        if self.vectors and not changed.vectors and not getattr(changed, "encoder", ""):
            told = "setting vectors: expected a set's name or a file"
            raise QaselError(f"{told}; {self.variant} reads word vectors")
        return changed


def _parts(value: Any) -> tuple:
    return value if isinstance(value, tuple) else (value,)


def _names(value: tuple) -> bool:
    """Whether a setting is a tuple of names; an empty one is, as numbers are always some."""
    return all(isinstance(part, str) for part in value)


def usual_vectors(dataset: str) -> str:
    """The word vectors that every paper's runs on a data set start with, so that they compare."""
    return "sample" if dataset == "sample" else "glove.6B.100d"


def usual_protocol(dataset: str) -> str:
    """The questions that count where a paper has no other choice: the data set's own default.

    Of a folder of one's own: those with a right answer.
    """
    return COLLECTIONS[dataset].default if dataset in COLLECTIONS else "answered"


def settings(assignments: Iterable[str]) -> dict[str, Any]:
    """`key=value` texts as a dict; raises `QaselError` for a key that is given twice."""
    found: dict[str, Any] = {}
    for key, value in map(assigned, assignments):
        if key in found:
            raise QaselError(f"setting {key!r} is given twice; to compare values, `qasel sweep`")
        found[key] = value
    return found


def assigned(text: str) -> tuple[str, Any]:
    """`key=value` → the key and the value, a text where it is no Python literal."""
    key, sign, value = text.partition("=")
    if not sign:
        raise QaselError(f"{text!r} is not of the form key=value")
    return key.strip(), literal(value)


def literal(text: str) -> Any:
    """The Python literal that a text is, or the text: `1e-3` → 0.001, `mixed` → "mixed"."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text


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
