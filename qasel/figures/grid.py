"""Numbers of things by things, some of them missing, each column on a scale of its own."""

from collections.abc import Sequence

import numpy as np

from qasel.errors import QaselError
from qasel.figures.style import GREY, HouseFigure, house_style, new_figure

WIDEST = 9.5
"""Inches; a page shrinks what is wider, and its letters with it."""
DARK = 0.6
"""Share of the scale above which the number in a cell is white."""


@house_style
def grid(
    values: Sequence[Sequence[float | None]],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    title: str | None = None,
    note: str = "",
) -> HouseFigure:
    """Values `[rows, columns]` as numbers, shaded from the lowest to the highest of their column.

    None is a missing one, shown as a dash. A table of other shape is refused.
    """
    if not rows or not columns:
        raise QaselError("nothing to draw: there are no systems, or no data sets")
    table = np.array(values, dtype=float).reshape(len(values), -1)
    if table.shape != (len(rows), len(columns)):
        raise QaselError(
            f"values of shape {table.shape} for {len(rows)} rows and {len(columns)} columns"
        )
    longest = max(map(len, rows))
    wide = max(len(part) for column in columns for part in column.split("\n"))
    width = 0.8 + 0.095 * longest + max(1.0, 0.105 * wide) * len(columns)
    figure = new_figure(min(WIDEST, max(width, 0.085 * len(note))), 1.5 + 0.33 * len(rows))
    axes = figure.subplots()
    shares = _shares(table)
    axes.imshow(np.ma.masked_invalid(shares), cmap="Blues", vmin=-0.15, vmax=1.1, aspect="auto")
    for (i, j), value in np.ndenumerate(table):
        missing = np.isnan(value)
        shade = GREY if missing else "white" if shares[i, j] > DARK else "black"
        told = "–" if missing else f"{value:.3f}"
        axes.text(j, i, told, ha="center", va="center", color=shade, fontsize=10)
    axes.xaxis.tick_top()
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), rows)
    axes.set_xticks(np.arange(len(columns) + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(rows) + 1) - 0.5, minor=True)
    axes.grid(visible=False)
    axes.grid(which="minor", color="white", linewidth=2)
    axes.tick_params(which="both", length=0)
    axes.spines[:].set_visible(False)
    if note:
        figure.supxlabel(note, fontsize=10, color=GREY)
    if title:
        figure.suptitle(title)
    return figure


def _shares(table: np.ndarray) -> np.ndarray:
    """Where each value lies between the least (0) and the greatest (1) of its column."""
    known = np.ma.masked_invalid(table)
    low, high = known.min(axis=0), known.max(axis=0)
    spread = np.ma.where(high > low, high - low, 1.0)
    return ((known - low) / spread).filled(np.nan)
