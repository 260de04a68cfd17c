"""Charts that several papers share: curves over epochs, the paper against ours, heat maps."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from qasel.figures.style import (
    GREY,
    INK,
    PALE,
    HouseFigure,
    colour,
    house_style,
    line_style,
    new_figure,
)
from qasel.results.tables import FEWEST, POINT

Runs = Sequence[Sequence[float]]
"""One sequence of values per seed, the first value at epoch 1; lengths may differ."""
DOT: dict[str, Any] = {"marker": "o", "linestyle": "", "markersize": 8, "markeredgewidth": 2}


@house_style
def curves(
    panels: Mapping[str, Mapping[str, Runs]],
    ylabel: str,
    *,
    title: str = "",
    columns: int | None = None,
    peak: bool = False,
) -> HouseFigure:
    """Plot values over epochs: each run as a thin line, the mean over runs as a thick one.

    `panels` maps title → system → runs. The mean ends with the shortest run; `peak` marks its
    highest point. `columns` counts panels per row. Panels of the same systems share one legend.
    """
    columns = columns or len(panels)
    lines = -(-len(panels) // columns)
    width = max(7.0, 1.0 + 4.6 * columns)
    figure = new_figure(width, 1.2 + 3.2 * lines)
    grid = figure.subplots(lines, columns, squeeze=False)
    shared = len({tuple(systems) for systems in panels.values()}) == 1
    several = any(len(runs) > 1 for systems in panels.values() for runs in systems.values())
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    for axes, (name, systems) in zip(grid.flat, panels.items(), strict=False):
        for system, runs in systems.items():
            _curve(axes, system, runs, peak)
        axes.set(title=name, xlabel="epoch")
        axes.xaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 5, 10], integer=True))
        axes.margins(x=0.03)
        if not shared:
            axes.legend(loc="best", fontsize=10)
    for axes in grid[:, 0]:
        axes.set_ylabel(ylabel)
    handles = grid[0, 0].get_legend_handles_labels()[0] if shared else []
    if several:
        handles.append(Line2D([], [], color=GREY, linewidth=0.8, alpha=0.6, label="one seed"))
    if peak:
        best = "best epoch of the mean" if several else "best epoch"
        handles.append(Line2D([], [], color=GREY, marker="o", linestyle="", label=best))
    if handles:
        longest = max(len(str(handle.get_label())) for handle in handles)
        fit = int(9 * width / (7 + longest))  # nine letters per inch
        figure.legend(handles=handles, loc="outside lower center", ncols=max(1, fit))
    figure.suptitle(title)
    return figure


def _curve(axes: Axes, system: str, runs: Runs, peak: bool) -> None:
    shade = colour(system)
    for run in runs if len(runs) > 1 else ():
        axes.plot(range(1, len(run) + 1), run, color=shade, linewidth=0.8, alpha=0.3)
    mean = np.mean([*zip(*runs, strict=False)], axis=1)  # as far as the shortest run
    style = line_style(system)
    axes.plot(range(1, len(mean) + 1), mean, color=shade, linestyle=style, label=system)
    if peak:
        axes.plot(mean.argmax() + 1, mean.max(), "o", color=shade, markersize=7, zorder=5)


def name_rows(axes: Axes, names: Mapping[int, str], count: int) -> None:
    """Set up `count` rows at y = 0, 1, … from the top; `names` labels some or all of them."""
    axes.set_yticks(list(names), list(names.values()))
    axes.set_ylim(count - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


VERDICTS = {"reproduced": "o", "above": "^", "below": "v"}
"""Verdict → marker of our mean."""


@house_style
def paper_against_ours(frame: pd.DataFrame, *, title: str = "") -> HouseFigure:
    """Plot a comparison with the paper: one panel per data set and metric, one line per row.

    Each row has a mark at the paper's number, a pale band of ± `POINT` around it, and our mean
    with its 95 % interval. The marker of our mean shows the verdict: a dot (reproduced), or a
    hollow triangle pointing up (above) or down (below).
    """
    rows = list(dict.fromkeys(frame["row"]))
    panels = dict(list(frame.groupby(["data", "measure"], sort=False)))
    width = max(2.4 + 2.9 * len(panels), 0.15 * len(title))
    figure = new_figure(width, 1.9 + 0.4 * len(rows))
    grid = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, (names, part) in zip(grid, panels.items(), strict=True):
        for line in part.itertuples():
            _paper_and_ours(axes, rows.index(line.row), line)
        name_rows(axes, dict(enumerate(rows)), len(rows))
        axes.set_title(", ".join(names))
        axes.locator_params(axis="x", nbins=4)
    handles: list[Line2D | Patch] = [
        Line2D([], [], color=INK, marker="|", linestyle="", markersize=14, mew=2, label="paper"),
        Patch(color=PALE, label=f"paper ± {POINT:g}"),
    ]
    for verdict in VERDICTS:
        if verdict in set(frame["verdict"]):
            mark = _mark(verdict, GREY)
            handles.append(Line2D([], [], color=GREY, **mark, label=f"ours, {verdict}"))
    if (frame["interval"].notna() & (frame["runs"] >= FEWEST)).any():
        name = f"95 % interval, from {FEWEST} seeds on"
        handles.append(Line2D([], [], color=GREY, linewidth=2.5, label=name))
    figure.legend(handles=handles, loc="outside lower center", ncols=int(width / 2.7))
    figure.suptitle(title, wrap=True)
    return figure


def _paper_and_ours(axes: Axes, y: int, line: Any) -> None:
    """Draw one row: the paper's number, and our mean or the reason why there is none."""
    band = line.paper - POINT, line.paper + POINT
    axes.fill_betweenx([y - 0.28, y + 0.28], *band, color=PALE, lw=0)
    axes.plot([line.paper] * 2, [y - 0.28, y + 0.28], color=INK, linewidth=2)
    if pd.isna(line.ours):
        aside: dict[str, Any] = {"xytext": (6, 0), "textcoords": "offset points", "va": "center"}
        axes.annotate(line.verdict, (line.paper, y), color=GREY, fontsize=10, **aside)
        return
    shade = colour(getattr(line, "system", line.row))
    known = pd.notna(line.interval) and line.runs >= FEWEST
    half = line.interval if known else None
    mark = _mark(line.verdict, shade)
    axes.errorbar(line.ours, y, xerr=half, color=shade, elinewidth=2.5, **mark)


