"""Compare settings of a recipe on held-out training questions; the test split is never read.

`python tools/held_out.py hierarchical-ranking wikiqa "CA(list)" --try k_max=5 --try k_max=0`
`python tools/held_out.py question-relevancy semeval-cqa STL-MLP "STL-MLP, tf-idf" --seeds 0,1`
`python tools/held_out.py ap-mpcnn trecqa AP-MPCNN --try "" --try hinge=raw --first 100`

The training questions are split into folds. For each variant, setting, seed and fold, a model is
trained on the other folds as usual and scored on the held-out fold: if the recipe has `keep`, under
each rule for which weights to keep, and after every epoch (`by_epoch`). Each finished fold is a row
of data/held-out.csv, identified by its recipe's hash: a stopped comparison can go on (`by_epoch` is
null for its first epochs), and rows of a recipe whose defaults have changed since are not used. (In
older rows, `device` is empty: a CPU.)

The printed table has the mean held-out MAP and the difference from the first setting, over the runs
(fold and seed) that both have, with two 95 % intervals: over questions (bootstrap, each question's
mean over seeds) and over runs (t). `--first 100` counts only the first 100 training questions: on
TREC-QA these are judged by hand, as dev and test are, and all others by patterns
(docs/notes/ap-mpcnn.md).
"""

import argparse
import copy
import csv
import json
import re
import sys
from collections import defaultdict
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from sklearn.model_selection import GroupKFold

from qasel import evaluate
from qasel.cli.papers import parse_seeds
from qasel.datasets.base import Split
from qasel.errors import QaselError
from qasel.evaluation import Scores, bootstrap_interval, mean_interval
from qasel.locations import DATA
from qasel.papers import ROOMS
from qasel.results.ledger import code_revision
from qasel.results.measure import beside, vectors_for
from qasel.training import DEVICES, describe_device, resolve_device
from qasel.training.recipe import Recipe, settings
from qasel.training.trainer import KEEP

PATH = DATA / "held-out.csv"
FIELDS = (
    "variant", "dataset", "setting", "seed", "recipe", "fold", "folds",
    "epoch", "dev", "map", "revision", "ap", "by_epoch", "device",
)  # fmt: skip
FOLD_SEED = 5
Row = dict[str, str]
Run = tuple[str, str]  # fold and seed


def groups(train: Split) -> np.ndarray:
    """Return a group number per question; questions that share a candidate's text share a group."""
    texts: dict[str, int] = {}
    numbers = [
        [texts.setdefault(c.text.lower(), len(texts)) for c in question.candidates]
        for question in train
    ]
    rows = np.repeat(np.arange(len(train)), [len(n) for n in numbers])
    shape = len(train), len(texts)
    table = csr_array((np.ones(len(rows)), (rows, np.concatenate(numbers))), shape=shape)
    return connected_components(table @ table.T, directed=False)[1]


def fold_of(train: Split, fold: int, folds: int) -> tuple[Split, Split]:
    """Return the questions outside a fold and those inside; no sentence is on both sides."""
    cut = GroupKFold(folds, shuffle=True, random_state=FOLD_SEED)
    outside, inside = list(cut.split(np.zeros(len(train)), groups=groups(train)))[fold]
    rest, held = (tuple(train[i] for i in part) for part in (outside, inside))
    return Split("rest", rest), Split("fold", held)


def recipe_of(room: str, variant: str, dataset: str, setting: str, seed: int) -> Recipe:
    """Return a row's recipe with a setting such as `k_max=5,kernels=(1,2)`."""
    return ROOMS[room].configured(variant, dataset, settings(parts_of(setting))).change(seed=seed)


def run_fold(
    room: str, variant: str, dataset: str, setting: str, seed: int, fold: int, folds: int,
    out: Path | None = None, device: str = "cpu",
) -> list[Row]:  # fmt: skip
    """Train without a fold and score it; return a row per rule of `keep`.

    First stages are kept in `out` and shared.
    """
    chosen = recipe_of(room, variant, dataset, setting, seed)
    data = chosen.load()
    rest, held = fold_of(data.train, fold, folds)
    vectors = vectors_for(chosen, data)
    place = resolve_device(device)
    ranker = ROOMS[chosen.paper].ranker(chosen, vectors, place)
    folder = out / f"fold-{fold}-of-{folds}" / chosen.slug if out else None
    by_epoch: list[float | None] = []

    def after_epoch(epochs: list[dict[str, float]]) -> None:
        by_epoch.extend([None] * (len(epochs) - 1 - len(by_epoch)))  # of a stopped run
        by_epoch.append(round(score(ranker, held, data.scoring).map, 4))

    rules = KEEP if hasattr(chosen, "keep") else ()
    watch = {"on_epoch": after_epoch} if rules else {}
    history = ranker.fit(rest, data.dev, folder, **watch, **beside(data))
    rows = []
    without = ",".join(part for part in parts_of(setting) if not part.startswith("keep="))
    usual = getattr(recipe_of(room, variant, dataset, without, seed), "keep", "")
    for rule in rules or ("",):
        if rule:
            chosen = chosen.change(keep=rule)
            setting = ",".join(filter(None, (without, f"keep={rule}" if rule != usual else "")))
        scores = score(ranker, held, data.scoring, history.weights.get(rule))
        values = (
            chosen.variant, chosen.dataset, setting, chosen.seed, chosen.hash, fold, named(folds),
            history.best_epoch, max((epoch["dev_map"] for epoch in history.epochs), default=""),
            scores.map, code_revision(),
            json.dumps({q: round(ap, 4) for q, ap in scores.per_question["map"].items()}),
            json.dumps(by_epoch) if rules else "",
            describe_device(place, getattr(chosen, "precision", "float32")),
        )  # fmt: skip
        rows.append({name: str(value) for name, value in zip(FIELDS, values, strict=True)})
    return rows


