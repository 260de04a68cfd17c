"""Write data/aggregates.json: counts of the real data sets for notebook 00, without any text.

`QASEL_DATA=FOLDER python tools/aggregates.py`
"""

import json
from collections import Counter
from typing import Any

from qasel.datasets import Split, describe, load_dataset
from qasel.files import write_whole
from qasel.locations import DATA
from qasel.text import tokenize

PATH = DATA / "aggregates.json"
NAMED = {
    "WikiQA": ("wikiqa", "answered"),
    "TREC-QA": ("trecqa", "raw"),
    "SemEval-2016 A": ("semeval-cqa", "a-2016"),
}
"""Title → data set and protocol."""
PLACES = 10
WIDTH = 5
"""Words per bin of the lengths."""


def aggregates(name: str, protocol: str) -> dict[str, Any]:
    """Return the sizes of all splits, and for train what `of_train` counts."""
    data = load_dataset(name, protocol)
    return {"protocol": protocol, "splits": describe(data), **of_train(data.train)}


def of_train(train: Split) -> dict[str, Any]:
    """Count candidates per question, words per candidate by label, and relevant ones by place."""
    lengths: dict[str, Counter[int]] = {"right": Counter(), "wrong": Counter()}
    listed, right = Counter[int](), Counter[int]()
    for question in train:
        for candidate in question.candidates:
            kind = "right" if candidate.label else "wrong"
            lengths[kind][len(tokenize(candidate.text)) // WIDTH * WIDTH] += 1
            listed[candidate.place] += 1
            right[candidate.place] += candidate.label or 0
    sizes = Counter(len(question.candidates) for question in train)
    return {
        "candidates": dict(sorted(sizes.items())),
        "words": {kind: dict(sorted(counts.items())) for kind, counts in lengths.items()},
        "right_by_place": [round(right[place] / listed[place], 4) for place in range(PLACES)],
        "right": round(train.positives / train.pairs, 4),
    }


def main() -> None:
    """Write the file."""
    found = {title: aggregates(*asked) for title, asked in NAMED.items()}
    write_whole(PATH, json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
