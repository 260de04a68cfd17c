"""Similarities of two texts as bags or sets of words, each in [0, 1].

Words are those of `stems` or `content_stems`. A text without words is like nothing: 0.
"""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numba import njit


def cosine(question: Sequence[str], candidate: Sequence[str]) -> float:
    """Cosine of the two vectors of word counts; 1 for equal bags of words."""
    asked, given = Counter(question), Counter(candidate)
    # Whole numbers up to the one root, so that equal bags give exactly 1.
    shared = sum(count * given[word] for word, count in asked.items())
    lengths = _square(asked) * _square(given)
    return shared / math.sqrt(lengths) if lengths else 0.0


def jaccard(question: Sequence[str], candidate: Sequence[str]) -> float:
    """Different words that both have, as a share of those that either has (Jaccard 1901)."""
    asked, given = frozenset(question), frozenset(candidate)
    return len(asked & given) / max(len(asked | given), 1)


def containment(question: Sequence[str], candidate: Sequence[str]) -> float:
    """Share of the question's different words that the candidate has (Broder 1997); one-sided."""
    asked = frozenset(question)
    return len(asked.intersection(candidate)) / max(len(asked), 1)


def _square(counts: Counter[str]) -> int:
    return sum(count * count for count in counts.values())


SHORTEST_TILE = 3
"""Words that a tile has at least: two in a row (`of the`) are found in unrelated texts too."""


def longest_common_substring(question: Sequence[str], candidate: Sequence[str]) -> float:
    """Length of the longest run of words that both texts have, by the shorter text's length."""
    a, b = _numbers(question, candidate)
    return _longest_match(a, b)[0] / max(min(len(a), len(b)), 1)


def longest_common_subsequence(question: Sequence[str], candidate: Sequence[str]) -> float:
    """Length of the longest sequence of words, gaps allowed, by the shorter text's length."""
    a, b = _numbers(question, candidate)
    return _longest_subsequence(a, b) / max(min(len(a), len(b)), 1)


def greedy_string_tiling(question: Sequence[str], candidate: Sequence[str]) -> float:
    """Words covered by tiles, by the shorter text's length (Wise 1996).

    A tile is a run of at least `SHORTEST_TILE` words that both texts have; the longest is laid
    first, and no word lies under two. Among equally long ones the first in the question wins,
    so that swapping the texts may give another tiling. Moved blocks count in full, unlike in
    the longest common subsequence.
    """
    a, b = _numbers(question, candidate)
    return _tiled(a, b, SHORTEST_TILE) / max(min(len(a), len(b)), 1)


def _numbers(*texts: Sequence[str]) -> list[np.ndarray]:
    """The texts with a number, from 0, for each different word: int64 `[words]` each."""
    number: dict[str, int] = {}
    return [
        np.array([number.setdefault(word, len(number)) for word in text], dtype=np.int64)
        for text in texts
    ]


@njit(cache=True)
def _longest_match(a, b):  # pragma: no cover
    """Length, and ends in `a` and `b`, of their first longest common run; numbers below 0 differ.

    `run[j]` is the length of the run that ends at a[i - 1] and b[j - 1].
    """
    run = np.zeros(len(b) + 1, dtype=np.int64)
    best, end_a, end_b = 0, 0, 0
    for i in range(len(a)):
        for j in range(len(b) - 1, -1, -1):
            run[j + 1] = run[j] + 1 if a[i] == b[j] and a[i] >= 0 else 0
        for j in range(len(b)):
            if run[j + 1] > best:
                best, end_a, end_b = run[j + 1], i + 1, j + 1
    return best, end_a, end_b


@njit(cache=True)
def _longest_subsequence(a, b):  # pragma: no cover
    """Length of the longest common subsequence; `length[j]` is that of a[:i] and b[:j]."""
    length = np.zeros(len(b) + 1, dtype=np.int64)
    for i in range(len(a)):
        diagonal = 0
        for j in range(len(b)):
            above = length[j + 1]
            length[j + 1] = diagonal + 1 if a[i] == b[j] else max(above, length[j])
            diagonal = above
    return length[-1]


@njit(cache=True)
def _tiled(a, b, shortest):  # pragma: no cover
    """Words of `a` under tiles. Overwrites both: words under a tile become -1."""
    covered = 0
    while True:
        size, end_a, end_b = _longest_match(a, b)
        if size < shortest:
            return covered
        a[end_a - size : end_a] = -1
        b[end_b - size : end_b] = -1
        covered += size
