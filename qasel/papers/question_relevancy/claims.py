"""What the paper says of its systems, beside the same in our runs."""

from collections.abc import Iterable, Mapping

import pandas as pd

from qasel.papers.question_relevancy.recipes import (
    AUXILIARY,
    LATER_TEST,
    MAIN,
    MTL,
    PAPER,
    SIM,
    STL,
)
from qasel.results.claims import Claim, judged
from qasel.results.ledger import Row, mean_score, read_ledger
from qasel.results.tables import Choices, counted, pick, published

DATASET = "semeval-cqa"
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


def against_search(rows: Iterable[Row] | None = None) -> list[str]:
    """Mean MAP of the main systems less that of the search engine's order, in sentences."""
    runs = counted(PAPER, read_ledger(PAPER) if rows is None else rows)
    told = []
    for split, year in TESTS.items():
        order = _mean(runs, "IR baseline", split)
        for name in (STL, MAIN):
            score = _mean(runs, name, split)
            if order is None or score is None:
                told.append(f"{name}, {year}: not run yet.")
                continue
            told.append(
                f"{name}, {year}: MAP {score:.4f}, {score - order:+.4f} against the search "
                f"engine's order ({order:.4f})."
            )
    return told


def _mean(runs: Mapping[tuple[str, str], Choices], name: str, split: str) -> float | None:
    choice = runs.get((name, DATASET), {})
    return mean_score(choice[pick(choice)], "map", split) if choice else None
