"""Paper 4's distances between two texts: of mean word vectors, of words and of trigrams.

Each text is counted once, however many pairs it is in.
"""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from joblib import Memory
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer

from qasel.datasets.registry import unknown
from qasel.errors import QaselError
from qasel.text.tokens import content_words, tokenize
from qasel.text.vectors import Vectors

_FOUR = ("cosine", "manhattan", "bhattacharyya", "euclidean")
_OF_SETS = (*_FOUR, "jaccard")
NAMES = (
    *(f"{distance} embedding" for distance in _FOUR),
    *(f"{distance} unigram" for distance in _OF_SETS),
    *(f"{distance} trigram" for distance in _OF_SETS),
)
"""The fourteen distances of González-Garduño et al. (2018), in the order of the columns."""
TFIDF_NAMES = tuple(f"{d} tf-idf {things}" for things in ("unigram", "trigram") for d in _FOUR)
"""The eight distances of tf-idf vectors, in the order of the columns."""
COLUMN = {name: column for column, name in enumerate((*NAMES, *TFIDF_NAMES))}
"""Name of a distance → its column; the fourteen of `NAMES` come first."""

TRIGRAMS = ("characters", "words")
"""What trigrams consist of."""
WORDS = {"all": tokenize, "content": content_words}
"""Which words of a text count."""
BLOCK = 2048
"""Pairs compared at a time, to save memory; the distances do not depend on it."""
VERSION = 1
"""Part of the caches' keys: raise it when these distances, or tokens, change."""
LEAST = 0.5
"""Lower bound of Σ √(x y), for texts that share little or nothing."""
LEAST_WEIGHTED = 0.01
"""The same for tf-idf, below that of any pair in SemEval's training sets that shares anything."""

Sides = tuple[Sequence[str], Sequence[str]]
"""The left and the right texts of some pairs."""
Rows = Any
"""One row per text: a numpy array or a `csr_array`, which have the same operators."""


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
    memory: Memory = Memory(None),  # noqa: B008
) -> np.ndarray:
    """The named distances between left[i] and right[i], float64 `[pairs, len(names)]`.

    `corpus` are the texts from which idf is computed; it is used only if `names` has distances of
    tf-idf vectors. `memory` caches whole tables, so that another choice of names finds them.

    Raises `QaselError` for an unknown name, and as `distances` does.
    """
    if strange := [name for name in names if name not in COLUMN]:
        raise QaselError(unknown("distance", strange[0], COLUMN))
    known = tuple(corpus) if is_tfidf(names) else None
    table = memory.cache(_table)(VERSION, sides, vectors, known, words, trigrams)
    return table[:, [COLUMN[name] for name in names]]


def _table(
    version: int,
    sides: Sides,
    vectors: Vectors,
    corpus: tuple[str, ...] | None,
    words: str,
    trigrams: str,
) -> np.ndarray:
    """`distances` of one version: what is cached."""
    return distances(*sides, vectors, corpus, words=words, trigrams=trigrams)


def distances(
    left: Sequence[str],
    right: Sequence[str],
    vectors: Vectors,
    corpus: Sequence[str] | None = None,
    *,
    words: str = "all",
    trigrams: str = "characters",
) -> np.ndarray:
    """The distances between left[i] and right[i], float64 `[pairs, len(NAMES)]`, all finite.

    With a `corpus`, those of tf-idf vectors follow, `[pairs, len(COLUMN)]`, with idf computed from
    its distinct texts alone. For `words` and `trigrams` see `counts_of`; the authors' published
    code uses trigrams of `characters`. In a mean, words without a vector count as zeros; a text
    without words is the zero vector. A pair's distances do not depend, to the last bit, on the
    other pairs, or on which text is left and which right.

    Raises `QaselError` for sides of different lengths, an empty corpus, and unknown words or
    trigrams.
    """
    if len(left) != len(right):
        raise QaselError(f"{len(left)} texts on the left, {len(right)} on the right: not pairs")
    known = dict.fromkeys(corpus or ())
    if corpus is not None and not known:
        raise QaselError("tf-idf has no texts to count words in; give a corpus, or fit first")
    number = {text: i for i, text in enumerate(dict.fromkeys(chain(known, left, right)))}
    vocabulary, *counts = counts_of(number, words, trigrams)
    means = counts[0] @ vectors.of(vocabulary).astype(np.float64)
    means /= np.maximum(counts[0].sum(axis=1), 1)[:, None]
    sets = [rows.astype(bool).astype(np.float64) for rows in counts]
    weighted = [_tfidf(rows, len(known)) for rows in counts] if known else []
    pairs = np.array([[number[text] for text in side] for side in (left, right)], np.intp)
    found = np.empty((len(left), len(COLUMN) if known else len(NAMES)))
    for start in range(0, len(found), BLOCK):
        x, y = pairs[:, start : start + BLOCK]
        columns = _four(means[x], means[y], LEAST)
        for rows in sets:
            shared = rows[x].multiply(rows[y]).sum(axis=1)
            size = rows[x].sum(axis=1) + rows[y].sum(axis=1) - shared
            columns += [*_four(rows[x], rows[y], LEAST), shared / np.maximum(size, 1)]
        for rows in weighted:
            columns += _four(rows[x], rows[y], LEAST_WEIGHTED)
        found[start : start + BLOCK] = np.column_stack(columns)
    return found


