"""The model of paper 1 against a slow reference, and what padding must not do."""

import numpy as np
import pytest
import torch
from torch import nn

from qasel.datasets.base import Candidate, Question, Split
from qasel.papers.hierarchical_ranking import SCHEMES, recipe
from qasel.papers.hierarchical_ranking.model import CompareAggregate, clipped_softmax
from qasel.text import Vocabulary, tokenize
from qasel.training.batching import EncodedSplit

CPU = torch.device("cpu")
TEXTS = {
    "when was it built": ["it was built in 1889", "a tower", "the city of light is far away today"],
    "who": [
        "the engineer",
        "gustave eiffel built it with his own firm in two years",
    ],
    "what is a very long question about towers": ["iron"],
}


def make_split():
    questions = []
    for i, (text, answers) in enumerate(TEXTS.items()):
        candidates = tuple(
            Candidate(f"c{i}-{j}", answer, int(j == 0), j) for j, answer in enumerate(answers)
        )
        questions.append(Question(f"q{i}", text, candidates))
    return Split("tiny", tuple(questions))


def make_model(variant="PRI(list)", k_max=0, **more):
    torch.manual_seed(1)
    split = make_split()
    words = [
        w for q in split for t in [q.text, *(c.text for c in q.candidates)] for w in tokenize(t)
    ]
    vocabulary = Vocabulary(words)
    vectors = torch.randn(len(vocabulary), 5)
    vectors[0] = 0
    sizes = {"hidden": 4, "channels": 3, "kernels": (1, 2, 3), "dropout": 0.3}
    settings = recipe(variant).change(wide=False, k_max=k_max, **sizes, **more)
    model = CompareAggregate(vectors, settings)
    return model.eval(), vocabulary, split


def slow_features(model, question, answer, k_max):
    """Equations 1-5 for one pair, one word at a time."""

    def encode(numbers):
        gates = model.gates(model.vectors[torch.tensor(numbers)])
        size = gates.shape[1] // 2
        return torch.sigmoid(gates[:, :size]) * torch.tanh(gates[:, size:])

    def align(match, other):
        rows = []
        for row in match:
            weights = row.softmax(0)
            if k_max and k_max < len(row):
                smallest = sorted(weights.tolist())[-k_max]
                weights = torch.where(weights >= smallest, weights, 0.0)
            rows.append((weights / weights.sum()) @ other)
        return torch.stack(rows)

    def aggregate(words):
        parts = []
        for convolution in model.aggregate.convolutions:
            kernel = convolution.kernel_size[0]
            series = torch.cat([words, words.new_zeros(kernel - 1, words.shape[1])])
            parts.append(convolution(series.T[None])[0].amax(1).relu())
        heads = len(model.scheme.heads)
        return torch.cat([part.view(heads, -1) for part in parts], dim=1)

    hq, ha = encode(question), encode(answer)
    match = hq @ ha.T
    return torch.cat([aggregate(align(match, ha) * hq), aggregate(align(match.T, hq) * ha)], dim=1)


@pytest.mark.parametrize("k_max", [0, 2])
def test_features_equal_the_slow_reference(k_max):
    model, vocabulary, split = make_model(k_max=k_max)
    batch = EncodedSplit(split, vocabulary, CPU).batch(torch.tensor([2, 0, 1]))
    features = batch.as_lists(model.features(batch))
    for row, number in enumerate(batch.index.tolist()):
        question = split[number]
        for column, candidate in enumerate(question.candidates):
            wanted = slow_features(
                model,
                vocabulary.encode(tokenize(question.text)),
                vocabulary.encode(tokenize(candidate.text)),
                k_max,
            )
            torch.testing.assert_close(features[row, column], wanted, atol=1e-5, rtol=1e-4)


def test_a_batch_of_long_lists_is_parted():
    _, vocabulary, split = make_model()
    data, counts = EncodedSplit(split, vocabulary, CPU), [len(q.candidates) for q in split]

    def parts(size, pairs):
        return [batch.index.tolist() for batch in data.batches(size, pairs=pairs)]

    assert parts(3, sum(counts)) == parts(3, None) == [[0, 1, 2]]
    assert parts(3, counts[0] + counts[1]) == parts(2, 99) == [[0, 1], [2]]
    assert parts(3, 1) == [[0], [1], [2]]


