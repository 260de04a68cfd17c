"""The README's tables, ours beside the papers' and each other: `python -m qasel.results.readme`."""

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

import pandas as pd

from qasel.errors import QaselError
from qasel.locations import ROOT
from qasel.papers import PAPERS
from qasel.results.ledger import Row, mean_score
from qasel.results.matrix import Matrix
from qasel.results.outcomes import outcomes
from qasel.results.side_by_side import DETAILS, details, notes_of, told
from qasel.results.tables import (
    BELOW,
    FEWEST,
    NOT_RUN,
    REPRODUCED,
    comparison,
    counted,
    markdown_table,
    pick,
    provenance,
    published,
    spelled,
)

README = ROOT / "README.md"
BEGIN, END = "<!-- results:begin -->", "<!-- results:end -->"
COMPARE_BEGIN, COMPARE_END = "<!-- compare:begin -->", "<!-- compare:end -->"
LEADERS = 3
"""Systems of each data set in the table of systems side by side."""

MARKS = {REPRODUCED: "✓", BELOW: "↓"}
"""Verdict → its mark after our number, in notebooks."""
LEGEND = (
    "Each cell: the paper's number / our mean over seeds ± its standard deviation, on the test "
    "split, or on dev where the column says so. ✓ is *reproduced*: no lower than the paper less "
    "one point, or less our own 95 % interval where that is wider (from "
    f"{FEWEST} seeds on). ↓ is *below*, – is *not run*. Runs: seeds, by data set."
)
"""How to read the tables of a notebook."""
NO_BREAK = "\u00a0"

_Key = tuple[str, str]
"""A data set and a metric, as they are spelled: a column of the table."""


def block() -> str:
    """What stands between the markers: a section a paper, from the ledger."""
    return "\n".join(section(name, comparison(name)) for name in PAPERS)


def leaders(rows: Iterable[Row] | None = None) -> str:
    """The best systems of each data set, as in `qasel compare`; `rows` default to the ledger."""
    matrix = Matrix.of(outcomes(rows))
    if not matrix.cells:
        return "Nothing was run yet at the paper's scale.\n"
    cells = []
    for target in matrix.targets:
        title = told(matrix, target)
        for system, cell in list(matrix.column(target).items())[:LEADERS]:
            cells.append([title, system, cell.paper, *details(matrix, system, target)])
            title = ""
    header = ["data", "system", "paper", "MAP", *DETAILS]
    notes = "\n\n".join(notes_of(matrix))
    return f"{markdown_table(header, cells, set(range(3, len(header))))}\n{notes}\n"


def beside(
    paper: str,
    table: str,
    rows: Iterable[Row] | None = None,
    *,
    measures: Collection[str] = (),
    legend: bool = True,
) -> str:
    """One table of a paper with our numbers in it, as Markdown for a notebook.

    Each number has its verdict as a mark. `measures` (MAP, dev MAP, …) picks columns, all by
    default; without `legend` the text above the table is only what other tables do not share.
    `rows` default to the ledger.
    """
    frame = comparison(paper, rows)
    frame = frame[frame["table"] == table]
    if measures:
        frame = frame[frame["measure"].isin(measures)]
    frame, cited = _own(paper, frame)
    above = [f"{LEGEND}\n\n"] if legend else []
    above.append(" ".join([f"{_tally(frame)}.", *_notes(frame, cited)]))
    return f"{''.join(above)}\n\n{_table(frame, _marked)}"


def not_printed(paper: str, rows: Iterable[Row] | None = None) -> str:
    """Our rows that the paper has no number for (stand-ins, first stages), as Markdown.

    Dev MAP, and MAP and MRR of every test split.
    """
    known = set(published(paper)["row"])
    found = {key: c for key, c in sorted(counted(paper, rows).items()) if key[0] not in known}
    groups = {key: choices[pick(choices)] for key, choices in found.items()}
    if not groups:
        return "Nothing was run yet that the paper has no number for."
    splits = {split: None for group in groups.values() for split in group[0].scores}
    tests = [split for split in splits if split != "dev"]
    wanted = [("dev", "map"), *((split, m) for split in tests for m in ("map", "mrr"))]
    cells = []
    for (variant, dataset), group in groups.items():
        scores = [
            f"{mean_score(group, measure, split):.3f}" if split in group[0].scores else ""
            for split, measure in wanted
        ]
        data, _ = spelled(paper, dataset, "MAP")
        cells.append([variant, data, *scores, str(len(group)), pick(found[variant, dataset])])
    titles = [f"{split} {m.upper()}".removeprefix("test ") for split, m in wanted]
    header = ["row", "data", *titles, "runs", "vectors or encoder"]
    return markdown_table(header, cells, set(range(2, len(header) - 1)))


