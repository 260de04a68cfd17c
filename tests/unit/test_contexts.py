"""Vectors for unknown words from their contexts."""

import numpy as np
import pytest

from qasel.papers.hierarchical_ranking import recipe
from qasel.results.measure import vectors_for
from qasel.text import Vectors, load_vectors, tokenize
from qasel.text.vectors import CONTEXTS, FEWEST, RARE, _contexts, completed, find_vectors


def vectors(**known):
    return Vectors("some", {w: i for i, w in enumerate(known)}, np.array([*known.values()], "f4"))


def test_contexts_by_hand():
    known = vectors(cat=[1.0, 0.0], dog=[0.0, 2.0])
    words, means, times = _contexts(known, [("cat", "x", "dog", "cat"), ("x",), ("dog", "y")])
    found = {w: (mean.tolist(), n) for w, mean, n in zip(words, means, times, strict=True)}
    total = 7
    cat, dog = (RARE * total / (RARE * total + 2) for _ in range(2))  # each occurs twice
    # Of cat, the first: dog and cat beside it; the second: cat and dog. Of x: three known words.
    assert found["cat"] == (pytest.approx([cat / 2, dog]), 2)
    assert found["dog"] == (pytest.approx([cat, 0.0]), 1)  # its second sentence has no known word
    assert found["x"] == (pytest.approx([2 * cat / 3, 2 * dog / 3]), 1)
    assert found["y"] == (pytest.approx([0.0, 2 * dog]), 1)


def test_a_word_far_away_is_no_context():
    known = vectors(cat=[1.0])
    line = ("cat", *"abcde", "f")
    words, _, times = _contexts(known, [line])
    assert dict(zip(words, times.tolist(), strict=True)) == {
        "cat": 0, "a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 0
    }  # fmt: skip


def spoken(rng, groups, words):
    """Sentences of one subject each; a subject has words of its own."""
    return [
        tuple(f"{group}{word}" for word in rng.integers(0, words, 8))
        for group in groups
        for _ in range(40 * FEWEST)
    ]


def test_words_get_the_direction_of_the_company_that_they_keep():
    rng = np.random.default_rng(0)
    subjects = {"p": [1, 0, 0], "q": [0, 1, 0], "r": [0, 0, 1]}
    known = {
        f"{group}{word}": np.array(axis) + rng.normal(scale=0.1, size=3)
        for group, axis in subjects.items()
        for word in range(1, 12)
    }
    sentences = spoken(rng, subjects, 12)  # p0, q0, r0 have no vectors
    before = vectors(nought=np.zeros(3), **known)
    after = completed(before, [*sentences, ("alone",), ("alone", "nought")])
    assert after.name == "some"
    assert set(after.rows) - set(before.rows) == {"p0", "q0", "r0"}
    assert (after.of(list(before.rows)) == before.matrix).all()
    found = after.of(["p0", "q0", "r0"])
    length = np.linalg.norm(before.of(list(known)), axis=1).mean()
    assert np.linalg.norm(found, axis=1) == pytest.approx([length] * 3, rel=1e-5)
    assert (found / length)[np.arange(3), np.arange(3)].min() > 0.95


def test_what_cannot_be_learnt_is_left_alone():
    known = vectors(cat=[1.0, 0.0], dog=[0.0, 2.0])
    assert completed(known, [("cat", "x", "dog")] * FEWEST) is known  # two words for two numbers
    assert completed(known, []) is known
    assert completed(known, [()]) is known
    assert completed(known, [("cat", "dog")] * 9) is known


def test_a_name_with_contexts_is_found_as_the_set_is():
    assert find_vectors("sample" + CONTEXTS) == find_vectors("sample")


def test_a_run_completes_its_vectors_from_the_texts_that_it_learns_from():
    chosen = recipe("CA(list)", "sample", vectors="sample" + CONTEXTS)
    data = chosen.load()
    base, whole = load_vectors("sample"), vectors_for(chosen, data)
    seen = {word for text in data.train.texts for word in tokenize(text)}
    later = {word for text in data.test.texts for word in tokenize(text)} - seen
    assert whole.name == "sample+contexts"
    assert 0 < base.coverage(seen) < whole.coverage(seen)
    assert whole.coverage(later) == base.coverage(later) < 1
    assert (whole.of(["the"]) == base.of(["the"])).all()
