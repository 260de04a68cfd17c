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
    line_and_marker,
    new_figure,
)
from qasel.results.tables import FEWEST

Runs = Sequence[Sequence[float]]
"""One sequence of values per seed, the first value at epoch 1; lengths may differ."""
DOT: dict[str, Any] = {"marker": "o", "linestyle": "", "markersize": 8, "markeredgewidth": 2}


@house_style
def curves(
    panels: Mapping[str, Mapping[str, Runs]],
    ylabel: str,
    *,
    title: str | None = None,
    columns: int | None = None,
    peak: bool = False,
) -> HouseFigure:
    """Panel title → system → runs: each run a thin line, their mean a thick one.

    The mean is drawn as far as all runs go. `peak` marks its highest point; `columns` sets the
    number of panels per row. One legend serves panels of the same systems, else each has its own.
    """
    columns = columns or len(panels)
    lines = -(-len(panels) // columns)
    width = max(7.0, 1.0 + 4.6 * columns)
    figure = new_figure(width, 1.2 + 3.2 * lines)
    grid = figure.subplots(lines, columns, squeeze=False)
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    shared = len({tuple(systems) for systems in panels.values()}) == 1
    several = any(len(runs) > 1 for systems in panels.values() for runs in systems.values())
    handles: list[Line2D] = []
    for axes, (name, systems) in zip(grid.flat, panels.items(), strict=False):
        means = [_curve(axes, system, runs, peak) for system, runs in systems.items()]
        axes.set(title=name, xlabel="epoch")
        axes.xaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 5, 10], integer=True))
        axes.margins(x=0.03)
        if shared:
            handles = means
        else:
            axes.legend(loc="best", fontsize=10)
    for axes in grid[:, 0]:
        axes.set_ylabel(ylabel)
    if several:
        handles.append(Line2D([], [], color=GREY, linewidth=0.8, alpha=0.6, label="one seed"))
    if peak:
        told = "best epoch of the mean" if several else "best epoch"
        handles.append(Line2D([], [], color=GREY, marker="o", linestyle="", label=told))
    if handles:
        longest = max(len(str(handle.get_label())) for handle in handles)
        fit = int(9 * width / (7 + longest))  # nine letters per inch
        figure.legend(handles=handles, loc="outside lower center", ncols=max(1, fit))
    figure.suptitle(title or "")
    return figure


def _curve(axes: Axes, system: str, runs: Runs, peak: bool) -> Line2D:
    """Draw a system; returns the line of its mean."""
    shade = colour(system)
    for run in runs if len(runs) > 1 else ():
        axes.plot(range(1, len(run) + 1), run, color=shade, linewidth=0.8, alpha=0.3)
    shortest = min(map(len, runs))
    mean = np.mean([run[:shortest] for run in runs], axis=0)
    epochs = range(1, shortest + 1)
    (drawn,) = axes.plot(
        epochs, mean, color=shade, linestyle=line_and_marker(system)[0], label=system
    )
    if peak:
        best = int(np.argmax(mean))
        axes.plot(best + 1, mean[best], "o", color=shade, markersize=7, zorder=5)
    return drawn


