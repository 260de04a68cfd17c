"""What the paper says of its systems and searches, beside the same in our runs."""

import csv
from collections.abc import Callable, Iterable, Mapping
from statistics import fmean

import numpy as np
import pandas as pd

from qasel.evaluation import randomisation_test
from qasel.figures.curves import curves
from qasel.figures.style import HouseFigure
from qasel.locations import DATA
from qasel.papers.latent_structured.recipes import IN_FOLDS, LEARNERS, ON_CNN, PAPER
from qasel.papers.report import drawn, table_figure
from qasel.results.claims import Claim, compared, judged
from qasel.results.compare import significance
from qasel.results.ledger import Row, mean_score, read_ledger
from qasel.results.outcomes import Target, outcomes
from qasel.results.tables import counted, markdown_table, pick

MISSES = DATA / "greedy-misses.csv"
"""Written by tools/greedy_misses.py."""
SEARCHES = (
    ("LSP-AP*", "LSP-AP", "wikiqa"),
    ("LSSVM-AP*", "LSSVM-AP", "wikiqa"),
    ("LSP-AP* (CNN)", "LSP-AP (CNN)", "wikiqa"),
    ("LSSVM-AP* (CNN)", "LSSVM-AP (CNN)", "wikiqa"),
    ("LSP-AP* (5-fold)", "LSP-AP (5-fold)", "trecqa"),
    ("LSSVM-AP* (5-fold)", "LSSVM-AP (5-fold)", "trecqa"),
)
"""The same learner with the exact search and with the greedy one."""
COMPARISONS = {
    "structured beats single candidates": [
        ("LSP-AP", "SVM", "wikiqa"),
        ("LSSVM-AP", "SVM", "wikiqa"),
        ("LSP-AP (5-fold)", "SVM (5-fold)", "wikiqa"),
        ("LSP-AP (5-fold)", "SVM (5-fold)", "trecqa"),
        ("LSP-AP (CNN)", "SVM (CNN)", "wikiqa"),
        ("LSP-AP* (CNN)", "SVM (CNN)", "wikiqa"),
        ("LSSVM-AP (CNN)", "SVM (CNN)", "wikiqa"),
    ],
    "AP in the loss helps": [
        ("LSP-AP", "LSP", "wikiqa"),
        ("LSP-AP (5-fold)", "LSP (5-fold)", "wikiqa"),
        ("LSP-AP (5-fold)", "LSP (5-fold)", "trecqa"),
        ("LSP-AP* (CNN)", "LSP (CNN)", "wikiqa"),
    ],
    "places in Ψ beat pairs": [
        ("LSP", "SVMmap", "wikiqa"),
        ("LSSVM-AP", "SVMmap", "wikiqa"),
        ("LSSVM-AP (5-fold)", "SVMmap (5-fold)", "wikiqa"),
        ("LSSVM-AP (CNN)", "SVMmap (CNN)", "wikiqa"),
    ],
    "exact or greedy, similarities": [
        ("LSP-AP*", "LSP-AP", "wikiqa"),
        ("LSSVM-AP*", "LSSVM-AP", "wikiqa"),
    ],
    "exact or greedy, CNN vectors": [
        ("LSP-AP* (CNN)", "LSP-AP (CNN)", "wikiqa"),
        ("LSSVM-AP* (CNN)", "LSSVM-AP (CNN)", "wikiqa"),
    ],
    "a large margin suits CNN vectors": [("LSSVM-AP (CNN)", "LSP-AP (CNN)", "wikiqa")],
}
"""Claim → two systems and the data; all are about MAP on test."""
GIVEN = "given order"
NETWORKS = ("CA(list)", "CA(ap)", "PRI(list)", "PRI(list→ap)")
"""Networks of the first paper with its list loss, and with the hinge of this one."""


def claims(rows: Iterable[Row] | None = None) -> pd.DataFrame:
    """What the paper concludes, a line a comparison; see `results.claims.judged`."""
    return judged(
        PAPER,
        [
            Claim(text, first, second, dataset)
            for text, systems in COMPARISONS.items()
            for first, second, dataset in systems
        ],
        rows,
    )


def greedy_against_exact(rows: Iterable[Row]) -> pd.DataFrame:
    """What exactness changes in MAP, a line a pair of systems that were run."""
    rows = list(rows)
    return compared(
        significance(PAPER, dataset, "map", exact, greedy, rows)
        for exact, greedy, dataset in SEARCHES
    )


def against_given_order(rows: Iterable[Row] | None = None) -> pd.DataFrame:
    """Test MAP on WikiQA's mixed questions: the learners on similarities beside the files' order.

    `difference` is to the order of the files, p that of Fisher's randomisation test over the
    questions, each averaged over seeds. Empty without runs of that order.
    """
    kept = [
        row
        for row in (read_ledger() if rows is None else rows)
        if row.recipe["variant"] in (*LEARNERS, GIVEN)
    ]
    found: dict[str, list[Mapping[str, float]]] = {}
    for outcome in outcomes(kept):
        if outcome.target == Target("wikiqa", "mixed"):
            found.setdefault(outcome.system, []).append(outcome.scores["map"])
    means = {
        system: {question: fmean(run[question] for run in runs) for question in runs[0]}
        for system, runs in found.items()
    }
    lines = []
    for system, values in means.items() if GIVEN in means else ():
        test = randomisation_test(values, means[GIVEN])
        same = system == GIVEN
        lines.append(
            {
                "system": system,
                "MAP": f"{fmean(values.values()):.3f}",
                "difference": "" if same else f"{test.difference:+.3f}",
                "p": "" if same else f"{test.p:.3f}",
                "seeds": len(found[system]),
            }
        )
    return pd.DataFrame(lines)


