"""The fourteen distances of paper 4: by hand, at their limits, against a slow reference."""

import math

import numpy as np
import pytest
from distances_reference import slow_distances
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from qasel.datasets import load_dataset
from qasel.errors import QaselError
from qasel.text import Vectors, load_vectors, tokenize
from qasel.text.features import distances as bags
from qasel.text.features.distances import COLUMN, NAMES, TRIGRAMS, distances

MEANS, UNIGRAMS, OF_TRIGRAMS = ([*range(4)], [*range(4, 9)], [*range(9, 14)])


def known(**vectors):
    """Vectors of a few words."""
    rows = {word: row for row, word in enumerate(vectors)}
    return Vectors("few", rows, np.array(list(vectors.values()), dtype=np.float32))


FEW = known(bat=(1, -1), cat=(3, 1), sat=(-1, 2))
WORDS = ("a", "b", "to", "be", "don't", "naïve", "straße", "日本", "…", "not")
MANY = Vectors(
    "many",
    {word: row for row, word in enumerate(WORDS[:8])},
    np.random.default_rng(0).normal(size=(8, 5)).astype(np.float32),
)


BY_HAND = {
    # Means (5/3, −1/3) and, `a` having no vector, (2/3, 1): x·y = 7/9, |x|² = 26/9, |y|² = 13/9.
    "cosine embedding": 1 - 7 / (13 * math.sqrt(2)),
    "manhattan embedding": 1 + 4 / 3,
    "bhattacharyya embedding": -math.log(math.sqrt(5 / 3 * 2 / 3)),  # −1/3 · 1 has no root
    "euclidean embedding": 5 / 3,
    # {bat, cat} and {a, cat, sat} share 1.
    "cosine unigram": 1 - 1 / math.sqrt(6),
    "manhattan unigram": 3,
    "bhattacharyya unigram": 0,
    "euclidean unigram": math.sqrt(3),
    "jaccard unigram": 1 / 4,
    # {_ba, bat, at_, _ca, cat} and {_a_, _ca, cat, at_, _sa, sat} share 3.
    "cosine trigram": 1 - 3 / math.sqrt(30),
    "manhattan trigram": 5,
    "bhattacharyya trigram": -math.log(3),
    "euclidean trigram": math.sqrt(5),
    "jaccard trigram": 3 / 8,
}


@pytest.mark.parametrize("name", NAMES)
def test_by_hand(name):
    found = distances(["Bat bat cat"], ["a cat SAT"], FEW)
    assert found.shape == (1, 14)
    assert found.dtype == np.float64
    assert found[0, COLUMN[name]] == pytest.approx(BY_HAND[name], abs=1e-15)


def test_trigrams_of_words_by_hand():
    # Four (to be or, be or not, or not to, not to be) and two, both among the four.
    found = distances(["to be or not to be"], ["not to be or"], FEW, trigrams="words")
    expected = [1 - 2 / math.sqrt(4 * 2), 2, -math.log(2), math.sqrt(2), 2 / 4]
    np.testing.assert_allclose(found[0, OF_TRIGRAMS], expected, rtol=1e-15)
    other = distances(["to be or not to be"], ["not to be or"], FEW)
    np.testing.assert_array_equal(found[:, : OF_TRIGRAMS[0]], other[:, : OF_TRIGRAMS[0]])
    # Two words are too few.
    found = distances(["to be", "to be"], ["to be", "to be or"], FEW, trigrams="words")
    nothing = [1, 0, math.log(2), 0, 0]
    np.testing.assert_allclose(found[:, OF_TRIGRAMS], [nothing, [1, 1, math.log(2), 1, 0]])


def test_trigrams_are_those_of_char_wb():
    text = "I can't: 日本 (x) naïve…  42."
    cut = CountVectorizer(analyzer="char_wb", ngram_range=(3, 3)).build_analyzer()
    grams = set(cut(" ".join(tokenize(text))))
    found = distances([text], [""], FEW)
    assert found[0, COLUMN["manhattan trigram"]] == len(grams)


@pytest.mark.parametrize("trigrams", TRIGRAMS)
def test_empty_texts(trigrams):
    half = math.log(2)
    blank = ["", " \t\n", "\u00ad"]
    found = distances(blank, ["", "", " "], FEW, trigrams=trigrams)
    nothing = [1, 0, half, 0]
    np.testing.assert_allclose(found, [nothing + 2 * [*nothing, 0]] * 3, rtol=1e-15)
    # Means (1, 0) and 0; two words, and six trigrams of characters or none of words.
    found = distances(["bat cat cat sat"], [""], FEW, trigrams=trigrams)[0]
    size = 7 if trigrams == "characters" else 2
    expected = [[1, 1.5 + 0.75, half, math.hypot(1.5, 0.75)]]
    expected += [[1, n, half, math.sqrt(n), 0] for n in (3, size)]
    np.testing.assert_allclose(found, np.concatenate(expected), rtol=1e-15)


