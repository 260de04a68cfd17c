"""A paper's tables next to ours: `published.csv` joined with the runs; and tables as text."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import pandas as pd

from qasel.datasets.registry import COLLECTIONS
from qasel.errors import QaselError
from qasel.evaluation import mean_interval
from qasel.results import Room
from qasel.results.runs import DATASETS, MEASURES, in_tables, listed, pick, target_name, target_of

COLUMNS = ["table", "row", "dataset", "metric", "paper", "ours", "std", "runs", "verdict"]
EXTRAS = ["data", "measure", "interval", "vectors", "devices", "scope"]
"""Further columns: data set and metric as figures spell them, half-width of our 95 % interval, our
vectors, the devices used, and how our data differ from the paper's, one sentence per difference
(see `scopes`)."""

REPRODUCED, ABOVE, BELOW, NOT_RUN = "reproduced", "above", "below", "not run"
POINT = 0.01
"""How far a mean may be from the paper's number, whatever its interval."""
FEWEST = 3
"""Fewest seeds for which our interval counts: with two, its half-width is nine deviations."""
ROUNDING = 1e-9
"""Slack for binary fractions: 0.742 − 0.01 must not lie above 0.732."""
NO_BREAK = "\u00a0"

MARKS = {REPRODUCED: f"{NO_BREAK}✓", ABOVE: f"{NO_BREAK}↑", BELOW: f"{NO_BREAK}↓", NOT_RUN: ""}
"""Verdict → its mark after our number."""
OTHER_SCOPE = "°"
"""The mark of a number whose data differ from the paper's."""
LEGEND = (
    "Each cell: the paper's number / our mean over seeds ± its standard deviation, on the test "
    "split, or on dev where the column says so. ✓ is *reproduced*: within one point of the "
    f"paper's number, or within our own 95 % interval over seeds (from {FEWEST} seeds on) where "
    "that is wider. ↑ is *above* that range, ↓ *below* it, – is *not run*. Runs: seeds, by data "
    "set."
)
"""How to read the tables in notebooks and the README."""


def spelled(room: Room, dataset: str, metric: str) -> tuple[str, str]:
    """Data set (or test) and metric as readers know them: ("SemEval-2017 B", "MAP")."""
    split, _, measure = metric.rpartition(" ")
    known = COLLECTIONS.get(dataset)
    if known and known.labels and split.removeprefix("test")[:1] in ("", "-"):
        protocol = room.recipe(room.main, dataset).protocol
        return target_name(target_of(dataset, protocol, split or "test")), measure
    return DATASETS.get(dataset, dataset), metric


def split_of(metric: str) -> tuple[str, str]:
    """Our split and measure for a metric of `published.csv`: "dev MAP" → ("dev", "map")."""
    split, _, measure = metric.rpartition(" ")
    return split or "test", MEASURES.get(measure, measure)


def published(room: Room) -> pd.DataFrame:
    """Every number that a paper prints: table, row, dataset, metric, value, kind, note.

    Raises `QaselError` for a room that is not a paper's.
    """
    if room.published is None:
        raise QaselError(
            f"{room.name!r} is no paper: it has no published numbers to set ours beside; "
            "`qasel compare` sets its runs beside those of the papers"
        )
    return pd.read_csv(room.published, dtype={"note": str}, keep_default_na=False)


SCOPE_COLUMNS = ["dataset", "rows", "unit", "whole", "ours", "why"]


def scopes(room: Room) -> pd.DataFrame:
    """Where the runs on record learnt from other data than the paper's, from its `scope.csv`.

    `SCOPE_COLUMNS`: the data set; what the names of these rows contain, such as `(QA) or (ALL)`
    ("": all rows); what is counted; how many the paper has; how many we have; and why. Without the
    file, the frame is empty.
    """
    path = room.published.with_name("scope.csv") if room.published else None
    if path is None or not path.exists():
        return pd.DataFrame(columns=SCOPE_COLUMNS)
    return pd.read_csv(path, keep_default_na=False)


def _scope(known: pd.DataFrame, row: str, dataset: str) -> tuple[str, ...]:
    """How the data of a row differ from the paper's, one sentence per difference."""
    told = []
    for line in known.itertuples():
        if line.dataset == dataset and any(part in row for part in line.rows.split(" or ")):
            where = f"Rows with {line.rows}: data" if line.rows else "Data"
            narrower = f"narrower than the paper's, {line.ours:,} of {line.whole:,} {line.unit}"
            wider = f"wider than the paper's, {line.ours:,} {line.unit}, not {line.whole:,}"
            told.append(f"{where} {narrower if line.ours < line.whole else wider} ({line.why}).")
    return tuple(told)


