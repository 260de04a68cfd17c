"""Tokens, vocabulary, and word vectors in every form they come in."""

import zipfile

import numpy as np
import pytest

from qasel.errors import QaselError
from qasel.text import PADDING, Vocabulary, load_vectors, tokenize

LINES = "the 0.5 -1\nto be 1 2\ncat 3 4\nthe 9 9\n"


def test_tokens():
    assert tokenize('The "ice" isn\'t 60 m high.') == (
        "the", "``", "ice", "''", "is", "n't", "60", "m", "high", ".",
    )  # fmt: skip
    assert tokenize("a 1\u00ad000 kg load") == ("a", "1000", "kg", "load")
    assert tokenize(" \t ") == ()


def test_vocabulary_grows_and_keeps_its_numbers():
    words = Vocabulary(["a", "b", "a"])
    assert words.encode(["b", "a"]) == [2, 1]
    assert words.extend(["c", "a", "c"]) == ["c"]
    assert words.encode(["a", "c"]) == [1, 3]
    assert words.words[PADDING] == ""
    with pytest.raises(KeyError):
        words.encode(["unknown"])


@pytest.fixture
def forms(tmp_path):
    folder = tmp_path / "vectors"
    folder.mkdir()
    return tmp_path, folder


def check(vectors):
    found = vectors.of(["cat", "dog", "the"])
    np.testing.assert_allclose(found, [[3, 4], [0, 0], [0.5, -1]], atol=1e-3)
    assert found.dtype == np.float32
    assert vectors.size == 2
    assert "dog" not in vectors
    assert vectors.coverage(["cat", "dog"]) == 0.5


def test_text_form(forms):
    home, folder = forms
    (folder / "glove.6B.50d.txt").write_text(LINES)
    vectors = load_vectors("glove.6B.50d", home)
    check(vectors)
    # Some words of the 840B file hold a blank; the first of equal words counts.
    assert "to be" in vectors
    assert set(load_vectors("glove.6B.50d", home, words={"the", "cat"}).rows) == {"the", "cat"}


def test_zip_form(forms):
    home, folder = forms
    with zipfile.ZipFile(folder / "glove.6B.zip", "w") as archive:
        archive.writestr("glove.6B.50d.txt", LINES)
    check(load_vectors("glove.6B.50d", home))


def test_npz_form_with_shared_rows(forms):
    home, folder = forms
    np.savez(
        folder / "glove.6B.50d.f16.npz",
        words=np.array(["the", "cat", "kitten"]),
        rows=np.array([1, 0, 0]),
        vectors=np.array([[3, 4], [0.5, -1]], dtype=np.float16),
    )
    vectors = load_vectors("glove.6B.50d", home)
    check(vectors)
    np.testing.assert_array_equal(vectors.of(["kitten"]), vectors.of(["cat"]))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("the 1 2\ncat 1 x\n", "line 2"),
        ("the 1 2\ncat 1\n", "line 2"),
        ("the 1 2\ncat nan 1\n", "line 2"),
        ("", "empty"),
    ],
)
def test_malformed_text(forms, text, message):
    home, folder = forms
    (folder / "glove.6B.50d.txt").write_text(text)
    with pytest.raises(QaselError, match=message):
        load_vectors("glove.6B.50d", home)


def test_missing_unknown_and_broken(forms, monkeypatch):
    home, folder = forms
    monkeypatch.delenv("QASEL_DATA", raising=False)
    with pytest.raises(QaselError, match="known: sample"):
        load_vectors("glove.7B.100d", home)
    monkeypatch.setattr("qasel.text.vectors.data_dirs", lambda _: [home])
    with pytest.raises(QaselError, match=r"qasel data fetch glove\.6B\.50d"):
        load_vectors("glove.6B.50d", home)
    (folder / "glove.6B.50d.npz").write_bytes(b"PK no")
    with pytest.raises(QaselError, match="not a file of word vectors"):
        load_vectors("glove.6B.50d", home)


def test_the_samples_vectors_cover_its_words():
    from qasel.datasets import load_dataset

    vectors = load_vectors("sample")
    assert vectors.size == 100
    texts = [c.text for q in load_dataset("sample").test for c in q.candidates]
    words = [word for text in texts for word in tokenize(text) if word.isalpha() and len(word) > 1]
    assert vectors.coverage(words) > 0.97
