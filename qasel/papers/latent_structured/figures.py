"""The figures of paper 2, from the ledger."""

from collections.abc import Callable, Iterable

from qasel.figures.bars import paper_against_ours
from qasel.figures.curves import curves
from qasel.figures.style import HouseFigure
from qasel.papers.latent_structured.recipes import IN_FOLDS, ON_CNN, PAPER
from qasel.results.ledger import Row, read_ledger
from qasel.results.tables import DATASETS, comparison, counted, pick

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
    for name in [name for name, figure in found.items() if figure is None]:
        note(f"{name}: skipped, the ledger has no runs at the paper's scale for it")
    return {name: figure for name, figure in found.items() if figure is not None}


def table(rows: Iterable[Row], name: str) -> HouseFigure | None:
    """One table of the paper: MAP, on dev too where the paper has it, against ours."""
    frame = comparison(PAPER, rows)
    frame = frame[(frame["table"] == name) & frame["metric"].str.endswith("MAP")]
    if not frame["runs"].any():
        return None
    short = frame["row"].str.removesuffix(IN_FOLDS).str.removesuffix(ON_CNN)
    return paper_against_ours(frame.assign(row=short), names=DATASETS, title=TABLES[name])


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
