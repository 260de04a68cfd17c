"""Helpers shared by the papers' reports: tables against ours, and the tints of diagrams."""

from collections.abc import Callable, Iterable

import pandas as pd

from qasel.figures.charts import paper_against_ours
from qasel.figures.style import HouseFigure
from qasel.results import Room
from qasel.results.tables import comparison

# Tints of boxes: input texts; shared or computed once; own weights or step by step; outputs.
WORDS, SHARED, OWN, OUT = "#F4F4F4", "#E4ECF5", "#F8E9DD", "#DDF0E4"


def table_figure(
    room: Room,
    runs: pd.DataFrame | None,
    table: str,
    title: str,
    keep: Callable[[pd.DataFrame], pd.DataFrame],
    *,
    name_vectors: bool = False,
) -> HouseFigure | None:
    """Draw a table of a paper against ours, or None without a run; `keep` picks and names rows."""
    frame = comparison(room, runs)
    frame = keep(frame[frame["table"] == table])
    if name_vectors:
        title = titled(title, set(frame["vectors"]) - {""})
    return paper_against_ours(frame, title=title) if frame["runs"].any() else None


def titled(title: str, vectors: Iterable[str]) -> str:
    """Append the word vectors of the drawn runs to a title."""
    return f"{title} ({', '.join(sorted(vectors))})"
