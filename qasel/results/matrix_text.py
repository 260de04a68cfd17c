"""The matrix of systems and data sets as text: means, intervals, wins and ties, cost."""

import string
from collections.abc import Mapping
from itertools import groupby
from typing import Any

import pandas as pd

from qasel.evaluation import bootstrap_interval
from qasel.evaluation.measures import NAMES
from qasel.results import tables
from qasel.results.compare import ALPHA, INTERVAL
from qasel.results.matrix import systems, targets
from qasel.results.runs import QUICK, target_name

COLUMNS = [
    "paper", "system", "vectors", "dataset", "protocol", "under", "scale", "measure", "questions",
    "runs", "mean", "std", "low", "high",
    "wins", "ties", "losses", "beats", "seconds", "parameters", "ranked_per_second",
]  # fmt: skip
"""Columns of the CSV, one line per system and target: `under` as in `entries`, measures in 0..1,
`std` over runs (empty for one run and for folds), `low` to `high` the 95 % interval; wins, ties and
losses are empty for a system that is not compared; `beats` is separated by `; `."""


def render(cells: pd.DataFrame, format_: str = "md") -> str:
    """A matrix from `with_tests` as `md`, `latex` (booktabs) or `csv`; ends with a newline.

    `md` and `latex` have a table of means with superscripts, one of details per data set, and
    notes.
    """
    if format_ == "csv":
        frame = cells.reset_index()
        frame[["dataset", "_", "protocol"]] = frame["target"].str.rpartition("/")
        ends = [interval(runs) or (None, None) for runs in frame["by_seed"]]
        frame[["low", "high"]] = pd.DataFrame(ends)
        frame["beats"] = frame["beats"].map("; ".join)
        return tables.csv_of(frame[COLUMNS])
    marks = letters(cells)
    parts = {f"{NAMES[cells['measure'].iloc[0]]}, mean over seeds": overview(cells)}
    for target in targets(cells):
        column = cells.loc[target]
        frame = details(column)
        frame.insert(0, "paper", column["paper"])
        frame.insert(0, "", [marks[system] for system in column.index])
        frame.insert(1, "system", column.index)
        parts[counted(cells, target)] = frame
    return tables.as_text(parts, notes_of(cells), format_)


def interval(runs: pd.DataFrame) -> tuple[float, float] | None:
    """The 95 % interval of a mean, given its table `by_seed`; None for one question."""
    return bootstrap_interval(runs.to_numpy()) if runs.shape[1] > 1 else None


def letters(cells: pd.DataFrame) -> dict[str, str]:
    """A letter per system, in the order in which they came; numbers where letters run out."""
    names = systems(cells)
    marks = string.ascii_lowercase if len(names) <= 26 else map(str, range(1, len(names) + 1))
    return dict(zip(names, marks, strict=False))


def overview(cells: pd.DataFrame) -> pd.DataFrame:
    """Systems × data sets: means, with superscripts for the systems that each one beats there."""
    marks = letters(cells)
    means = pd.Series([_marked(cell, marks) for cell in cells.itertuples()], cells.index)
    table = means.unstack("target").loc[systems(cells), targets(cells)]
    table = table.rename(columns=target_name).fillna("–")
    table.insert(0, "paper", cells["paper"].groupby("system").first())
    table.insert(0, "system", table.index)
    table.insert(0, "", table.index.map(marks))
    return table


def _marked(cell: Any, marks: Mapping[str, str]) -> str:
    """A mean, with the letters of the systems beaten; three or more in a row as `a–c`."""
    if not cell.compared:
        return f"{cell.mean:.3f} ({cell.questions} questions)"
    places, names = list(marks), list(marks.values())
    beaten = sorted(places.index(name) for name in cell.beats)
    parts = []
    for _, group in groupby(enumerate(beaten), lambda x: x[1] - x[0]):
        run = [names[place] for _, place in group]
        parts.append(f"{run[0]}–{run[-1]}" if len(run) > 2 else ",".join(run))
    return f"{cell.mean:.3f}" + (f"<sup>{','.join(parts)}</sup>" if parts else "")


