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
from qasel.results.compare import Significance, significance
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
SIGNIFICANT = 0.05


def claims(rows: Iterable[Row] | None = None) -> pd.DataFrame:
    """One line a comparison and test: MAP differences, the paper's (with its stars) and ours.

    Ours is over the seeds that both systems have; p is Fisher's randomisation test over
    questions, on each question's mean over seeds, not corrected for the number of lines.
    """
    rows = list(read_ledger(PAPER) if rows is None else rows)
    known = published(PAPER).query("table == 'table-1'").set_index(["row", "metric"])
    lines = []
    for first, second in COMPARISONS:
        for split, year in TESTS.items():
            metric = "MAP" if split == "test" else f"{split} MAP"
            found = significance(PAPER, DATASET, "map", first, second, rows, split)
            paper = known["value"][first, metric] - known["value"][second, metric]
            lines.append(
                {
                    "comparison": f"{first} over {second}",
                    "test": year,
                    "paper": f"{paper:+.3f}{STARS[known['note'][first, metric]]}",
                    "ours": f"{found.t.difference:+.3f}" if found else "not run",
                    "p": f"{found.randomisation.p:.3f}" if found else "",
                    "seeds": len(found.seeds) if found else 0,
                    "verdict": _verdict(found),
                }
            )
    return pd.DataFrame(lines)


def _verdict(found: Significance | None) -> str:
    if found is None:
        return ""
    sign = "better" if found.t.difference > 0 else "not better"
    return f"{sign}, {'clearly' if found.randomisation.p < SIGNIFICANT else 'within noise'}"


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
