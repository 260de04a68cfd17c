"""How often the greedy search misses on real lists: `python tools/greedy_misses.py`.

Trains LSP-AP* (seed 0, C chosen on dev) on WikiQA and TREC-QA, runs both searches on its training
lists for several values of C, and writes data/greedy-misses.csv.
"""

import csv

import torch

from qasel.papers.latent_structured import StructuredRanker, recipe
from qasel.papers.latent_structured.learners import Lists, first_candidates
from qasel.papers.latent_structured.lesson import misses
from qasel.papers.latent_structured.report import MISSES
from qasel.text import Vectors

NAMES = {"wikiqa": "WikiQA", "trecqa": "TREC-QA"}
COSTS = (0.1, 1.0, 10.0, 100.0, 1000.0)

if __name__ == "__main__":
    lines = []
    for dataset, shown in NAMES.items():
        chosen = recipe("LSP-AP*", dataset)
        data = chosen.load()
        ranker = StructuredRanker(chosen, Vectors.empty(""), torch.device("cpu"))
        history = ranker.fit(data.train, data.dev)
        train = first_candidates(data.train, chosen.cut or None)
        lists = Lists.of(train, ranker.features(train))
        for cost in COSTS:
            found = misses(lists, ranker.weights, cost)
            mark = " (chosen)" if cost == history.chosen["C"] else ""
            lines.append(
                [
                    shown,
                    f"{cost:g}{mark}",
                    str(found["lists"]),
                    f"{100 * found['missed']:.1f}",
                    f"{found['gap']:.3f}",
                    f"{found['greedy loss']:.3f}",
                    f"{found['exact loss']:.3f}",
                ]
            )
    head = ["data", "C", "lists", "missed, %", "gap / C where missed", "greedy loss", "exact loss"]
    with MISSES.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *lines])
    print(MISSES.read_text(encoding="utf-8"), end="")
