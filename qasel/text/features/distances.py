"""Texts as bags of words and of trigrams, counted once each, however many pairs they are in."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Self

import numpy as np
from joblib import Memory
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer

from qasel.errors import QaselError
from qasel.text.tokens import content_words, tokenize
from qasel.text.vectors import Vectors

TRIGRAMS = ("characters", "words")
"""What trigrams are made of."""

WORDS = {"all": tokenize, "content": content_words}
"""Which words of a text count."""

BLOCK = 2048
"""Pairs compared at a time, for memory's sake: the numbers do not depend on it."""


@dataclass(frozen=True)
class Bags:
    """How often each text has each word, and each trigram: int32 `[texts, things]`.

    Columns are in the order of the sorted words or trigrams (`vocabulary` has the words), and so
    are the entries of a row. So a sum along a row does not depend, to the last bit, on the other
    texts.
    """

    vocabulary: list[str]
    words: csr_array
    trigrams: csr_array

    @classmethod
    def of(cls, texts: Iterable[str], words: str = "all", trigrams: str = "characters") -> Self:
        """Count the words of texts, and their trigrams.

        Words are those of `tokenize`, `all` or only those of `content_words`. Trigrams are three
        `characters` in a row of a word with a blank on either side (` a `, ` ab` and `ab `:
        sklearn's `char_wb`), or three `words` in a row, of which shorter texts have none.
        Raises `QaselError` for unknown words or trigrams.
        """
        for what, name, known in (("words", words, WORDS), ("trigrams", trigrams, TRIGRAMS)):
            if name not in known:
                raise QaselError(f"unknown {what} {name!r}; known: {', '.join(known)}")
        bags = [WORDS[words](text) for text in texts]
        vocabulary, counts = _counted(bags)
        if trigrams == "words":
            return cls(vocabulary, counts, _counted(_threes(bags, vocabulary))[1])
        # Through the words, each of which is cut up once, however many texts have it.
        grams = counts @ _counted([_windows(f" {word} ") for word in vocabulary])[1]
        grams.sort_indices()
        return cls(vocabulary, counts, grams)


def numbered(
    left: Sequence[str], right: Sequence[str], first: Iterable[str] = ()
) -> tuple[list[str], np.ndarray]:
    """The different texts, those of `first` first, and the pairs' numbers in them, `[2, pairs]`.

    Raises `QaselError` for sides of different lengths.
    """
    if len(left) != len(right):
        raise QaselError(f"{len(left)} texts on the left, {len(right)} on the right: not pairs")
    number = {text: i for i, text in enumerate(dict.fromkeys(chain(first, left, right)))}
    pairs = [[number[text] for text in side] for side in (left, right)]
    return list(number), np.array(pairs, dtype=np.intp)


def compared(
    pairs: np.ndarray, columns: int, compare: Callable[[np.ndarray, np.ndarray], list[np.ndarray]]
) -> np.ndarray:
    """What `compare` says of the pairs `[2, pairs]`, block by block: float64 `[pairs, columns]`.

    `compare` gets the numbers of the left and the right texts, and gives a list of columns.
    """
    found = np.empty((pairs.shape[1], columns))
    for start in range(0, len(found), BLOCK):
        x, y = pairs[:, start : start + BLOCK]
        found[start : start + BLOCK] = np.column_stack(compare(x, y))
    return found


def _windows(sequence: Sequence) -> list:
    """Three in a row, from every place on."""
    return [sequence[i : i + 3] for i in range(len(sequence) - 2)]


def _threes(bags: Sequence[Sequence[str]], vocabulary: Sequence[str]) -> list[list[int]]:
    """Three words in a row, from every place on, as one whole number each.

    They sort as the words do, but much faster.
    """
    number, size = {word: i for i, word in enumerate(vocabulary)}, len(vocabulary)
    rows = [[number[word] for word in bag] for bag in bags]
    return [[(a * size + b) * size + c for a, b, c in _windows(row)] for row in rows]


def _counted(bags: Sequence[Sequence[Any]]) -> tuple[list, csr_array]:
    """The different things in all bags, sorted, and how often each bag has each."""
    things = sorted(set(chain.from_iterable(bags)))
    number = {thing: i for i, thing in enumerate(things)}
    ends = np.cumsum([0, *map(len, bags)], dtype=np.int32)
    columns = np.fromiter(map(number.__getitem__, chain.from_iterable(bags)), np.int32, ends[-1])
    ones = np.ones(len(columns), dtype=np.int32)
    counts = csr_array((ones, columns, ends), shape=(len(bags), len(things)))
    counts.sum_duplicates()
    return things, counts


_OF_MEANS = ("cosine", "manhattan", "bhattacharyya", "euclidean")
_OF_SETS = (*_OF_MEANS, "jaccard")

NAMES = (
    *(f"{distance} embedding" for distance in _OF_MEANS),
    *(f"{distance} unigram" for distance in _OF_SETS),
    *(f"{distance} trigram" for distance in _OF_SETS),
)
"""The distances, in the order of the columns."""

INDEX = {name: column for column, name in enumerate(NAMES)}
"""Name of a distance → its column."""

COLUMNS = {
    representation: tuple(column for name, column in INDEX.items() if name.endswith(ending))
    for representation, ending in (
        ("Unigrams", "unigram"),
        ("MeanEmb", "embedding"),
        ("Trigrams", "trigram"),
    )
}
"""Representation, as the paper's table 2 calls it → the columns of its distances."""

VERSION = 1
"""Part of what caches go by: raise it when these distances, those of `tfidf`, or what both count
(`bags`, `tokens`) change."""

