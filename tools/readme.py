"""The README's tables, ours beside the papers' and each other: `python tools/readme.py`."""

import pandas as pd

from qasel.errors import QaselError
from qasel.locations import ROOT
from qasel.papers import PAPERS, ROOMS
from qasel.results import Room, compare, matrix_text
from qasel.results.runs import read_runs
from qasel.results.tables import (
    LEGEND,
    comparison,
    counts,
    markdown_table,
    own_numbers,
    side_by_side,
)

README = ROOT / "README.md"
BEGIN, END = "<!-- results:begin -->", "<!-- results:end -->"
COMPARE_BEGIN, COMPARE_END = "<!-- compare:begin -->", "<!-- compare:end -->"
LEADERS = 3
"""Systems of each data set in the table of systems side by side."""


def block(runs: pd.DataFrame) -> str:
    """What stands between the first markers: how to read the tables, and a section per paper."""
    sections = [section(ROOMS[name], comparison(ROOMS[name], runs)) for name in PAPERS]
    return "\n".join([f"{LEGEND}\n", *sections])


def section(room: Room, frame: pd.DataFrame) -> str:
    """A paper's heading, the table of test scores, and what was not run.

    Numbers that the paper prints for the dev split are only counted.
    """
    on_dev = frame["metric"].str.startswith("dev ")
    text = f"### {room.title}\n\n{side_by_side(room, frame[~on_dev])}"
    dev, _ = own_numbers(room, frame[on_dev])
    if len(dev):
        text += (
            f"\nOn the dev split, of {len(dev)} more numbers: {counts(dev)} (in the notebook, and "
            f"by `qasel table {room.name}`).\n"
        )
    return text


def leaders(runs: pd.DataFrame) -> str:
    """The best systems of each data set, as in `qasel compare`."""
    cells = compare.with_tests(compare.matrix(compare.entries(runs)))
    if cells.empty:
        return "Nothing was run yet at the paper's scale.\n"
    tables = []
    for target in compare.targets(cells):
        column = cells.loc[target]
        frame = matrix_text.details(column).head(LEADERS)
        frame.insert(0, "data", [matrix_text.counted(cells, target), *[""] * (len(frame) - 1)])
        frame.insert(1, "system", frame.index)
        frame.insert(2, "paper", column["paper"])
        tables.append(frame)
    notes = "\n\n".join(matrix_text.notes_of(cells))
    return f"{markdown_table(pd.concat(tables))}\n{notes}\n"


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
