"""Paper 2: its claims about systems and searches against our runs, and its figures.

`runs` is a frame of `read_runs`, by default that of the ledger.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd

from qasel.figures.charts import curves
from qasel.figures.style import HouseFigure
from qasel.locations import DATA
from qasel.papers.latent_structured import ROOM
from qasel.papers.latent_structured.recipes import IN_FOLDS, ON_CNN
from qasel.papers.report import drawn, table_figure
from qasel.results.claims import claims as judged_claims
from qasel.results.runs import histories, read_runs, shown

MISSES = DATA / "greedy-misses.csv"
"""How often the greedy search misses on real lists, written by `tools/greedy_misses.py`."""
SEARCHES = tuple(
    (f"{learner}*{data}", f"{learner}{data}", dataset)
    for data, dataset in (("", "wikiqa"), (ON_CNN, "wikiqa"), (IN_FOLDS, "trecqa"))
    for learner in ("LSP-AP", "LSSVM-AP")
)
"""(Learner with the exact search, the same with the greedy search, data set)."""


claims = partial(judged_claims, ROOM)
"""The paper's conclusions (`claims.csv`), one row per comparison; columns as in `judged`."""


def figure_1(runs: pd.DataFrame | None = None) -> str:
    """Say in how many epochs each perceptron has the highest dev MAP."""
    systems = _perceptrons(runs)
    if not systems:
        return "Not run for all three perceptrons yet."
    table = pd.DataFrame({name: np.mean(curves, axis=0) for name, curves in systems.items()})
    top = table.idxmax(axis=1).value_counts()
    parts = ", ".join(f"{name} in {top.get(name, 0)}" for name in table)
    ends = ", ".join(f"{name} {value:.3f}" for name, value in table[54:].mean().items())
    return (
        f"Highest mean dev MAP, of {len(table)} epochs: {parts}. From epoch 55 on, on "
        f"average: {ends}."
    )


def _perceptrons(runs: pd.DataFrame | None) -> dict[str, list[list[float]]]:
    """Return dev MAP on WikiQA after each epoch of the perceptrons; empty unless all were run."""
    return histories(shown(ROOM, "wikiqa", *PERCEPTRONS, runs=runs), "dev_map")


TABLES = {
    "table-1": "Table 1: similarity features, paper against ours",
    "table-2": "Table 2: CNN vectors, paper against ours",
    "table-3": "Table 3: five folds of WikiQA, paper against ours",
    "table-4": "Table 4: five folds of TREC-QA, paper against ours",
}
PERCEPTRONS = ("LSP", "LSP-AP", "LSP-AP*")


def figures(
    runs: pd.DataFrame | None = None, note: Callable[[str], None] = print
) -> dict[str, HouseFigure]:
    """Return every figure by name; `note` gets a line about each one that has no runs."""
    runs = read_runs([ROOM]) if runs is None else runs
    found = {name: table(runs, name) for name in TABLES}
    return drawn(ROOM, found | {"figure-1": dev_map(runs)}, note)


def table(runs: pd.DataFrame | None, name: str) -> HouseFigure | None:
    """Draw one table of the paper against ours: MAP, on dev too where the paper has it."""

    def shortened(frame: pd.DataFrame) -> pd.DataFrame:
        frame = frame[frame["metric"].str.endswith("MAP")]
        return frame.assign(row=frame["row"].str.removesuffix(IN_FOLDS).str.removesuffix(ON_CNN))

    return table_figure(ROOM, runs, name, TABLES[name], shortened)


def dev_map(runs: pd.DataFrame | None = None) -> HouseFigure | None:
    """Draw figure 1: MAP on WikiQA's dev split after each epoch of the perceptrons."""
    systems = _perceptrons(runs)
    title = "Figure 1: the perceptrons, epoch by epoch"
    return curves({"WikiQA": systems}, "dev MAP", title=title, peak=True) if systems else None
