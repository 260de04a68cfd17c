"""The model of paper 5 against a slow reference, its sizes, and what padding must not do."""

import math

import pytest
import torch
from ap_mpcnn_reference import slow_attention, slow_compared, slow_overlap, slow_score
from torch.nn import functional as F

from qasel.datasets.base import Candidate, Question, Split
from qasel.papers.ap_mpcnn import recipe
from qasel.papers.ap_mpcnn.convolution import HolisticConvolution, largest_windows
from qasel.papers.ap_mpcnn.model import (
    APMPCNN,
    attention_weights,
    compared_size,
    horizontal,
    vertical,
)
from qasel.text import Vocabulary, tokenize
from qasel.text.features.overlap import Idf, is_content
from qasel.training.batching import EncodedSplit

CPU = torch.device("cpu")
LISTS = {
    "when was it built": ["it was built in 1889 and it was tall", "tower", "the city of light"],
    "who": ["who built it ?", "\u00ad", "gustave eiffel built the tower with his own firm"],
    "\u00ad": ["iron", "the iron tower"],
}
PARTS = [(a, w, s) for a in (True, False) for w in (True, False) for s in (True, False)]


def split_of(lists):
    questions = []
    for i, (text, answers) in enumerate(lists.items()):
        candidates = tuple(Candidate(f"c{i}-{j}", a, int(j == 0), j) for j, a in enumerate(answers))
        questions.append(Question(f"q{i}", text, candidates))
    return Split("tiny", tuple(questions))


SPLIT = split_of(LISTS)
IDF = Idf.of(candidate.text for question in SPLIT for candidate in question.candidates)


def texts(split=SPLIT):
    return [t for q in split for t in (q.text, *(c.text for c in q.candidates))]


def make(attention=True, wide=True, sparse=True, split=SPLIT, **sizes):
    torch.manual_seed(1)
    vocabulary = Vocabulary(word for text in texts(split) for word in tokenize(text))
    vectors = torch.randn(len(vocabulary), 4)
    vectors[0] = 0
    vectors[vocabulary.encode(["built"])] = 0  # a word without a vector
    parts = {"attention": attention, "wide": wide, "sparse": sparse}
    settings = {"filters": 3, "widths": 3, "hidden": 5, "dropout": 0.3} | parts | sizes
    model = APMPCNN(vectors, recipe().change(**settings))
    if sparse:
        model.set_words(vocabulary.words, IDF)
    return model.eval(), EncodedSplit(split, vocabulary, CPU), vocabulary


def numbers(vocabulary, text):
    return vocabulary.encode(tokenize(text)) or [0]


@pytest.mark.parametrize("widths", [1, 3])
@pytest.mark.parametrize(("attention", "wide", "sparse"), PARTS)
def test_all_pairs_equal_the_slow_reference(attention, wide, sparse, widths):
    difference = "vector" if widths == 1 else "sum" if wide else "mean"
    model, data, vocabulary = make(attention, wide, sparse, widths=widths, difference=difference)
    batch = data.batch(torch.tensor([2, 0, 1]))
    found = batch.as_lists(model.compared(batch))
    assert found.shape[2] == compared_size(3, widths, sparse, difference)
    scores = model(batch).sigmoid()
    for row, number in enumerate(batch.index.tolist()):
        question = SPLIT[number]
        for column, candidate in enumerate(question.candidates):
            words = tokenize(question.text), tokenize(candidate.text)
            overlap = slow_overlap(*words, IDF, is_content) if sparse else ()
            pair = (numbers(vocabulary, text) for text in (question.text, candidate.text))
            wanted = slow_compared(model, *pair, overlap)
            torch.testing.assert_close(found[row, column], wanted, atol=1e-5, rtol=1e-5)
            torch.testing.assert_close(
                scores[row, column], slow_score(model, wanted), atol=1e-5, rtol=1e-5
            )


@pytest.mark.parametrize(("attention", "wide", "sparse"), PARTS)
def test_padding_and_company_never_change_a_score(attention, wide, sparse):
    long = {"why": [" ".join(["tower iron city"] * 87), "iron"]}
    model, data, _ = make(attention, wide, sparse, split=split_of(LISTS | long))
    assert int(data.answers.length.max()) == 261
    together = model(data.batch(torch.arange(4)))
    for number, question in enumerate(data.split):
        count = len(question.candidates)
        alone = model(data.batch(torch.tensor([number])))[0]
        torch.testing.assert_close(together[number, :count], alone, atol=1e-5, rtol=1e-5)
        assert (together[number, count:] == 0).all()


