"""Fourteen distances of two texts, those of González-Garduño, Augenstein and Søgaard (2018).

The paper (A strong baseline for question relevancy ranking, section 2.1) represents a text by the
mean of its word vectors, the set of its words and the set of its trigrams, x and y below, and
compares two texts by

* cosine: 1 − x·y / (|x| |y|), 1 where x or y is zero or empty; of means 0 to 2, of sets 0 to 1;
* Manhattan: Σ |x − y|, from 0;
* Bhattacharyya: −ln Σ √(x y), not normalised, at most ln 2;
* Euclidean: √ Σ (x − y)², from 0;
* Jaccard, of sets only: |x ∩ y| / |x ∪ y|, a similarity from 0 to 1, and 0 for two empty sets.

The paper does not say what becomes of the Bhattacharyya distance where the product of two
coordinates is negative or where nothing is shared: here coordinates of different signs count
nothing, and the sum is taken as 1/2 at least, as if half a feature were shared.
"""

from collections.abc import Hashable, Iterable, Sequence
from itertools import chain

import numpy as np
from scipy.sparse import csr_array

from qasel.errors import QaselError
from qasel.text.tokens import content_words, tokenize
from qasel.text.vectors import Vectors

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

TRIGRAMS = ("characters", "words")
"""What trigrams are made of."""

WORDS = {"all": tokenize, "content": content_words}
"""Which words of a text count."""

BLOCK = 2048
"""Pairs compared at a time, for memory's sake: the numbers do not depend on it."""


def distances(
    left: Sequence[str],
    right: Sequence[str],
    vectors: Vectors,
    *,
    words: str = "all",
    trigrams: str = "characters",
) -> np.ndarray:
    """The distances of left[i] and right[i], float64 `[pairs, len(NAMES)]`, all finite.

    Words are those of `tokenize`, `all` or only those of `content_words`. In a mean, words
    without a vector count as zeros, as everywhere (`Vectors.of`); a text without words is the
    zero vector. Trigrams are three `characters` in a row of a word with a blank on either side
    (` a `, ` ab` and `ab `: sklearn's `char_wb`, which the authors' published code takes), or
    three `words` in a row, of which shorter texts have none. A pair's distances do not depend,
    to the last bit, on the pairs beside it, nor on which text is left and which right.

    Raises `QaselError` for sides of different lengths and unknown words or trigrams.
    """
    if len(left) != len(right):
        raise QaselError(f"{len(left)} texts on the left, {len(right)} on the right: not pairs")
    for what, name, known in (("words", words, WORDS), ("trigrams", trigrams, TRIGRAMS)):
        if name not in known:
            raise QaselError(f"unknown {what} {name!r}; known: {', '.join(known)}")
    number = {text: i for i, text in enumerate(dict.fromkeys(chain(left, right)))}
    pairs = np.array([[number[text] for text in side] for side in (left, right)], dtype=np.intp)

    texts = [WORDS[words](text) for text in number]
    # Sorted, so that the order in which a text's vectors are added up, and with it the last bit
    # of their sum, does not depend on the other texts.
    vocabulary = sorted(set(chain.from_iterable(texts)))
    counts = _counts(texts, vocabulary)
    means = counts @ vectors.of(vocabulary).astype(np.float64)
    means /= np.maximum(counts.sum(axis=1), 1)[:, None]
    unigrams = counts.astype(bool)
    if trigrams == "characters":
        # Through the words, each of which is cut up once, however many texts have it.
        grams = unigrams @ _sets([_windows(f" {word} ") for word in vocabulary])
        grams.sort_indices()
    else:
        grams = _sets([_windows(text) for text in texts])

    found = np.empty((len(left), len(NAMES)))
    for start in range(0, len(left), BLOCK):
        x, y = pairs[:, start : start + BLOCK]
        found[start : start + BLOCK] = np.column_stack(
            _of_means(means[x], means[y])
            + _of_sets(unigrams[x], unigrams[y])
            + _of_sets(grams[x], grams[y])
        )
    return found


def _windows(sequence: Sequence) -> list:
    """Three in a row, from every place on."""
    return [sequence[i : i + 3] for i in range(len(sequence) - 2)]


def _counts(bags: Sequence[Sequence[Hashable]], things: Iterable[Hashable]) -> csr_array:
    """How often each bag has each thing, int32 `[bags, things]`, the columns of a row in order."""
    number = {thing: i for i, thing in enumerate(things)}
    ends = np.cumsum([0, *map(len, bags)], dtype=np.int32)
    columns = np.fromiter(map(number.__getitem__, chain.from_iterable(bags)), np.int32, ends[-1])
    ones = np.ones(len(columns), dtype=np.int32)
    counts = csr_array((ones, columns, ends), shape=(len(bags), len(number)))
    counts.sum_duplicates()
    return counts


def _sets(bags: Sequence[Sequence[Hashable]]) -> csr_array:
    """Which of the different things in all bags each bag has, boolean `[bags, things]`."""
    return _counts(bags, dict.fromkeys(chain.from_iterable(bags))).astype(bool)


def _of_means(x: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    """The four distances of rows of two dense arrays."""
    product, difference = x * y, x - y
    return [
        _cosine(product.sum(axis=1), (x * x).sum(axis=1) * (y * y).sum(axis=1)),
        np.abs(difference).sum(axis=1),
        _bhattacharyya(np.sqrt(np.maximum(product, 0)).sum(axis=1)),
        np.sqrt((difference * difference).sum(axis=1)),
    ]


def _of_sets(x: csr_array, y: csr_array) -> list[np.ndarray]:
    """The five of rows of two boolean matrices: sizes of the sets and intersections say all."""
    sizes_x, sizes_y = np.diff(x.indptr), np.diff(y.indptr)
    shared = np.diff(x.multiply(y).indptr)
    in_one = sizes_x + sizes_y - 2 * shared
    return [
        _cosine(shared, np.multiply(sizes_x, sizes_y, dtype=np.float64)),
        in_one,
        _bhattacharyya(shared),
        np.sqrt(in_one),
        shared / np.maximum(in_one + shared, 1),
    ]


def _cosine(product: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """1 − cosine, of x·y and |x|²|y|². One root of a whole square: equal texts give exactly 0."""
    similarity = np.divide(product, np.sqrt(squares), out=np.zeros(len(product)), where=squares > 0)
    return np.clip(1 - similarity, 0, 2)


def _bhattacharyya(roots: np.ndarray) -> np.ndarray:
    """−ln of Σ √(x y); taken from 0 so that the logarithm of 1 is not −0."""
    return 0 - np.log(np.maximum(roots, 0.5))
