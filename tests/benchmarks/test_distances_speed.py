"""Speed of paper 4's distances against the plain pair by pair, as ratios: `make bench`.

On SemEval's pairs of questions and of question and comment, and on FNC-1's headlines and bodies
where `QASEL_DATA` is set, and on the bundled sample.
"""

import os
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from distances_reference import slow_distances, slow_tfidf_distances

from qasel.datasets import load_dataset
from qasel.text import Vectors, load_vectors, tokenize
from qasel.text.features.distances import COLUMN, NAMES, TRIGRAMS, distances

PLAIN = 50
"""Pairs that the plain way is timed on."""
CORPUS = 500
"""Texts that idf is counted in: the plain way counts anew for each pair."""


def of_sample(_):
    return [(q.text, c.text) for q in load_dataset("sample").train for c in q.candidates]


def of_tables(task, name, left, right):
    """Reads the pairs of a table of SemEval's; a side is some columns in a row."""

    def read(folder):
        path = folder / "semeval-cqa" / f"subtask{task}-{name}.tsv.gz"
        table = pd.read_csv(path, sep="\t", quoting=3, keep_default_na=False)
        return list(
            zip(*(table[side].agg(" ".join, axis=1) for side in (left, right)), strict=True)
        )

    return read


def of_fnc(folder):
    bodies, stances = (
        pd.read_csv(folder / "fnc-1" / f"train_{name}.csv.gz", keep_default_na=False)
        for name in ("bodies", "stances")
    )
    pairs = stances.merge(bodies, on="Body ID")
    return list(zip(pairs["Headline"], pairs["articleBody"], strict=True))


SETS = {
    "sample": of_sample,
    "SemEval B": of_tables(
        "B", "2016-train-part1", ["orgq_subject", "orgq_body"], ["relq_subject", "relq_body"]
    ),
    "SemEval A": of_tables("A", "2016-train-part1-partial", ["q_subject", "q_body"], ["c_text"]),
    "FNC-1": of_fnc,
}


def seconds(function, *arguments, **options):
    """Time of a call with no text tokenised yet, and what it gave."""
    tokenize.cache_clear()
    started = time.perf_counter()
    result = function(*arguments, **options)
    return time.perf_counter() - started, result


def read(name):
    """The pairs of a set."""
    folder = os.environ.get("QASEL_DATA")
    if name != "sample" and not folder:
        pytest.skip("set QASEL_DATA to a folder with the real data")
    return SETS[name](Path(folder or "."))


@pytest.mark.parametrize("name", SETS)
def test_vectorised_against_pair_by_pair(name, capsys):
    pairs = read(name)
    left, right = map(list, zip(*pairs, strict=True))
    different = set(left) | set(right)
    vectors = load_vectors("sample" if name == "sample" else "glove.6B.100d")
    few = np.random.default_rng(0).permutation(len(pairs))[:PLAIN]
    for trigrams in TRIGRAMS:
        slow, wanted = seconds(
            lambda trigrams=trigrams: [slow_distances(*pairs[i], vectors, trigrams) for i in few]
        )
        fast, found = seconds(distances, left, right, vectors, trigrams=trigrams)
        np.testing.assert_allclose(found[few], wanted, rtol=1e-12, atol=1e-12)
        words, _ = seconds(lambda: [tokenize(text) for text in different])
        slow, rate = slow / len(few), len(pairs) / fast
        with capsys.disabled():
            print(
                f"\n{name}, {len(pairs)} pairs of {len(different)} texts, trigrams of {trigrams}: "
                f"{60 * rate:,.0f} pairs a minute, {len(NAMES) * rate:,.0f} features a second, "
                f"{100 * words / fast:.0f} % of it tokenising; pair by pair {slow * 1e3:.2f} ms a "
                f"pair: {slow * rate:.0f} times as fast"
            )


@pytest.mark.parametrize("name", SETS)
def test_tfidf_against_pair_by_pair(name, capsys):
    pairs = read(name)
    left, right = map(list, zip(*pairs, strict=True))
    corpus = list(dict.fromkeys(right))[:CORPUS]
    few = np.random.default_rng(0).permutation(len(pairs))[: PLAIN // 10]
    slow, wanted = seconds(lambda: [slow_tfidf_distances(*pairs[i], corpus) for i in few])
    fast, found = seconds(distances, left, right, Vectors.empty(""), corpus)
    np.testing.assert_allclose(found[few][:, len(NAMES) :], wanted, rtol=1e-9, atol=1e-7)
    slow, rate = slow / len(few), len(pairs) / fast
    with capsys.disabled():
        print(
            f"\n{name}, {len(pairs)} pairs, idf of {len(corpus)} texts: {60 * rate:,.0f} pairs a "
            f"minute, {len(COLUMN) * rate:,.0f} features a second; pair by pair "
            f"{slow * 1e3:.0f} ms a pair: {slow * rate:.0f} times as fast"
        )
