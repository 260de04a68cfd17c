"""A paper's tables beside ours: `published.csv` joined with the ledger, and verdicts."""

import statistics
from collections.abc import Iterable
from typing import Any, overload

import pandas as pd

from qasel.datasets.registry import COLLECTIONS
from qasel.errors import QaselError
from qasel.evaluation import mean_interval
from qasel.papers import paper as room
from qasel.papers import published_path
from qasel.results.ledger import Row, are_folds, read_ledger

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

VECTORS = "glove.840B.300d"
"""The vectors of the papers: rows with them go before rows with others."""

DATASETS = {"wikiqa": "WikiQA", "trecqa": "TREC-QA", "semeval-cqa": "SemEval-2016 A"}
"""How data sets are spelled in tables and figures."""
TESTS = {
    ("question-relevancy", ""): "SemEval-2016 B",
    ("question-relevancy", "test-2017"): "SemEval-2017 B",
}
"""Paper and split → its name, where the data set's would not tell which task or test it is."""

MEASURES = {"MAP": "map", "MRR": "mrr", "P@1": "p1", "AvgRec": "avgrec", "accuracy": "acc"}
"""Names in `published.csv` → ours. "dev MAP" is that of the split dev; "MAP" alone of test."""


def spelled(paper: str, dataset: str, metric: str) -> tuple[str, str]:
    """Data set (or test) and metric as readers know them: ("SemEval-2017 B", "MAP")."""
    split, _, measure = metric.rpartition(" ")
    if dataset == "semeval-cqa" and (paper, split) in TESTS:
        return TESTS[paper, split], measure
    return DATASETS.get(dataset, dataset), metric


Choices = dict[str, list[Row]]
"""Rows by the vectors they were run with."""


def published(paper: str) -> pd.DataFrame:
    """Every number that a paper prints: table, row, dataset, metric, value, kind, note."""
    return pd.read_csv(published_path(paper), dtype={"note": str}, keep_default_na=False)


def counted(
    paper: str, rows: Iterable[Row] | None = None, scale: str = "paper"
) -> dict[tuple[str, str], Choices]:
    """The rows that count in a paper's tables, by (variant, dataset) and vectors, in seed order.

    Those are the rows whose recipe is the default one but for vectors and seed, and, on a
    folder of one's own, the protocol; any other setting (or scale) makes a row an experiment. An
    encoder goes for vectors where a recipe has none. `rows` default to the ledger; tables are of
    the scale "paper" only.
    """
    home = room(paper)
    found: dict[tuple[str, str], Choices] = {}
    for row in read_ledger(paper) if rows is None else rows:
        recipe = row.recipe
        if recipe["paper"] != paper or recipe["variant"] not in home.VARIANTS:
            continue
        vectors = recipe["vectors"] or recipe.get("encoder", "")
        variant, dataset, seed = recipe["variant"], recipe["dataset"], recipe["seed"]
        default = home.recipe(variant, dataset, vectors=vectors, scale=scale, seed=seed)
        if dataset not in COLLECTIONS:
            default = default.change(protocol=recipe["protocol"])
        if recipe == default.as_dict():
            choices = found.setdefault((variant, dataset), {})
            choices.setdefault(vectors, []).append(row)
    for choices in found.values():
        for group in choices.values():
            group.sort(key=lambda row: row.recipe["seed"])
    return found


@overload
def pick(system: Choices, /) -> str: ...
@overload
def pick(*systems: Choices) -> str | None: ...
def pick(*systems: Choices) -> str | None:
    """The vectors to show systems with: those that all have, the paper's own before others.

    Then those with the most runs, then by name; None when no vectors are common to all.
    """
    common = set(systems[0]).intersection(*systems[1:]) if systems else set()
    return min(
        common,
        key=lambda name: (name != VECTORS, -sum(len(s[name]) for s in systems), name),
        default=None,
    )


def verdict(paper: float, ours: float | None, interval: float | None = None) -> str:
    """`reproduced`: no lower than the paper's number less a point, or our interval if wider."""
    if ours is None:
        return NOT_RUN
    allowed = max(POINT, interval or 0.0)
    return REPRODUCED if ours >= paper - allowed - ROUNDING else BELOW