def _named_rows(axes: Axes, names: Mapping[int, str], count: int) -> None:
    """`count` rows from the top down, at 0, 1, …; `names` are those of some or all."""
    axes.set_yticks(list(names), list(names.values()))
    axes.set_ylim(count - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


@house_style
def paper_against_ours(
    frame: pd.DataFrame, *, title: str | None = None, allowed: float = 0.01
) -> HouseFigure:
    """One panel per data set and metric of a comparison, its rows from top to bottom.

    Each row has a line at the paper's number, a pale band down to `allowed` below it, and our
    mean as a dot with its 95 % interval, hollow where the verdict is "below".
    """
    rows = list(dict.fromkeys(frame["row"]))
    panels = dict(list(frame.groupby(["data", "measure"], sort=False)))
    width = max(2.4 + 2.9 * len(panels), 0.15 * len(title or ""))
    figure = new_figure(width, 1.9 + 0.4 * len(rows))
    grid = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, (names, part) in zip(grid, panels.items(), strict=True):
        for line in part.itertuples():
            _paper_and_ours(axes, rows.index(line.row), line, allowed)
        _named_rows(axes, dict(enumerate(rows)), len(rows))
        axes.set_title(", ".join(names))
        axes.locator_params(axis="x", nbins=4)
    handles: list[Line2D | Patch] = [
        Line2D([], [], color=INK, marker="|", linestyle="", markersize=14, mew=2, label="paper"),
        Patch(color=PALE, label=f"up to {allowed:g} below"),
    ]
    for verdict, face in (("reproduced", GREY), ("below", "white")):
        if verdict in set(frame["verdict"]):
            handles.append(Line2D([], [], color=GREY, mfc=face, **DOT, label=f"ours, {verdict}"))
    if (frame["interval"].notna() & (frame["runs"] >= FEWEST)).any():
        told = f"95 % interval, from {FEWEST} seeds on"
        handles.append(Line2D([], [], color=GREY, linewidth=2.5, label=told))
    figure.legend(handles=handles, loc="outside lower center", ncols=int(width / 2.7))
    figure.suptitle(title or "", wrap=True)
    return figure


def _paper_and_ours(axes: Axes, y: int, line: Any, allowed: float) -> None:
    """One row: what the paper has, and what we have or why we have nothing."""
    axes.fill_betweenx([y - 0.28, y + 0.28], line.paper - allowed, line.paper, color=PALE, lw=0)
    axes.plot([line.paper] * 2, [y - 0.28, y + 0.28], color=INK, linewidth=2)
    if pd.isna(line.ours):
        aside: dict[str, Any] = {"xytext": (6, 0), "textcoords": "offset points", "va": "center"}
        axes.annotate(line.verdict, (line.paper, y), color=GREY, fontsize=10, **aside)
        return
    shade = colour(getattr(line, "system", line.row))
    if pd.notna(line.interval) and line.runs >= FEWEST:
        ends = [line.ours - line.interval, line.ours + line.interval]
        axes.plot(ends, [y, y], color=shade, linewidth=2.5, solid_capstyle="butt")
    face = "white" if line.verdict == "below" else shade
    axes.plot(line.ours, y, color=shade, mfc=face, zorder=5, **DOT)


NUMBERS = 16
"""At most this many columns leave room for numbers in the cells."""
WIDEST = 9.5
"""Inches; a page shrinks what is wider, and its letters with it."""


def _cells(
    axes: Axes, table: np.ndarray, rows: Sequence[str], columns: Sequence[str], **how: Any
) -> None:
    """A heat map `[rows, columns]` in blue with white lines between the cells."""
    if table.shape != (len(rows), len(columns)):
        wanted = f"{len(rows)} rows and {len(columns)} columns"
        raise QaselError(f"a table of shape {table.shape} for {wanted}")
    names = {"xticklabels": list(columns), "yticklabels": list(rows)}
    look = {"cmap": "Blues", "linewidths": 1, "linecolor": "white", "fmt": ""}
    sns.heatmap(table, ax=axes, **names, **look, **how)
    axes.tick_params(length=0)
    axes.tick_params(axis="y", rotation=0)


@house_style
def heatmap(
    weights: Any,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    title: str = "",
    row_label: str = "question",
    column_label: str = "answer",
) -> HouseFigure:
    """Weights `[rows, columns]`, 0 in white; in small tables with their numbers.

    `weights` is an array or a tensor on the CPU. Raises `QaselError` for another shape.
    """
    table = np.asarray(weights, dtype=float)
    small = len(columns) <= NUMBERS
    numbers = np.where(table >= 0.005, np.char.mod("%.2f", table), "") if small else None
    across, down = (0.56, 0.42) if small else (0.32, 0.34)
    figure = new_figure(max(5.0, 2.6 + across * len(columns)), max(2.6, 1.9 + down * len(rows)))
    axes = figure.subplots()
    bar = {"label": "weight", "pad": 0.02}
    _cells(axes, table, rows, columns, vmin=0, annot=numbers, annot_kws={"size": 9}, cbar_kws=bar)
    axes.set_xticks(axes.get_xticks(), columns, rotation=55, ha="right", rotation_mode="anchor")
    axes.set(title=title, xlabel=column_label, ylabel=row_label)
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

    None is a missing value, shown as a dash. Raises `QaselError` for an empty table or another
    shape.
    """
    if not rows or not columns:
        raise QaselError("nothing to draw: there are no systems, or no data sets")
    table = np.array(values, dtype=float).reshape(len(values), -1)
    wide = max(len(part) for column in columns for part in column.split("\n"))
    width = 0.8 + 0.095 * max(map(len, rows)) + max(1.0, 0.105 * wide) * len(columns)
    figure = new_figure(min(WIDEST, max(width, 0.085 * len(note))), 1.5 + 0.33 * len(rows))
    axes = figure.subplots()
    frame = pd.DataFrame(table)
    span = (frame.max() - frame.min()).replace(0.0, 1.0)
    shares = ((frame - frame.min()) / span).fillna(-0.15).to_numpy()
    numbers = np.where(np.isnan(table), "–", np.char.mod("%.3f", table))
    look: dict[str, Any] = {"vmin": -0.15, "vmax": 1.1, "cbar": False, "annot_kws": {"size": 10}}
    _cells(axes, shares, rows, columns, annot=numbers, **look)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    figure.supxlabel(note, fontsize=10, color=GREY)
    figure.suptitle(title or "")
    return figure


SHORT = 20
"""Lines above which there are two columns: a slide is wider than high."""


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
    """A dot and an interval per line, blue where a test found the difference, full where clear.

    Lines of a group stand together under its name, in two columns where there are many.
    """
    rows: list[str | Difference] = []
    for group in dict.fromkeys(line.group for line in lines):
        rows += [group, *(line for line in lines if line.group == group)]
    heads = [place for place, row in enumerate(rows) if isinstance(row, str)]
    half = min(heads[1:], key=lambda place: abs(2 * place - len(rows)), default=len(rows))
    cut = half if len(lines) > SHORT else len(rows)
    columns = list(filter(None, [rows[:cut], rows[cut:]]))
    height = max(map(len, columns))
    figure = new_figure(9.0 if len(columns) == 1 else 13.0, 1.8 + 0.3 * height)
    panels = figure.subplots(1, len(columns), sharex=True, squeeze=False)[0]
    for axes, column in zip(panels, columns, strict=True):
        for y, row in enumerate(column):
            if isinstance(row, str):
                across = axes.get_yaxis_transform()
                axes.text(0, y, row, transform=across, va="center", weight="bold", zorder=5)
                continue
            shade = BLUE if row.found else GREY
            axes.plot([row.low, row.high], [y, y], color=shade, linewidth=2)
            axes.plot(row.value, y, color=shade, mfc=shade if row.clear else "white", **DOT)
        names = {y: row.name for y, row in enumerate(column) if isinstance(row, Difference)}
        _named_rows(axes, names, height)
        axes.axvline(0, color=GREY, linewidth=1)
        axes.locator_params(axis="x", nbins=8)
        axes.set_xlabel(xlabel)
    handles = [
        Line2D([], [], color=BLUE, **DOT, label="significant, corrected, and clear over seeds"),
        Line2D([], [], color=BLUE, mfc="white", **DOT, label="significant over questions only"),
        Line2D([], [], color=GREY, mfc="white", **DOT, label="not"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, title=note)
    figure.suptitle(title or "")
    return figure


@house_style
def spread(scores: Mapping[str, Scores]) -> HouseFigure:
    """The average precision of every question as a dot, the mean with its interval on top."""
    figure = new_figure(10, 1.2 + 0.5 * len(scores))
    axes = figure.subplots()
    generator = np.random.default_rng(0)
    for y, (name, found) in enumerate(scores.items()):
        values = list(found.per_question["map"].values())
        shade = colour(name.partition(" ·")[0])
        shaken = y + generator.uniform(-0.3, 0.3, len(values))
        axes.scatter(values, shaken, s=14, color=shade, alpha=0.35, linewidths=0)
        axes.plot(bootstrap_interval(values), [y, y], color=shade, linewidth=3)
        axes.plot(found.map, y, "o", color=shade, markersize=9, markeredgecolor="white")
    _named_rows(axes, dict(enumerate(scores)), len(scores))
    axes.set_xlabel("average precision of a question; the mean with its 95 % interval")
    return figure
