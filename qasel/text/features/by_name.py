"""Distances of pairs by name: the fourteen of `distances` and the eight of `tfidf` in one table."""

from collections.abc import Sequence

import numpy as np
from joblib import Memory

from qasel.errors import QaselError
from qasel.text.features.distances import NAMES, VERSION, distances
from qasel.text.features.tfidf import TFIDF_NAMES, tfidf_distances
from qasel.text.vectors import Vectors

COLUMN = {name: column for column, name in enumerate((*NAMES, *TFIDF_NAMES))}
"""Name of a distance → its column among all, the fourteen first."""

Sides = tuple[Sequence[str], Sequence[str]]
"""The left and the right texts of some pairs."""

NOT_KEPT = Memory(None)


def is_tfidf(names: Sequence[str]) -> bool:
    """Whether any of these distances is one of tf-idf vectors, which need a corpus."""
    return not set(names).isdisjoint(TFIDF_NAMES)


def distances_by_name(
    names: Sequence[str],
    sides: Sides,
    vectors: Vectors,
    corpus: Sequence[str] = (),
    *,
    words: str = "all",
    trigrams: str = "characters",
    memory: Memory = NOT_KEPT,
) -> np.ndarray:
    """The distances named, of left[i] and right[i], float64 `[pairs, len(names)]`.

    `corpus` are the texts that idf is counted in, of use only where `names` has distances of
    tf-idf vectors. `memory` keeps whole tables, so that another choice of names finds them.

    Raises `QaselError` for an unknown name, and where `distances` and `tfidf_distances` do.
    """
    if unknown := [name for name in names if name not in COLUMN]:
        raise QaselError(f"unknown distance {unknown[0]!r}; known: {', '.join(COLUMN)}")
    compute = memory.cache(_distances, ignore=["vectors"])
    known = (vectors.name, vectors.matrix)
    table = compute(sides, known, words, trigrams, VERSION, vectors=vectors)
    if is_tfidf(names):
        compute = memory.cache(_tfidf_distances)
        table = np.hstack([table, compute(sides, tuple(corpus), words, trigrams, VERSION)])
    return table[:, [COLUMN[name] for name in names]]


def _distances(
    sides: Sides,
    known: tuple[str, np.ndarray],
    words: str,
    trigrams: str,
    version: int,
    *,
    vectors: Vectors,
) -> np.ndarray:
    """`distances`, cached by what is quick to compare: `known` stands for `vectors`."""
    return distances(*sides, vectors, words=words, trigrams=trigrams)


def _tfidf_distances(
    sides: Sides, corpus: tuple[str, ...], words: str, trigrams: str, version: int
) -> np.ndarray:
    """`tfidf_distances`, cached."""
    return tfidf_distances(*sides, corpus, words=words, trigrams=trigrams)
