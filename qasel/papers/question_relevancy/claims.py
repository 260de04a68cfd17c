"""What the paper says of its systems, beside the same in our runs."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from qasel.evaluation import bootstrap_interval
from qasel.papers.question_relevancy.recipes import (
    AUXILIARY,
    LATER_TEST,
    MAIN,
    MTL,
    OURS,
    PAPER,
    SIM,
    STL,
    WITHOUT,
)
from qasel.results.claims import COLUMNS, Claim, judged, line
from qasel.results.compare import between
from qasel.results.ledger import Row, read_ledger
from qasel.results.tables import counted, pick, published
from qasel.text.features.distances import NAMES

DATASET = "semeval-cqa"
ORDER = "IR baseline"
INTERVAL = "95 % over questions"
TESTS = {"test": "2016", LATER_TEST: "2017"}
STARS = {"": "", "one star in the paper": "*", "two stars in the paper": "**"}
COMPARISONS = (
    *((f"{MTL} ({name})", STL) for name in AUXILIARY),
    *((f"MTL{SIM} ({name})", f"STL{SIM}") for name in ("QA", "FNC", "NLI")),
    (STL, f"STL{SIM}"),
)
"""The multi-task system and the single-task one, and the small network against the large."""


def claims(rows: Iterable[Row] | None = None) -> pd.DataFrame:
    """Other tasks against none, and the small network against the large, on both tests.

    As `results.claims.judged` gives them; the paper's differences with its stars.
    """
    metrics = {year: "MAP" if split == "test" else f"{split} MAP" for split, year in TESTS.items()}
    asked = [
        Claim(year, first, second, DATASET, metric)
        for first, second in COMPARISONS
        for year, metric in metrics.items()
    ]
    known = published(PAPER).query("table == 'table-1'").set_index(["row", "metric"])["note"]
    frame = judged(PAPER, asked, rows).rename(columns={"claim": "test"})
    stars = [STARS[known[claim.first, claim.metric]] for claim in asked]
    return frame.assign(paper=frame["paper"] + stars).drop(columns=["data", "measure"])


def left_out(rows: Iterable[Row] | None = None) -> pd.DataFrame:
    """Table 3: all distances against all but one, on the test of 2016; as `judged` gives them."""
    return judged(
        PAPER, [Claim(name, MAIN, f"{MAIN}{WITHOUT}{name}", DATASET) for name in NAMES], rows
    )


def against_search(rows: Iterable[Row] | None = None) -> pd.DataFrame:
    """Test MAP less that of the search engine's order, in the text's distances and in ours.

    One line a test and system. The interval is a bootstrap over the questions, on each one's mean
    over seeds; systems that were not run are left out. `rows` default to the ledger.
    """
    rows = list(read_ledger(PAPER) if rows is None else rows)
    lines = []
    for split, year in TESTS.items():
        for name in (STL, MAIN, *OURS):
            group, order = _beside_search(name, rows)
            if not group:
                continue
            ours, engine = (_means(runs, split) for runs in (group, order))
            low, high = bootstrap_interval(ours, engine)
            scores = [float(np.mean(list(values.values()))) for values in (ours, engine)]
            told = [f"{score:.3f}" for score in scores]
            told += [f"{scores[0] - scores[1]:+.3f}", f"{low:+.3f} to {high:+.3f}"]
            lines.append([year, name, *told, len(group)])
    columns = ["test", "system", "MAP", "search engine", "difference", INTERVAL, "seeds"]
    return pd.DataFrame(lines, columns=columns)


def held(rows: Iterable[Row] | None = None) -> pd.DataFrame:
    """What the paper says of its systems in table 1, test by test; as `judged` gives it."""
    rows = list(read_ledger(PAPER) if rows is None else rows)
    lines = []
    for split in TESTS:
        metric = "MAP" if split == "test" else f"{split} MAP"
        for name in (STL, MAIN):
            claim = Claim("network beats search engine", name, ORDER, DATASET, metric)
            group, order = _beside_search(name, rows)
            found = between({name: group, ORDER: order}, "map", split) if group else None
            lines.append(line(PAPER, claim, found))
    network = pd.DataFrame(lines, columns=COLUMNS)
    others = judged(
        PAPER,
        [
            Claim(text, first, STL if first != STL else f"STL{SIM}", DATASET, metric)
            for metric in ("MAP", f"{LATER_TEST} MAP")
            for text, first in (
                ("small network beats BiLSTM", STL),
                *((f"other tasks: {name}", f"{MTL} ({name})") for name in AUXILIARY),
            )
        ],
        rows,
    )
    return pd.concat([network, others]).sort_values("data", kind="stable", ignore_index=True)


def _beside_search(name: str, rows: Iterable[Row]) -> tuple[list[Row], list[Row]]:
    """The rows of a system, and the run of the search engine's order."""
    runs = counted(PAPER, rows)
    learnt, order = (runs.get((system, DATASET), {}) for system in (name, ORDER))
    if not learnt or not order:
        return [], []
    return learnt[pick(learnt)], order[pick(order)]


def _means(rows: Iterable[Row], split: str) -> dict[str, float]:
    """Each question's MAP, the mean over rows."""
    return pd.DataFrame([row.per_question[split]["map"] for row in rows]).mean().to_dict()
