"""Weights of words over words."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from qasel.errors import QaselError
from qasel.figures.style import GREY, HouseFigure, house_style, new_figure

NUMBERS = 16
"""At most this many columns leave room for numbers in the cells."""


@house_style
def heatmap(
    weights: Any,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    title: str | None = None,
    row_label: str = "question",
    column_label: str = "answer",
    label: str = "weight",
) -> HouseFigure:
    """Weights `[rows, columns]`, 0 in white; in small tables with their numbers.

    `weights` is an array or a tensor on the CPU; a table of other shape is refused.
    """
    table = np.asarray(weights, dtype=float)
    if table.shape != (len(rows), len(columns)):
        raise QaselError(
            f"weights of shape {table.shape} for {len(rows)} rows and {len(columns)} columns"
        )
    numbers = len(columns) <= NUMBERS
    cell = 0.56 if numbers else 0.32
    figure = new_figure(
        max(5.0, 2.6 + cell * len(columns)), max(2.6, 1.9 + (0.42 if numbers else 0.34) * len(rows))
    )
    axes = figure.subplots()
    top = max(float(table.max(initial=0.0)), 1e-9)
    image = axes.imshow(table, cmap="Blues", vmin=0, vmax=top, aspect="auto")
    axes.set_xticks(range(len(columns)), columns, rotation=55, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(rows)), rows)
    axes.set_xticks(np.arange(len(columns) + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(rows) + 1) - 0.5, minor=True)
    axes.grid(visible=False)
    axes.grid(which="minor", color="white", linewidth=1)
    axes.tick_params(which="both", length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlabel(column_label, color=GREY)
    axes.set_ylabel(row_label, color=GREY)
    if numbers:
        for (i, j), value in np.ndenumerate(table):
            if value >= 0.005:
                shade = "white" if value > 0.6 * top else "black"
                axes.text(j, i, f"{value:.2f}", ha="center", va="center", color=shade, fontsize=9)
    figure.colorbar(image, ax=axes, label=label, pad=0.02)
    if title:
        axes.set_title(title)
    return figure
