"""Eight distances of tf-idf vectors, which the authors of the fourteen compute in their code.

The text of the paper (see `distances`) has binary unigrams, and trigrams of which it does not say
that they are; the code published with it weighs both by tf-idf. Here x and y are such vectors, and
the distances of two texts are

* cosine: 1 − x·y / (|x| |y|), 0 to 1; 1 where x or y is zero, exactly 0 for the same counts;
* Manhattan: Σ |x − y|, from 0;
* Bhattacharyya: −ln Σ √(x y), not normalised; the sum counts as `NOTHING` at least;
* Euclidean: √ Σ (x − y)², 0 to √2.

A text has for each word, or trigram, its count times its idf = ln((1 + N) / (1 + n)) + 1, where n
of the N different texts of a corpus have it; then the vector is divided by its length. That is
scikit-learn's `TfidfTransformer`. What no text of the corpus has is taken at its word: n = 0, the
largest idf. A text without words, or without trigrams, is the zero vector.
"""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer

from qasel.errors import QaselError
from qasel.text.features.bags import Bags, compared, numbered
from qasel.text.features.distances import bhattacharyya, cosine

TFIDF_NAMES = tuple(
    f"{distance} tf-idf {things}"
    for things in ("unigram", "trigram")
    for distance in ("cosine", "manhattan", "bhattacharyya", "euclidean")
)
"""The distances, in the order of the columns."""

NOTHING = 0.01
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
        bhattacharyya(product.sqrt().sum(axis=1), NOTHING),
        np.sqrt(difference.multiply(difference).sum(axis=1)),
    ]
