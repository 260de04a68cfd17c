"""Differences with their intervals, one a line."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from qasel.figures.style import BLUE, GREY, HouseFigure, house_style, new_figure

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
        _draw(axes, column, height)
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


def _draw(axes: Axes, groups: Sequence[Sequence[Difference]], height: float) -> None:
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