def figure_1(rows: Iterable[Row]) -> str:
    """How often each perceptron is on top on dev, epoch by epoch, in sentences."""
    runs = counted(PAPER, rows)
    means = {}
    for name in ("LSP", "LSP-AP", "LSP-AP*"):
        choice = runs.get((name, "wikiqa"), {})
        if not choice:
            return "Not run for all three perceptrons yet."
        histories = [[e["dev_map"] for e in row.history] for row in choice[pick(choice)]]
        means[name] = np.mean(histories, axis=0)
    names = list(means)
    table = np.array(list(means.values()))
    top = np.bincount(table.argmax(0), minlength=len(names))
    parts = ", ".join(f"{name} in {count}" for name, count in zip(names, top, strict=True))
    late = table[:, 54:].mean(1)
    ends = ", ".join(f"{name} {value:.3f}" for name, value in zip(names, late, strict=True))
    return (
        f"Highest mean dev MAP, of {table.shape[1]} epochs: {parts}. From epoch 55 on, on "
        f"average: {ends}."
    )


def missed_table() -> str:
    """How often the greedy search misses on real lists, as Markdown."""
    if not MISSES.exists():
        return "Not measured yet: run `python tools/greedy_misses.py`."
    with MISSES.open(newline="", encoding="utf-8") as file:
        lines = list(csv.reader(file))
    return markdown_table(lines[0], lines[1:], set(range(1, len(lines[0]))))


def networks_table() -> str:
    """Test MAP and MRR of the networks on WikiQA, as Markdown, from the first paper's ledger."""
    runs = counted("hierarchical-ranking")
    cells = []
    for name in NETWORKS:
        choice = runs.get((name, "wikiqa"), {})
        vectors = pick(choice) if choice else None
        if vectors is None:
            cells.append([name, "–", "–", "0", ""])
            continue
        rows = choice[vectors]
        scores = [f"{mean_score(rows, measure):.3f}" for measure in ("map", "mrr")]
        cells.append([name, *scores, str(len(rows)), vectors])
    return markdown_table(["network", "MAP", "MRR", "seeds", "vectors"], cells, {1, 2, 3})


def hinge_against_list_loss() -> pd.DataFrame:
    """What the hinge changes in the networks' MAP on WikiQA, a line a pair that was run."""
    pairs = (("CA(ap)", "CA(list)"), ("PRI(list→ap)", "PRI(list)"))
    return compared(
        significance("hierarchical-ranking", "wikiqa", "map", hinge, plain)
        for hinge, plain in pairs
    )


TABLES = {
    "table-1": "Table 1: similarity features, paper against ours",
    "table-2": "Table 2: CNN vectors, paper against ours",
    "table-3": "Table 3: five folds of WikiQA, paper against ours",
    "table-4": "Table 4: five folds of TREC-QA, paper against ours",
}
PERCEPTRONS = ("LSP", "LSP-AP", "LSP-AP*")


def figures(
    rows: Iterable[Row] | None = None, note: Callable[[str], None] = print
) -> dict[str, HouseFigure]:
    """Every figure by its name; `note` is told of those that the ledger has no runs for.

    `rows` default to the ledger.
    """
    rows = list(read_ledger(PAPER) if rows is None else rows)
    found = {f"{PAPER}-{name}": table(rows, name) for name in TABLES}
    found[f"{PAPER}-figure-1"] = dev_map(rows)
    return drawn(found, note)


def table(rows: Iterable[Row], name: str) -> HouseFigure | None:
    """One table of the paper: MAP, on dev too where the paper has it, against ours."""
    return table_figure(PAPER, rows, name, TABLES[name], _shortened)


def _shortened(frame: pd.DataFrame) -> pd.DataFrame:
    frame = frame[frame["metric"].str.endswith("MAP")]
    return frame.assign(row=frame["row"].str.removesuffix(IN_FOLDS).str.removesuffix(ON_CNN))


def dev_map(rows: Iterable[Row]) -> HouseFigure | None:
    """Figure 1: MAP on WikiQA's development split after each epoch of the perceptrons."""
    runs = counted(PAPER, rows)
    found = {name: runs.get((name, "wikiqa"), {}) for name in PERCEPTRONS}
    systems = {
        name: [[epoch["dev_map"] for epoch in row.history] for row in choice[pick(choice)]]
        for name, choice in found.items()
        if choice
    }
    if len(systems) < len(PERCEPTRONS):
        return None
    return curves(
        {"WikiQA": systems},
        "dev MAP",
        title="Figure 1: the perceptrons, epoch by epoch",
        peak=True,
    )