def score(ranker: Any, held: Split, scoring: str, weights: dict[str, Any] | None = None) -> Scores:
    """Score a fold, with other weights if given.

    A copy of the network is used, as ranking adds new words to one that may still be training.
    """
    if hasattr(ranker, "network"):
        ranker = copy.copy(ranker)
        ranker.network, ranker.vocabulary = map(copy.deepcopy, (ranker.network, ranker.vocabulary))
        if weights:
            ranker.network.load_state_dict(weights, strict=False)
    return evaluate(ranker.rank(held), held, scoring)


def parts_of(setting: str) -> list[str]:
    """Split `k_max=5,kernels=(1,2)` into its parts, but not at the commas of a tuple."""
    return [part for part in re.split(r",(?=\w+=)", setting) if part]


def named(folds: int) -> str:
    """Name folds that share no sentence; those of older rows have a number and may share some."""
    return f"{folds} by sentence"


def known(path: Path) -> list[Row]:
    """Return the rows of finished folds."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def found(rows: list[Row], chosen: Recipe, fold: int, folds: int) -> Row | None:
    """Return the row of a recipe's fold, however its setting was written."""
    wanted = (chosen.hash, str(fold), named(folds))
    return next((r for r in rows if (r["recipe"], r["fold"], r["folds"]) == wanted), None)


def add(path: Path, row: Row) -> None:
    """Append a row; two comparisons may run at once."""
    new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        if new:
            writer.writeheader()
        writer.writerow(row)


def table(rows: list[Row]) -> str:
    """Return mean held-out MAP by variant and setting, and differences from the first (Markdown).

    The interval over questions takes the trained models as given, so the one over runs
    (pairs of one fold and one seed) is the one to decide by.
    """
    by_setting: dict[str, dict[Run, dict[str, float]]] = defaultdict(dict)
    for row in rows:
        name = ", ".join(filter(None, (row["variant"], row["setting"])))
        by_setting[name][row["fold"], row["seed"]] = json.loads(row["ap"])
    first = next(iter(by_setting.values()))
    lines = [
        "| setting | runs | MAP | difference | over questions | over runs | ahead in |",
        "| :-- | --: | --: | --: | --: | --: | --: |",
    ]
    for name, runs in by_setting.items():
        line = f"| {name} | {len(runs)} | {fmean(by_question(runs).values()):.4f} |"
        shared = sorted(run for run in first.keys() & runs.keys() if runs[run])
        if runs is first or not shared:
            lines.append(f"{line} – | – | – | – |")
            continue
        ours, theirs = (by_question({run: part[run] for run in shared}) for part in (runs, first))
        low, high = bootstrap_interval(ours, theirs)
        gaps = [fmean(runs[run].values()) - fmean(first[run].values()) for run in shared]
        mean, _, half = mean_interval(gaps)
        over_runs = "–" if half is None else f"{mean - half:+.4f} to {mean + half:+.4f}"
        told = f"{mean:+.4f} | {low:+.4f} to {high:+.4f} | {over_runs}"
        lines.append(f"{line} {told} | {sum(gap > 0 for gap in gaps)} of {len(gaps)} |")
    return "\n".join(lines)


def by_question(runs: dict[Run, dict[str, float]]) -> dict[str, float]:
    """Return each question's mean AP over the runs that held it out."""
    found: dict[str, list[float]] = defaultdict(list)
    for aps in runs.values():
        for question, ap in aps.items():
            found[question].append(ap)
    return {question: fmean(aps) for question, aps in found.items()}


def only(rows: list[Row], questions: set[str]) -> list[Row]:
    """Return the rows with the AP of these questions only."""
    aps = [json.loads(row["ap"]) for row in rows]
    kept = [{q: ap for q, ap in each.items() if q in questions} for each in aps]
    return [row | {"ap": json.dumps(each)} for row, each in zip(rows, kept, strict=True)]


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paper")
    parser.add_argument("dataset")
    parser.add_argument("variants", nargs="+")
    parser.add_argument("--try", dest="settings", action="append", default=[])
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--out", type=Path, help="keep checkpoints and first stages here")
    parser.add_argument("--device", choices=DEVICES, default="cpu")
    parser.add_argument("--first", type=int, help="count the first so many training questions")
    options = parser.parse_args()
    # All settings of a fold before the next fold, so that a stopped comparison is still paired.
    rows = []
    for fold, setting, seed, variant in product(
        range(options.folds),
        options.settings or [""],
        parse_seeds([options.seeds]),
        options.variants,
    ):
        chosen = recipe_of(options.paper, variant, options.dataset, setting, seed)
        row = found(known(PATH), chosen, fold, options.folds)
        if row is None:
            asked = (options.paper, variant, options.dataset, setting, seed, fold, options.folds)
            for line in run_fold(*asked, options.out, options.device):
                add(PATH, line)
            row = found(known(PATH), chosen, fold, options.folds)
        rows.append(row | {"setting": setting})  # as written this time
    if options.first:
        rows = only(rows, {question.id for question in list(chosen.load().train)[: options.first]})
    print(table(rows))


if __name__ == "__main__":
    try:
        main()
    except QaselError as error:
        sys.exit(f"held_out: error: {error}")
