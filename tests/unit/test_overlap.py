"""The four overlap features of paper 5, by hand."""

import math

import pytest
import torch

from qasel.errors import QaselError
from qasel.text import Vocabulary, tokenize
from qasel.text.features.overlap import Idf, is_content, overlap_features, word_tables

CORPUS = ("the tower is tall", "the tower", "the iron bridge", "the iron bridge")


def features(*pairs):
    vocabulary = Vocabulary(word for pair in pairs for text in pair for word in tokenize(text))
    sides = [vocabulary.numbers_of(texts) for texts in zip(*pairs, strict=True)]
    padded = []
    for rows in sides:
        longest = max(1, *map(len, rows))
        padded.append(torch.tensor([row + [0] * (longest - len(row)) for row in rows]))
    return overlap_features(*padded, *word_tables(vocabulary.words, Idf.of(CORPUS)))


def test_idf_by_hand():
    idf = Idf.of(CORPUS)
    assert (idf.documents, idf.counts["the"]) == (3, 3)  # the same sentence counts once
    assert idf("the") == 0
    assert idf("tower") == pytest.approx(math.log(3 / 2))
    assert idf("tall") == idf("never seen") == pytest.approx(math.log(3))


@pytest.mark.parametrize("texts", [(), ("one sentence",), ("the same", "the same")])
def test_too_small_a_corpus_is_refused(texts):
    with pytest.raises(QaselError, match="at least 2 different sentences"):
        Idf.of(texts)


def test_features_by_hand():
    # Different words: {is, the, tower, tall} and {the, iron, tower, is, so}; stop words: is, the,
    # so. "the" three times in one sentence counts once.
    (found,) = features(("is the tower tall", "the the iron tower is so the")).tolist()
    tower = math.log(3 / 2)
    is_ = math.log(3)
    wanted = [3 / 9, 1 / 4, (0 + is_ + tower) / 9, tower / 4]
    assert found == pytest.approx(wanted, abs=1e-6)
    assert len(found) == 4


def test_punctuation_counts_as_words_and_as_stop_words():
    (found,) = features(("tower ?", "iron ?")).tolist()
    assert found[:2] == pytest.approx([1 / 4, 0])
    assert not is_content("?")
    assert not is_content("the")
    assert is_content("1889")


def test_padding_company_and_nothing():
    pair = ("the tall tower", "a tower")
    others = [("", "tower"), ("tower", ""), ("", ""), ("the", "the"), ("a b c d e", "e d c b a")]
    table = features(pair, *others)
    torch.testing.assert_close(table[0], features(pair)[0])
    assert (table[1:4] == 0).all()
    assert table[4].tolist() == [0.5, 0, 0, 0]  # stop words only
    assert table[5, 0] == 0.5
