"""Charts that several papers use: curves over epochs, dots with intervals, heat maps."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from qasel.errors import QaselError
from qasel.evaluation import Scores, bootstrap_interval
from qasel.figures.style import (
    BLUE,
    GREY,
    INK,
    PALE,
    HouseFigure,
    colour,
    house_style,
    new_figure,
)
from qasel.figures.style import (
    line as line_style,
)
from qasel.results.tables import FEWEST

Runs = Sequence[Sequence[float]]
"""One sequence of values a seed, the first value at epoch 1; lengths may differ."""


@house_style
def curves(
    panels: Mapping[str, Mapping[str, Runs]],
    ylabel: str,
    *,
    xlabel: str = "epoch",
    title: str | None = None,
    columns: int | None = None,
    peak: bool = False,
    same_y: bool = False,
) -> HouseFigure:
    """Panel title → system → runs: each run a thin line, their mean a thick one.

    The mean is drawn as far as all runs go. `peak` marks its highest point; `columns` sets the
    panels a row; `same_y` gives all panels one scale. One legend serves panels of the same
    systems, else each has its own.
    """
    columns = columns or len(panels)
    lines = -(-len(panels) // columns)
    width = max(7.0, 1.0 + 4.6 * columns)
    figure = new_figure(width, 1.2 + 3.2 * lines)
    grid = figure.subplots(lines, columns, squeeze=False, sharey=same_y)
    handles: dict[str, Line2D] = {}
    shared = len({tuple(systems) for systems in panels.values()}) == 1
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_visible(False)
    for axes, (name, systems) in zip(grid.flat, panels.items(), strict=False):
        own = {system: _curve(axes, system, runs, peak) for system, runs in systems.items()}
        handles |= own
        axes.set_title(name)
        axes.set_xlabel(xlabel)
        axes.xaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 5, 10], integer=True))
        axes.margins(x=0.03)
        if not shared:
            axes.legend(own.values(), own.keys(), loc="best", fontsize=10)
    for axes in grid[:, 0]:
        axes.set_ylabel(ylabel)
    extra = _thin_lines_and_dots(panels, peak)
    legend = (handles if shared else {}) | extra
    if legend:
        fit = int(9 * width / (7 + max(map(len, legend))))  # nine letters an inch
        figure.legend(legend.values(), legend.keys(), loc="outside lower center", ncols=max(1, fit))
    if title:
        figure.suptitle(title)
    return figure


def _thin_lines_and_dots(panels: Mapping[str, Mapping[str, Runs]], peak: bool) -> dict[str, Line2D]:
    """What the thin lines and the dots are."""
    extra = {}
    several = any(len(runs) > 1 for systems in panels.values() for runs in systems.values())
    if several:
        extra["one seed"] = Line2D([], [], color=GREY, linewidth=0.8, alpha=0.6)
    if peak:
        told = "best epoch of the mean" if several else "best epoch"
        extra[told] = Line2D([], [], color=GREY, marker="o", linestyle="")
    return extra


def _curve(axes: Axes, system: str, runs: Runs, peak: bool) -> Line2D:
    """Draw a system; the thick line is returned for the legend."""
    style: dict[str, Any] = {"color": colour(system), "linestyle": line_style(system)}
    if len(runs) > 1:
        for run in runs:
            axes.plot(range(1, len(run) + 1), run, color=style["color"], linewidth=0.8, alpha=0.3)
    shortest = min(len(run) for run in runs)
    mean = np.mean([run[:shortest] for run in runs], axis=0)
    (drawn,) = axes.plot(range(1, shortest + 1), mean, **style)
    if peak:
        best = int(np.argmax(mean))
        axes.plot(best + 1, mean[best], "o", color=colour(system), markersize=7, zorder=5)
    return drawn


@house_style
def paper_against_ours(
    frame: pd.DataFrame,
    *,
    title: str | None = None,
    allowed: float = 0.01,
) -> HouseFigure:
    """A panel for each data set and metric of a comparison, its rows from top to bottom.

    Each row has a line at the paper's number, a pale band down to `allowed` below it, and our
    mean as a dot with its 95 % interval, hollow where the verdict is "below".
    """
    rows = list(dict.fromkeys(frame["row"]))
    panels = list(dict.fromkeys(zip(frame["data"], frame["measure"], strict=True)))
    width = max(2.4 + 2.9 * len(panels), 0.15 * len(title or ""))
    figure = new_figure(width, 1.9 + 0.4 * len(rows))
    grid = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, (data, measure) in zip(grid, panels, strict=True):
        part = frame[(frame["data"] == data) & (frame["measure"] == measure)]
        for line in part.itertuples():
            _dot_and_interval(axes, rows.index(line.row), line, allowed)
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


def _dot_and_interval(axes: Axes, y: int, line: Any, allowed: float) -> None:
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


NUMBERS = 16
"""At most this many columns leave room for numbers in the cells."""
WIDEST = 9.5
"""Inches; a page shrinks what is wider, and its letters with it."""


def _cells(
    axes: Axes, table: np.ndarray, names: tuple[Sequence[str], Sequence[str]], **how: Any
) -> None:
    """A heat map `[rows, columns]` in blue with white lines between the cells."""
    rows, columns = names
    if table.shape != (len(rows), len(columns)):
        raise QaselError(
            f"a table of shape {table.shape} for {len(rows)} rows and {len(columns)} columns"
        )
    sns.heatmap(
        table, ax=axes, cmap="Blues", linewidths=1, linecolor="white", fmt="",
        xticklabels=list(columns), yticklabels=list(rows), **how,
    )  # fmt: skip
    axes.tick_params(length=0)
    axes.tick_params(axis="y", rotation=0)
    for text, value in zip(axes.texts, table.flat, strict=False):
        text.set_color("white" if value > 0.6 * how["vmax"] else INK)  # seaborn's turn too early


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

    `weights` is an array or a tensor on the CPU. Raises `QaselError` for another shape.
    """
    table = np.asarray(weights, dtype=float)
    numbers = len(columns) <= NUMBERS
    across, down = (0.56, 0.42) if numbers else (0.32, 0.34)
    size = max(5.0, 2.6 + across * len(columns)), max(2.6, 1.9 + down * len(rows))
    figure = new_figure(*size)
    axes = figure.subplots()
    told = np.where(table >= 0.005, np.char.mod("%.2f", table), "")
    _cells(
        axes, table, (rows, columns), vmin=0, vmax=max(float(table.max(initial=0.0)), 1e-9),
        annot=told if numbers else None, annot_kws={"fontsize": 9},
        cbar_kws={"label": label, "pad": 0.02},
    )  # fmt: skip
    axes.set_xticks(axes.get_xticks(), columns, rotation=55, ha="right", rotation_mode="anchor")
    axes.set_xlabel(column_label, color=GREY)
    axes.set_ylabel(row_label, color=GREY)
    if title:
        axes.set_title(title)
    return figure


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

    None is a missing one, shown as a dash. Raises `QaselError` for an empty table and another
    shape.
    """
    if not rows or not columns:
        raise QaselError("nothing to draw: there are no systems, or no data sets")
    table = np.array(values, dtype=float).reshape(len(values), -1)
    wide = max(len(part) for column in columns for part in column.split("\n"))
    width = 0.8 + 0.095 * max(map(len, rows)) + max(1.0, 0.105 * wide) * len(columns)
    figure = new_figure(min(WIDEST, max(width, 0.085 * len(note))), 1.5 + 0.33 * len(rows))
    axes = figure.subplots()
    known = np.ma.masked_invalid(table)
    low, high = known.min(axis=0), known.max(axis=0)
    shares = (known - low) / np.ma.where(high > low, high - low, 1.0)
    told = np.where(np.isnan(table), "–", np.char.mod("%.3f", table))
    _cells(
        axes, shares.filled(-0.15), (rows, columns), vmin=-0.15, vmax=1.1, cbar=False,
        annot=told, annot_kws={"fontsize": 10},
    )  # fmt: skip
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    if note:
        figure.supxlabel(note, fontsize=10, color=GREY)
    if title:
        figure.suptitle(title)
    return figure


HEADING: dict[str, Any] = {
    "weight": "bold",
    "bbox": {"facecolor": "white", "linewidth": 0, "pad": 1},
}
SHORT = 20
"""Lines above which there are two columns: a slide is wider than high."""
LINE, GROUP = 0.8, 1.3
"""Heights of a line, and of a group's name with the gap below the group."""


