"""Systems side by side: the matrix as a heat map, quality against cost, question by question."""

from collections.abc import Callable, Iterable

import pandas as pd

from qasel.evaluation.measures import NAMES
from qasel.figures.differences import Difference, differences
from qasel.figures.grid import grid
from qasel.figures.scatter import Point, agreement, labelled
from qasel.figures.style import HouseFigure, colour
from qasel.results.ledger import Row
from qasel.results.matrix import ALPHA, Matrix
from qasel.results.outcomes import Target, outcomes

NAME = "compare"
"""What `qasel figures` calls these."""
LEADERS = 5
"""Systems of each data set that `figures` shows, best first."""


def figures(
    rows: Iterable[Row] | None = None, note: Callable[[str], None] = print
) -> dict[str, HouseFigure]:
    """The figures of the ledger by name: the best systems of each data set, and all by cost."""
    matrix = Matrix.of(outcomes(rows))
    if not matrix.cells:
        note(f"{NAME}: skipped, the ledger has no runs at the paper's scale")
        return {}
    return {
        f"{NAME}-matrix": score_matrix(matrix.only(matrix.leaders(LEADERS))),
        f"{NAME}-cost": quality_cost(matrix),
    }


def score_matrix(matrix: Matrix, title: str | None = None) -> HouseFigure:
    """Systems × data sets: means, shaded from the lowest to the highest of each data set."""
    values = [
        [
            matrix.cells[system, target].mean if (system, target) in matrix.cells else None
            for target in matrix.targets
        ]
        for system in matrix.systems
    ]
    columns = [f"{target.name}\n{len(matrix.questions(target))}" for target in matrix.targets]
    told = f"{NAMES[matrix.measure]} over seeds; below the data set's name, its test questions"
    return grid(values, matrix.systems, columns, title=title, note=told)


def quality_cost(matrix: Matrix, title: str | None = None) -> HouseFigure:
    """A panel a data set: mean quality against seconds to train; what learns nothing stands left.

    Where there are many, those are named that no system beats in both.
    """
    panels = {target.name: _points(matrix, target) for target in matrix.targets}
    measure = NAMES[matrix.measure]
    note = "left edge: nothing to train; hollow: another system is no worse and trained as soon"
    return labelled(panels, xlabel="seconds to train", ylabel=measure, title=title, note=note)


def _points(matrix: Matrix, target: Target) -> list[Point]:
    column = matrix.column(target)
    return [Point(cell.seconds, cell.mean, name, colour(name)) for name, cell in column.items()]


def questions(matrix: Matrix, target: Target, first: str, second: str) -> HouseFigure:
    """Every question of a data set: what one system makes of it against what another does."""
    a, b = (matrix.cells[system, target].values for system in (first, second))
    pairs = [(a[question], b[question]) for question in a if question in b]
    measure = NAMES[matrix.measure].removeprefix("M")
    return agreement(pairs, (f"{measure}, {first}", f"{measure}, {second}"), title=target.name)


def worth(frame: pd.DataFrame, title: str | None = None) -> HouseFigure:
    """What ideas are worth, a line a data set, from the frame that `ideas.worth` gives."""
    lines = [
        Difference(
            line.idea,
            f"{line.data}  {line.runs}",
            line.difference,
            line.low,
            line.high,
            line.p < ALPHA,
        )
        for line in frame.itertuples()
    ]
    xlabel = "difference with the idea, 95 % over questions (left: runs with / without it)"
    return differences(lines, xlabel=xlabel, title=title)