NOTHING = 0.5
"""What Σ √(x y) counts as at least, where little or nothing is shared."""


def distances(
    left: Sequence[str],
    right: Sequence[str],
    vectors: Vectors,
    *,
    words: str = "all",
    trigrams: str = "characters",
) -> np.ndarray:
    """The distances of left[i] and right[i], float64 `[pairs, len(NAMES)]`, all finite.

    Which words count and what trigrams are made of: see `Bags`; the authors' published code takes
    trigrams of `characters`. In a mean, words without a vector count as zeros, as everywhere
    (`Vectors.of`); a text without words is the zero vector. A pair's distances do not depend,
    to the last bit, on the pairs beside it, nor on which text is left and which right.

    Raises `QaselError` for sides of different lengths and unknown words or trigrams.
    """
    texts, pairs = numbered(left, right)
    bags = Bags.of(texts, words, trigrams)
    means = bags.words @ vectors.of(bags.vocabulary).astype(np.float64)
    means /= np.maximum(bags.words.sum(axis=1), 1)[:, None]
    unigrams, grams = bags.words.astype(bool), bags.trigrams.astype(bool)
    return compared(
        pairs,
        len(NAMES),
        lambda x, y: (
            _of_means(means[x], means[y])
            + _of_sets(unigrams[x], unigrams[y])
            + _of_sets(grams[x], grams[y])
        ),
    )


def _of_means(x: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    """The four distances of rows of two dense arrays."""
    product, difference = x * y, x - y
    return [
        cosine(product.sum(axis=1), (x * x).sum(axis=1) * (y * y).sum(axis=1)),
        np.abs(difference).sum(axis=1),
        bhattacharyya(np.sqrt(np.maximum(product, 0)).sum(axis=1)),
        np.sqrt((difference * difference).sum(axis=1)),
    ]


def _of_sets(x: csr_array, y: csr_array) -> list[np.ndarray]:
    """The five of rows of two boolean matrices: sizes of the sets and intersections say all."""
    sizes_x, sizes_y = np.diff(x.indptr), np.diff(y.indptr)
    shared = np.diff(x.multiply(y).indptr)
    in_one = sizes_x + sizes_y - 2 * shared
    return [
        cosine(shared, np.multiply(sizes_x, sizes_y, dtype=np.float64)),
        in_one,
        bhattacharyya(shared),
        np.sqrt(in_one),
        shared / np.maximum(in_one + shared, 1),
    ]


def cosine(product: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """1 − cosine, of x·y and |x|²|y|². One root of a whole square: equal texts give exactly 0."""
    similarity = np.divide(product, np.sqrt(squares), out=np.zeros(len(product)), where=squares > 0)
    return np.clip(1 - similarity, 0, 2)


def bhattacharyya(roots: np.ndarray, least: float = NOTHING) -> np.ndarray:
    """−ln of Σ √(x y), or of `least`; taken from 0 so that the logarithm of 1 is not −0."""
    return 0 - np.log(np.maximum(roots, least))


TFIDF_NAMES = tuple(
    f"{distance} tf-idf {things}"
    for things in ("unigram", "trigram")
    for distance in ("cosine", "manhattan", "bhattacharyya", "euclidean")
)
"""The distances, in the order of the columns."""

NOTHING_WEIGHTED = 0.01
"""What Σ √(x y) counts as at least: less than any pair of SemEval's training sets has that shares
a thing (from 0.02 on)."""


def tfidf_distances(
    left: Sequence[str],
    right: Sequence[str],
    corpus: Sequence[str],
    *,
    words: str = "all",
    trigrams: str = "characters",
) -> np.ndarray:
    """The distances of left[i] and right[i], float64 `[pairs, len(TFIDF_NAMES)]`, all finite.

    idf is counted in the different texts of `corpus`, and in no other; so a pair's distances do
    not depend, to the last bit, on the pairs beside it, nor on which text is left and which
    right. Which words count and what trigrams are made of: see `Bags`.

    Raises `QaselError` for an empty corpus, sides of different lengths and unknown words or
    trigrams.
    """
    texts, pairs = numbered(left, right, first=corpus)
    known = len(set(corpus))
    if not known:
        raise QaselError("tf-idf has no texts to count words in; give a corpus, or fit first")
    bags = Bags.of(texts, words, trigrams)
    unigrams, grams = _weighted(bags.words, known), _weighted(bags.trigrams, known)
    return compared(
        pairs,
        len(TFIDF_NAMES),
        lambda x, y: _of_weights(unigrams[x], unigrams[y]) + _of_weights(grams[x], grams[y]),
    )


def _weighted(counts: csr_array, known: int) -> csr_array:
    """tf-idf of counts, float64 `[texts, things]`, with the idf of the first `known` texts."""
    if not counts.shape[1]:  # scikit-learn takes no matrix without columns
        return counts.astype(np.float64)
    # Smoothing (`smooth_idf`) gives things that are only in later texts the idf of n = 0.
    return csr_array(TfidfTransformer().fit(counts[:known]).transform(counts))


def _of_weights(x: csr_array, y: csr_array) -> list[np.ndarray]:
    """The four distances of rows of two matrices."""
    product, difference = x.multiply(y), x - y
    squares = x.multiply(x).sum(axis=1) * y.multiply(y).sum(axis=1)
    return [
        cosine(product.sum(axis=1), squares),
        abs(difference).sum(axis=1),
        bhattacharyya(product.sqrt().sum(axis=1), NOTHING_WEIGHTED),
        np.sqrt(difference.multiply(difference).sum(axis=1)),
    ]


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
