"""What the paper says of its systems, each comparison beside the same one in our runs."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from qasel.papers.hierarchical_ranking.recipes import PAPER
from qasel.results.compare import significance
from qasel.results.ledger import Row, read_ledger
from qasel.results.tables import counted, pick, published

DATASETS = {"wikiqa": "WikiQA", "trecqa": "TREC-QA"}

COMPARISONS = {
    "joint training beats one level (list)": [
        (f"{family}(list)", "CA(list)") for family in ("MTL", "RI", "PRI")
    ],
    "joint training beats one level (point)": [
        (f"{family}(point)", "CA(point)") for family in ("MTL", "RI", "PRI")
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

SIGNIFICANT = 0.05


def claims(rows: Iterable[Row] | None = None) -> pd.DataFrame:
    """One line a comparison and data set: MAP differences, the paper's and ours, and a verdict.

    Ours is over the seeds that both systems have; p is Fisher's randomisation test over
    questions, not corrected for the number of lines. `rows` default to the ledger.
    """
    rows = list(read_ledger(PAPER) if rows is None else rows)
    known = published(PAPER)
    known = known[known["metric"] == "MAP"].drop_duplicates(["row", "dataset"])
    values = known.set_index(["row", "dataset"])["value"]
    lines = []
    for claim, pairs in COMPARISONS.items():
        for first, second in pairs:
            for dataset, shown in DATASETS.items():
                found = significance(PAPER, dataset, "map", first, second, rows)
                line = {
                    "claim": claim,
                    "comparison": f"{first} over {second}",
                    "data": shown,
                    "paper": values[first, dataset] - values[second, dataset],
                    "ours": found.t.difference if found else np.nan,
                    "p": found.randomisation.p if found else np.nan,
                    "seeds": len(found.seeds) if found else 0,
                }
                lines.append(line | {"verdict": _verdict(line)})
    return pd.DataFrame(lines)


def _verdict(line: dict) -> str:
    if np.isnan(line["ours"]):
        return "not run"
    sign = "held" if line["ours"] > 0 else "did not hold"
    return f"{sign}, {'clearly' if line['p'] < SIGNIFICANT else 'within noise'}"


def summary(frame: pd.DataFrame) -> str:
    """The verdicts counted, in a few sentences."""
    ran = frame[frame["seeds"] > 0]
    text = f"{len(frame)} comparisons of the paper, {len(ran)} of them run by us."
    if ran.empty:
        return text
    count = ran["verdict"].value_counts()
    parts = ", ".join(f"{number} {verdict}" for verdict, number in count.items())
    fewest, most = int(ran["seeds"].min()), int(ran["seeds"].max())
    seeds = str(most) if fewest == most else f"{fewest} to {most}"
    return (
        f"{text} Of those: {parts} (p below {SIGNIFICANT} counts as clear; seeds a "
        f"comparison: {seeds})."
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
