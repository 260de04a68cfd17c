"""The figures of paper 3, from the recipe and from the ledger."""

from collections.abc import Callable, Iterable

import pandas as pd

from qasel.figures.curves import curves
from qasel.figures.diagrams import diagrams
from qasel.figures.style import HouseFigure
from qasel.papers.figures import drawn, table_figure
from qasel.papers.ms_ranker.drawings import agent
from qasel.papers.ms_ranker.recipes import ABLATIONS, MAIN, PAPER, PRE_RANKER, recipe
from qasel.results.ledger import Row, read_ledger
from qasel.results.tables import DATASETS, counted, pick

TABLES = {
    "table-2": "Table 2: MS-Ranker, paper against ours",
    "table-3": "Table 3: encoders, paper against ours",
    "table-4": "Table 4: the ablations on dev, paper against ours",
}


def figures(
    rows: Iterable[Row] | None = None, note: Callable[[str], None] = print
) -> dict[str, HouseFigure]:
    """Every figure by its name; `note` is told of those that the ledger has no runs for.

    `rows` default to the ledger.
    """
    rows = list(read_ledger(PAPER) if rows is None else rows)
    found: dict[str, HouseFigure | None] = {f"{PAPER}-agent": architecture()}
    found |= {f"{PAPER}-{name}": table(rows, name) for name in TABLES}
    found[f"{PAPER}-training"] = training(rows)
    return drawn(found, note)


def architecture(dataset: str = "wikiqa") -> HouseFigure:
    """One step of the agent (figures 1 and 2) with the shapes of the paper's recipe."""
    return diagrams(
        {" ": agent(recipe(dataset=dataset))},
        unit=1.15,
        title="One step of the agent",
        note="n words of the question, m of the candidate; blue: computed once for all candidates, "
        "orange: step by step, because the evidence changes",
    )


def table(rows: Iterable[Row], name: str) -> HouseFigure | None:
    """One table of the paper, its own rows, against ours."""
    return table_figure(PAPER, rows, name, TABLES[name], _own)


def _own(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[frame["row"].isin((MAIN, PRE_RANKER, *ABLATIONS)) | frame["runs"].gt(0)]


def training(rows: Iterable[Row]) -> HouseFigure | None:
    """Mean reward a question and dev MAP after each epoch of the agent."""
    runs = counted(PAPER, rows)
    panels = {}
    for dataset, shown in DATASETS.items():
        choice = runs.get((MAIN, dataset), {})
        if not choice:
            continue
        for key, label in (("reward", "reward a question"), ("dev_map", "dev MAP")):
            histories = [[e[key] for e in row.history] for row in choice[pick(choice)]]
            panels[f"{shown}, {label}"] = {MAIN: histories}
    if not panels:
        return None
    return curves(panels, "", title="The agent's training", columns=2)
