"""Vectors for words that a set of vectors lacks, from the company that they keep.

Where a word stands among words that have vectors, their mean is already near its own but for a
linear map, and that can be learnt from the words that do have one (Khodak et al. 2018, "A la carte
embedding: cheap but effective induction of semantic feature vectors").
"""

from collections.abc import Iterable, Sequence

import numpy as np
from scipy.sparse import coo_array

from qasel.text.vectors import Vectors

WINDOW = 5
"""Neighbours on each side that are a word's context."""
FEWEST = 5
"""Times that a word has to occur to teach the map."""
RARE = 1e-3
"""Share of all words at which a neighbour counts half (Arora et al. 2017); commoner ones less."""


def completed(vectors: Vectors, sentences: Iterable[Sequence[str]]) -> Vectors:
    """`vectors`, and after them those of the words of some sentences (lists of words) they lack.

    A word that never stands beside a known one stays unknown; so do all where fewer words could
    teach the map than twice the numbers of a vector.
    """
    words, contexts, times = _contexts(vectors, sentences)
    known = np.array([word in vectors for word in words], dtype=bool)
    taught, lacking = known & (times >= FEWEST), ~known & contexts.any(1)
    if not lacking.any() or taught.sum() < 2 * vectors.size:
        return vectors
    own = vectors.of([words[i] for i in np.flatnonzero(taught)])
    # What was seen more often is known better.
    weight = np.log1p(times[taught])[:, None] ** 0.5
    linear, *_ = np.linalg.lstsq(weight * contexts[taught], weight * own, rcond=None)
    found = contexts[lacking] @ linear
    # A mean of few contexts comes out long: all are made as long as known words are on average.
    length = np.linalg.norm(own, axis=1).mean()
    found *= length / np.linalg.norm(found, axis=1, keepdims=True)
    rows = {words[i]: row for row, i in enumerate(np.flatnonzero(lacking))}
    return vectors.extended(Vectors(vectors.name, rows, found.astype(np.float32)))


def _contexts(
    vectors: Vectors, sentences: Iterable[Sequence[str]]
) -> tuple[list[str], np.ndarray, np.ndarray]:
    """The words, the means of their contexts `[words, size]`, and how many contexts they had.

    A context is the mean of the known words in the window, weighted by how rare they are.
    """
    numbers: dict[str, int] = {}
    tokens: list[int] = []
    lines: list[int] = []
    for i, line in enumerate(sentences):
        tokens += [numbers.setdefault(word, len(numbers)) for word in line]
        lines += [i] * len(line)
    words, token, sentence = list(numbers), np.array(tokens, int), np.array(lines, int)
    known = np.array([word in vectors for word in words], dtype=bool)
    pairs = []  # places of a word and of a known one beside it
    for away in range(1, min(WINDOW, len(token) - 1) + 1):
        left = np.flatnonzero(sentence[:-away] == sentence[away:])
        pairs += [(left, left + away), (left + away, left)]
    here, there = np.concatenate(pairs, axis=1) if pairs else np.zeros((2, 0), int)
    here, there = here[known[token[there]]], there[known[token[there]]]
    beside = np.bincount(here, minlength=len(token))
    counts = np.bincount(token, minlength=len(words))
    rarity = RARE * len(token) / (RARE * len(token) + counts)
    share = rarity[token[there]] / beside[here]
    company = coo_array((share, (token[here], token[there])), shape=(len(words), len(words)))
    times = np.bincount(token[beside > 0], minlength=len(words))
    return words, (company.tocsr() @ vectors.of(words)) / times.clip(1)[:, None], times
