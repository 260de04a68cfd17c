"""The ledger: one row per finished run, each in a file of its own.

A row is `data/results/PAPER/SLUG.json`, written atomically: a killed run leaves no partial row, and
any number of runs may write at once.
"""

import contextlib
import dataclasses
import importlib.metadata
import json
import platform
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from qasel.errors import QaselError
from qasel.files import write_whole
from qasel.locations import CHECKOUT, ROOT, results_dir
from qasel.training import Recipe

VERSIONED = (
    "numpy", "torch", "nltk", "ir-measures", "pytrec-eval-terrier", "scikit-learn", "clarabel",
    "spacy", "transformers", "tokenizers", "numba", "scipy", "bm25s",
)  # fmt: skip
"""Packages that a score may depend on."""


@dataclass(frozen=True)
class Row:
    """A finished run: what it depended on, what it scored, where and when it ran.

    `scores` and `per_question` map a split ("dev", "test") to measures in 0..1; `history` has one
    dict per epoch; `seconds` counts training only; `chosen` are values picked on dev by the run
    itself, such as C. `parameters` is the number of trained parameters, `ranked_per_second` the
    candidates of the test split ranked per second, including features; `data` has the fingerprints
    of the inputs. These three are None in older rows, and `parameters` if nothing is trained.
    """

    recipe: dict[str, Any]
    hash: str
    slug: str
    scores: dict[str, dict[str, float]]
    questions: dict[str, int]
    per_question: dict[str, dict[str, dict[str, float]]]
    history: list[dict[str, float]]
    best_epoch: int | None
    seconds: float
    device: str
    vectors: dict[str, Any]
    versions: dict[str, str]
    revision: str
    finished: str
    chosen: dict[str, float] = field(default_factory=dict)
    parameters: int | None = None
    ranked_per_second: float | None = None
    data: str | None = None

    def write(self, folder: Path | None = None) -> Path:
        """Write the row to the ledger (or another folder), replacing an older row of its recipe."""
        path = (folder or results_dir() / self.recipe["paper"]) / f"{self.slug}.json"
        # One line per field, so that changes read well in a diff.
        lines = (f'"{key}": {json.dumps(x)}' for key, x in dataclasses.asdict(self).items())
        write_whole(path, "{\n" + ",\n".join(lines) + "\n}\n")
        return path

    @classmethod
    def read(cls, path: Path) -> "Row":
        """Read a row, ignoring fields of newer versions; raises `QaselError` for any other file."""
        try:
            text = path.read_text(encoding="utf-8")
            values = json.loads(text.replace(", 1 threads)", ", 1 thread)"))  # of older rows
            known = cls.__dataclass_fields__
            row = cls(**{key: value for key, value in values.items() if key in known})
            missing = Recipe.model_fields.keys() - row.recipe.keys()  # of every paper's recipe
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise QaselError(f"{path}: not a row of the ledger ({error})") from error
        if missing:
            raise QaselError(f"{path}: not a row of the ledger (no {', '.join(sorted(missing))})")
        return row


def place_of(recipe: Recipe) -> Path:
    """The path of a recipe's row in the ledger, whether there is one or not."""
    return results_dir() / recipe.paper / f"{recipe.slug}.json"


def on_record(recipes: Iterable[Recipe]) -> list[Row]:
    """The ledger's rows of these recipes, for those that have one."""
    return [Row.read(path) for path in map(place_of, recipes) if path.exists()]


def read_ledger(paper: str | None = None, folder: Path | None = None) -> list[Row]:
    """All rows, or those of one paper, in the order of their file names."""
    pattern = f"{paper}/*.json" if paper else "*/*.json"
    return [Row.read(path) for path in sorted((folder or results_dir()).glob(pattern))]


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that a score may depend on."""
    found = {}
    for name in VERSIONED:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):  # an extra
            found[name] = importlib.metadata.version(name)
    return {"python": platform.python_version(), **found}


def code_revision() -> str:
    """The commit of the checkout, with `+` if the package differs from it; "unknown" without git.

    Outside a checkout it is the package's version, whatever repository the package may be installed
    in.
    """
    if not CHECKOUT:
        return f"version {importlib.metadata.version('qasel')}"

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(ROOT), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        changed = git("status", "--porcelain", "--", "qasel")
        return git("rev-parse", "--short=12", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
