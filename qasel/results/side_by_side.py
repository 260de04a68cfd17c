"""The matrix as text: Markdown, LaTeX, CSV."""

import string
from collections.abc import Sequence

import pandas as pd

from qasel.errors import QaselError
from qasel.evaluation.measures import NAMES
from qasel.results.matrix import ALPHA, Cell, Matrix
from qasel.results.outcomes import QUICK, Target
from qasel.results.tables import FEWEST, escape_latex
from qasel.results.titled import Marked, Table

COLUMNS = [
    "paper", "system", "vectors", "dataset", "protocol", "under", "scale", "measure", "questions",
    "runs", "mean", "std", "seed_low", "seed_high", "question_low", "question_high",
    "wins", "ties", "losses", "beats", "seconds", "parameters", "ranked_per_second",
]  # fmt: skip
"""Of the CSV, one line a cell: `under` and `scale` as in an `Outcome`, measures in 0..1, `std` and
the seeds' 95 % interval empty for one seed and for folds, the tally empty where a system is not
compared, `beats` with `; ` between."""


def render(matrix: Matrix, format_: str = "md") -> str:
    """The matrix as `md`, `latex` (booktabs) or `csv`; ends with a newline.

    `md` and `latex` have a table of means with superscripts, one of details a data set, and notes.
    """
    if format_ == "csv":
        return frame(matrix).to_csv(index=False, float_format="%.6g", lineterminator="\n")
    if format_ not in ("md", "latex"):
        raise QaselError(f"unknown format {format_!r}; known: md, csv, latex")
    tables = [overview(matrix), *(detail(matrix, target) for target in matrix.targets)]
    notes = notes_of(matrix)
    if format_ == "md":
        told = [table.markdown() for table in tables]
        return "\n".join([*told, *(f"{note}\n" for note in notes)])
    told = [table.latex() for table in tables]
    return "\n".join([*told, *(f"\\par {escape_latex(note)}\n" for note in notes)])


def frame(matrix: Matrix) -> pd.DataFrame:
    """One line a cell, with `COLUMNS`."""
    lines = []
    for target in matrix.targets:
        for system, cell in matrix.column(target).items():
            deviation, half = cell.over_seeds
            tally = matrix.tally(system, target) or (None, None, None)
            seeds = (None, None) if half is None else (cell.mean - half, cell.mean + half)
            cost = (cell.seconds, cell.parameters, cell.ranked_per_second)
            what = (
                cell.paper,
                system,
                cell.vectors,
                *target,
                cell.under,
                cell.scale,
                matrix.measure,
            )
            counts = (len(cell.values), cell.runs)
            beaten = "; ".join(matrix.beaten(system, target))
            ends = (*seeds, *(cell.over_questions or (None, None)))
            lines.append((*what, *counts, cell.mean, deviation, *ends, *tally, beaten, *cost))
    whole = dict.fromkeys(("wins", "ties", "losses"), "Int64")
    return pd.DataFrame(lines, columns=COLUMNS).astype(whole)


def letters(matrix: Matrix) -> dict[str, str]:
    """A letter a system, in the matrix's order; numbers where the alphabet is too short."""
    systems = matrix.systems
    marks = list(string.ascii_lowercase)
    if len(systems) > len(marks):
        marks = [str(number) for number in range(1, len(systems) + 1)]
    return dict(zip(systems, marks, strict=False))


def overview(matrix: Matrix) -> Table:
    """Systems × data sets: means, and superscripts for the systems that each one beats there."""
    known = letters(matrix)
    cells: list[list[str | Marked]] = []
    for system in matrix.systems:
        line = [matrix.cells.get((system, target)) for target in matrix.targets]
        paper = next(cell.paper for cell in line if cell)
        marked = [_marked(matrix, system, target, known) for target in matrix.targets]
        cells.append([known[system], system, paper, *marked])
    header = ["", "system", "paper", *(target.name for target in matrix.targets)]
    title = f"{NAMES[matrix.measure]}, mean over seeds"
    return Table(title, header, cells, set(range(3, len(header))))


def _marked(matrix: Matrix, system: str, target: Target, known: dict[str, str]) -> str | Marked:
    cell = matrix.cells.get((system, target))
    if cell is None:
        return "–"
    if system in matrix.left_out(target):
        return f"{cell.mean:.3f} ({len(cell.values)} questions)"
    places = list(known)
    beaten = sorted(matrix.beaten(system, target), key=places.index)
    return f"{cell.mean:.3f}", _ranges([places.index(name) for name in beaten], known)


