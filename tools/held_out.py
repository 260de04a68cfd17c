"""Compare settings of a recipe on held-out training questions; the test split is never read.

`python tools/held_out.py "CA(list)" wikiqa --try k_max=5 --try k_max=0,list_mean=list`

The training questions are cut into folds. For each setting and fold a model is
trained on the other folds, its epoch chosen on the dev split as ever, and
scored on the fold that it has not seen. Each finished fold is a line of
data/held-out.csv (so a stopped comparison goes on), from which the table is
printed: mean held-out MAP, and the difference from the first setting with a
95 % bootstrap interval over questions.
"""

import argparse
import csv
import json
from pathlib import Path

import numpy as np
import torch

from qasel import evaluate, load_dataset
from qasel.datasets.base import Dataset, Split
from qasel.papers.hierarchical_ranking import HierarchicalRanker, recipe
from qasel.paths import DATA
from qasel.results.ledger import code_revision
from qasel.results.measure import vectors_for

PATH = DATA / "held-out.csv"
FIELDS = ("variant", "dataset", "setting", "fold", "folds", "epoch", "dev", "map", "revision", "ap")
FOLD_SEED = 5
Row = dict[str, str]


def fold_of(train: Split, fold: int, folds: int) -> tuple[Split, Split]:
    """The questions outside a fold, and those of the fold."""
    order = np.random.default_rng(FOLD_SEED).permutation(len(train))
    inside = set(order[fold::folds].tolist())
    parts = [tuple(q for i, q in enumerate(train) if (i in inside) == kept) for kept in (0, 1)]
    return Split("rest", parts[0]), Split("fold", parts[1])


def run_fold(variant: str, dataset: Dataset, setting: str, fold: int, folds: int) -> Row:
    """Train without a fold and score it."""
    chosen = recipe(variant, dataset.name).set([part for part in setting.split(",") if part])
    rest, held = fold_of(dataset.train, fold, folds)
    ranker = HierarchicalRanker(chosen, vectors_for(chosen, dataset), torch.device("cpu"))
    history = ranker.fit(rest, dataset.dev)
    scores = evaluate(ranker.rank(held), held)
    values = (
        variant, dataset.name, setting, fold, folds, history.best_epoch,
        max(epoch["dev_map"] for epoch in history.epochs), scores.map, code_revision(),
        json.dumps({q: round(ap, 4) for q, ap in scores.per_question["map"].items()}),
    )  # fmt: skip
    return {name: str(value) for name, value in zip(FIELDS, values, strict=True)}


def known(path: Path) -> list[Row]:
    """The folds that are done."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def add(path: Path, row: Row) -> None:
    """Append a line; two comparisons may run at once."""
    new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        if new:
            writer.writeheader()
        writer.writerow(row)


def table(rows: list[Row]) -> str:
    """Markdown: mean held-out MAP by setting, and the difference from the first."""
    by_setting: dict[str, dict[str, float]] = {}
    for row in rows:
        by_setting.setdefault(row["setting"], {}).update(json.loads(row["ap"]))
    first = next(iter(by_setting.values()))
    lines = ["| setting | questions | MAP | difference | 95 % interval |", "|---|---|---|---|---|"]
    for setting, ap in by_setting.items():
        shared = sorted(first.keys() & ap.keys())
        gaps = np.array([ap[q] - first[q] for q in shared])
        draws = np.random.default_rng(0).choice(gaps, (2000, len(gaps))).mean(1)
        low, high = np.quantile(draws, (0.025, 0.975))
        mean = np.mean(list(ap.values()))
        told = f"{gaps.mean():+.4f} | {low:+.4f} to {high:+.4f}"
        lines.append(f"| {setting or 'as it is'} | {len(ap)} | {mean:.4f} | {told} |")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("variant")
    parser.add_argument("dataset")
    parser.add_argument("--try", dest="settings", action="append", default=[])
    parser.add_argument("--folds", type=int, default=3)
    options = parser.parse_args()
    data = load_dataset(options.dataset, recipe(options.variant, options.dataset).protocol)
    # All settings of a fold before the next fold, so that a stopped comparison is still paired.
    for fold in range(options.folds):
        for setting in options.settings or [""]:
            key = (options.variant, options.dataset, setting, str(fold), str(options.folds))
            if key not in {tuple(row[name] for name in FIELDS[:5]) for row in known(PATH)}:
                add(PATH, run_fold(options.variant, data, setting, fold, options.folds))
    done = [
        row
        for row in known(PATH)
        if (row["variant"], row["dataset"], row["folds"])
        == (options.variant, options.dataset, str(options.folds))
    ]
    print(table(done))
