"""A paper's tables beside ours: `published.csv` joined with the runs; and tables as text."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from qasel.datasets.registry import COLLECTIONS
from qasel.errors import QaselError
from qasel.evaluation import mean_interval
from qasel.results import Room
from qasel.results.runs import (
    DATASETS,
    MEASURES,
    Target,
    are_folds,
    in_tables,
    listed,
    pick,
)

COLUMNS = ["table", "row", "dataset", "metric", "paper", "ours", "std", "runs", "verdict"]
EXTRAS = ["data", "measure", "interval", "vectors", "devices"]
"""Kept beside `COLUMNS`: data set and metric as figures spell them, half-width of our 95 %
interval, our vectors, the devices used."""

REPRODUCED, BELOW, NOT_RUN = "reproduced", "below", "not run"
POINT = 0.01
"""How far below the paper's number a mean may be whatever its interval."""
FEWEST = 3
"""Seeds from which on our interval counts: that of two is nine deviations wide either way."""
ROUNDING = 1e-9
"""Slack for binary fractions: 0.742 − 0.01 must not lie above 0.732."""
NO_BREAK = "\u00a0"

MARKS = {REPRODUCED: "✓", BELOW: "↓"}
"""Verdict → its mark after our number, in notebooks."""
LEGEND = (
    "Each cell: the paper's number / our mean over seeds ± its standard deviation, on the test "
    "split, or on dev where the column says so. ✓ is *reproduced*: no lower than the paper less "
    "one point, or less our own 95 % interval where that is wider (from "
    f"{FEWEST} seeds on). ↓ is *below*, – is *not run*. Runs: seeds, by data set."
)
"""How to read the tables of a notebook."""


def spelled(room: Room, dataset: str, metric: str) -> tuple[str, str]:
    """Data set (or test) and metric as readers know them: ("SemEval-2017 B", "MAP")."""
    split, _, measure = metric.rpartition(" ")
    known = COLLECTIONS.get(dataset)
    if known and known.labels and split.removeprefix("test")[:1] in ("", "-"):
        protocol = room.recipe(room.main, dataset).protocol
        return Target.of(dataset, protocol, split or "test").name, measure
    return DATASETS.get(dataset, dataset), metric


def split_of(metric: str) -> tuple[str, str]:
    """A metric of `published.csv` as split and measure of ours: "dev MAP" → ("dev", "map")."""
    split, _, measure = metric.rpartition(" ")
    return split or "test", MEASURES.get(measure, measure)


def published(room: Room) -> pd.DataFrame:
    """Every number that a paper prints: table, row, dataset, metric, value, kind, note.

    Raises `QaselError` for a room that is no paper's.
    """
    if room.published is None:
        raise QaselError(
            f"{room.name!r} is no paper: it has no published numbers to set ours beside; "
            "`qasel compare` sets its runs beside those of the papers"
        )
    return pd.read_csv(room.published, dtype={"note": str}, keep_default_na=False)


def verdict(paper: float, ours: float | None, interval: float | None = None) -> str:
    """`reproduced`: no lower than the paper's number less a point, or our interval if wider."""
    if ours is None:
        return NOT_RUN
    allowed = max(POINT, interval or 0.0)
    return REPRODUCED if ours >= paper - allowed - ROUNDING else BELOW


def comparison(room: Room, runs: pd.DataFrame | None = None) -> pd.DataFrame:
    """One line per published number: `COLUMNS`, then `EXTRAS`.

    `ours` is the mean over seeds of the test score, `std` its sample deviation (empty for one
    seed). Rows that a paper only cites are never run here. `runs` default to the ledger.

    Where runs are folds, `ours` and `std` are over folds, and there is no interval: folds differ
    in how hard their questions are, which says nothing of how sure the mean is.
    """
    lines = published(room).rename(columns={"value": "paper"})
    groups = dict(list(in_tables(room, runs).groupby(["variant", "dataset", "split"])))
    ours = []
    for known in lines.itertuples():
        split, measure = split_of(known.metric)
        group = groups.get((known.row, known.dataset, split)) if known.kind == "own" else None
        found: dict[str, Any] = {"runs": 0, "vectors": "", "devices": ""}
        if group is not None:
            found |= _mean(group, measure)
        interval = found.get("interval") if found["runs"] >= FEWEST else None
        found["data"], found["measure"] = spelled(room, known.dataset, known.metric)
        ours.append(found | {"verdict": verdict(known.paper, found.get("ours"), interval)})
    columns = ["ours", "std", "runs", "verdict", *EXTRAS]
    lines[columns] = pd.DataFrame(ours, columns=columns)
    frame = lines[[*COLUMNS, *EXTRAS]]
    return frame.astype(dict.fromkeys(("paper", "ours", "std", "interval"), float))


