"""The README's tables, ours beside the papers' and each other: `python tools/readme.py`."""

from typing import Any

import pandas as pd

from qasel.errors import QaselError
from qasel.locations import ROOT
from qasel.papers import PAPERS, ROOMS
from qasel.results import Room
from qasel.results.compare import DETAILS, Matrix, counted, details, entries, notes_of
from qasel.results.runs import read_runs
from qasel.results.tables import (
    BELOW,
    FEWEST,
    NOT_RUN,
    REPRODUCED,
    both,
    comparison,
    counts,
    markdown_table,
    notes,
    own_numbers,
    side_by_side,
    tally,
)

README = ROOT / "README.md"
BEGIN, END = "<!-- results:begin -->", "<!-- results:end -->"
COMPARE_BEGIN, COMPARE_END = "<!-- compare:begin -->", "<!-- compare:end -->"
LEADERS = 3
"""Systems of each data set in the table of systems side by side."""


def block(runs: pd.DataFrame) -> str:
    """What stands between the first markers: a section a paper."""
    return "\n".join(section(ROOMS[name], comparison(ROOMS[name], runs)) for name in PAPERS)


def section(room: Room, frame: pd.DataFrame) -> str:
    """A paper's heading, how to read its table, the table of test scores, and what was not run.

    Numbers that the paper prints for the dev split are only counted.
    """
    on_dev = frame["metric"].str.startswith("dev ")
    dev, _ = own_numbers(room, frame[on_dev])
    frame, cited = own_numbers(room, frame[~on_dev])
    text = (
        "Each cell: the paper's number / our mean over seeds ± its standard deviation, on the "
        f"test split. {tally(frame)}. "
        "`reproduced`: no lower than the paper less one point, or less our own 95 % interval "
        f"where that is wider (from {FEWEST} seeds on). Runs: seeds, by data set. "
    ) + " ".join(notes(frame, cited))
    if len(dev):
        text += (
            f" On the dev split, of {len(dev)} more numbers: {counts(dev)} (in the notebook, and "
            f"by `qasel table {room.name}`)."
        )
    return f"### {room.title}\n\n{text}\n\n{side_by_side(frame, both, verdicts)}"


def verdicts(part: pd.DataFrame) -> str:
    """One verdict where all agree, else which numbers have which: `below: WikiQA MAP and MRR`."""
    found: dict[str, dict[str, list[Any]]] = {}
    for line in part.itertuples():
        found.setdefault(line.verdict, {}).setdefault(line.data, []).append(line.measure)
    if len(found) == 1:
        return next(iter(found))
    named = {
        verdict: ", ".join(f"{data} {' and '.join(measures)}" for data, measures in by_data.items())
        for verdict, by_data in found.items()
    }
    return "; ".join(f"{v}: {named[v]}" for v in (REPRODUCED, BELOW, NOT_RUN) if v in named)


def leaders(runs: pd.DataFrame) -> str:
    """The best systems of each data set, as in `qasel compare`."""
    matrix = Matrix.of(entries(runs))
    if not matrix.cells:
        return "Nothing was run yet at the paper's scale.\n"
    cells = []
    for target in matrix.targets:
        title = counted(matrix, target)
        for system, cell in list(matrix.column(target).items())[:LEADERS]:
            cells.append([title, system, cell.paper, *details(matrix, system, target)])
            title = ""
    header = ["data", "system", "paper", "MAP", *DETAILS]
    told = "\n\n".join(notes_of(matrix))
    return f"{markdown_table(header, cells, range(3, len(header)))}\n{told}\n"


def filled(text: str) -> str:
    """A README with the current tables; raises `QaselError` when it lacks their markers."""
    runs = read_runs(ROOMS.values())
    text = _between(text, BEGIN, END, block(runs))
    return _between(text, COMPARE_BEGIN, COMPARE_END, leaders(runs))


def _between(text: str, begin: str, end: str, new: str) -> str:
    before, found, rest = text.partition(begin)
    _, ended, after = rest.partition(end)
    if not found or not ended:
        raise QaselError(f"{README.name} has no lines {begin} and {end} to put the results between")
    return f"{before}{begin}\n\n{new}\n{end}{after}"


def main() -> None:
    """Rewrite the README in place."""
    text = README.read_text(encoding="utf-8")
    new = filled(text)
    if new != text:
        README.write_text(new, encoding="utf-8")
    print(f"{README.name}: {'unchanged' if new == text else 'rewritten'}")


if __name__ == "__main__":
    main()