def _mark(verdict: str, shade: str) -> dict[str, Any]:
    """Return the marker style of our mean; a number without a verdict (cited) gets a dot."""
    marker = VERDICTS.get(verdict, "o")
    return DOT | {"marker": marker, "mfc": shade if marker == "o" else "white"}


NUMBERS = 16
"""The largest number of columns that leaves room for numbers in the cells."""


@house_style
def heatmaps(tables: Mapping[str, pd.DataFrame]) -> HouseFigure:
    """Draw tables (title → table) as heat maps: white at 0, blue above and red below.

    Each table has its own scale. Small tables have numbers in the cells, others a colour bar.
    """
    small = {title: len(table.columns) <= NUMBERS for title, table in tables.items()}
    widths = [(0.6 if small[t] else 0.32) * len(table.columns) for t, table in tables.items()]
    height = 0.42 * max(map(len, tables.values()))
    figure = new_figure(max(5.0, 1.5 * len(tables) + sum(widths)), 2.2 + height)
    row = figure.subplots(1, len(tables), width_ratios=widths, squeeze=False)[0]
    for axes, (title, table) in zip(row, tables.items(), strict=True):
        top = max(float(table.abs().max(axis=None)), 1e-9)
        sns.heatmap(
            table, ax=axes, cmap="RdBu", vmin=-top, vmax=top, cbar=not small[title],
            annot=table.map("{:.2f}".format) if small[title] else None, fmt="",
            annot_kws={"size": 9}, linewidths=1, xticklabels=True, yticklabels=True,
        )  # fmt: skip
        axes.set(title=title, xlabel=table.columns.name or "", ylabel=table.index.name or "")
        axes.tick_params(length=0)
        axes.tick_params(axis="y", rotation=0)
        places = axes.get_xticks()
        axes.set_xticks(places, table.columns, rotation=55, ha="right", rotation_mode="anchor")
    return figure