def verdict(paper: float, ours: float | None, interval: float | None = None) -> str:
    """`REPRODUCED`: within a point of the paper's number, or within our interval if that is wider.

    Otherwise it is `ABOVE` or `BELOW`; without a number of ours, `NOT_RUN`.
    """
    if ours is None:
        return NOT_RUN
    if abs(ours - paper) <= max(POINT, interval or 0.0) + ROUNDING:
        return REPRODUCED
    return ABOVE if ours > paper else BELOW


def comparison(room: Room, runs: pd.DataFrame | None = None) -> pd.DataFrame:
    """One line per published number: `COLUMNS`, then `EXTRAS`.

    `ours` is the mean score over seeds, `std` its sample standard deviation (empty for one seed).
    Rows that a paper only cites are never run here. `runs` defaults to the ledger.

    If the runs are folds, `ours` and `std` are over folds, and there is no interval: folds differ
    in how hard their questions are, which does not tell how certain the mean is.
    """
    lines = published(room).rename(columns={"value": "paper"})
    groups = dict(list(in_tables(room, runs).groupby(["variant", "dataset", "split"])))
    differing = scopes(room)
    ours = []
    for known in lines.itertuples():
        split, measure = split_of(known.metric)
        found: dict[str, Any] = {"runs": 0, "vectors": "", "devices": "", "scope": ()}
        found["data"], found["measure"] = spelled(room, known.dataset, known.metric)
        group = groups.get((known.row, known.dataset, split)) if known.kind == "own" else None
        if group is not None:
            vectors = pick(group, [known.row])
            group = group[group["vectors"] == vectors]
            mean, deviation, half = mean_interval(group[measure])
            # Folds have different questions, seeds the same.
            asked = {frozenset().union(*values.values()) for values in group["values"]}
            found |= {
                "ours": mean,
                "std": deviation,
                "interval": half if len(asked) == 1 else None,
                "runs": len(group),
                "vectors": vectors,
                "devices": "; ".join(sorted(group["device"].unique())),
                "scope": _scope(differing, known.row, known.dataset),
            }
        interval = found.get("interval") if found["runs"] >= FEWEST else None
        ours.append(found | {"verdict": verdict(known.paper, found.get("ours"), interval)})
    columns = ["ours", "std", "runs", "verdict", *EXTRAS]
    lines[columns] = pd.DataFrame(ours, columns=columns)
    frame = lines[[*COLUMNS, *EXTRAS]]
    return frame.astype(dict.fromkeys(("paper", "ours", "std", "interval"), float))


# The comparison as text


def parts_of(frame: pd.DataFrame) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """The arguments of `as_text` for a `comparison`: its table, with three digits, and its notes.

    They say how our data differ from the paper's, and name our vectors and devices.
    """
    table = frame[COLUMNS].map(lambda x: f"{x:.3f}" if isinstance(x, float) else x)
    table["verdict"] += frame["scope"].map(lambda scope: OTHER_SCOPE if scope else "")
    notes = [*scope_notes(frame), provenance(frame)]
    return {"": table.replace("nan", "–")}, [note for note in notes if note]


def beside(
    room: Room,
    table: str,
    runs: pd.DataFrame | None = None,
    *,
    measures: Collection[str] = (),
    legend: bool = True,
) -> str:
    """One table of a paper with our numbers in it, as Markdown for a notebook.

    Each number is marked with its verdict. `measures` (MAP, dev MAP, …) selects columns, by default
    all; without `legend`, the text above the table leaves out what all tables share. `runs`
    defaults to the ledger.
    """
    frame = comparison(room, runs)
    frame = frame[frame["table"] == table]
    if measures:
        frame = frame[frame["measure"].isin(measures)]
    return (f"{LEGEND}\n\n" if legend else "") + side_by_side(room, frame)


