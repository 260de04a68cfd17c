"""Published numbers against ours: a dot and an interval a row."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from qasel.figures.style import GREY, INK, PALE, HouseFigure, colour, house_style, new_figure
from qasel.results.tables import FEWEST


@house_style
def paper_against_ours(
    frame: pd.DataFrame,
    *,
    title: str | None = None,
    allowed: float = 0.01,
) -> HouseFigure:
    """A panel for each data set and metric of a comparison, its rows from top to bottom.

    shade = colour(getattr(line, "system", line.row))
    if pd.notna(line.interval) and line.runs >= FEWEST:
    """
    rows = list(dict.fromkeys(frame["row"]))
    panels = list(dict.fromkeys(zip(frame["data"], frame["measure"], strict=True)))
    width = max(2.4 + 2.9 * len(panels), 0.15 * len(title or ""))
    figure = new_figure(width, 1.9 + 0.4 * len(rows))
    grid = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, (data, measure) in zip(grid, panels, strict=True):
        part = frame[(frame["data"] == data) & (frame["measure"] == measure)]
        for line in part.itertuples():
            _draw(axes, rows.index(line.row), line, allowed)
        axes.set_title(f"{data}, {measure}")
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.locator_params(axis="x", nbins=4)
    grid[0].set_yticks(range(len(rows)), rows)
    grid[0].set_ylim(len(rows) - 0.4, -0.6)
    figure.legend(
        handles=_legend(frame, allowed), loc="outside lower center", ncols=int(width / 2.7)
    )
    if title:
        figure.suptitle(title, wrap=True)
    return figure


def _draw(axes: Axes, y: int, line: Any, allowed: float) -> None:
    axes.fill_betweenx([y - 0.28, y + 0.28], line.paper - allowed, line.paper, color=PALE, lw=0)
    axes.plot([line.paper] * 2, [y - 0.28, y + 0.28], color=INK, linewidth=2)
    if pd.isna(line.ours):
        axes.annotate(
            line.verdict,
            (line.paper, y),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            color=GREY,
            fontsize=10,
        )
        return
    shade = colour(getattr(line, "system", line.row))
    if pd.notna(line.interval) and line.runs >= FEWEST:
        ends = [line.ours - line.interval, line.ours + line.interval]
        axes.plot(ends, [y, y], color=shade, linewidth=2.5, solid_capstyle="butt")
    face = "white" if line.verdict == "below" else shade
    axes.plot(line.ours, y, "o", markersize=8.5, markeredgewidth=2, color=shade, mfc=face, zorder=5)


def _legend(frame: pd.DataFrame, allowed: float) -> list[Line2D | Patch]:
    """Only what the figure shows."""
    dot: dict[str, Any] = {
        "color": GREY,
        "marker": "o",
        "linestyle": "",
        "markersize": 8.5,
        "markeredgewidth": 2,
    }
    handles: list[Line2D | Patch] = [
        Line2D([], [], color=INK, marker="|", linestyle="", markersize=14, mew=2, label="paper"),
        Patch(color=PALE, label=f"up to {allowed:g} below"),
    ]
    verdicts = set(frame["verdict"])
    if "reproduced" in verdicts:
        handles.append(Line2D([], [], **dot, label="ours, reproduced"))
    if "below" in verdicts:
        handles.append(Line2D([], [], **dot, mfc="white", label="ours, below"))
    if (frame["interval"].notna() & (frame["runs"] >= FEWEST)).any():
        told = f"95 % interval, from {FEWEST} seeds on"
        handles.append(Line2D([], [], color=GREY, linewidth=2.5, label=told))
    return handles
