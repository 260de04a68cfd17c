"""Scatters: labelled points of quality against cost, and two values of the same questions."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from qasel.errors import QaselError
from qasel.evaluation.measures import NAMES
from qasel.figures.charts import Difference, differences, grid
from qasel.figures.style import BLUE, GREY, INK, ORANGE, PALE, HouseFigure, house_style, new_figure
from qasel.results.compare import ADJUSTED, ALPHA, CLEAR, Matrix, entries
from qasel.results.runs import SAMPLE, Target

LEAST_SECONDS = 0.1
"""What costs no more has no place on a logarithmic axis: it stands left of it, at `none`."""
NAMED = 8
"""Up to so many points of a panel are all named; of more, the best buys."""
STEP = 0.01
"""Of those, the cheapest, each that is so much better than the one named before, and the best."""
RIGHT = 1.03
"""Left end of the names, as a share of the panel's width."""
SMALLEST, LARGEST = 28.0, 1_500.0
"""Areas of a dot that is one question, and of the largest, which all others shrink with."""
DARK_ORANGE = "#9A6A00"
"""Orange that can be read as text."""
LINE = 0.085
"""Height of a name, as a share of the panel's."""


class Point(NamedTuple):
    """A named point: what it costs, how good it is."""

    x: float
    y: float
    name: str


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
    """A panel each, x on a logarithmic scale, and in steps the most that a price has bought.

    Names stand in a column at the right, so that no two overlap; thin lines that do not cross
    join them to their points.
    """
    if not panels:
        raise QaselError("nothing to draw: there are no points")
    columns = min(columns, len(panels))
    lines = -(-len(panels) // columns)
    figure = new_figure(4.75 * max(columns, 2), 0.5 + 2.9 * lines)
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
    dear = [point.x for point in points if point.x > LEAST_SECONDS]
    least = min(dear, default=LEAST_SECONDS) / 3
    placed = [p if p.x > LEAST_SECONDS else p._replace(x=least) for p in points]
    best = front(placed)
    _price_axis(axes, least, [point.x for point in placed])
    for point in placed:
        buy = point in best
        shade, face = (BLUE, BLUE) if buy else (GREY, "white")
        axes.plot(point.x, point.y, "o", color=shade, mfc=face, markeredgewidth=1.5, zorder=3 + buy)
    _, right = axes.get_xlim()
    steps = [*best, best[-1]._replace(x=right)]
    axes.step(*zip(*((p.x, p.y) for p in steps), strict=True), where="post", color=BLUE, alpha=0.5)
    bottom, top = axes.get_ylim()
    margin = max(0.03 * (top - bottom), 1e-3)
    axes.set_ylim(bottom - margin, top + margin)
    _names(axes, placed if len(placed) <= NAMED else steps_of(best))


def _price_axis(axes: Axes, least: float, places: Sequence[float]) -> None:
    """A logarithmic axis for these places; what stands at `least` cost nothing."""
    high = max(places) * 1.6
    axes.set_xscale("log")
    axes.set_xlim(least / 1.6 if least in places else least * 1.6, high)
    decades = np.log10(high / least)
    digits = (1, 2, 5) if decades < 2 else (1, 3) if decades < 3 else (1,)
    powers = range(int(np.floor(np.log10(least))), int(np.ceil(np.log10(high))) + 1)
    ticks = [digit * 10.0**power for power in powers for digit in digits]
    ticks = [tick for tick in ticks if 2 * least < tick < high / 1.2]
    free = [least] if least in places else []
    axes.set_xticks(free + ticks, ["none"] * len(free) + [f"{tick:,g}" for tick in ticks])
    axes.minorticks_off()
    axes.tick_params(labelsize=9.5)


def _names(axes: Axes, points: Sequence[Point]) -> None:
    """Names in a column at the right, each joined to its point; the lines do not cross."""
    low, high = np.log(axes.get_xlim())
    bottom, top = axes.get_ylim()
    across = [(np.log(point.x) - low) / (high - low) for point in points]
    up = [(point.y - bottom) / (top - bottom) for point in points]
    order = np.argsort(up, kind="stable")
    inside = 1 - LINE / 2  # above it a name would touch the panel's title
    heights = dict(zip(order, spaced([up[i] for i in order], LINE, inside), strict=True))
    uncross(across, up, heights)
    for i, point in enumerate(points):
        axes.annotate(
            point.name,
            (point.x, point.y),
            xytext=(RIGHT, heights[i]),
            textcoords="axes fraction",
            va="center",
            fontsize=10,
            color=INK,
            annotation_clip=False,
            zorder=1,
            # The line ends where the name begins, at half its height.
            arrowprops={
                "arrowstyle": "-",
                "color": GREY,
                "linewidth": 0.5,
                "relpos": (0.0, 0.5),
                "shrinkA": 2,
            },
        )


def uncross(across: Sequence[float], up: Sequence[float], heights: dict[int, float]) -> None:
    """Swap places at the right, until no two lines to them cross.

    All in shares of the panel; each swap makes the lines shorter together, so that this ends.
    """

    def height(i: int, x: float) -> float:
        return up[i] + (heights[i] - up[i]) * (x - across[i]) / (RIGHT - across[i])

    crossed = True
    while crossed:
        crossed = False
        for i, j in combinations(heights, 2):
            x = max(across[i], across[j])
            if (height(i, x) - height(j, x)) * (heights[i] - heights[j]) < -1e-12:
                heights[i], heights[j] = heights[j], heights[i]
                crossed = True


def steps_of(best: Sequence[Point]) -> list[Point]:
    """Of the best buys, cheapest first: those that a panel with many points names (`STEP`)."""
    named: list[Point] = []
    for point in best:
        if not named or point.y >= named[-1].y + STEP or point == best[-1]:
            named.append(point)
    return named


def front(points: Sequence[Point]) -> list[Point]:
    """The points that no other matches at less cost, nor exceeds at the same; cheapest first."""
    best: list[Point] = []
    for point in sorted(points, key=lambda p: (p.x, -p.y)):
        if not best or point.y > best[-1].y:
            best.append(point)
    return best


def spaced(places: Sequence[float], gap: float, top: float = 1.0) -> list[float]:
    """Ascending places in 0..1, moved as little as it takes for each to be `gap` above the last.

    None is above `top`, and they stay above 0 as long as there is room.
    """
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + gap) if moved else place)
    ceiling = top
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


