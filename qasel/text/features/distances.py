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

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from qasel.text.features.bags import Bags, compared, numbered
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