def side_by_side(room: Room, frame: pd.DataFrame) -> str:
    """Lines of `comparison` as Markdown: a row per system, a column per data set and metric.

    Above it are the number of each verdict, and where ours are from.
    """
    own, cited = own_numbers(room, frame)
    notes = [f"Of the {len(own)} numbers of the paper's own systems: {counts(own)}."]
    if ((own["runs"] >= FEWEST) & own["interval"].isna()).any():
        notes.append(
            "Of rows in folds, mean and deviation are over the folds, and there is no interval: "
            "folds differ in how hard their questions are."
        )
    notes += [*scope_notes(own), provenance(own) or "Nothing was run yet at the paper's scale."]
    if cited:
        systems = f"{cited} systems" if cited > 1 else "one system"
        notes.append(f"Not run: the {systems} that the paper only cites.")
    own = own.assign(
        column=own["data"] + " " + own["measure"],
        cell=[cell(line, line.std) for line in own.itertuples()],
    )
    rows, columns = own["row"].unique(), own["column"].unique()
    table = own.pivot(index="row", columns="column", values="cell").loc[rows, columns].fillna("")
    runs = own.drop_duplicates(["row", "dataset"]).astype({"runs": str})
    table["runs"] = runs.groupby("row")["runs"].agg(" / ".join)
    return f"{' '.join(notes)}\n\n{markdown_table(table.reset_index())}"


