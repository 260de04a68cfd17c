"""Two sets of word vectors as one."""

import numpy as np
import pytest

from qasel.errors import QaselError
from qasel.text import Vectors, load_vectors
from qasel.text.vectors import find_vectors, joined, parts_of

BOTH = "glove.6B.50d+explosion-md.300d"


def two_sets():
    """A set of length 3, and a larger one whose vectors are the same ones, turned and doubled."""
    draw = np.random.default_rng(0)
    words = [f"w{i}" for i in range(200)]
    first = draw.normal(size=(200, 4)).astype(np.float32)
    first *= 3 / np.linalg.norm(first, axis=1, keepdims=True)
    turn, _ = np.linalg.qr(draw.normal(size=(4, 4)))
    rows = {word: i for i, word in enumerate(words)}
    small = Vectors("a", {word: rows[word] for word in words[:190]}, first[:190])
    return small, Vectors("b", rows, (2 * first @ turn).astype(np.float32)), first


def test_words_that_only_the_second_has_get_vectors_in_the_space_of_the_first():
    small, large, first = two_sets()
    both = joined(small, large)
    assert both.name == "a+b"
    assert np.array_equal(both.of(["w3"]), small.of(["w3"]))
    new = both.of([f"w{i}" for i in range(190, 200)])
    assert (new * first[190:]).sum(1) == pytest.approx(np.full(10, 9), rel=0.02)
    nothing_new = joined(large, small)
    assert (nothing_new.name, list(nothing_new.rows)) == ("b+a", list(large.rows))


def test_the_new_vectors_do_not_depend_on_the_order_of_sums():
    # Which differs between CPUs, and with the number of threads.
    small, large, _ = two_sets()
    turned = dict(reversed([(word, 189 - row) for word, row in small.rows.items()]))
    words = [f"w{i}" for i in range(190, 200)]
    same = joined(Vectors("a", turned, small.matrix[::-1].copy()), large)
    assert np.array_equal(same.of(words), joined(small, large).of(words))


def test_both_sets_are_loaded_by_name(tmp_path):
    small, large, _ = two_sets()
    (tmp_path / "vectors").mkdir()
    for name, vectors in zip(BOTH.split("+"), (small, large), strict=True):
        file = tmp_path / "vectors" / f"{name}.npz"
        np.savez(file, words=np.array(list(vectors.rows)), vectors=vectors.matrix)
    found = load_vectors(BOTH, tmp_path, ["w1", "w195", "unheard"])
    assert (found.name, list(found.rows), found.size) == (BOTH, ["w1", "w195"], 4)
    np.savez(file, words=np.array([*small.rows, "unheard"]), vectors=large.matrix[:191])
    changed = load_vectors(BOTH, tmp_path, ["w1", "w195", "unheard"])
    assert list(changed.rows) == ["w1", "unheard"]


def test_a_second_set_that_is_not_there_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("QASEL_DATA", str(tmp_path))
    with pytest.raises(QaselError, match=r"'explosion-md\.300d' not found"):
        find_vectors("sample+explosion-md.300d")
    assert parts_of("sample+nothing") == ["sample+nothing"]
    with pytest.raises(QaselError, match=r"unknown word vectors 'sample\+nothing'"):
        find_vectors("sample+nothing")
