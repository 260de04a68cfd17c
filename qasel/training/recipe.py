"""A `Recipe` names everything that a run depends on."""

import ast
import hashlib
import json
import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from qasel.datasets import Dataset, load_dataset
from qasel.datasets.registry import COLLECTIONS, nearest, unknown
from qasel.errors import QaselError
from qasel.files import FilePath, write_whole

SCALES = ("paper", "quick")
_AXES = ("paper", "variant", "dataset", "seed")  # they identify the run: options, not settings
_LARGEST = 1e30  # well inside float32, as optimisers divide a rate (Adam by 0.1 at first)

Count = Annotated[int, Field(ge=1, le=2**31 - 1)]
Natural = Annotated[int, Field(ge=0, le=2**31 - 1)]
Amount = Annotated[float, Field(ge=0, le=_LARGEST)]
Positive = Annotated[float, Field(gt=0, le=_LARGEST)]
Share = Annotated[float, Field(ge=0, lt=1)]


def one_of(known: Collection[str]) -> BeforeValidator:
    """Annotation for a text, or an element of a tuple, that must be one of some names."""

    def check(value: Any) -> Any:
        if value not in tuple(known):
            raise PydanticCustomError("unknown", "{known}", {"known": list(known)})
        return value

    return BeforeValidator(check)


def _as_tuple(value: Any) -> tuple[Any, ...]:
    """Turn `a, b`, a list, or a single value into a tuple."""
    if isinstance(value, str):
        value = [name for part in value.split(",") if (name := part.strip())]
    return tuple(value) if isinstance(value, list | tuple) else (value,)


Part = TypeVar("Part")
Parts = Annotated[tuple[Part, ...], BeforeValidator(_as_tuple)]


class Recipe(BaseModel):
    """All that a run depends on; a paper's recipe adds its hyperparameters, at the paper's values.

    Two recipes with the same `hash` give the same scores on the same machine. Raises `QaselError`
    for an invalid value.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")
    added: ClassVar[Mapping[str, Any]] = {}
    """Fields added later → their value in recipes without them, which is not written down."""

    paper: str
    variant: str
    dataset: str
    protocol: str
    vectors: str
    scale: Annotated[str, one_of(SCALES)] = "paper"
    seed: int = Field(0, ge=0)

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            (first, *_) = error.errors(include_url=False)
            raise QaselError(_message(type(self), first)) from None

    @property
    def seeded(self) -> bool:
        """Whether the seed makes a difference; a system that draws nothing needs only one."""
        return True

    def load(self, data_dir: FilePath | None = None) -> Dataset:
        """Load the data that the recipe learns from and is evaluated on."""
        return load_dataset(self.dataset, self.protocol, data_dir)

    def as_dict(self) -> dict[str, Any]:
        """The fields as plain values, as written to the ledger (`added` tells what is left out)."""
        plain = self.model_dump(mode="json")
        return {k: v for k, v in plain.items() if k not in self.added or v != self.added[k]}

    @property
    def hash(self) -> str:
        """Hash of all fields, twelve hexadecimal digits: stable across processes and machines."""
        text = json.dumps(self.as_dict(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def slug(self) -> str:
        """A readable, unique name for folders and run tags."""
        variant = "".join(c if c.isalnum() else "-" for c in self.variant).strip("-").lower()
        return f"{variant}-{self.seed}-{self.hash}"

    def change(self, **changes: Any) -> Self:
        """A copy with some values changed; raises `QaselError` for invalid ones."""
        changed = type(self)(**(dict(self) | changes))
        if self.vectors and not changed.vectors and not getattr(changed, "encoder", ""):
            wanted = f"expected a set's name or a file; {self.variant} reads word vectors"
            raise QaselError(f"setting vectors: {wanted}")
        return changed

    def with_defaults(self, *names: str) -> Self:
        """A copy with these fields set to their defaults."""
        fields = type(self).model_fields
        return self.change(**{name: fields[name].default for name in names})


def _message(kind: type[Recipe], error: ErrorDetails) -> str:
    """pydantic's error about a recipe, on one line: which setting is wrong, and what it may be."""
    name, fault, value = str((*error["loc"], "")[0]), error["type"], error["input"]
    paper, context = kind.model_fields["paper"].default, error.get("ctx", {})
    if fault == "value_error":
        return str(context["error"])
    if fault == "extra_forbidden":
        names = [field for field in kind.model_fields if field not in _AXES]
        return f"a recipe of {paper}: {unknown('setting', name, names)}"
    if fault in ("unknown", "literal_error"):
        known = context.get("known") or get_args(kind.model_fields[name].annotation)
        hint = nearest(str(value), known)
        return f"unknown {name} {value!r} of {paper}; {hint}known: {', '.join(known)}"
    return f"setting {name}: {error['msg'].removeprefix('Input ')}, got {value!r}"


