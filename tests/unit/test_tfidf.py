"""The eight distances of tf-idf vectors: by hand, at their limits, against slow references."""

import math

import numpy as np
import pytest
from distances_reference import slow_tfidf_distances
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from qasel.datasets import load_dataset
from qasel.errors import QaselError
from qasel.text import Vectors, tokenize
from qasel.text.features import distances as bags
from qasel.text.features.distances import NAMES, TFIDF_NAMES, TRIGRAMS, distances

CORPUS = ["a", "a b", "a"]
"""Two different texts: idf of a is ln(3/3) + 1, of b ln(3/2) + 1, of all others ln 3 + 1."""
FAR = -math.log(0.01)
"""The Bhattacharyya distance where nothing is shared."""


def tfidf_distances(left, right, corpus, **how):
    """The distances of tf-idf vectors alone, `[pairs, len(TFIDF_NAMES)]`."""
    return distances(left, right, Vectors.empty("none"), corpus, **how)[:, len(NAMES) :]


def test_by_hand():
    b, c = 1 + math.log(1.5), 1 + math.log(3)
    found = tfidf_distances(["a a B"], ["a c"], CORPUS)
    assert found.shape == (1, len(TFIDF_NAMES))
    assert found.dtype == np.float64
    long, short = math.sqrt(4 + b * b), math.sqrt(1 + c * c)  # of (2, b, 0) and (1, 0, c)
    cosine = 2 / (long * short)
    expected = {
        "cosine": 1 - cosine,
        "manhattan": 2 / long - 1 / short + b / long + c / short,
        "bhattacharyya": -math.log(math.sqrt(cosine)),
        "euclidean": math.sqrt(2 - 2 * cosine),
    }
    # A word of one letter is one trigram of characters, with its two blanks.
    for name, value in zip(TFIDF_NAMES, found[0], strict=True):
        assert value == pytest.approx(expected[name.split()[0]], abs=1e-15), name


def test_trigrams_of_words_by_hand():
    # (a, b, a) and (b, a, b) are in the one known text, so idf 1; (a, b, c) is in none.
    found = tfidf_distances(["a b a b"], ["b a b c"], ["a b a b"], trigrams="words")[0, 4:]
    new = 1 + math.log(2)
    one, other = 1 / math.sqrt(2), 1 / math.sqrt(1 + new * new)
    expected = [
        1 - one * other,
        one + (one - other) + new * other,
        -math.log(math.sqrt(one * other)),
        math.sqrt(2 - 2 * one * other),
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.parametrize("trigrams", TRIGRAMS)
def test_nothing_shared(trigrams):
    found = tfidf_distances(["", " ", "x y z"], ["", "x", "p q r"], CORPUS, trigrams=trigrams)
    nothing, alone = [1, 0, FAR, 0], [1, 1, FAR, 1]
    apart = [1, 2 * math.sqrt(3), FAR, math.sqrt(2)]  # three equal weights on either side
    if trigrams == "characters":
        expected = [nothing * 2, alone * 2, apart * 2]
    else:  # none in a text of one word, and one in a text of three
        expected = [nothing * 2, alone + nothing, [*apart, 1, 2, FAR, math.sqrt(2)]]
    np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.parametrize("trigrams", TRIGRAMS)
def test_the_same_counts_are_exactly_zero_apart(trigrams):
    # Words in idf or not, in another case, and in another order (of which trigrams of words know).
    left = ["a b c", "naïve x y z x", "c a b b", "A B unseen"]
    right = ["a b c", "NAÏVE x y z x", "b a b c", "a b unseen"]
    found = tfidf_distances(left, right, CORPUS, trigrams=trigrams)
    zero = [i for i, name in enumerate(TFIDF_NAMES) if not name.startswith("bha")]
    rows = [0, 1, 3] if trigrams == "words" else [0, 1, 2, 3]
    np.testing.assert_array_equal(found[np.ix_(rows, zero)], 0)
    np.testing.assert_array_equal(found[:, [0, 1, 3]], 0)


texts = st.one_of(
    st.lists(st.sampled_from(("a", "b", "to", "be", "don't", "日本", "…")), max_size=9).map(
        " ".join
    ),
    st.text(st.characters(), max_size=15),  # surrogates too
)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(texts, texts), min_size=1, max_size=4),
    st.lists(texts, min_size=1, max_size=4),
    st.sampled_from(TRIGRAMS),
)
def test_whatever_comes(pairs, corpus, trigrams):
    left, right = zip(*pairs, strict=True)
    found = tfidf_distances(left, right, corpus, trigrams=trigrams)
    expected = [slow_tfidf_distances(*pair, corpus, trigrams) for pair in pairs]
    # The root of a difference of rounding size is as large as 1e-8.
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-7)
    assert np.isfinite(found).all()
    assert (found[:, [0, 1, 3, 4, 5, 7]] >= 0).all()
    assert (found[:, [0, 4]] <= 1).all()
    np.testing.assert_array_equal(tfidf_distances(right, left, corpus, trigrams=trigrams), found)


@pytest.fixture(scope="module")
def sample():
    """Pairs of the bundled sample."""
    pairs = [(q.text, c.text) for q in load_dataset("sample").train for c in q.candidates][:120]
    return tuple(map(list, zip(*pairs, strict=True)))


def test_cosines_are_those_of_scikit_learns_vectorizer(sample):
    spaced = [[" ".join(tokenize(text)) for text in side] for side in sample]
    of_trigrams = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 3))
    for column, vectorizer in ((0, TfidfVectorizer(analyzer=tokenize)), (4, of_trigrams)):
        corpus = dict.fromkeys(spaced[0] + spaced[1])
        x, y = map(vectorizer.fit(corpus).transform, spaced)
        expected = 1 - np.asarray(x.multiply(y).sum(axis=1)).ravel()
        found = tfidf_distances(*sample, sample[0] + sample[1])
        np.testing.assert_allclose(found[:, column], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("trigrams", TRIGRAMS)
def test_other_pairs_and_blocks_do_not_change_a_bit(sample, trigrams, monkeypatch):
    left, right = sample
    corpus = left[::2] + right[::3]
    found = tfidf_distances(left, right, corpus, trigrams=trigrams)
    for i in range(0, len(left), 10):
        pair = left[i : i + 1], right[i : i + 1]
        alone = tfidf_distances(*pair, corpus[::-1] * 2, trigrams=trigrams)
        np.testing.assert_array_equal(alone[0], found[i])
    monkeypatch.setattr(bags, "BLOCK", 7)
    again = tfidf_distances(left, right, corpus, trigrams=trigrams)
    np.testing.assert_array_equal(again, found)


def test_other_idf_other_distances():
    one, other = (tfidf_distances(["a b"], ["b c"], corpus) for corpus in (["a"], ["b"]))
    assert one[0, 0] < other[0, 0]  # `b` is rare for the first, common for the second


def test_no_pairs_no_corpus_and_no_words_at_all():
    assert tfidf_distances([], [], CORPUS).shape == (0, 8)
    np.testing.assert_allclose(tfidf_distances([""], [""], [""])[0], [1, 0, FAR, 0] * 2)
    with pytest.raises(QaselError, match="no texts to count words in; give a corpus"):
        tfidf_distances(["a"], ["b"], [])
    with pytest.raises(QaselError, match="2 texts on the left, 1 on the right"):
        tfidf_distances(["a", "b"], ["c"], CORPUS)
    with pytest.raises(QaselError, match="unknown words 'some'; known: all, content"):
        tfidf_distances(["a"], ["b"], CORPUS, words="some")