DEVIATION, TALLY = "± over runs", "wins / ties / losses"
READING = (
    f"A win, a loss and a superscript each stand for p < {ALPHA:g} by a paired bootstrap of the "
    "questions and of the seeds that both systems have. The family “columns”, all pairs of a data "
    "set but those with random, is corrected by Holm. Where two systems share one seed, or have "
    "folds, the variance over seeds is not in the test: another seed may come out otherwise. "
    f"{INTERVAL}: of the mean, by the same bootstrap; with two runs it is wide, and may pass 1. "
    f"{DEVIATION}: standard deviation; – for one "
    "run, and for folds, which share no question. Parameters: all numbers that training sets, with "
    "the word vectors where those are trained."
)


def details(column: pd.DataFrame) -> pd.DataFrame:
    """The lines of one target as printed, best first: intervals, tally, cost."""
    lines = []
    for cell in column.itertuples():
        ends = interval(cell.by_seed)
        remarks = ", ".join([cell.under] * bool(cell.under) + [QUICK] * (cell.scale == QUICK))
        runs = str(cell.runs) if cell.means else f"{cell.runs} folds"
        tally = f"{cell.wins} / {cell.ties} / {cell.losses}"
        line = {
            NAMES[cell.measure]: f"{cell.mean:.3f}",
            INTERVAL: f"{ends[0]:.3f} to {ends[1]:.3f}" if ends else "–",
            DEVIATION: "–" if pd.isna(cell.std) else f"{cell.std:.3f}",
            "runs": f"{runs} ({remarks})" if remarks else runs,
            TALLY: "not compared" if pd.isna(cell.wins) else tally,
            "seconds to train": _seconds(cell.seconds),
            "parameters": _number(cell.parameters),
            "candidates per second": _number(cell.ranked_per_second),
        }
        lines.append(line)
    return pd.DataFrame(lines, column.index)


def worth_its_cost(column: pd.DataFrame) -> pd.DataFrame:
    """For each system of one target, best first, the cheaper ones that it is clearly better than.

    `column` has the target's lines of `with_tests`; `cheaper` counts the systems that train faster.
    """
    lines = []
    for system, cell in column[column["compared"] & column["seconds"].notna()].iterrows():
        cheaper = column.index[column["compared"] & (column["seconds"] < cell["seconds"])]
        beaten = [name for name in cell["beats"] if name in cheaper]
        lines.append((system, round(cell["mean"], 3), _seconds(cell["seconds"]), len(cheaper),
                      len(beaten), ", ".join(beaten)))  # fmt: skip
    measure = NAMES[column["measure"].iloc[0]]
    columns = ["system", measure, "seconds to train", "cheaper", "beaten", "clearly better than"]
    return pd.DataFrame(lines, columns=columns).set_index("system")


def _seconds(value: float) -> str:
    if pd.isna(value):
        return "–"
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def _number(value: float) -> str:
    if pd.isna(value):
        return "–"
    return f"{value / 1e6:.1f} M" if value >= 1e6 else f"{value:,.0f}"


def counted(cells: pd.DataFrame, target: str) -> str:
    """A target's name, with its numbers of questions and systems."""
    column = cells.loc[target]
    asked, ran = column.loc[column["compared"], "questions"].iloc[0], len(column)
    questions, systems = ("" if number == 1 else "s" for number in (asked, ran))
    return f"{target_name(target)}: {asked} question{questions}, {ran} system{systems}"


def notes_of(cells: pd.DataFrame) -> list[str]:
    """How to read the tables, and what could not be compared."""
    notes = [READING]
    where = cells["device"].iloc[0] or "one machine"
    notes.append(
        f"Cost: means over runs on one device, {where}, without the first stage of an agent "
        "and without features that an earlier run had left; – where it was not measured there."
    )
    if wider := sorted(set(cells["under"]) - {""}):
        notes.append(
            f"Runs ({' or '.join(wider)}): trained and chosen under that protocol, whose test has "
            "these questions and a few more; measured on these."
        )
    if (cells["scale"] == QUICK).any():
        notes.append(
            f"Runs ({QUICK}): with settings made for the sample, which is too small for the "
            "papers' own."
        )
    for target, others in cells[~cells["compared"]].groupby("target", sort=False):
        named = ", ".join(f"{key[1]} ({n})" for key, n in others["questions"].items())
        asked = cells.loc[target].query("compared")["questions"].iloc[0]
        notes.append(
            f"Not compared on {target_name(target)}, run on other than its {asked}: {named}."
        )
    return notes
