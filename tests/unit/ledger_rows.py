"""Made-up rows of a ledger, for tests of what is made from them."""

import runpy
from collections.abc import Iterable
from typing import Any

import pandas as pd

from qasel.locations import ROOT
from qasel.papers import ROOMS
from qasel.results.ledger import Row
from qasel.results.runs import read_runs
from qasel.training import Recipe

PAGES = runpy.run_path(str(ROOT / "tools" / "replication.py"))
README = runpy.run_path(str(ROOT / "tools" / "readme.py"))
"""The tools that write the pages, as name → value."""


def ledger_row(
    recipe: Recipe,
    dev: dict[str, float],
    test: dict[str, float],
    values: dict[str, float],
    **changes: Any,
) -> Row:
    """A row with these means; `values` are the questions' of test, the same for each measure."""
    settled = {
        "history": [],
        "best_epoch": 1,
        "seconds": 1.0,
        "device": "CPU",
        "vectors": {"name": recipe.vectors},
        "versions": {},
        "revision": "abc",
        "finished": "2026-01-01T00:00:00+00:00",
    }
    return Row(
        recipe=recipe.as_dict(),
        hash=recipe.hash,
        slug=recipe.slug,
        scores={"dev": dev, "test": test},
        questions={"dev": 1, "test": len(values)},
        per_question={"dev": {}, "test": dict.fromkeys(test, values)},
        **settled | changes,
    )


def runs_of(rows: Iterable[Row]) -> pd.DataFrame:
    """The frame of runs that rows of any papers give."""
    return read_runs(ROOMS.values(), rows)


def entry(system: str, target: str, values: dict[str, dict[str, float]], **more: Any) -> dict:
    """A line of `entries`: a run of a system on a target, with a value per question."""
    unknown = dict.fromkeys(("parameters", "ranked_per_second", "seed"))
    named = {"paper": "", "vectors": "", "under": "", "scale": "paper", "seconds": 1.0}
    return {"system": system, "target": target, "values": values} | unknown | named | more