def _ranges(places: Sequence[int], known: dict[str, str]) -> str:
    """The marks of the systems at some places; three or more in a row as `a–c`."""
    marks = list(known.values())
    rows: list[list[int]] = []
    for place in places:
        if rows and place == rows[-1][-1] + 1:
            rows[-1].append(place)
        else:
            rows.append([place])
    told = (
        [f"{marks[row[0]]}–{marks[row[-1]]}"] if len(row) > 2 else [marks[place] for place in row]
        for row in rows
    )
    return ",".join(mark for part in told for mark in part)


DETAILS = [
    "± over seeds", "95 % over questions", "runs", "wins / ties / losses",
    "s to train", "parameters", "ranked a second",
]  # fmt: skip
"""Columns of a cell's details, after the mean."""


def detail(matrix: Matrix, target: Target) -> Table:
    """The systems on a data set, best first: intervals, tally, cost."""
    known = letters(matrix)
    column = matrix.column(target)
    cells = [
        [known[system], system, cell.paper, *details(matrix, system, target)]
        for system, cell in column.items()
    ]
    header = ["", "system", "paper", NAMES[matrix.measure], *DETAILS]
    return Table(told(matrix, target), header, cells, set(range(3, len(header))))


def short(
    matrix: Matrix, target: Target, columns: Sequence[str] = DETAILS, count: int | None = None
) -> Table:
    """The `count` best systems on a data set (None: all) with some of their `DETAILS`."""
    cells: list[list[str]] = []
    for system in list(matrix.column(target))[:count]:
        mean, *rest = details(matrix, system, target)
        known = dict(zip(DETAILS, rest, strict=True))
        cells.append([system, mean, *(known[column] for column in columns)])
    title = told(matrix, target)
    if len(cells) < len(matrix.column(target)):
        title += f"; the best {len(cells)}"
    header = ["system", NAMES[matrix.measure], *columns]
    return Table(title, header, cells, set(range(1, len(header))))


def told(matrix: Matrix, target: Target) -> str:
    """A target with the numbers of its questions and systems."""
    asked, ran = len(matrix.questions(target)), len(matrix.column(target))
    questions, systems = ("" if number == 1 else "s" for number in (asked, ran))
    return f"{target.name}: {asked} question{questions}, {ran} system{systems}"


def details(matrix: Matrix, system: str, target: Target) -> list[str]:
    """The mean of a cell and its `DETAILS`, as they are printed."""
    cell = matrix.cells[system, target]
    _, half = cell.over_seeds
    ends = cell.over_questions
    tally = matrix.tally(system, target)
    return [
        f"{cell.mean:.3f}",
        f"{half:.3f}" if half is not None and len(cell.means) >= FEWEST else "–",
        f"{ends[0]:.3f} to {ends[1]:.3f}" if ends else "–",
        _runs(cell),
        str(tally) if tally else "not compared",
        f"{cell.seconds:,.0f}" if cell.seconds >= 10 else f"{cell.seconds:.1f}",
        _number(cell.parameters),
        _number(cell.ranked_per_second),
    ]


def _runs(cell: Cell) -> str:
    number = str(cell.runs) if cell.means else f"{cell.runs} folds"
    told = [cell.under] * bool(cell.under) + [QUICK] * (cell.scale == QUICK)
    return f"{number} ({', '.join(told)})" if told else number


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value / 1e6:.1f} M" if value >= 1e6 else f"{value:,.0f}"


def notes_of(matrix: Matrix) -> list[str]:
    """How to read the tables, and what could not be compared."""
    notes = [
        "A win, a loss and a superscript each stand for "
        f"p < {ALPHA:g} by the randomised Tukey HSD over questions (each question's mean over "
        "seeds), corrected for all systems of the data set. ± over seeds: half of the 95 % t "
        f"interval; – for fewer than {FEWEST} seeds, and for folds, which share no question. "
        "Over questions: 95 % bootstrap interval. Cost: means over runs, each on its own device, "
        "without what an earlier run had left to build on (features, a first stage); – where it "
        "was not measured. Parameters: all numbers that training sets, with the word vectors where "
        "those are trained."
    ]
    if wider := sorted({cell.under for cell in matrix.cells.values() if cell.under}):
        told = " or ".join(wider)
        notes.append(
            f"Runs ({told}): trained and chosen under that protocol, whose test has these "
            "questions and a few more; measured on these."
        )
    if any(cell.scale == QUICK for cell in matrix.cells.values()):
        notes.append(
            f"Runs ({QUICK}): with settings made for the sample, which is too small for the "
            "papers' own."
        )
    for target in matrix.targets:
        others = matrix.left_out(target)
        if others:
            told = ", ".join(f"{system} ({count})" for system, count in others.items())
            asked = len(matrix.questions(target))
            notes.append(f"Not compared on {target.name}, run on other than its {asked}: {told}.")
    return notes
