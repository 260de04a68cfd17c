"""A pair of paper 5 from inside: the model's own values, maps by hand, parts switched off."""

import math

import numpy as np
import pytest
import torch

from qasel.datasets.base import Candidate, Question, Split
from qasel.errors import QaselError
from qasel.papers.ap_mpcnn import APMPCNNRanker, recipe
from qasel.papers.ap_mpcnn.convolution import HolisticConvolution
from qasel.papers.ap_mpcnn.model import compared_size
from qasel.papers.ap_mpcnn.ranker import feature_maps
from qasel.text import Vectors

CPU = torch.device("cpu")
TEXTS = ("it was built in 1889", "tower", "who built the iron tower of iron ?", "")
ASKED = ("when was it built", "\u00ad", "iron " * 300)
KNOWN = ["when", "was", "it", "built", "in", "the", "iron", "tower"]
PARTS = [(a, w, s) for a in (True, False) for w in (True, False) for s in (True, False)]


def question(id, text):
    return Question(id, text, tuple(Candidate(t, t, int(i == 0), i) for i, t in enumerate(TEXTS)))


SPLIT = Split("tiny", tuple(question(f"q{i}", text) for i, text in enumerate(ASKED)))


def make(attention=True, wide=True, sparse=True, **changes):
    matrix = np.random.default_rng(0).standard_normal((len(KNOWN), 5)).astype(np.float32)
    vectors = Vectors("tiny", {word: i for i, word in enumerate(KNOWN)}, matrix)
    changes = {"filters": 4, "hidden": 6} | changes
    chosen = recipe().change(attention=attention, wide=wide, sparse=sparse, **changes)
    ranker = APMPCNNRanker(chosen, vectors, CPU)
    ranker.prepare(SPLIT)
    return ranker


@pytest.mark.parametrize(("attention", "wide", "sparse"), PARTS)
def test_a_pair_is_as_the_model_has_it(attention, wide, sparse):
    ranker = make(attention, wide, sparse, difference="mean" if wide else "sum")
    data = ranker.encode(SPLIT)
    batch = data.batch(torch.arange(len(ASKED)))
    with torch.inference_mode():
        pooled = [batch.as_lists(x) for x in ranker.network.pooled(batch)]
        compared = batch.as_lists(ranker.network.compared(batch))
        odds = ranker.network(batch)
    for row, asked in enumerate(ASKED):
        for column, text in enumerate(TEXTS):
            pair = ranker.inside(asked, text)
            for sentence, expected in zip((pair.question, pair.answer), pooled, strict=True):
                np.testing.assert_allclose(sentence.pooled, expected[row, column], atol=1e-5)
            np.testing.assert_allclose(pair.compared, compared[row, column], atol=1e-4)
            assert pair.log_odds == pytest.approx(float(odds[row, column]), abs=1e-4)
            assert len(pair.compared) == compared_size(4, 3, sparse)
            assert (pair.answer.weights is not None) == attention


def test_maps_and_winners_by_hand():
    convolution = HolisticConvolution(1, 1, 2, weighted=True, wide=True)
    one, two = convolution.convolutions
    with torch.no_grad():
        one.weight.copy_(torch.tensor([[[1.0], [0.0]]]))
        two.weight.copy_(torch.tensor([[[0.1, 0.2], [1.0, 0.0]]]))  # [word; copy] × place
        one.bias.zero_()
        two.bias.fill_(0.07)
        words, weight = torch.tensor([[1.0], [-2.0]]), torch.tensor([0.25, 0.75])
        alone, pairs = feature_maps(convolution, ["a", "b"], words, weight, wide=True)
        inside = feature_maps(convolution, ["a", "b"], words, weight, wide=False)[1]
        padded = feature_maps(convolution, ["a"], words[:1], weight[:1], wide=False)[1]
    assert np.arctanh(alone[1].astype(float)).to_dict() == pytest.approx({"a": 1, "b": -2})
    # The copies are 0.25 and −1.5.
    sums = {"∅ a": 0.2, "a b": 0.1 + 0.25 - 0.4, "b ∅": -0.2 - 1.5}
    expected = {window: math.tanh(value + 0.07) for window, value in sums.items()}
    assert pairs[1].to_dict() == pytest.approx(expected)
    assert inside[1].to_dict() == pytest.approx({"a b": expected["a b"]})
    assert padded[1].to_dict() == pytest.approx({"a ∅": math.tanh(0.1 + 0.25 + 0.07)})


@pytest.mark.parametrize(("wide", "windows"), [(True, [3, 4, 5]), (False, [3, 2, 1])])
def test_wide_convolution_has_every_word_in_as_many_windows_and_narrow_has_not(wide, windows):
    maps = make(wide=wide).inside("when was it built", "the iron tower").answer.maps
    assert [len(values) for values in maps] == windows
    for width, values in enumerate(maps, start=1):
        for word in ("the", "iron", "tower"):
            count = sum(word in window.split() for window in values.index)
            assert count == width if wide else 1 <= count <= min(width, windows[width - 1])


def test_a_network_without_wide_convolution_has_the_same_narrow_windows():
    wide, narrow = make(), make(wide=False)
    narrow.network.load_state_dict(wide.network.state_dict())
    for text in TEXTS:
        off, expected = wide.inside(ASKED[0], text, "wide"), narrow.inside(ASKED[0], text)
        np.testing.assert_array_equal(off.compared, expected.compared)
        assert off.log_odds != wide.inside(ASKED[0], text).log_odds
        assert narrow.inside(ASKED[0], text, "wide").log_odds == off.log_odds


def test_without_sparse_features_only_those_are_nothing():
    ranker = make()
    on, off = (ranker.inside(ASKED[0], TEXTS[0], part) for part in ("", "sparse"))
    np.testing.assert_array_equal(off.compared[:-4], on.compared[:-4])
    assert (on.compared[-4:] > 0).all()
    assert (off.compared[-4:] == 0).all()
    with torch.inference_mode():
        odds, _ = ranker.network.predict(torch.tensor(off.compared)[None])
    assert off.log_odds == pytest.approx(float(odds))


def test_without_attention_all_words_have_the_same_weight():
    ranker = make()
    on, off = (ranker.inside(ASKED[0], TEXTS[0], part) for part in ("", "attention"))
    assert np.ptp(on.answer.weights) > 0.01
    assert on.answer.weights.sum() == pytest.approx(1)
    assert off.question.weights.tolist() == [0.25] * 4
    assert off.answer.weights == pytest.approx(np.full(5, 0.2))
    assert off.log_odds != on.log_odds
    # Attention has nothing to tell apart where all words are the same.
    same = [ranker.inside("iron iron", "tower tower", part).log_odds for part in ("", "attention")]
    assert same[0] == pytest.approx(same[1], abs=1e-6)


def test_a_part_that_does_not_exist_is_refused():
    with pytest.raises(QaselError, match="unknown part 'copy': choose from attention, wide"):
        make().inside("iron", "tower", "copy")