@pytest.mark.parametrize("variant", SCHEMES)
def test_padding_and_company_never_change_a_score(variant):
    model, vocabulary, split = make_model(variant)
    data = EncodedSplit(split, vocabulary, CPU)
    together = model(data.batch(torch.arange(3)))
    assert set(together) == {head.name for head in SCHEMES[variant].heads}
    for number, question in enumerate(split):
        alone = model(data.batch(torch.tensor([number])))
        for name, scores in together.items():
            count = len(question.candidates)
            torch.testing.assert_close(scores[number, :count], alone[name][0], atol=1e-6, rtol=1e-4)
            assert (scores[number, count:] == 0).all()


def test_every_head_has_the_width_that_its_reading_needs():
    one = 2 * 3 * 3  # two sides, three kernels, three channels
    widths = {
        variant: {name: head[0].in_features // one for name, head in model.predict.items()}
        for variant in SCHEMES
        for model in [make_model(variant)[0]]
    }
    assert widths["CA(list)"] == {"list": 1}
    assert widths["MTL(list)"] == {"point": 1, "pair": 1, "list": 1}
    assert widths["RI(pair)"] == {"point": 1, "list": 1, "pair": 3}
    assert widths["PRI(list)"] == {"point": 1, "pair": 2, "list": 3}
    assert widths["PRI(point)"] == {"list": 1, "pair": 2, "point": 3}
    assert widths["PRI(list) w/o point-level"] == {"pair": 1, "list": 2}
    assert widths["PRI(all list)"] == widths["PRI(list)"]


def test_paper_shapes():
    settings = recipe("PRI(list)", "wikiqa")
    model = CompareAggregate(torch.zeros(10, 300), settings)
    # r = [r^q; r^a]: two sides of five kernels of 150 channels.
    assert model.predict["point"][0].in_features == 2 * 5 * 150
    taps = sum(c.weight.numel() for c in model.aggregate.convolutions)
    assert taps == 3 * 150 * 300 * (1 + 2 + 3 + 4 + 5)


def test_clipped_softmax_by_hand():
    scores = torch.tensor([[0.0, np.log(2), np.log(4), 7.0]], dtype=torch.float32)
    mask = torch.tensor([[True, True, True, False]])
    torch.testing.assert_close(
        clipped_softmax(scores, mask, 0), torch.tensor([[1 / 7, 2 / 7, 4 / 7, 0]])
    )
    torch.testing.assert_close(
        clipped_softmax(scores, mask, 2), torch.tensor([[0, 1 / 3, 2 / 3, 0]])
    )
    assert (clipped_softmax(scores, ~mask & mask, 2) == 0).all()


def test_an_empty_candidate_has_a_finite_score_and_disturbs_nobody():
    model, vocabulary, split = make_model()
    (question,) = split.where(lambda q: q.id == "q1")
    empty = Candidate("empty", "\u00ad", 0, 9)
    longer = Question("q1", question.text, (*question.candidates, empty))
    scores = [
        model(EncodedSplit(Split("x", (q,)), vocabulary, CPU).batch(torch.tensor([0])))["list"][0]
        for q in (question, longer)
    ]
    assert scores[1].isfinite().all()
    torch.testing.assert_close(scores[1][:-1], scores[0], atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize("level", ["point", "pair"])
def test_what_follows_the_hidden_layer_of_a_head_is_chosen(level):
    model, *_ = make_model(**{f"{level}_head": "tanh"})
    found = {name: type(head[1]) for name, head in model.predict.items()}
    assert found == {"point": nn.ReLU, "pair": nn.ReLU, "list": nn.ReLU} | {level: nn.Tanh}


def test_it_is_tanh_where_only_hardest_negatives_count():
    assert {recipe(v, "trecqa").pair_head for v in ("CA(pair)", "MTL(point)", "PRI(list)")} == {
        "tanh"
    }
    assert {recipe(v, "trecqa").pair_head for v in ("CA(list)", "DCA", "PRI(all list)")} == {"relu"}
    assert recipe("PRI(list)", "wikiqa").pair_head == "relu"
