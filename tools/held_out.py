"""Compare settings of a recipe on held-out training questions; the test split is never read.

`python tools/held_out.py hierarchical-ranking wikiqa "CA(list)" --try k_max=5 --try k_max=0`
`python tools/held_out.py question-relevancy semeval-cqa STL-MLP "STL-MLP, tf-idf" --seeds 0,1`

The training questions are cut into folds. For each variant, setting, seed and
fold a model is trained on the other folds, its epoch chosen on the dev split
as ever, and scored on the fold that it has not seen. Each finished fold is a
line of data/held-out.csv (so a stopped comparison goes on), from which the
table is printed: mean held-out MAP, and the difference from the first line
with a 95 % bootstrap interval over questions, each one's mean over seeds.
"""

import argparse
import csv
import json
from collections import defaultdict
from itertools import product
from pathlib import Path

import numpy as np
import torch

from qasel import evaluate
from qasel.datasets.base import Split
from qasel.papers import paper
from qasel.paths import DATA
from qasel.results.ledger import code_revision
from qasel.results.measure import vectors_for

PATH = DATA / "held-out.csv"
FIELDS = ("variant", "dataset", "setting", "fold", "folds", "epoch", "dev", "map", "revision", "ap")
FOLD_SEED = 5
SEED = "seed="
Row = dict[str, str]


def fold_of(train: Split, fold: int, folds: int) -> tuple[Split, Split]:
    """The questions outside a fold, and those of the fold."""
    order = np.random.default_rng(FOLD_SEED).permutation(len(train))
    inside = set(order[fold::folds].tolist())
    parts = [tuple(q for i, q in enumerate(train) if (i in inside) == kept) for kept in (0, 1)]
    return Split("rest", parts[0]), Split("fold", parts[1])


def run_fold(room: str, variant: str, dataset: str, setting: str, fold: int, folds: int) -> Row:
    """Train without a fold and score it."""
    chosen = paper(room).recipe(variant, dataset).set([part for part in setting.split(",") if part])
    data = chosen.load()
    rest, held = fold_of(data.train, fold, folds)
    ranker = paper(room).ranker(chosen, vectors_for(chosen, data), torch.device("cpu"))
    history = ranker.fit(rest, data.dev, **({"tasks": data.tasks} if data.tasks else {}))
    scores = evaluate(ranker.rank(held), held, data.scoring)
    values = (
        variant, data.name, setting, fold, folds, history.best_epoch,
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
    """Markdown: mean held-out MAP by variant and setting, and the difference from the first."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        parts = (row["variant"], *(p for p in row["setting"].split(",") if p and SEED not in p))
        for question, ap in json.loads(row["ap"]).items():
            found[", ".join(parts)][question].append(ap)
    mean = {name: {q: np.mean(aps) for q, aps in by.items()} for name, by in found.items()}
    first = next(iter(mean.values()))
    lines = ["| setting | questions | MAP | difference | 95 % interval |", "|---|---|---|---|---|"]
    for name, ap in mean.items():
        shared = sorted(first.keys() & ap.keys())
        gaps = np.array([ap[q] - first[q] for q in shared])
        draws = np.random.default_rng(0).choice(gaps, (2000, len(gaps))).mean(1)
        low, high = np.quantile(draws, (0.025, 0.975))
        told = f"{gaps.mean():+.4f} | {low:+.4f} to {high:+.4f}"
        lines.append(f"| {name} | {len(ap)} | {np.mean(list(ap.values())):.4f} | {told} |")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paper")
    parser.add_argument("dataset")
    parser.add_argument("variants", nargs="+")
    parser.add_argument("--try", dest="settings", action="append", default=[])
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--folds", type=int, default=3)
    options = parser.parse_args()
    seeds = ["" if seed == "0" else f"{SEED}{seed}" for seed in options.seeds.split(",")]
    settings = [",".join(filter(None, both)) for both in product(options.settings or [""], seeds)]
    # All settings of a fold before the next fold, so that a stopped comparison is still paired.
    for fold, setting, variant in product(range(options.folds), settings, options.variants):
        key = (variant, options.dataset, setting, str(fold), str(options.folds))
        if key not in {tuple(row[name] for name in FIELDS[:5]) for row in known(PATH)}:
            made = run_fold(options.paper, variant, options.dataset, setting, fold, options.folds)
            add(PATH, made)
    wanted = (options.dataset, str(options.folds))
    done = [row for row in known(PATH) if (row["dataset"], row["folds"]) == wanted]
    print(table([row for row in done if row["variant"] in options.variants]))