class Difference(NamedTuple):
    """A difference, the ends of its interval, whether a test found it, and other seeds too."""

    group: str
    name: str
    value: float
    low: float
    high: float
    found: bool
    clear: bool


@house_style
def differences(
    lines: Sequence[Difference], *, xlabel: str, note: str, title: str | None = None
) -> HouseFigure:
    """A dot and an interval a line, blue where a test found the difference, full where clear.

    Lines of a group stand together under its name, in two columns where there are many.
    """
    groups: dict[str, list[Difference]] = {}
    for line in lines:
        groups.setdefault(line.group, []).append(line)
    columns = _balanced(list(groups.values())) if len(lines) > SHORT else [list(groups.values())]
    height = max(map(_height, columns))
    figure = new_figure(9.0 if len(columns) == 1 else 13.0, 1.8 + 0.35 * height)
    row = figure.subplots(1, len(columns), sharex=True, squeeze=False)[0]
    for axes, column in zip(row, columns, strict=True):
        _difference_lines(axes, column, height)
        axes.set_xlabel(xlabel)
    dot: dict[str, Any] = {"marker": "o", "linestyle": "", "markersize": 8, "markeredgewidth": 2}
    handles = [
        Line2D([], [], color=BLUE, **dot, label="significant, corrected, and clear over seeds"),
        Line2D([], [], color=BLUE, mfc="white", **dot, label="significant over questions only"),
        Line2D([], [], color=GREY, mfc="white", **dot, label="not"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, title=note)
    if title:
        figure.suptitle(title)
    return figure


def _height(groups: Sequence[Sequence[Difference]]) -> float:
    return sum(GROUP + LINE * len(group) for group in groups)


def _balanced(groups: list[list[Difference]]) -> list[list[list[Difference]]]:
    """Two columns, in order, the higher of them as low as it can be."""
    cuts = range(1, len(groups))
    cut = min(cuts, key=lambda cut: max(_height(groups[:cut]), _height(groups[cut:])), default=0)
    return [groups[:cut], groups[cut:]] if cut else [groups]


def _difference_lines(axes: Axes, groups: Sequence[Sequence[Difference]], height: float) -> None:
    """One column from the top down."""
    y, names, places = 0.0, [], []
    for group in groups:
        name = group[0].group
        axes.text(0.0, y, name, transform=axes.get_yaxis_transform(), va="center", **HEADING)
        y += 1
        for line in group:
            shade = BLUE if line.found else GREY
            face = shade if line.clear else "white"
            axes.plot([line.low, line.high], [y, y], color=shade, linewidth=2)
            axes.plot(line.value, y, "o", color=shade, mfc=face, markersize=8, markeredgewidth=2)
            names.append(line.name)
            places.append(y)
            y += LINE
        y += GROUP - 1
    axes.axvline(0, color=GREY, linewidth=1)
    axes.set_yticks(places, names)
    axes.set_ylim(height - GROUP + 1, -0.7)
    axes.grid(visible=False, axis="y")
    axes.locator_params(axis="x", nbins=8)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


@house_style
def spread(scores: Mapping[str, Scores]) -> HouseFigure:
    """The average precision of every question as a dot, the mean with its interval on top."""
    figure = new_figure(10, 1.2 + 0.5 * len(scores))
    axes = figure.subplots()
    generator = np.random.default_rng(0)
    for y, (name, found) in enumerate(scores.items()):
        values = np.array(list(found.per_question["map"].values()))
        shade = colour(name.partition(" ·")[0])
        shaken = y + generator.uniform(-0.3, 0.3, len(values))
        axes.scatter(values, shaken, s=14, color=shade, alpha=0.35, linewidths=0)
        low, high = bootstrap_interval(values)
        axes.plot([low, high], [y, y], color=shade, linewidth=3, solid_capstyle="butt")
        axes.plot(found.map, y, "o", color=shade, markersize=9, markeredgecolor="white")
    axes.set_yticks(range(len(scores)), list(scores))
    axes.set_ylim(len(scores) - 0.5, -0.5)
    axes.set_xlabel("average precision of a question; the mean with its 95 % interval")
    axes.grid(visible=False, axis="y")
    return figure
