"""Similarities of two texts as bags or sets of words, each in [0, 1].

Words are those of `stems` or `content_stems`. A text without words is like nothing: 0.
"""

import math
from collections import Counter
from collections.abc import Sequence


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
