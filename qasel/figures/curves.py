"""Curves over epochs, one panel a data set (or whatever the panels are)."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from qasel.figures.style import GREY, HouseFigure, colour, house_style, line, new_figure

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
        own = {system: _draw(axes, system, runs, peak) for system, runs in systems.items()}
        handles |= own
        axes.set_title(name)
        axes.set_xlabel(xlabel)
        axes.xaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 5, 10], integer=True))
        axes.margins(x=0.03)
        if not shared:
            axes.legend(own.values(), own.keys(), loc="best", fontsize=10)
    for axes in grid[:, 0]:
        axes.set_ylabel(ylabel)
    extra = _extra(panels, peak)
    legend = (handles if shared else {}) | extra
    if legend:
        fit = int(9 * width / (7 + max(map(len, legend))))  # nine letters an inch
        figure.legend(legend.values(), legend.keys(), loc="outside lower center", ncols=max(1, fit))
    if title:
        figure.suptitle(title)
    return figure


def _extra(panels: Mapping[str, Mapping[str, Runs]], peak: bool) -> dict[str, Line2D]:
    """What the thin lines and the dots are."""
    extra = {}
    several = any(len(runs) > 1 for systems in panels.values() for runs in systems.values())
    if several:
        extra["one seed"] = Line2D([], [], color=GREY, linewidth=0.8, alpha=0.6)
    if peak:
        told = "best epoch of the mean" if several else "best epoch"
        extra[told] = Line2D([], [], color=GREY, marker="o", linestyle="")
    return extra


def _draw(axes: Axes, system: str, runs: Runs, peak: bool) -> Line2D:
    """Draw a system; the thick line is returned for the legend."""
    style: dict[str, Any] = {"color": colour(system), "linestyle": line(system)}
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
