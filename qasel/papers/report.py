"""What the figures of all papers share: those that can be drawn, and tables against ours."""

from collections.abc import Callable, Iterable, Mapping

import pandas as pd

from qasel.figures.bars import paper_against_ours
from qasel.figures.style import HouseFigure
from qasel.results.ledger import Row
from qasel.results.tables import comparison


def drawn(
    found: Mapping[str, HouseFigure | None], note: Callable[[str], None]
) -> dict[str, HouseFigure]:
    """The figures that there are; `note` is told of those that the ledger has no runs for."""
    for name in (name for name, figure in found.items() if figure is None):
        note(f"{name}: skipped, the ledger has no runs at the paper's scale for it")
    return {name: figure for name, figure in found.items() if figure is not None}


def table_figure(
    paper: str,
    rows: Iterable[Row] | None,
    table: str,
    title: str,
    keep: Callable[[pd.DataFrame], pd.DataFrame] = lambda frame: frame,
) -> HouseFigure | None:
    """One table of a paper against ours, or None without a run; `keep` picks and names its rows."""
    frame = comparison(paper, rows)
    frame = keep(frame[frame["table"] == table])
    return paper_against_ours(frame, title=title) if frame["runs"].any() else None