def _mean(group: pd.DataFrame, measure: str) -> dict[str, Any]:
    """Our side of a line, from the runs with the vectors to show."""
    vectors = pick(group, group["variant"].unique())
    group = group[group["vectors"] == vectors]
    mean, deviation, half = mean_interval(group[measure])
    return {
        "ours": mean,
        "std": deviation,
        "interval": None if are_folds(group) else half,
        "runs": len(group),
        "vectors": vectors,
        "devices": "; ".join(sorted(group["device"].unique())),
    }


def provenance(frame: pd.DataFrame) -> str:
    """Which vectors and devices our numbers are from, in a sentence; "" when nothing was run."""
    ran = frame[frame["runs"] > 0]
    if ran.empty:
        return ""
    ran = ran.replace({"vectors": {"": "none"}})
    usual, *others = ran["vectors"].value_counts().index
    text = f"Our numbers: word vectors {usual}"
    for name in others:
        rows = ran.loc[ran["vectors"] == name, ["row", "dataset"]].drop_duplicates()
        named = ", ".join(f"{line.row} ({line.dataset})" for line in rows.itertuples())
        text += f", but {name} for {named}"
    devices = sorted({device for names in ran["devices"] for device in names.split("; ")})
    return f"{text}; run on {' and '.join(devices)}."


def render(frame: pd.DataFrame, format_: str = "md") -> str:
    """The table of `comparison` as text: `md`, `latex` (booktabs) or `csv`; ends with a newline.

    The csv has six digits and nothing but `COLUMNS`; the others have three, and a last line
    that says which vectors and devices our numbers are from.
    """
    if format_ == "csv":
        return csv_of(frame[COLUMNS])
    cells = [[_shown(value) for value in line] for line in frame[COLUMNS].itertuples(index=False)]
    table, note = Table("", COLUMNS, cells, {4, 5, 6, 7}), provenance(frame)
    if require_format(format_) == "md":
        return markdown_table(table.header, cells, table.numbers) + (f"\n{note}\n" if note else "")
    return table.latex() + (f"\\par {escape_latex(note)}\n" if note else "")


def require_format(format_: str) -> str:
    """A format for readers; raises `QaselError` for one that is not known."""
    if format_ not in ("md", "latex"):
        raise QaselError(f"unknown format {format_!r}; known: md, csv, latex")
    return format_


def csv_of(frame: pd.DataFrame) -> str:
    """A frame as CSV with six digits."""
    return frame.to_csv(index=False, float_format="%.6g", lineterminator="\n")


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return "–" if pd.isna(value) else f"{value:.3f}"
    return str(value)


Marked = tuple[str, str]
"""A text and its superscript."""


@dataclass(frozen=True)
class Table:
    """A table under a title, cells with or without a superscript, as Markdown or LaTeX.

    `numbers` are the columns set flush right.
    """

    title: str
    header: Sequence[str]
    cells: Sequence[Sequence[str | Marked]]
    numbers: set[int]

    def markdown(self, level: int = 3) -> str:
        """The table under its title, a heading of this level."""
        cells = [[_superscript(cell, "<sup>{}</sup>") for cell in line] for line in self.cells]
        return f"{'#' * level} {self.title}\n\n{markdown_table(self.header, cells, self.numbers)}"

    def latex(self) -> str:
        """The table (booktabs) under its title, a paragraph, where it has one."""

        def line(values: Sequence[str | Marked]) -> str:
            form = r"\textsuperscript{{{}}}"
            return " & ".join(_superscript(v, form, escape_latex) for v in values) + r" \\"

        columns = "".join("r" if i in self.numbers else "l" for i in range(len(self.header)))
        lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", line(self.header), r"\midrule"]
        lines += [*map(line, self.cells), r"\bottomrule", r"\end{tabular}"]
        title = f"\\par {escape_latex(self.title)}\n\n" if self.title else ""
        return title + "\n".join(lines) + "\n"


