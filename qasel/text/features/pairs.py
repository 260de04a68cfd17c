"""All features of all pairs of a split, computed in parallel and kept in a cache."""

import os
from collections.abc import Iterable
from multiprocessing import current_process
from pathlib import Path

import numpy as np
import pooch
from joblib import Memory, Parallel, delayed
from tqdm.auto import tqdm

from qasel.datasets.base import Split
from qasel.files import FilePath, require_writable
from qasel.text.features.concepts import Concepts, content_stems, documents, stems
from qasel.text.features.sequences import (
    containment,
    cosine,
    greedy_string_tiling,
    jaccard,
    longest_common_subsequence,
    longest_common_substring,
)
from qasel.text.features.trees import Tree, find_parser, parse, ptk

OF_WORDS = (
    cosine,
    jaccard,
    containment,
    longest_common_substring,
    longest_common_subsequence,
    greedy_string_tiling,
)
"""Compared by all words, and once more by content words alone (see `content_stems`)."""
CONTENT = "content_"
NAMES = (
    *(feature.__name__ for feature in OF_WORDS),
    *(CONTENT + feature.__name__ for feature in OF_WORDS),
    "ptk",
    "esa",
)
"""The features, in the order of the columns."""

VERSION = 2
TREES = 1
"""Part of what the caches go by: raise one when a feature, or the form of trees, changes."""

List = tuple[str, tuple[str, ...]]
"""A question's text and its candidates'."""


def pair_features(split: Split, *, corpus: Split | tuple[str, ...] | FilePath) -> list[np.ndarray]:
    """The features of all pairs: a float64 array `[candidates, len(NAMES)]` per question, 0 to 1.

    `corpus` gives the documents of `esa` (see `documents`). Texts are parsed in parallel, and
    trees and features are kept in `cache_dir()`. Raises `QaselError` for a missing corpus or
    parser, or a cache that cannot be written.
    """
    package = find_parser()
    concepts = documents(corpus)
    lists = tuple((q.text, tuple(c.text for c in q.candidates)) for q in split)
    table = memory().cache(_features)(lists, concepts, package, (VERSION, TREES))
    ends = np.cumsum([len(candidates) for _, candidates in lists])
    return np.split(table, ends)[:-1]


def memory() -> Memory:
    """What keeps results in `cache_dir()`; raises `QaselError` where that cannot be written."""
    require_writable(cache_dir(), "QASEL_CACHE")
    return Memory(cache_dir(), verbose=0)


def cache_dir() -> Path:
    """The cache's folder: `features` under `$QASEL_CACHE`, else under the user's cache.

    joblib keeps results there as pickles. They are only what this machine's own runs wrote;
    delete the folder at any time.
    """
    return Path(os.environ.get("QASEL_CACHE") or pooch.os_cache("qasel")) / "features"


def _features(
    lists: tuple[List, ...],
    concepts: tuple[str, ...],
    package: tuple[str, str],
    versions: tuple[int, int],
) -> np.ndarray:
    """Features of all pairs, one list after the other, float64 `[pairs, len(NAMES)]`."""
    trees = _parsed(lists, package, versions[1])
    space = Concepts(concepts)
    rows = [np.empty((0, len(NAMES)))]
    for question, candidates in tqdm(lists, desc="features", unit="question"):
        columns = [
            [feature(words(question), words(text)) for text in candidates]
            for words in (stems, content_stems)
            for feature in OF_WORDS
        ]
        columns.append([ptk(trees[question], trees[text]) for text in candidates])
        rows.append(np.column_stack([*columns, space.similarity(question, candidates)]))
    return np.concatenate(rows)


def _parsed(lists: Iterable[List], package: tuple[str, str], version: int) -> dict[str, Tree]:
    """The tree of each different text.

    Cached by question: its texts that no question before it has. So a killed run, or part of a
    split, finds the trees that are done.
    """
    trees: dict[str, Tree] = {}
    blocks = []
    seen: set[str] = set()
    for question, candidates in lists:
        block = [text for text in dict.fromkeys([question, *candidates]) if text not in seen]
        seen.update(block)
        if block:
            blocks.append(block)
    cached = memory().cache(_trees)
    # A worker of a sweep may have no children (joblib would warn), and has one core to itself.
    workers = 1 if current_process().daemon else -1
    results = Parallel(n_jobs=workers, return_as="generator")(
        delayed(cached)(block, package, version) for block in blocks
    )
    results = tqdm(results, "parse", len(blocks), unit="question")
    for block, found in zip(blocks, results, strict=True):
        trees.update(zip(block, found, strict=True))
    return trees


def _trees(texts: list[str], package: tuple[str, str], version: int) -> list[Tree]:
    return parse(texts, package[0])
