"""What the paper says of its systems, each comparison beside the same one in our runs."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from qasel.papers.hierarchical_ranking.recipes import PAPER
from qasel.results.claims import Claim, judged
from qasel.results.ledger import Row
from qasel.results.tables import counted, pick

DATASETS = {"wikiqa": "WikiQA", "trecqa": "TREC-QA"}

COMPARISONS = {
    "joint training beats one level (list)": [
        (f"{family}(list)", "CA(list)") for family in ("MTL", "RI", "PRI")
    ],
    "joint training beats one level (point)": [
        (f"{family}(point)", "CA(point)") for family in ("MTL", "RI", "PRI")
    ],
    "joint training beats one level (pair)": [
        (f"{family}(pair)", "CA(pair)") for family in ("MTL", "RI")
    ],
    "progressive beats plain integration": [("PRI(list)", "RI(list)")],
    "the main system beats the strong baseline": [("PRI(list)", "DCA")],
    "each level is needed": [
        ("PRI(list)", "PRI(list) w/o point-level"),
        ("PRI(list)", "PRI(list) w/o pair-level"),
    ],
    "levels, not parameters": [("PRI(list)", "PRI(all list)")],
}
"""Claim → (the system said to be better, the other one); all are about MAP."""


def claims(rows: Iterable[Row] | None = None) -> pd.DataFrame:
    """What the paper concludes, a line a comparison and data set; see `results.claims.judged`."""
    return judged(
        PAPER,
        [
            Claim(text, first, second, dataset)
            for text, pairs in COMPARISONS.items()
            for first, second in pairs
            for dataset in DATASETS
        ],
        rows,
    )


def convergence(rows: Iterable[Row] | None = None) -> list[str]:
    """Whether the list loss falls faster in PRI(list) than alone (figure 4), in sentences."""
    runs = counted(PAPER, rows)
    told = []
    for dataset, shown in DATASETS.items():
        systems = {name: runs.get((name, dataset), {}) for name in ("PRI(list)", "CA(list)")}
        vectors = pick(*systems.values())
        if vectors is None:
            told.append(f"{shown}: not run for both systems yet.")
            continue
        curves = {name: _mean_curve(choice[vectors]) for name, choice in systems.items()}
        joint, alone = curves.values()
        epochs = min(len(joint), len(alone))
        lower = int((joint[:epochs] < alone[:epochs]).sum())
        best = {
            name: np.mean([row.best_epoch for row in choice[vectors]])
            for name, choice in systems.items()
        }
        told.append(
            f"{shown}: the list loss of PRI(list) is the lower one in {lower} of the {epochs} "
            f"epochs that all runs went through; best dev epoch on average "
            f"{best['PRI(list)']:.1f} for PRI(list), {best['CA(list)']:.1f} for CA(list)."
        )
    return told


def _mean_curve(rows: list[Row]) -> np.ndarray:
    shortest = min(len(row.history) for row in rows)
    return np.mean([[e["list"] for e in row.history[:shortest]] for row in rows], axis=0)
