"""What the reports of all papers share: figures that can be drawn, and tables against ours."""

from collections.abc import Callable, Iterable, Mapping

import pandas as pd

from qasel.figures.charts import paper_against_ours
from qasel.figures.style import HouseFigure
from qasel.results import Room
from qasel.results.tables import comparison

# Tints of the boxes: texts; computed once or by all; with weights, or step by step; what comes out.
WORDS, SHARED, OWN, OUT = "#F4F4F4", "#E4ECF5", "#F8E9DD", "#DDF0E4"


def drawn(
    room: Room, found: Mapping[str, HouseFigure | None], note: Callable[[str], None]
) -> dict[str, HouseFigure]:
    """The figures that there are, under a paper's name; `note` is told of the others."""
    named = {f"{room.name}-{name}": figure for name, figure in found.items()}
    for name in (name for name, figure in named.items() if figure is None):
        note(f"{name}: skipped, the ledger has no runs at the paper's scale for it")
    return {name: figure for name, figure in named.items() if figure is not None}


def table_figure(
    room: Room,
    runs: pd.DataFrame | None,
    table: str,
    title: str,
    keep: Callable[[pd.DataFrame], pd.DataFrame] = lambda frame: frame,
    *,
    name_vectors: bool = False,
) -> HouseFigure | None:
    """One table of a paper against ours, or None without a run; `keep` picks and names its rows."""
    frame = comparison(room, runs)
    frame = keep(frame[frame["table"] == table])
    if name_vectors:
        title = titled(title, set(frame["vectors"]) - {""})
    return paper_against_ours(frame, title=title) if frame["runs"].any() else None


def titled(title: str, vectors: Iterable[str]) -> str:
    """A title with the word vectors of the runs that are drawn."""
    return f"{title} ({', '.join(sorted(vectors))})"