def _tfidf(counts: csr_array, known: int) -> csr_array:
    """tf-idf of counts, float64 `[texts, things]`, with the idf of the first `known` texts."""
    if not counts.shape[1]:  # scikit-learn refuses a matrix without columns
        return counts.astype(np.float64)
    # Smoothing (`smooth_idf`) gives terms that are only in later texts the idf of n = 0.
    return csr_array(TfidfTransformer().fit(counts[:known]).transform(counts))


def _four(x: Rows, y: Rows, least: float) -> list[np.ndarray]:
    """Cosine, Manhattan, Bhattacharyya and Euclidean distance of rows, dense or sparse.

    The first is 1 − cosine: 1 if a row is 0, exactly 0 for equal rows. Bhattacharyya's is −ln of Σ
    √(x y) over positive products, and at most −ln `least`.
    """
    product, difference = x * y, x - y
    squares = (x * x).sum(axis=1) * (y * y).sum(axis=1)
    # One root: of a square, where texts are equal, so that these give exactly 0.
    cosine = np.divide(
        product.sum(axis=1), np.sqrt(squares), out=np.zeros(len(squares)), where=squares > 0
    )
    roots = ((product * (product > 0)) ** 0.5).sum(axis=1)
    return [
        np.clip(1 - cosine, 0, 2),
        abs(difference).sum(axis=1),
        0 - np.log(np.maximum(roots, least)),  # from 0, so that the logarithm of 1 is not −0
        np.sqrt((difference * difference).sum(axis=1)),
    ]


def counts_of(
    texts: Iterable[str], words: str, trigrams: str
) -> tuple[list[str], csr_array, csr_array]:
    """The distinct words of the texts, and the counts of each word and each trigram in each text.

    Counts are int32 `[texts, things]`; columns, and the entries of a row, are sorted, so that a sum
    along a row does not depend, to the last bit, on the other texts. Words are those of `tokenize`
    (`all`) or of `content_words` (`content`). Trigrams are three consecutive `characters` of a word
    with a blank on either side (sklearn's `char_wb`), or three consecutive `words`. Raises
    `QaselError` for unknown words or trigrams.
    """
    for what, name, known in (("words", words, WORDS), ("trigrams", trigrams, TRIGRAMS)):
        if name not in known:
            raise QaselError(unknown(what, name, known))
    bags = [WORDS[words](text) for text in texts]
    vocabulary, counts = _counted(bags)
    if trigrams == "words":
        return vocabulary, counts, _counted([_threes(bag) for bag in bags])[1]
    # Via the words: each is cut up once, however many texts have it.
    grams = counts @ _counted([_threes(f" {word} ") for word in vocabulary])[1]
    grams.sort_indices()
    return vocabulary, counts, grams


def _threes(sequence: Sequence) -> list[tuple]:
    """All triples of consecutive elements."""
    return list(zip(sequence, sequence[1:], sequence[2:], strict=False))


def _counted(bags: Sequence[Sequence[Any]]) -> tuple[list, csr_array]:
    """The distinct things in all bags, sorted, and the count of each in each bag."""
    things = sorted(set(chain.from_iterable(bags)))
    number = {thing: i for i, thing in enumerate(things)}
    ends = np.cumsum([0, *map(len, bags)], dtype=np.int32)
    columns = np.fromiter(map(number.__getitem__, chain.from_iterable(bags)), np.int32, ends[-1])
    ones = np.ones(len(columns), dtype=np.int32)
    counts = csr_array((ones, columns, ends), shape=(len(bags), len(things)))
    counts.sum_duplicates()
    return things, counts
