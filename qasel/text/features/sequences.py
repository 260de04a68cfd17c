"""Similarities of two texts as bags or sets of words, each in [0, 1].

Words are those of `stems` or `content_stems`. A text without words is like nothing: 0.
"""

import math
from collections import Counter
from collections.abc import Sequence
from difflib import Match, SequenceMatcher

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
    return _longest_match(question, candidate).size / _shorter(question, candidate)


def longest_common_subsequence(question: Sequence[str], candidate: Sequence[str]) -> float:
    """Length of the longest sequence of words, gaps allowed, by the shorter text's length."""
    number = {word: i for i, word in enumerate({*question, *candidate})}
    a, b = (np.array([number[word] for word in text], np.int64) for text in (question, candidate))
    return _longest_subsequence(a, b) / _shorter(question, candidate)


def greedy_string_tiling(question: Sequence[str], candidate: Sequence[str]) -> float:
    """Words covered by tiles, by the shorter text's length (Wise 1996).

    A tile is a run of at least `SHORTEST_TILE` words that both texts have; the longest is laid
    first, and no word lies under two. Among equally long ones the first in the question wins,
    so that swapping the texts may give another tiling. Moved blocks count in full, unlike in
    the longest common subsequence.
    """
    left: list[str | int] = [*question]
    right: list[str | int] = [*candidate]
    covered = 0
    while (tile := _longest_match(left, right)).size >= SHORTEST_TILE:
        covered += tile.size
        # What is under a tile equals nothing any more, not even each other.
        left[tile.a : tile.a + tile.size] = [0] * tile.size
        right[tile.b : tile.b + tile.size] = [1] * tile.size
    return covered / _shorter(question, candidate)


def _shorter(question: Sequence, candidate: Sequence) -> int:
    return max(min(len(question), len(candidate)), 1)


def _longest_match(question: Sequence, candidate: Sequence) -> Match:
    """The longest common run of words; of equally long ones the first in the question."""
    return SequenceMatcher(None, question, candidate, autojunk=False).find_longest_match()


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
