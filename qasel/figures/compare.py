"""Systems side by side: the matrix, quality against cost, and two systems question by question."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from qasel.errors import QaselError
from qasel.evaluation.measures import NAMES
from qasel.figures.charts import Difference, differences, grid
from qasel.figures.style import BLUE, GREY, ORANGE, PALE, HouseFigure, house_style, new_figure
from qasel.results.compare import ADJUSTED, ALPHA, CLEAR, entries, matrix, systems, targets
from qasel.results.runs import SAMPLE, target_name

NAME = "compare"
"""What `qasel figures` calls these."""
LEADERS = 3
"""Systems of each data set that `figures` shows, best first."""
PANELS = ("wikiqa/answered", "trecqa/clean", "semeval-cqa/a-2016", "semeval-cqa/b-2016")
"""A target of each task: what is shown of quality against cost."""
LEAST_SECONDS = 0.1
"""Below it the axis of seconds is linear, so that what costs nothing has a place too."""
NAMED = 8
"""Up to so many systems of a panel are all named; of more, the best buys."""
STEP = 0.01
"""Of those, the cheapest, each that is so much better than the one named before, and the best."""
SMALLEST, LARGEST = 28.0, 1_500.0
"""Areas of a dot that is one question, and of the largest, which all others shrink with."""
DARK_ORANGE = "#9A6A00"
"""Orange that can be read as text."""


def figures(runs: pd.DataFrame, note: Callable[[str], None] = print) -> dict[str, HouseFigure]:
    """The figures of all runs by name: the best systems of each data set, and all by cost."""
    cells = matrix(entries(runs))
    if cells.empty:
        note(f"{NAME}: skipped, the ledger has no runs at the paper's scale")
        return {}
    real = [target for target in targets(cells) if not target.startswith(f"{SAMPLE}/")]
    return {
        f"{NAME}-matrix": score_matrix(leaders(part(cells, real))),
        f"{NAME}-cost": quality_cost(part(cells)),
    }


def part(cells: pd.DataFrame, wanted: Collection[str] = PANELS) -> pd.DataFrame:
    """The matrix on those of some targets (`wikiqa/answered`) that it has; if none, all of it."""
    some = cells[cells.index.isin(wanted, level="target")]
    return cells if some.empty else some


def leaders(cells: pd.DataFrame, count: int = LEADERS) -> pd.DataFrame:
    """The matrix with only the systems that are among the `count` best on some target."""
    best = cells.groupby("target").head(count).index.unique("system")
    return cells[cells.index.isin(best, level="system")]


def score_matrix(cells: pd.DataFrame, title: str | None = None) -> HouseFigure:
    """Systems × data sets: means, shaded from the lowest to the highest of each data set."""
    rows, columns = systems(cells), targets(cells)
    values = cells["mean"].unstack("target").reindex(index=rows, columns=columns)
    asked = cells[cells["compared"]].groupby("target")["questions"].first()
    names = [  # in two lines, so that seven columns fit on a page
        target_name(t).replace(" (", "\n(").replace("SemEval-", "SemEval\n") + f"\n{asked[t]}"
        for t in columns
    ]
    measure = NAMES[cells["measure"].iloc[0]]
    note = f"{measure} over seeds; below the data set's name, its test questions"
    return grid(values.to_numpy(), rows, names, title=title, note=note)


@house_style
def quality_cost(cells: pd.DataFrame, title: str | None = None) -> HouseFigure:
    """A panel per data set: mean quality against seconds to train, and the line of best buys."""
    shown = targets(cells)
    columns = min(2, len(shown))
    lines = -(-len(shown) // columns)
    figure = new_figure(12, 0.5 + 3.1 * lines)
    drawn = figure.subplots(lines, columns, squeeze=False)
    for axes in list(drawn.flat)[len(shown) :]:
        axes.set_visible(False)
    for axes, target in zip(drawn.flat, shown, strict=False):
        _panel(axes, cells.loc[target])
        axes.set(xlabel="seconds to train", ylabel=NAMES[cells["measure"].iloc[0]])
        axes.set_title(target_name(target))
    told = "filled, and on the line: no other system is as good for less"
    figure.supxlabel(told, fontsize=10, color=GREY)
    if title:
        figure.suptitle(title)
    return figure


def _panel(axes: Axes, column: pd.DataFrame) -> None:
    """Dots numbered as in the list of names beside the panel, best first."""
    best = best_buys(column)
    named = column.index if len(column) <= NAMED else worth_naming(best)
    for system, x, y in column[["seconds", "mean"]].itertuples():
        face = BLUE if system in best.index else "white"
        shade = BLUE if system in best.index else GREY
        number = [*named].index(system) + 1 if system in named else None
        label = f"{number}  {system}" if number else None
        axes.plot(x, y, "o", color=shade, mfc=face, markeredgewidth=1.5, label=label)
        if number:
            axes.annotate(
                f"{number}", (x, y), (-3, 4), textcoords="offset points", ha="right", fontsize=9
            )
    axes.set_xscale("symlog", linthresh=LEAST_SECONDS)
    axes.set_xlim(-LEAST_SECONDS / 3, 2 * max(column["seconds"].max(), LEAST_SECONDS))
    dear = axes.get_xlim()[1]
    axes.step([*best["seconds"], dear], [*best["mean"], best["mean"].iloc[-1]], where="post",
              color=BLUE, alpha=0.5)  # fmt: skip
    axes.margins(y=0.1)
    axes.xaxis.set_major_formatter("{x:,g}")
    axes.tick_params(labelsize=8.5)
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=9, handlelength=1)


def best_buys(column: pd.DataFrame) -> pd.DataFrame:
    """The systems that no other matches at less cost, nor exceeds at the same; cheapest first."""
    column = column.sort_values(["seconds", "mean"], ascending=[True, False], kind="stable")
    return column[column["mean"] > column["mean"].cummax().shift(fill_value=-1.0)]


def worth_naming(best: pd.DataFrame) -> list[str]:
    """Of the best buys, those that a panel with many systems names (`STEP`); best first."""
    named: list[str] = []
    for system, mean in best["mean"].items():
        if not named or mean >= best["mean"][named[-1]] + STEP or system == best.index[-1]:
            named.append(str(system))
    return named[::-1]


def questions(cells: pd.DataFrame, target: str, first: str, second: str) -> HouseFigure:
    """Every question of a data set: what one system makes of it against what another does."""
    a, b = (cells.loc[(target, system), "values"] for system in (first, second))
    pairs = [(a[question], b[question]) for question in a if question in b]
    measure = NAMES[cells["measure"].iloc[0]].removeprefix("M")
    names = f"{measure}, {first}", f"{measure}, {second}"
    return agreement(pairs, names, title=target_name(target))


@house_style
def agreement(
    pairs: Sequence[tuple[float, float]], names: tuple[str, str], *, title: str | None = None
) -> HouseFigure:
    """Two values of each question in 0..1, one per axis; the larger a dot, the more questions.

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


def worth(frame: pd.DataFrame, title: str | None = None, measure: str = "map") -> HouseFigure:
    """What ideas are worth by a measure, a line per data set, from the frame of that name."""
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
