"""Does the attention of paper 3 learn to match words? `python tools/attention_starts.py`.

Trains the pre-ranker on WikiQA with both initialisations of the trilinear score, two seeds each,
measures its attention on dev and writes data/attention-starts.csv. The test split is never read.
"""

import pandas as pd
import torch

from qasel.papers.ms_ranker import PreRanking, recipe
from qasel.papers.ms_ranker.lesson import attention_facts
from qasel.papers.ms_ranker.report import STARTS
from qasel.results.measure import vectors_for

SETTINGS = {
    "noise, word dropout 0.5": {"attention": "noise", "word_dropout": 0.5},
    "noise, word dropout 0.2": {"attention": "noise", "word_dropout": 0.2},
    "scalar product, word dropout 0.2": {"attention": "dot", "word_dropout": 0.2},
}

if __name__ == "__main__":
    lines = []
    for name, changes in SETTINGS.items():
        for seed in range(2):
            chosen = recipe("Pre-Ranker", "wikiqa", seed=seed).change(**changes)
            data = chosen.load()
            ranker = PreRanking(chosen, vectors_for(chosen, data), torch.device("cpu"))
            history = ranker.fit(data.train, data.dev)
            best = max(row["dev_map"] for row in history.epochs)
            facts = attention_facts(ranker, data.dev)
            lines.append({"start": name, "seed": seed, "dev MAP": best} | facts)
            print(lines[-1], flush=True)
    frame = pd.DataFrame(lines)
    frame.to_csv(STARTS, index=False, float_format="%.4f", lineterminator="\n")