def _superscript(
    cell: str | Marked, form: str, escaped: Callable[[str], str] = lambda text: text
) -> str:
    text, mark = (cell, "") if isinstance(cell, str) else cell
    return escaped(text) + (form.format(escaped(mark)) if mark else "")


def markdown_table(
    header: Sequence[str], cells: Sequence[Sequence[str]], numbers: Collection[int]
) -> str:
    """A Markdown table; the columns in `numbers` are set flush right."""
    rule = ["--:" if i in numbers else ":--" for i in range(len(header))]
    body = [[cell.replace("|", "\\|") for cell in line] for line in cells]
    return "".join(f"| {' | '.join(line)} |\n" for line in (header, rule, *body))


_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "–": "--",
        "→": r"$\rightarrow$",
        "±": r"$\pm$",
        "<": r"$<$",
        ">": r"$>$",
        "|": r"$|$",
        **{character: "\\" + character for character in "&%$#_{}"},
    }
)


def escape_latex(text: str) -> str:
    """Text for LaTeX, its special characters escaped."""
    return text.translate(_ESCAPES)


def beside(
    room: Room,
    table: str,
    runs: pd.DataFrame | None = None,
    *,
    measures: Collection[str] = (),
    legend: bool = True,
) -> str:
    """One table of a paper with our numbers in it, as Markdown for a notebook.

    Each number has its verdict as a mark. `measures` (MAP, dev MAP, …) picks columns, all by
    default; without `legend` the text above the table is only what other tables do not share.
    `runs` default to the ledger.
    """
    frame = comparison(room, runs)
    frame = frame[frame["table"] == table]
    if measures:
        frame = frame[frame["measure"].isin(measures)]
    frame, cited = own_numbers(room, frame)
    above = [f"{LEGEND}\n\n"] if legend else []
    above.append(" ".join([f"{tally(frame)}.", *notes(frame, cited)]))
    return f"{''.join(above)}\n\n{side_by_side(frame, marked)}"


