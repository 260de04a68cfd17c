"""Paper 2: what it says of its systems and searches beside our runs, and its figures.

`runs` are the frame of `read_runs`, by default the ledger's.
"""

from collections.abc import Callable
from statistics import fmean

import numpy as np
import pandas as pd

from qasel.evaluation import randomisation_test
from qasel.figures.charts import curves
from qasel.figures.style import HouseFigure
from qasel.locations import DATA
from qasel.papers.latent_structured import ROOM
from qasel.papers.latent_structured.recipes import IN_FOLDS, LEARNERS, ON_CNN
from qasel.papers.report import drawn, table_figure
from qasel.results import Room
from qasel.results.compare import Claim, compared, entries, judged, significance
from qasel.results.runs import by_question, histories, read_runs, shown, target_of
from qasel.results.tables import markdown_table

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


def claims(runs: pd.DataFrame | None = None) -> pd.DataFrame:
    """What the paper concludes, a line a comparison; see `judged`."""
    asked = [Claim(text, *systems) for text, pairs in COMPARISONS.items() for systems in pairs]
    return judged(ROOM, asked, runs)


def greedy_against_exact(runs: pd.DataFrame | None = None) -> pd.DataFrame:
    """What exactness changes in MAP, a line a pair of systems that were run."""
    return compared(
        significance(ROOM, dataset, "map", exact, greedy, runs)
        for exact, greedy, dataset in SEARCHES
    )


def against_given_order(runs: pd.DataFrame) -> pd.DataFrame:
    """Test MAP on WikiQA's mixed questions: the learners on similarities beside the files' order.

    `runs` are those of all rooms: the order of the files is a yardstick. `difference` is to that
    order, p that of Fisher's randomisation test over the questions, each averaged over seeds.
    Empty without runs of that order.
    """
    lines = entries(runs[runs["variant"].isin((*LEARNERS, GIVEN))])
    lines = lines[lines["target"] == target_of("wikiqa", "mixed")]
    found = dict(list(lines.groupby("system", sort=False)))
    means = {system: by_question(group, "map") for system, group in found.items()}
    table = []
    for system, values in means.items() if GIVEN in means else ():
        test = randomisation_test(values, means[GIVEN])
        same = system == GIVEN
        table.append(
            {
                "system": system,
                "MAP": f"{fmean(values.values()):.3f}",
                "difference": "" if same else f"{test.difference:+.3f}",
                "p": "" if same else f"{test.p:.3f}",
                "seeds": len(found[system]),
            }
        )
    return pd.DataFrame(table)


def figure_1(runs: pd.DataFrame | None = None) -> str:
    """How often each perceptron is on top on dev, epoch by epoch, in sentences."""
    found = _perceptrons(runs)
    if len(found) < len(PERCEPTRONS):
        return "Not run for all three perceptrons yet."
    table = np.array([np.mean(curves, axis=0) for curves in found.values()])
    top = np.bincount(table.argmax(0), minlength=len(found))
    parts = ", ".join(f"{name} in {count}" for name, count in zip(found, top, strict=True))
    late = table[:, 54:].mean(1)
    ends = ", ".join(f"{name} {value:.3f}" for name, value in zip(found, late, strict=True))
    return (
        f"Highest mean dev MAP, of {table.shape[1]} epochs: {parts}. From epoch 55 on, on "
        f"average: {ends}."
    )


def _perceptrons(runs: pd.DataFrame | None) -> dict[str, list[list[float]]]:
    """Dev MAP on WikiQA after each epoch of the perceptrons that were run."""
    systems: dict[str, pd.DataFrame] = {}
    for name in PERCEPTRONS:
        systems |= shown(ROOM, "wikiqa", name, runs=runs)
    return histories(systems, "dev_map")


def missed_table() -> str:
    """How often the greedy search misses on real lists, as Markdown."""
    if not MISSES.exists():
        return "Not measured yet: run `python tools/greedy_misses.py`."
    return markdown_table(pd.read_csv(MISSES, dtype=str, keep_default_na=False))


def networks_table(room: Room, runs: pd.DataFrame | None = None) -> str:
    """Test MAP and MRR of the networks of the first paper (`room`) on WikiQA, as Markdown."""
    cells = []
    for name in NETWORKS:
        lines = shown(room, "wikiqa", name, runs=runs).get(name)
        if lines is None:
            cells.append([name, "–", "–", "0", ""])
            continue
        scores = [f"{lines[measure].mean():.3f}" for measure in ("map", "mrr")]
        cells.append([name, *scores, str(len(lines)), lines["vectors"].iloc[0]])
    columns = ["network", "MAP", "MRR", "seeds", "vectors"]
    return markdown_table(pd.DataFrame(cells, columns=columns))


def hinge_against_list_loss(room: Room, runs: pd.DataFrame | None = None) -> pd.DataFrame:
    """What the hinge changes in the networks' MAP on WikiQA, a line a pair that was run.

    `room` is that of the first paper.
    """
    pairs = (("CA(ap)", "CA(list)"), ("PRI(list→ap)", "PRI(list)"))
    return compared(significance(room, "wikiqa", "map", *pair, runs) for pair in pairs)


TABLES = {
    "table-1": "Table 1: similarity features, paper against ours",
    "table-2": "Table 2: CNN vectors, paper against ours",
    "table-3": "Table 3: five folds of WikiQA, paper against ours",
    "table-4": "Table 4: five folds of TREC-QA, paper against ours",
}
PERCEPTRONS = ("LSP", "LSP-AP", "LSP-AP*")


def figures(
    runs: pd.DataFrame | None = None, note: Callable[[str], None] = print
) -> dict[str, HouseFigure]:
    """Every figure by its name; `note` is told of those that there are no runs for."""
    runs = read_runs([ROOM]) if runs is None else runs
    found = {name: table(runs, name) for name in TABLES}
    return drawn(ROOM, found | {"figure-1": dev_map(runs)}, note)


def table(runs: pd.DataFrame | None, name: str) -> HouseFigure | None:
    """One table of the paper: MAP, on dev too where the paper has it, against ours."""

    def shortened(frame: pd.DataFrame) -> pd.DataFrame:
        frame = frame[frame["metric"].str.endswith("MAP")]
        return frame.assign(row=frame["row"].str.removesuffix(IN_FOLDS).str.removesuffix(ON_CNN))

    return table_figure(ROOM, runs, name, TABLES[name], shortened)


def dev_map(runs: pd.DataFrame | None = None) -> HouseFigure | None:
    """Figure 1: MAP on WikiQA's development split after each epoch of the perceptrons."""
    systems = _perceptrons(runs)
    if len(systems) < len(PERCEPTRONS):
        return None
    title = "Figure 1: the perceptrons, epoch by epoch"
    return curves({"WikiQA": systems}, "dev MAP", title=title, peak=True)