def usual_vectors(dataset: str) -> str:
    """The default word vectors of runs on a data set."""
    return COLLECTIONS[dataset].vectors if dataset in COLLECTIONS else "glove.6B.100d"


def usual_protocol(dataset: str) -> str:
    """The data set's default protocol; for a user's own folder, the questions with an answer."""
    return COLLECTIONS[dataset].default if dataset in COLLECTIONS else "answered"


def settings(assignments: Iterable[str]) -> dict[str, Any]:
    """Parse `key=value` texts into a dict; raises `QaselError` for a key that is given twice."""
    found: dict[str, Any] = {}
    for key, value in map(assigned, assignments):
        if key in found:
            hint = "to compare values, use `qasel sweep`"
            raise QaselError(f"setting {key!r} is given twice; {hint}")
        found[key] = value
    return found


def assigned(text: str) -> tuple[str, Any]:
    """Split `key=value` into the key and the value (see `literal`)."""
    key, sign, value = text.partition("=")
    if not sign:
        raise QaselError(f"{text!r} is not of the form key=value")
    return key.strip(), literal(value)


def literal(text: str) -> Any:
    """The text as a Python literal, or else unchanged: `1e-3` → 0.001, `mixed` → "mixed"."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text


FILE = "recipe.json"  # the file in a model's folder that identifies it
CARD = "README.md"
SomeRecipe = TypeVar("SomeRecipe", bound=Recipe)


def write_recipe(folder: Path, recipe: Recipe) -> None:
    """Write a model's recipe and model card to its folder."""
    write_card(folder, recipe, "Not measured yet.")
    write_whole(Path(folder) / FILE, json.dumps(recipe.as_dict(), indent=1) + "\n")


def write_card(folder: Path, recipe: Recipe, scores: str) -> None:
    """Write a model card: what the model was trained on, its settings, its scores, its use."""
    plain = {key: value for key, value in recipe.as_dict().items() if key not in _AXES}
    settings = "\n".join(f"| `{key}` | {value} |" for key, value in plain.items())
    text = f"""\
# {recipe.variant}

This model ranks the candidate answers of a question. It is the row *{recipe.variant}* of
`{recipe.paper}`, trained with [qasel](https://github.com/qasel/qasel) on `{recipe.dataset}` (which
questions count: `{recipe.protocol}`) with seed {recipe.seed}.

## Use

`qasel rank FOLDER QUESTIONS.tsv` prints a TREC run; the file has the columns question and
candidate. Scores compare the candidates of one question, not those of two.

## Scores

{scores}

Trained on one data set in English, it may do much worse on others. The licence of that data set
holds for what is derived from it.

## Settings

| setting | value |
| :-- | :-- |
{settings}
"""
    write_whole(Path(folder) / CARD, text)


def read_recipe(folder: Path) -> dict[str, Any]:
    """Read the plain values of a model's recipe; raises `OSError` or `ValueError` if unreadable."""
    return json.loads((Path(folder) / FILE).read_text(encoding="utf-8"))


def recipe_from(values: Mapping[str, Any], kind: type[SomeRecipe]) -> SomeRecipe:
    """Make a recipe from the values of `as_dict`; raises `QaselError` if one is missing or wrong.

    The default of a missing field may have changed since a saved model was trained.
    """
    plain = {**kind.added, **values}
    try:
        if missing := kind.model_fields.keys() - plain.keys():
            raise QaselError(f"no {', '.join(sorted(missing))}")
        return kind(**plain)
    except QaselError as error:
        told = f"the model's recipe is not one of this version of qasel ({error})"
        raise QaselError(f"{told}; train it again") from error


@contextmanager
def of_this_version(folder: Path) -> Iterator[None]:
    """Context for loading a saved model: raises `QaselError` for what the code does not expect."""
    try:
        yield
    except QaselError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, RuntimeError) as error:
        if type(error).__name__ in ("OutOfMemoryError", "AcceleratorError"):  # the GPU's, not ours
            raise
        reason = textwrap.shorten(f"{type(error).__name__}: {error}", 150)
        told = f"{folder}: the model was written by another version of qasel ({reason})"
        raise QaselError(f"{told}; train it again") from error
