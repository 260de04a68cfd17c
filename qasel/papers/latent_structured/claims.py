"""What the paper says of its systems and searches, beside the same in our runs."""

import csv
from collections.abc import Iterable

import numpy as np

from qasel.papers.latent_structured.recipes import PAPER
from qasel.paths import DATA
from qasel.results.compare import significance
from qasel.results.ledger import Row, mean_score
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
NETWORKS = ("CA(list)", "CA(ap)", "PRI(list)", "PRI(list→ap)")
"""Networks of the first paper with its list loss, and with the hinge of this one."""


def greedy_against_exact(rows: Iterable[Row]) -> list[str]:
    """What exactness changes in MAP, a sentence a pair of systems."""
    rows = list(rows)
    told = []
    for exact, greedy, dataset in SEARCHES:
        found = significance(PAPER, dataset, "map", exact, greedy, rows)
        told.append(str(found) if found else f"{exact} against {greedy} ({dataset}): not run yet.")
    return told


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


def hinge_against_list_loss() -> list[str]:
    """What the hinge changes in the networks' MAP on WikiQA, a sentence a pair."""
    told = []
    for hinge, plain in (("CA(ap)", "CA(list)"), ("PRI(list→ap)", "PRI(list)")):
        found = significance("hierarchical-ranking", "wikiqa", "map", hinge, plain)
        told.append(str(found) if found else f"{hinge} against {plain}: not run yet.")
    return told
