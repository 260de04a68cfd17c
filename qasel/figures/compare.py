"""Systems side by side: the matrix as a heat map, quality against cost, question by question."""

from collections.abc import Callable, Sequence

import pandas as pd

from qasel.evaluation.measures import NAMES
from qasel.figures.differences import Difference, differences
from qasel.figures.grid import grid
from qasel.figures.scatter import Point, agreement, labelled
from qasel.figures.style import HouseFigure
from qasel.results.compare import ADJUSTED, ALPHA, CLEAR, Matrix, entries
from qasel.results.runs import SAMPLE, Target

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