def test_texts_of_unknown_words_are_zero_vectors():
    found = distances(["dog cow", "dog"], ["dog", "cat"], FEW)[:, MEANS]
    half = math.log(2)
    np.testing.assert_allclose(found, [[1, 0, half, 0], [1, 4, half, math.sqrt(10)]], rtol=1e-15)
    without = distances(["bat cat"], ["bat"], Vectors.empty("none"))
    np.testing.assert_allclose(without[0, MEANS], [1, 0, half, 0], rtol=1e-15)
    np.testing.assert_array_equal(
        without[:, UNIGRAMS], distances(["bat cat"], ["bat"], FEW)[:, UNIGRAMS]
    )


@pytest.mark.parametrize("trigrams", TRIGRAMS)
def test_equal_texts(trigrams):
    # The same text, and the same words in another case.
    pairs = [("bat sat cat bat", "bat sat cat bat"), ("naïve BAT, sat", "NAÏVE bat, sat")]
    found = distances(*zip(*pairs, strict=True), FEW, trigrams=trigrams)
    zero = [i for i, name in enumerate(NAMES) if name.startswith(("cos", "man", "euc"))]
    np.testing.assert_array_equal(found[:, zero], 0)
    np.testing.assert_array_equal(found[:, [i for i, n in enumerate(NAMES) if "jac" in n]], 1)
    sizes = [3, 4]
    np.testing.assert_allclose(found[:, COLUMN["bhattacharyya unigram"]], -np.log(sizes))


def test_repeated_words_count_in_means_only():
    found = distances(["bat cat sat", "bat cat sat"], ["cat bat sat", "cat bat sat sat bat"], FEW)
    np.testing.assert_array_equal(
        found[0, UNIGRAMS + OF_TRIGRAMS], found[1, UNIGRAMS + OF_TRIGRAMS]
    )
    np.testing.assert_array_equal(found[0, [0, 1, 3]], 0)
    assert (found[1, [0, 1, 3]] > 0.01).all()


def test_nothing_shared():
    found = distances(["bat"], ["foo"], FEW)[0]
    np.testing.assert_allclose(found[UNIGRAMS], [1, 2, math.log(2), math.sqrt(2), 0])
    np.testing.assert_allclose(found[OF_TRIGRAMS], [1, 6, math.log(2), math.sqrt(6), 0])
    opposite = known(up=(1, 2), down=(-2, -4))
    found = distances(["up"], ["down"], opposite)[0, MEANS]
    np.testing.assert_allclose(found, [2, 9, math.log(2), math.sqrt(45)])


texts = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join),
    st.text(st.sampled_from("ab 'A\u00ad\u3000\n.\"İß́"), max_size=12),
    st.text(st.characters(), max_size=20),  # surrogates too
    st.tuples(st.text(max_size=10), st.integers(50, 300)).map(lambda drawn: drawn[0] * drawn[1]),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=5), st.sampled_from(TRIGRAMS))
def test_whatever_comes(pairs, trigrams):
    left, right = zip(*pairs, strict=True)
    found = distances(left, right, MANY, trigrams=trigrams)
    expected = [slow_distances(*pair, MANY, trigrams) for pair in pairs]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    # Finite, in range, and the same from the other side.
    for name, column in zip(NAMES, found.T, strict=True):
        low = -math.inf if name.startswith("bha") else 0
        high = {"cos": 2 if "emb" in name else 1, "jac": 1, "bha": math.log(2)}.get(name[:3])
        assert (column >= low).all()
        assert np.isfinite(column).all()
        assert high is None or (column <= high).all()
    np.testing.assert_array_equal(distances(right, left, MANY, trigrams=trigrams), found)


@pytest.fixture(scope="module")
def sample():
    """Pairs of the bundled sample, and its vectors."""
    pairs = [(q.text, c.text) for q in load_dataset("sample").train for c in q.candidates][:200]
    return *map(list, zip(*pairs, strict=True)), load_vectors("sample")


@pytest.mark.parametrize("trigrams", TRIGRAMS)
def test_other_pairs_and_blocks_do_not_change_a_bit(sample, trigrams, monkeypatch):
    left, right, vectors = sample
    found = distances(left, right, vectors, trigrams=trigrams)
    for i in range(0, len(left), 10):
        alone = distances(left[i : i + 1], right[i : i + 1], vectors, trigrams=trigrams)
        np.testing.assert_array_equal(alone[0], found[i])
    for size in (1, 7, len(left), len(left) + 1):
        monkeypatch.setattr(bags, "BLOCK", size)
        again = distances(left, right, vectors, trigrams=trigrams)
        np.testing.assert_array_equal(again, found)


def test_no_pairs():
    for trigrams in TRIGRAMS:
        assert distances([], [], FEW, trigrams=trigrams).shape == (0, 14)


def test_bad_input():
    with pytest.raises(QaselError, match="2 texts on the left, 1 on the right"):
        distances(["a", "b"], ["c"], FEW)
    with pytest.raises(QaselError, match="unknown trigrams 'letters'; known: characters, words"):
        distances(["a"], ["b"], FEW, trigrams="letters")
