"""The figures of paper 2, from the ledger."""

from collections.abc import Callable, Iterable

import pandas as pd

from qasel.figures.curves import curves
from qasel.figures.style import HouseFigure
from qasel.papers.figures import drawn, table_figure
from qasel.papers.latent_structured.recipes import IN_FOLDS, ON_CNN, PAPER
from qasel.results.ledger import Row, read_ledger
from qasel.results.tables import counted, pick

TABLES = {
    "table-1": "Table 1: similarity features, paper against ours",
    "table-2": "Table 2: CNN vectors, paper against ours",
    "table-3": "Table 3: five folds of WikiQA, paper against ours",
    "table-4": "Table 4: five folds of TREC-QA, paper against ours",
}
PERCEPTRONS = ("LSP", "LSP-AP", "LSP-AP*")


def figures(
    rows: Iterable[Row] | None = None, note: Callable[[str], None] = print
) -> dict[str, HouseFigure]:
    """Every figure by its name; `note` is told of those that the ledger has no runs for.

    `rows` default to the ledger.
    """
    rows = list(read_ledger(PAPER) if rows is None else rows)
    found = {f"{PAPER}-{name}": table(rows, name) for name in TABLES}
    found[f"{PAPER}-figure-1"] = dev_map(rows)
    return drawn(found, note)


def table(rows: Iterable[Row], name: str) -> HouseFigure | None:
    """One table of the paper: MAP, on dev too where the paper has it, against ours."""
    return table_figure(PAPER, rows, name, TABLES[name], _shortened)


def _shortened(frame: pd.DataFrame) -> pd.DataFrame:
    frame = frame[frame["metric"].str.endswith("MAP")]
    return frame.assign(row=frame["row"].str.removesuffix(IN_FOLDS).str.removesuffix(ON_CNN))


def dev_map(rows: Iterable[Row]) -> HouseFigure | None:
    """Figure 1: MAP on WikiQA's development split after each epoch of the perceptrons."""
    runs = counted(PAPER, rows)
    found = {name: runs.get((name, "wikiqa"), {}) for name in PERCEPTRONS}
    systems = {
        name: [[epoch["dev_map"] for epoch in row.history] for row in choice[pick(choice)]]
        for name, choice in found.items()
        if choice
    }
    if len(systems) < len(PERCEPTRONS):
        return None
    return curves(
        {"WikiQA": systems},
        "dev MAP",
        title="Figure 1: the perceptrons, epoch by epoch",
        peak=True,
    )