def own_numbers(room: Room, frame: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """The numbers of the paper's own systems, each once, and how many systems it only cites."""
    numbers = published(room)
    numbers = numbers[numbers["table"].isin(frame["table"])]
    own = numbers.loc[numbers["kind"] == "own", "row"].drop_duplicates()
    cited = numbers.loc[numbers["kind"] != "own", "row"].nunique()
    frame = frame[frame["row"].isin(own)].drop_duplicates(["row", "dataset", "metric"])
    return frame, cited


def counts(frame: pd.DataFrame) -> str:
    """The verdicts counted: `1 reproduced, 2 above, 0 below, 3 not run`."""
    found = frame["verdict"].value_counts()
    return ", ".join(f"{found.get(v, 0)} {v}" for v in MARKS)


def cell(line: Any, spread: float) -> str:
    """`0.742 / 0.760 ± 0.014 ✓` for a line of `comparison`, `spread` after ±, left out if NaN.

    A narrow page may break it after the slash only.
    """
    if pd.isna(line.ours):
        return f"{line.paper:.3f}{NO_BREAK}/ –"
    around = "" if pd.isna(spread) else f"{NO_BREAK}±{NO_BREAK}{spread:.3f}"
    scope = OTHER_SCOPE if line.scope else ""
    return f"{line.paper:.3f}{NO_BREAK}/ {line.ours:.3f}{around}{MARKS[line.verdict]}{scope}"


def scope_notes(frame: pd.DataFrame) -> list[str]:
    """How our data differ from the paper's, each difference once."""
    return [f"{OTHER_SCOPE} {told}" for told in dict.fromkeys(frame["scope"].explode().dropna())]


def provenance(frame: pd.DataFrame) -> str:
    """Which vectors and devices our numbers are from, in a sentence; "" if nothing was run."""
    ran = frame[frame["runs"] > 0]
    if ran.empty:
        return ""
    ran = ran.replace({"vectors": {"": "none"}})
    usual, *others = ran["vectors"].value_counts().index
    text = f"Our numbers: word vectors {usual}"
    if "+" in usual:
        text += " (words that the first set lacks are from the second)"
    for name in others:
        where = []
        for _, lines in ran.groupby("dataset", sort=False):
            found, data = lines["vectors"] == name, lines["data"].iloc[0]
            rows = [f"{row} ({data})" for row in lines.loc[found, "row"].unique()]
            where += [f"all of {data}"] if found.all() else rows
        text += f", but {name} for {', '.join(where)}"
    devices = sorted({device for names in ran["devices"] for device in names.split("; ")})
    return f"{text}; run on {' and '.join(devices)}."


def not_printed(room: Room, runs: pd.DataFrame | None = None) -> str:
    """Our rows without a number in the paper (stand-ins, first stages), as Markdown.

    Dev MAP, and MAP and MRR of every test split. `runs` defaults to the ledger.
    """
    lines = in_tables(room, runs)
    lines = lines[~lines["variant"].isin(published(room)["row"])]
    if lines.empty:
        return "Nothing was run yet that the paper has no number for."
    table = []
    for (variant, dataset), group in lines.groupby(["variant", "dataset"]):
        vectors = pick(group, [variant])
        splits = group[group["vectors"] == vectors].groupby("split", sort=False)
        line = {"row": variant, "data": spelled(room, dataset, "MAP")[0]}
        for split, scores in splits[["map", "mrr"]].mean().iterrows():
            for measure in ("map",) if split == "dev" else ("map", "mrr"):
                name = f"{split} {measure.upper()}".removeprefix("test ")
                line[name] = f"{scores[measure]:.3f}"
        table.append(line | {"runs": str(splits.size().max()), "vectors or encoder": vectors})
    last = ["runs", "vectors or encoder"]
    frame = pd.DataFrame(table).fillna("")
    return markdown_table(frame[[*frame.columns.drop(last), *last]])


def by_settings(runs: pd.DataFrame) -> str:
    """Mean MAP of the runs that differ only in their seed, as Markdown, in the runs' order.

    Dev MAP comes first, as settings are chosen by it. `std` is the standard deviation.
    """
    data = runs["dataset"] + " (" + runs["protocol"] + ")"
    lines = []
    groups = ["paper", "variant", data, runs["changed"].map(listed)]
    for key, group in runs.groupby(groups, sort=False):
        line = [*key, str((group["split"] == "test").sum())]
        for split in ("dev", "test"):
            mean, deviation, _ = mean_interval(group.loc[group["split"] == split, "map"])
            line += [f"{mean:.4f}", "–" if deviation is None else f"{deviation:.4f}"]
        lines.append(line)
    header = ["paper", "row", "data", "settings", "runs", "dev MAP", "std", "test MAP", "std"]
    return markdown_table(pd.DataFrame(lines, columns=header))


# Any frame as text


def as_text(tables: Mapping[str, pd.DataFrame], notes: Iterable[str], format_: str) -> str:
    """Tables by title, and notes below them, as `md` or `latex`; a title may be ""."""
    latex = format_ == "latex"
    table_of, heading = (latex_table, "\\par") if latex else (markdown_table, "###")
    escape, note = (escape_latex, "\\par ") if latex else (str, "")
    parts = [
        (f"{heading} {escape(title)}\n\n" if title else "") + table_of(frame)
        for title, frame in tables.items()
    ]
    return "\n".join([*parts, *(f"{note}{escape(text)}\n" for text in notes)])


def put_between(text: str, name: str, new: str, page: str) -> str:
    """A page's text with `new` between its marks of that name; raises `QaselError` without them."""
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    before, found, rest = text.partition(begin)
    _, ended, after = rest.partition(end)
    if not found or not ended:
        raise QaselError(f"{page} has no lines {begin} and {end} to put a table between")
    return f"{before}{begin}\n\n{new.strip()}\n\n{end}{after}"


def p_value(p: float) -> str:
    """`0.012`, or `<0.001` for what three digits would show as 0."""
    return f"{p:.3f}" if p >= 0.0005 else "<0.001"


def csv_of(frame: pd.DataFrame) -> str:
    """A frame as CSV with six digits."""
    return frame.to_csv(index=False, float_format="%.6g", lineterminator="\n")


def markdown_table(frame: pd.DataFrame) -> str:
    """A frame without its index as a Markdown table; numbers are right-aligned."""
    header, *lines = _cells(frame, lambda text: text.replace("|", "\\|"))
    rules = ["--:" if right else ":--" for right in _numeric(frame)]
    return "".join(f"| {' | '.join(line)} |\n" for line in (header, rules, *lines))


def latex_table(frame: pd.DataFrame) -> str:
    """A frame without its index as a LaTeX table (booktabs); numbers are right-aligned."""
    header, *lines = (" & ".join(line) + r" \\" for line in _cells(frame, escape_latex))
    columns = "".join("r" if right else "l" for right in _numeric(frame))
    begin = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", header, r"\midrule"]
    return "\n".join([*begin, *lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _cells(frame: pd.DataFrame, escape: Callable[[str], str]) -> list[list[str]]:
    """The names of the columns, then the cells line by line, escaped."""
    lines = [frame.columns, *frame.itertuples(index=False, name=None)]
    return [[escape(str(cell)) for cell in line] for line in lines]


def _numeric(frame: pd.DataFrame) -> list[bool]:
    """Whether all cells of each column begin like numbers, or are empty or a dash."""
    columns = (frame.iloc[:, place].astype(str) for place in range(frame.shape[1]))
    return [bool(c.any() and c.str.fullmatch(r"([-+<]?\d.*|–|)").all()) for c in columns]


_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--",
        "→": r"$\rightarrow$", "±": r"$\pm$", "Ψ": r"$\Psi$",
        **{sign: f"${sign}$" for sign in "<>|"},
        **{sign: "\\" + sign for sign in "&%$#_{}"},
    }
)  # fmt: skip


def escape_latex(text: str) -> str:
    """Text for LaTeX, with special characters escaped and `<sup>…</sup>` as a superscript."""
    text = text.translate(_ESCAPES)
    return text.replace("$<$sup$>$", r"\textsuperscript{").replace("$<$/sup$>$", "}")
