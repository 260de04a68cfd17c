"""Tokens, vocabulary, and word vectors in every form they come in."""

import contextlib
import zipfile

import numpy as np
import pytest

from qasel.errors import QaselError
from qasel.text import PADDING, Vectors, Vocabulary, load_vectors, tokenize

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


def test_a_zip_of_ones_own_has_one_text(tmp_path):
    path = tmp_path / "mine.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("folder/any name.txt", LINES)
        archive.writestr("read me.md", "")
    check(load_vectors(str(path)))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("other.txt", LINES)
    with pytest.raises(QaselError, match=r"mine\.zip: holds 2 \.txt files, not one; unpack it"):
        load_vectors(str(path))


@pytest.mark.parametrize("words", [None, ["the", "cat", "dog"], ["cat"]])
def test_a_first_line_that_counts_words_and_numbers_is_no_word(tmp_path, words):
    path = tmp_path / "fasttext.txt"
    path.write_text("3 2\nthe 0.5 -1 \nto be 1 2\ncat 3 4\n")
    vectors = load_vectors(str(path), words=words)
    assert set(vectors.rows) == {"the", "to be", "cat"}.intersection(words or vectors.rows)
    assert vectors.of(["cat", "3"]).tolist() == [[3, 4], [0, 0]]


def test_vectors_that_have_no_word_of_the_data_are_refused(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("The 1 2\nCat 3 4\n")
    with pytest.raises(QaselError, match="none of the 2 words wanted, such as 'the'"):
        load_vectors(str(path), words=["the", "cat"])
    assert not load_vectors(str(path), words=[]).rows


def test_extended():
    some = Vectors("some", {"a": 0, "b": 1}, np.array([[1, 2], [3, 4]], dtype=np.float32))
    more = Vectors("more", {"c": 0, "b": 1, "d": 0}, np.array([[5, 6], [7, 8]], dtype=np.float32))
    found = some.extended(more)
    assert found.name == "some"
    assert found.of(["a", "b", "c", "d"]).tolist() == [[1, 2], [3, 4], [5, 6], [5, 6]]
    assert some.extended(Vectors.empty("none")) is some
    with pytest.raises(QaselError, match="'more' have 1 numbers each, not 2"):
        some.extended(Vectors("more", {"c": 0}, np.ones((1, 1), dtype=np.float32)))


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
        ("the 1 2\ncat 1e39 1\n", "line 2"),  # more than single precision has
        ("", "empty"),
    ],
)
@pytest.mark.parametrize("words", [None, {"the", "cat"}])
def test_malformed_text(forms, text, message, words):
    home, folder = forms
    (folder / "glove.6B.50d.txt").write_text(text)
    with pytest.raises(QaselError, match=message):
        load_vectors("glove.6B.50d", home, words=words)


def test_text_that_is_not_utf_8(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_bytes("the 1 2\ncafé 3 4\n".encode("latin-1"))
    with pytest.raises(QaselError, match=r"mine\.txt, line 2: not UTF-8"):
        load_vectors(str(path))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"words": ["the", "cat", "dog"]}, "3 words, but 2 vectors"),
        ({"rows": [0]}, "2 words, but `rows`"),
        ({"rows": [0, 2]}, "2 words, but 2 vectors"),
        ({"rows": [0, -1]}, "2 words, but 2 vectors"),
        ({"rows": [0.0, 1.0]}, "`rows`"),
        ({"words": [b"the", b"cat"]}, "`words`"),
        ({"words": [["the", "cat"]]}, "`words`"),
        ({"words": "the"}, "`words`|unsized"),
        ({"vectors": [1.0, 2.0]}, "`vectors`"),
        ({"vectors": [["1", "2"], ["3", "4"]]}, "`vectors`"),
        ({"vectors": [[1.0, 2.0], [3.0, np.nan]]}, "the vector of 'cat'"),
        ({"vectors": [[1e39, 2.0], [3.0, 4.0]]}, "the vector of 'the'"),
    ],
)
def test_an_npz_file_whose_parts_do_not_fit(tmp_path, changes, message):
    path = tmp_path / "mine.npz"
    np.savez(path, **{"words": ["the", "cat"], "vectors": [[1.0, 2.0], [3.0, 4.0]], **changes})
    with pytest.raises(QaselError, match=rf"mine\.npz: not a file of word vectors \(.*({message})"):
        load_vectors(str(path))


def test_a_damaged_npz_file_is_told_wherever_it_is_damaged(tmp_path):
    path = tmp_path / "mine.npz"
    np.savez_compressed(path, words=["the", "cat"], vectors=np.ones((2, 300)))
    whole = path.read_bytes()
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        with contextlib.suppress(QaselError):  # some bytes are of no account
            load_vectors(str(path))


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
