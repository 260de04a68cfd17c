"""Paper 2: its claims about systems and searches against our runs, and its figures.

`runs` is a frame of `read_runs`, by default that of the ledger.
"""

import pandas as pd

from qasel.figures.charts import curves
from qasel.figures.style import HouseFigure
from qasel.locations import DATA
from qasel.papers.latent_structured import ROOM
from qasel.papers.latent_structured.recipes import IN_FOLDS, ON_CNN
from qasel.papers.report import table_figure
from qasel.results.runs import histories, shown

MISSES = DATA / "greedy-misses.csv"
"""How often the greedy search misses on real lists, written by `tools/greedy_misses.py`."""
SEARCHES = tuple(
    (f"{learner}*{data}", f"{learner}{data}", dataset)
    for data, dataset in (("", "wikiqa"), (ON_CNN, "wikiqa"), (IN_FOLDS, "trecqa"))
    for learner in ("LSP-AP", "LSSVM-AP")
)
"""(Learner with the exact search, the same with the greedy search, data set)."""


TABLES = {
    "table-1": "Table 1: similarity features, paper against ours",
    "table-2": "Table 2: CNN vectors, paper against ours",
    "table-3": "Table 3: five folds of WikiQA, paper against ours",
    "table-4": "Table 4: five folds of TREC-QA, paper against ours",
}
PERCEPTRONS = ("LSP", "LSP-AP", "LSP-AP*")


def figures(runs: pd.DataFrame) -> dict[str, HouseFigure | None]:
    """Return every figure by name; None for one without runs."""
    return {**{name: table(runs, name) for name in TABLES}, "figure-1": dev_map(runs)}


def table(runs: pd.DataFrame | None, name: str) -> HouseFigure | None:
    """Draw one table of the paper against ours: MAP, on dev too where the paper has it."""

    def shortened(frame: pd.DataFrame) -> pd.DataFrame:
        frame = frame[frame["metric"].str.endswith("MAP")]
        return frame.assign(row=frame["row"].str.removesuffix(IN_FOLDS).str.removesuffix(ON_CNN))

    return table_figure(ROOM, runs, name, TABLES[name], shortened)


def dev_map(runs: pd.DataFrame | None = None) -> HouseFigure | None:
    """Draw figure 1: MAP on WikiQA's dev split after each epoch of the perceptrons."""
    systems = histories(shown(ROOM, "wikiqa", *PERCEPTRONS, runs=runs), "dev_map")
    title = "Figure 1: the perceptrons, epoch by epoch"
    return curves({"WikiQA": systems}, "dev MAP", title=title, peak=True) if systems else None