def own_numbers(room: Room, frame: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """The numbers of the paper's own systems, each once, and how many systems it only cites."""
    numbers = published(room)
    numbers = numbers[numbers["table"].isin(frame["table"])]
    own = numbers.loc[numbers["kind"] == "own", "row"].drop_duplicates()
    cited = numbers.loc[numbers["kind"] != "own", "row"].nunique()
    frame = frame[frame["row"].isin(own)].drop_duplicates(["row", "dataset", "metric"])
    return frame, cited


def side_by_side(
    frame: pd.DataFrame,
    cell: Callable[[Any], str],
    more: Callable[[pd.DataFrame], str] | None = None,
) -> str:
    """Markdown: a line per system, a column per data set and metric; `more` gives a last one."""
    columns = list(dict.fromkeys(zip(frame["data"], frame["measure"], strict=True)))
    lines = []
    for row, part in frame.groupby("row", sort=False):
        known = {(line.data, line.measure): cell(line) for line in part.itertuples()}
        runs = part.drop_duplicates("dataset")["runs"].astype(str)
        line = [row, *(known.get(key, "") for key in columns), " / ".join(runs)]
        lines.append([*line, more(part)] if more else line)
    header = ["row", *(f"{data} {measure}" for data, measure in columns), "runs"]
    header += ["verdict"] if more else []
    return markdown_table(header, lines, range(1, len(columns) + 2))


def tally(frame: pd.DataFrame) -> str:
    """How many numbers there are, and how many have which verdict."""
    return f"Of the {len(frame)} numbers of the paper's own systems: {counts(frame)}"


def counts(frame: pd.DataFrame) -> str:
    """`1 reproduced, 0 below, 3 not run`."""
    found = frame["verdict"].value_counts()
    return ", ".join(f"{found.get(v, 0)} {v}" for v in (REPRODUCED, BELOW, NOT_RUN))


def notes(frame: pd.DataFrame, cited: int) -> Iterator[str]:
    """What a reader must know of our numbers: folds, vectors and devices, what was not run."""
    if ((frame["runs"] >= FEWEST) & frame["interval"].isna()).any():
        yield (
            "Of rows in folds, mean and deviation are over the folds, and there is no interval: "
            "folds differ in how hard their questions are."
        )
    yield provenance(frame) or "Nothing was run yet at the paper's scale."
    if cited:
        yield f"Not run: the {cited} systems that the paper only cites."


def both(line: Any) -> str:
    """The paper's number and ours: `0.742 / 0.760 ± 0.014`."""
    if pd.isna(line.ours):
        return f"{line.paper:.3f} / –"
    spread = "" if pd.isna(line.std) else f" ± {line.std:.3f}"
    return f"{line.paper:.3f} / {line.ours:.3f}{spread}"


def marked(line: Any) -> str:
    """`both` with the verdict as a mark; a narrow page may break it after the stroke only."""
    paper, ours = both(line).split(" / ")
    whole = " ".join([ours, *MARKS.get(line.verdict, "")]).replace(" ", NO_BREAK)
    return f"{paper}{NO_BREAK}/ {whole}"


def not_printed(room: Room, runs: pd.DataFrame | None = None) -> str:
    """Our rows that the paper has no number for (stand-ins, first stages), as Markdown.

    Dev MAP, and MAP and MRR of every test split. `runs` default to the ledger.
    """
    lines = in_tables(room, runs)
    lines = lines[~lines["variant"].isin(published(room)["row"])]
    if lines.empty:
        return "Nothing was run yet that the paper has no number for."
    groups = list(lines.groupby(["variant", "dataset"]))
    splits = dict.fromkeys(split for _, group in groups for split in group["split"])
    tests = [split for split in splits if split != "dev"]
    wanted = [("dev", "map"), *((split, m) for split in tests for m in ("map", "mrr"))]
    cells = []
    for (variant, dataset), group in groups:
        vectors = pick(group, [variant])
        kept = group[group["vectors"] == vectors]
        means = kept.groupby("split")[["map", "mrr"]].mean()
        scores = [f"{means.loc[s, m]:.3f}" if s in means.index else "" for s, m in wanted]
        data, _ = spelled(room, dataset, "MAP")
        number = kept["split"].value_counts().max()
        cells.append([variant, data, *scores, str(number), vectors])
    titles = [f"{split} {m.upper()}".removeprefix("test ") for split, m in wanted]
    header = ["row", "data", *titles, "runs", "vectors or encoder"]
    return markdown_table(header, cells, range(2, len(header) - 1))


def by_settings(runs: pd.DataFrame) -> str:
    """Markdown: mean MAP of the runs that differ in nothing but their seed, in their order.

    That on dev comes first: it is what settings are chosen by. `std` is the standard deviation.
    """
    data = runs["dataset"] + " (" + runs["protocol"] + ")"
    settings = runs["changed"].map(listed)
    cells = []
    for key, group in runs.groupby(["paper", "variant", data, settings], sort=False):
        maps = {split: part["map"] for split, part in group.groupby("split")}
        line = [*key, str(len(maps["test"]))]
        for split in ("dev", "test"):
            mean, deviation, _ = mean_interval(maps[split])
            line += [f"{mean:.4f}", "–" if deviation is None else f"{deviation:.4f}"]
        cells.append(line)
    header = ["paper", "row", "data", "settings", "runs", "dev MAP", "std", "test MAP", "std"]
    return markdown_table(header, cells, range(4, len(header)))