@pytest.mark.parametrize("vectors_rate", [0.0, 0.1])
@pytest.mark.parametrize(("attention", "wide"), [(True, True), (True, False), (False, True)])
def test_gradients_equal_those_of_a_dense_convolution(attention, wide, vectors_rate):
    model, data, vocabulary = make(attention, wide, True, vectors_rate=vectors_rate)
    batch = data.batch(torch.tensor([0]))
    learnt = {n: p for n, p in model.named_parameters() if p.requires_grad}
    found = torch.autograd.grad(model(batch).sum(), learnt.values())

    def dense(question, answer):
        one, other = (model.words(torch.tensor(x)) for x in (question, answer))
        if attention:
            cosine = F.normalize(one, dim=1) @ F.normalize(other, dim=1).T
            weights = cosine.sum(1).softmax(0), cosine.sum(0).softmax(0)
            one, other = (
                torch.cat([x, a[:, None] * x], 1)
                for x, a in zip((one, other), weights, strict=True)
            )
        sides = []
        for x in (one, other):
            groups = []
            for width, convolution in enumerate(model.convolution.convolutions, start=1):
                more = (width - 1,) * 2 if wide else (0, max(width - len(x), 0))
                series = torch.nn.functional.pad(x, (0, 0, *more)).T[None]
                groups.append(convolution(series)[0].tanh().amax(1))
            sides.append(torch.stack(groups)[None])
        return torch.cat([horizontal(*sides), vertical(*sides)], dim=1)[0]

    question = SPLIT[0]
    overlap = batch.as_lists(model.compared(batch))[0, :, -4:]
    total = 0.0
    for column, candidate in enumerate(question.candidates):
        pair = (numbers(vocabulary, text) for text in (question.text, candidate.text))
        total = total + model.predict(torch.cat([dense(*pair), overlap[column]])[None])[0].sum()
    wanted = torch.autograd.grad(total, learnt.values())
    assert ("vectors" in learnt) == (vectors_rate > 0)
    for name, one, other in zip(learnt, found, wanted, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4, msg=name)


def test_sizes_of_the_paper():
    model = APMPCNN(torch.zeros(5, 300), recipe())
    assert compared_size(300, 3, True) == 631
    assert sum(c.weight.numel() for c in model.convolution.convolutions) == 1_080_000
    assert sum(p.numel() for p in model.hidden.parameters()) == 300 * 631 + 300 == 189_600
    learnt = sum(p.numel() for p in model.parameters() if p.requires_grad)
    assert learnt == 1_080_000 + 900 + 189_600 + 301  # filters' biases, and the last layer
    vocabulary = Vocabulary(["a", "b"])
    tiny = split_of({"a": ["b", "a b"]})
    assert model.compared(EncodedSplit(tiny, vocabulary, CPU).batch(torch.tensor([0]))).shape == (
        2,
        631,
    )


def test_comparison_by_hand():
    x = torch.tensor([[[3.0, 0.0], [4.0, 1.0]]])  # widths 1 and 2, two filters
    y = torch.tensor([[[4.0, 0.0], [3.0, 2.0]]])
    wanted = [24 / 25, math.sqrt(2), 1.0, 1.0]
    torch.testing.assert_close(horizontal(x, y), torch.tensor([wanted]))
    wanted = [
        *(1.0, 1.0, 1.0),  # (3, 0) and (4, 0)
        *(9 / (3 * math.sqrt(13)), 2.0, 2.0),  # (3, 0) and (3, 2)
        *(16 / (4 * math.sqrt(17)), 1.0, 1.0),  # (4, 1) and (4, 0)
        *(14 / math.sqrt(17 * 13), math.sqrt(2), 2.0),  # (4, 1) and (3, 2)
    ]
    torch.testing.assert_close(vertical(x, y), torch.tensor([wanted]))
    mean = vertical(x, y, "mean")
    torch.testing.assert_close(mean[0, 2::3], torch.tensor([0.5, 1.0, 0.5, 1.0]))


def test_equal_and_zero_sentences_have_finite_gradients():
    for value in (0.0, 0.7):
        x = torch.full((1, 3, 2), value, requires_grad=True)
        y = torch.full((1, 3, 2), value, requires_grad=True)
        total = horizontal(x, y).sum() + vertical(x, y).sum()
        for gradient in torch.autograd.grad(total, [x, y]):
            assert gradient.isfinite().all()


def test_attention_by_hand():
    question = torch.tensor([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]])  # the last is padding
    answer = torch.tensor([[3.0, 0.0], [3.0, 4.0]])
    real = torch.tensor([[True, True, False]]), torch.tensor([[True, True]])
    # The cosines are [[1, 0.6], [0, 0.8]].
    units = (F.normalize(words, dim=-1)[None] for words in (question, answer))
    one, other = attention_weights(*units, *real)
    torch.testing.assert_close(one[0], torch.tensor([1.6, 0.8, -torch.inf]).softmax(0))
    torch.testing.assert_close(other[0], torch.tensor([1.0, 1.4]).softmax(0))
    slow = slow_attention(question[:2].tolist(), answer.tolist())[1]
    torch.testing.assert_close(one[0, :2], torch.tensor(slow))


@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("attention", [True, False])
def test_both_searches_find_the_same_windows(attention, wide):
    torch.manual_seed(2)
    layer = HolisticConvolution(4, 6, 4, weighted=attention, wide=wide)
    words = torch.randn(9, 4)
    words[0] = 0
    length = torch.tensor([7, 1, 2, 3])
    place = torch.randint(1, 9, (4, 7)) * (torch.arange(7) < length[:, None])
    weight = torch.rand(4, 7) if attention else None
    table = layer.project(words)
    found = largest_windows(table, place, length, weight, 4, wide)
    assert torch.equal(found, layer.largest(table, place, length, weight))


def test_unknown_words_share_a_vector_within_a_quarter():
    model, _, vocabulary = make()
    found = model.words(torch.tensor([*vocabulary.encode(["built", "iron"]), 0]))
    assert torch.equal(found[0], model.unknown)
    assert model.unknown.abs().max() <= 0.25
    assert torch.equal(found[1], model.vectors[vocabulary.encode(["iron"])[0]])
    assert (found[2] == 0).all()