NAME = "compare"
"""What `qasel figures` calls these."""
LEADERS = 3
"""Systems of each data set that `figures` shows, best first."""
PANELS = ("wikiqa/answered", "trecqa/clean", "semeval-cqa/a-2016", "semeval-cqa/b-2016")
"""A target of each task: what is shown of quality against cost."""


def figures(runs: pd.DataFrame, note: Callable[[str], None] = print) -> dict[str, HouseFigure]:
    """The figures of all runs by name: the best systems of each data set, and all by cost."""
    matrix = Matrix.of(entries(runs))
    if not matrix.cells:
        note(f"{NAME}: skipped, the ledger has no runs at the paper's scale")
        return {}
    real = part(matrix, [t.key for t in matrix.targets if t.dataset != SAMPLE])
    return {
        f"{NAME}-matrix": score_matrix(real.only(real.leaders(LEADERS))),
        f"{NAME}-cost": quality_cost(part(matrix, PANELS)),
    }


def part(matrix: Matrix, targets: Sequence[str] = PANELS) -> Matrix:
    """The matrix on those of some targets (`wikiqa/answered`) that it has; if none, all of it."""
    known = {target.key for target in matrix.targets}
    return matrix.only(data=[key for key in targets if key in known])


def score_matrix(matrix: Matrix, title: str | None = None) -> HouseFigure:
    """Systems × data sets: means, shaded from the lowest to the highest of each data set."""
    values = [
        [
            matrix.cells[system, target].mean if (system, target) in matrix.cells else None
            for target in matrix.targets
        ]
        for system in matrix.systems
    ]
    # In two lines, so that seven columns fit on a page.
    names = [t.name.replace(" (", "\n(").replace("SemEval-", "SemEval\n") for t in matrix.targets]
    asked = [len(matrix.questions(target)) for target in matrix.targets]
    columns = [f"{name}\n{count}" for name, count in zip(names, asked, strict=True)]
    told = f"{NAMES[matrix.measure]} over seeds; below the data set's name, its test questions"
    return grid(values, matrix.systems, columns, title=title, note=told)


def quality_cost(matrix: Matrix, title: str | None = None) -> HouseFigure:
    """A panel a data set: mean quality against seconds to train, and the line of the best buys."""
    panels = {target.name: _points(matrix, target) for target in matrix.targets}
    measure = NAMES[matrix.measure]
    note = (
        "filled, and on the line: no other system is as good for less; "
        "none: a tenth of a second at most"
    )
    return labelled(panels, xlabel="seconds to train", ylabel=measure, title=title, note=note)


def _points(matrix: Matrix, target: Target) -> list[Point]:
    column = matrix.column(target)
    return [Point(cell.seconds, cell.mean, name) for name, cell in column.items()]


def questions(matrix: Matrix, target: Target, first: str, second: str) -> HouseFigure:
    """Every question of a data set: what one system makes of it against what another does."""
    a, b = (matrix.cells[system, target].values for system in (first, second))
    pairs = [(a[question], b[question]) for question in a if question in b]
    measure = NAMES[matrix.measure].removeprefix("M")
    return agreement(pairs, (f"{measure}, {first}", f"{measure}, {second}"), title=target.name)


def worth(frame: pd.DataFrame, title: str | None = None, measure: str = "map") -> HouseFigure:
    """What ideas are worth by a measure, a line a data set, from the frame of that name."""
    lines = [
        Difference(
            line["idea"],
            f"{line['data']}  {line['runs']}",
            line["difference"],
            line["low"],
            line["high"],
            line[ADJUSTED] < ALPHA,
            line[CLEAR],
        )
        for line in frame.to_dict("records")
    ]
    note = "lines: 95 % over questions; numbers: runs with / without the idea"
    return differences(lines, xlabel=f"difference in {NAMES[measure]}", note=note, title=title)
