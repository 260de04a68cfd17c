"""How often the greedy search misses on real lists: `python tools/greedy_misses.py`.

Trains LSP-AP* (seed 0, C chosen on dev) on WikiQA and TREC-QA, runs both searches on its training
lists for several values of C, and writes data/greedy-misses.csv.
"""

import numpy as np
import pandas as pd
import torch

from qasel.papers.latent_structured import StructuredRanker, recipe
from qasel.papers.latent_structured.learners import Lists, first_candidates
from qasel.papers.latent_structured.report import MISSES
from qasel.results.runs import DATASETS
from qasel.text import Vectors
from qasel.training.loss_augmented import ap_loss_of, most_violating

COSTS = (0.1, 1.0, 10.0, 100.0, 1000.0)


def misses(lists: Lists, weights: np.ndarray, C: float) -> dict[str, float]:
    """Compare the greedy search with the exact one, on lists under a linear model.

    `missed` is the share of lists on which greedy has the lower objective, `gap` the mean
    difference on these divided by C; `greedy loss` and `exact loss` are the mean 1 − AP found.
    """
    rows = []
    for s, y in zip(
        lists.scores(weights), np.split(lists.positive, lists.first[1:-1]), strict=True
    ):
        exact, highest = most_violating(s, y, C=C)
        greedy, objective = most_violating(s, y, C=C, method="greedy")
        missed = highest - objective > 1e-9 * max(1.0, abs(highest))
        gap = (highest - objective) / C if missed else np.nan
        rows.append((missed, gap, ap_loss_of(greedy, y), ap_loss_of(exact, y)))
    frame = pd.DataFrame(rows, columns=["missed", "gap", "greedy loss", "exact loss"])
    return {"lists": len(lists), **frame.mean().fillna(0.0)}


if __name__ == "__main__":
    lines = []
    for dataset in ("wikiqa", "trecqa"):
        chosen = recipe("LSP-AP*", dataset)
        data = chosen.load()
        ranker = StructuredRanker(chosen, Vectors.empty(""), torch.device("cpu"))
        history = ranker.fit(data.train, data.dev)
        train = first_candidates(data.train, chosen.cut or None)
        lists = Lists.of(train, ranker.features(train))
        for cost in COSTS:
            found = misses(lists, ranker.weights, cost)
            mark = " (chosen)" if cost == history.chosen["C"] else ""
            means = (f"{found[name]:.3f}" for name in ("gap", "greedy loss", "exact loss"))
            missed = f"{100 * found['missed']:.1f}"
            lines.append([DATASETS[dataset], f"{cost:g}{mark}", found["lists"], missed, *means])
    head = ["data", "C", "lists", "missed, %", "gap / C where missed", "greedy loss", "exact loss"]
    pd.DataFrame(lines, columns=head).to_csv(MISSES, index=False, lineterminator="\n")
    print(MISSES.read_text(encoding="utf-8"), end="")