def comparison(paper: str, rows: Iterable[Row] | None = None) -> pd.DataFrame:
    """One line a published number: `COLUMNS`, then `EXTRAS`.

    `ours` is the mean over seeds of the test score, `std` its sample deviation (empty for one
    seed). Rows that a paper only cites are never run here. `rows` default to the ledger.

    Where runs are folds, `ours` and `std` are over folds, and there is no interval: folds differ
    in how hard their questions are, which says nothing of how sure the mean is.
    """
    runs = counted(paper, rows)
    lines = []
    for known in published(paper).itertuples():
        choices = runs.get((known.row, known.dataset), {}) if known.kind == "own" else {}
        name = pick(choices)
        ours = {"runs": 0} if name is None else _summary(choices[name], known.metric)
        interval = ours.get("interval") if ours["runs"] >= FEWEST else None
        judged = verdict(known.value, ours.get("ours"), interval)
        data, measure = spelled(paper, known.dataset, known.metric)
        lines.append(
            {
                "data": data,
                "measure": measure,
                "table": known.table,
                "row": known.row,
                "dataset": known.dataset,
                "metric": known.metric,
                "paper": known.value,
                "verdict": judged,
                "vectors": name or "",
                "devices": "",
            }
            | ours
        )
    frame = pd.DataFrame(lines, columns=[*COLUMNS, *EXTRAS])
    return frame.astype(dict.fromkeys(("paper", "ours", "std", "interval"), float))


def _summary(rows: list[Row], metric: str) -> dict[str, Any]:
    *named, measure = metric.split()
    split = named[0] if named else "test"
    values = [row.scores[split][MEASURES[measure]] for row in rows]
    _, deviation, half_width = mean_interval(values)
    return {
        "ours": statistics.fmean(values),
        "std": deviation,
        "interval": None if are_folds(rows, split) else half_width,
        "runs": len(values),
        "devices": "; ".join(sorted({row.device for row in rows})),
    }


def render(frame: pd.DataFrame, format_: str = "md") -> str:
    """The table as text: `md`, `latex` (booktabs) or `csv`; ends with a newline.

    The csv has six digits and nothing but `COLUMNS`; the others have three, and a last line
    that says which vectors and devices our numbers are from.
    """
    if format_ == "csv":
        return frame[COLUMNS].to_csv(index=False, float_format="%.6g", lineterminator="\n")
    if format_ not in ("md", "latex"):
        raise QaselError(f"unknown format {format_!r}; known: md, csv, latex")
    cells = [[_cell(value) for value in line] for line in frame[COLUMNS].itertuples(index=False)]
    return (_markdown if format_ == "md" else _latex)(cells, provenance(frame))


def provenance(frame: pd.DataFrame) -> str:
    """Which vectors and devices our numbers are from, in a sentence; "" when nothing was run."""
    ran = frame[frame["runs"] > 0]
    if ran.empty:
        return ""
    vectors = ran["vectors"].replace("", "none").value_counts()
    usual = vectors.index[0]
    text = f"Our numbers: word vectors {usual}"
    ran = ran.replace({"vectors": {"": "none"}})
    for name in vectors.index[1:]:
        rows = ran.loc[ran["vectors"] == name, ["row", "dataset"]].drop_duplicates()
        text += f", but {name} for " + ", ".join(
            f"{r.row} ({r.dataset})" for r in rows.itertuples()
        )
    devices = sorted({device for names in ran["devices"] for device in names.split("; ")})
    return f"{text}; run on {' and '.join(devices)}."


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "–" if pd.isna(value) else f"{value:.3f}"
    return str(value)


def markdown_table(header: list[str], cells: list[list[str]], numbers: set[int]) -> str:
    """A Markdown table; the columns in `numbers` are set flush right."""
    rule = ["--:" if i in numbers else ":--" for i in range(len(header))]
    body = [[cell.replace("|", "\\|") for cell in line] for line in cells]
    return "".join(f"| {' | '.join(line)} |\n" for line in (header, rule, *body))


_NUMBERS = {4, 5, 6, 7}
"""Columns set flush right."""


def _markdown(cells: list[list[str]], note: str) -> str:
    table = markdown_table(COLUMNS, cells, _NUMBERS)
    return table + (f"\n{note}\n" if note else "")


_ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "→": r"$\rightarrow$",
    "±": r"$\pm$",
    "<": r"$<$",
    ">": r"$>$",
    "|": r"$|$",
    **{c: "\\" + c for c in "&%$#_{}"},
}


def latex_table(header: list[str], cells: list[list[str]], numbers: set[int]) -> str:
    """A LaTeX table (booktabs) of cells that are LaTeX already; `numbers` as in Markdown."""

    def line(values: list[str]) -> str:
        return " & ".join(values) + r" \\"

    columns = "".join("r" if i in numbers else "l" for i in range(len(header)))
    head = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", line(header), r"\midrule"]
    lines = [*head, *map(line, cells), r"\bottomrule", r"\end{tabular}"]
    return "\n".join(lines) + "\n"


def _latex(cells: list[list[str]], note: str) -> str:
    escaped = [[escape_latex(cell) for cell in line] for line in cells]
    table = latex_table([escape_latex(name) for name in COLUMNS], escaped, _NUMBERS)
    return table + (f"\\par {escape_latex(note)}\n" if note else "")


def escape_latex(text: str) -> str:
    """Text for LaTeX, its special characters escaped."""
    return "".join(_ESCAPES.get(character, character) for character in text)
