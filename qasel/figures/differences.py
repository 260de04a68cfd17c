"""Differences with their intervals, one a line."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from matplotlib.lines import Line2D

from qasel.figures.style import BLUE, GREY, HouseFigure, house_style, new_figure

HEADING: dict[str, Any] = {
    "weight": "bold",
    "bbox": {"facecolor": "white", "linewidth": 0, "pad": 1},
}
SHORT = 20
"""Lines above which the axis stands at both ends."""


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
    lines: Sequence[Difference], *, xlabel: str, title: str | None = None
) -> HouseFigure:
    """A dot and an interval a line, blue where a test found the difference, full where clear.

    Lines of a group stand together under its name.
    """
    groups = list(dict.fromkeys(line.group for line in lines))
    figure = new_figure(9.0, 1.6 + 0.3 * len(lines) + 0.4 * len(groups))
    axes = figure.subplots()
    y, names, places = 0.0, [], []
    for group in groups:
        axes.text(0.0, y, group, transform=axes.get_yaxis_transform(), va="center", **HEADING)
        y += 1
        for line in (line for line in lines if line.group == group):
            shade = BLUE if line.found else GREY
            face = shade if line.clear else "white"
            axes.plot([line.low, line.high], [y, y], color=shade, linewidth=2)
            axes.plot(line.value, y, "o", color=shade, mfc=face, markersize=8, markeredgewidth=2)
            names.append(line.name)
            places.append(y)
            y += 0.8
        y += 0.3
    axes.axvline(0, color=GREY, linewidth=1)
    axes.set_yticks(places, names)
    axes.set_ylim(y - 0.3, -0.7)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labeltop=len(lines) > SHORT)
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(xlabel)
    dot: dict[str, Any] = {"marker": "o", "linestyle": "", "markersize": 8, "markeredgewidth": 2}
    handles = [
        Line2D([], [], color=BLUE, **dot, label="significant, corrected, and clear over seeds"),
        Line2D([], [], color=BLUE, mfc="white", **dot, label="significant over questions only"),
        Line2D([], [], color=GREY, mfc="white", **dot, label="not"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    if title:
        figure.suptitle(title)
    return figure