def section(paper: str, frame: pd.DataFrame) -> str:
    """A paper's heading, how to read its table, the table of test scores, and what was not run.

    Numbers that the paper prints for the dev split are only counted.
    """
    on_dev = frame["metric"].str.startswith("dev ")
    dev, _ = _own(paper, frame[on_dev])
    frame, cited = _own(paper, frame[~on_dev])
    told = _told(frame, cited)
    if len(dev):
        told += (
            f" On the dev split, of {len(dev)} more numbers: {_counts(dev)} (in the notebook, and "
            f"by `qasel table {paper}`)."
        )
    return f"### {PAPERS[paper]}\n\n{told}\n\n{_table(frame, _cell, verdicts=True)}"


def _own(paper: str, frame: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """The numbers of the paper's own systems, each once, and how many it only cites."""
    numbers = published(paper)
    numbers = numbers[numbers["table"].isin(frame["table"])]
    own = numbers.loc[numbers["kind"] == "own", "row"].drop_duplicates()
    cited = numbers.loc[numbers["kind"] != "own", "row"].nunique()
    frame = frame[frame["row"].isin(own)].drop_duplicates(["row", "dataset", "metric"])
    return frame, cited


def _table(frame: pd.DataFrame, cell: Callable[[Any], str], verdicts: bool = False) -> str:
    columns = list(dict.fromkeys(zip(frame["data"], frame["measure"], strict=True)))
    lines = []
    for row, part in frame.groupby("row", sort=False):
        known = {(line.data, line.measure): line for line in part.itertuples()}
        runs = {line.dataset: str(line.runs) for line in known.values()}
        cells = [cell(known[key]) if key in known else "" for key in columns]
        line = [row, *cells, " / ".join(runs.values())]
        lines.append([*line, _verdicts(known)] if verdicts else line)
    header = ["row", *(f"{data} {measure}" for data, measure in columns), "runs"]
    header += ["verdict"] if verdicts else []
    return markdown_table(header, lines, set(range(1, len(columns) + 2)))


def _tally(frame: pd.DataFrame) -> str:
    return f"Of the {len(frame)} numbers of the paper's own systems: {_counts(frame)}"


def _counts(frame: pd.DataFrame) -> str:
    counts = frame["verdict"].value_counts()
    return ", ".join(f"{counts.get(v, 0)} {v}" for v in (REPRODUCED, BELOW, NOT_RUN))


def _told(frame: pd.DataFrame, cited: int) -> str:
    text = (
        "Each cell: the paper's number / our mean over seeds ± its standard deviation, on the "
        f"test split. {_tally(frame)}. "
        "`reproduced`: no lower than the paper less one point, or less our own 95 % interval "
        f"where that is wider (from {FEWEST} seeds on). Runs: seeds, by data set. "
    )
    return text + " ".join(_notes(frame, cited))


def _notes(frame: pd.DataFrame, cited: int) -> Iterator[str]:
    if ((frame["runs"] >= FEWEST) & frame["interval"].isna()).any():
        yield (
            "Of rows in folds, mean and deviation are over the folds, and there is no interval: "
            "folds differ in how hard their questions are."
        )
    yield provenance(frame) or "Nothing was run yet at the paper's scale."
    if cited:
        yield f"Not run: the {cited} systems that the paper only cites."


def _cell(line: Any) -> str:
    if pd.isna(line.ours):
        return f"{line.paper:.3f} / –"
    spread = "" if pd.isna(line.std) else f" ± {line.std:.3f}"
    return f"{line.paper:.3f} / {line.ours:.3f}{spread}"


def _marked(line: Any) -> str:
    """A cell with its verdict as a mark, which a narrow page may break after the stroke only."""
    paper, ours = _cell(line).split(" / ")
    whole = " ".join([ours, *MARKS.get(line.verdict, "")]).replace(" ", NO_BREAK)
    return f"{paper}{NO_BREAK}/ {whole}"


def _verdicts(known: dict) -> str:
    """One verdict where all agree, else which numbers have which."""
    found: dict[str, list[_Key]] = {}
    for key, line in known.items():
        found.setdefault(line.verdict, []).append(key)
    if len(found) == 1:
        return next(iter(found))
    return "; ".join(f"{v}: {_keys(found[v])}" for v in (REPRODUCED, BELOW, NOT_RUN) if v in found)


def _keys(keys: list[_Key]) -> str:
    """`WikiQA MAP, MRR` for several metrics of a data set."""
    metrics: dict[str, list[str]] = {}
    for data, measure in keys:
        metrics.setdefault(data, []).append(measure)
    return ", ".join(f"{data} {' and '.join(m)}" for data, m in metrics.items())


def filled(text: str) -> str:
    """A README with the current tables; raises `QaselError` when it lacks their markers."""
    text = _between(text, BEGIN, END, block())
    return _between(text, COMPARE_BEGIN, COMPARE_END, leaders())


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
