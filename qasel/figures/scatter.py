"""Scatters: labelled points of quality against cost, and two values of the same questions."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter

from qasel.errors import QaselError
from qasel.figures.style import BLUE, GREY, INK, ORANGE, PALE, HouseFigure, house_style, new_figure

LEAST_SECONDS = 0.1
"""Left end of a logarithmic axis: what costs less stands there."""
NAMED = 12
"""Up to so many points of a panel are all named; of more, those that no other beats in both."""
SMALLEST, LARGEST = 28.0, 1_500.0
"""Areas of a dot that is one question, and of the largest, which all others shrink with."""
DARK_ORANGE = "#9A6A00"
"""Orange that can be read as text."""
LINE = 0.062
"""Height of a name, as a share of the panel's."""


class Point(NamedTuple):
    """A named point: what it costs, how good it is."""

    x: float
    y: float
    name: str
    colour: str


@house_style
def labelled(
    panels: Mapping[str, Sequence[Point]],
    *,
    xlabel: str,
    ylabel: str,
    title: str | None = None,
    note: str = "",
    columns: int = 2,
) -> HouseFigure:
    """A panel each, x on a logarithmic scale; names stand in a column at the right, in order of y.

    So no two overlap; a thin line joins a name and its point.
    """
    if not panels:
        raise QaselError("nothing to draw: there are no points")
    columns = min(columns, len(panels))
    lines = -(-len(panels) // columns)
    figure = new_figure(7.2 * columns, 0.6 + 3.9 * lines)
    drawn = figure.subplots(lines, columns, squeeze=False)
    for axes in list(drawn.flat)[len(panels) :]:
        axes.set_visible(False)
    for axes, (name, points) in zip(drawn.flat, panels.items(), strict=False):
        _panel(axes, points)
        axes.set_title(name)
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
    if note:
        figure.supxlabel(note, fontsize=10, color=GREY)
    if title:
        figure.suptitle(title)
    return figure


def _panel(axes: Axes, points: Sequence[Point]) -> None:
    placed = [point._replace(x=max(point.x, LEAST_SECONDS)) for point in points]
    named = placed if len(placed) <= NAMED else front(placed)
    best = front(placed)
    for point in placed:
        shade = point.colour if point in named else GREY
        face = shade if point in best else "white"
        axes.plot(point.x, point.y, "o", color=shade, mfc=face, markeredgewidth=1.5, zorder=3)
    low, high = min(p.x for p in placed) / 1.6, max(p.x for p in placed) * 1.6
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    narrow = high / low < 1_000
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if narrow else (1,)))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    bottom, top = axes.get_ylim()
    margin = max(0.03 * (top - bottom), 1e-3)
    axes.set_ylim(bottom - margin, top + margin)
    height = (top - bottom) + 2 * margin
    ordered = sorted(named, key=lambda point: point.y)
    heights = spaced([(p.y - bottom + margin) / height for p in ordered], LINE)
    for point, share in zip(ordered, heights, strict=True):
        axes.annotate(
            point.name,
            (point.x, point.y),
            xytext=(1.03, share),
            textcoords="axes fraction",
            va="center",
            fontsize=10,
            color=INK,
            annotation_clip=False,
            zorder=1,
            arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.5},
        )


def front(points: Sequence[Point]) -> list[Point]:
    """The points that no other matches at less cost, nor exceeds at the same; cheapest first."""
    best: list[Point] = []
    for point in sorted(points, key=lambda p: (p.x, -p.y)):
        if not best or point.y > best[-1].y:
            best.append(point)
    return best


def spaced(places: Sequence[float], gap: float) -> list[float]:
    """Ascending places in 0..1, moved as little as it takes for each to be `gap` above the last.

    They stay within 0..1 as long as there is room.
    """
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + gap) if moved else place)
    ceiling = 1.0
    for i in reversed(range(len(moved))):
        moved[i] = min(moved[i], ceiling)
        ceiling = moved[i] - gap
    return moved


@house_style
def agreement(
    pairs: Sequence[tuple[float, float]], names: tuple[str, str], *, title: str | None = None
) -> HouseFigure:
    """Two values of each question in 0..1, one an axis; the larger a dot, the more questions.

    Above the diagonal the second does better, below it the first; raises `QaselError` for none.
    """
    if not pairs:
        raise QaselError("no question that both have")
    counts = Counter((round(x, 3), round(y, 3)) for x, y in pairs)
    size = min(SMALLEST, LARGEST / max(counts.values()))
    figure = new_figure(6.4, 6.4)
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], color=PALE, zorder=0)
    totals = {}
    for sign, shade in ((1, ORANGE), (0, GREY), (-1, BLUE)):
        some = [(x, y, n) for (x, y), n in counts.items() if np.sign(y - x) == sign]
        totals[sign] = sum(n for _, _, n in some)
        if some:
            x, y, n = np.array(some).T
            axes.scatter(x, y, size * n, color=shade, alpha=0.55, linewidths=0, clip_on=False)
    axes.set(xlim=(-0.04, 1.04), ylim=(-0.04, 1.04), aspect="equal")
    axes.set_xlabel(f"{names[0]} (better on {totals[-1]} of {len(pairs)})", color=BLUE)
    axes.set_ylabel(f"{names[1]} (better on {totals[1]})", color=DARK_ORANGE)
    if title:
        axes.set_title(title)
    return figure
