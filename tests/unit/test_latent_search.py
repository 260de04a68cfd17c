"""The most violating ranking: against all permutations, by hand, and under bad input."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qasel.errors import QaselError
from qasel.papers.latent_structured import most_violating
from qasel.papers.latent_structured.learners import yue_rankings
from qasel.training.loss_augmented import ap_loss_of, structured_hinge


def value(ranking, scores, labels, weights, C):
    """The objective, written out."""
    s, y = np.asarray(scores, float), np.asarray(labels)[list(ranking)]
    hits = np.flatnonzero(y)
    precision = [(k + 1) / (j + 1) for k, j in enumerate(hits)]
    loss = 1 - np.mean(precision) if len(hits) else 0.0
    return float(np.dot(weights, s[list(ranking)]) + C * loss)


# Few different scores, so that ties are common.
numbers = st.one_of(st.integers(-2, 2).map(float), st.floats(-5, 5, allow_nan=False))


@st.composite
def lists(draw):
    size = draw(st.integers(1, 6))
    scores = draw(st.lists(numbers, min_size=size, max_size=size))
    labels = draw(st.lists(st.integers(0, 1), min_size=size, max_size=size))
    weights = sorted(draw(st.lists(st.floats(0, 3), min_size=size, max_size=size)), reverse=True)
    return scores, labels, weights, draw(st.sampled_from([0.0, 0.3, 1.0, 20.0]))


@settings(max_examples=150, deadline=None)
@given(lists())
def test_exact_is_the_best_of_all_permutations_and_greedy_never_above(case):
    scores, labels, weights, C = case
    best = max(
        value(p, scores, labels, weights, C) for p in itertools.permutations(range(len(scores)))
    )
    ranking, objective = most_violating(scores, labels, C=C, weights=weights)
    assert sorted(ranking) == list(range(len(scores)))
    assert objective == pytest.approx(best, abs=1e-9)
    assert value(ranking, scores, labels, weights, C) == pytest.approx(best, abs=1e-9)
    ranking, objective = most_violating(scores, labels, C=C, weights=weights, method="greedy")
    assert objective == pytest.approx(value(ranking, scores, labels, weights, C), abs=1e-9)
    assert objective <= best + 1e-9


def test_a_list_by_hand():
    # One positive with score 1 over a negative with 0, weights 1 and 1/2. As it is: 1. Turned
    # round: 1/2 + C / 2. So the positive is pushed down from C = 1 on.
    for method in ("exact", "greedy"):
        ranking, objective = most_violating([1, 0], [1, 0], C=0.9, method=method)
        assert list(ranking) == [0, 1]
        assert objective == pytest.approx(1.0)
    ranking, objective = most_violating([1, 0], [1, 0], C=1.1)
    assert list(ranking) == [1, 0]
    assert objective == pytest.approx(0.5 + 0.55)
    # Greedy fills the last place first, where no loss is in sight yet, so it takes the negative.
    ranking, objective = most_violating([1, 0], [1, 0], C=1.1, method="greedy")
    assert list(ranking) == [0, 1]
    assert objective == pytest.approx(1.0)


def test_greedy_can_miss_the_optimum():
    rng = np.random.default_rng(0)
    missed = 0
    for _ in range(100):
        scores, labels = rng.normal(size=6), rng.permutation([1, 1, 0, 0, 0, 0])
        exact = most_violating(scores, labels, C=3.0)[1]
        greedy = most_violating(scores, labels, C=3.0, method="greedy")[1]
        missed += greedy < exact - 1e-9
    assert 0 < missed < 100


def test_ties_go_against_the_system():
    ranking, _ = most_violating([0, 0, 0, 0], [1, 0, 1, 0], C=0.0)
    assert list(ranking) == [1, 3, 0, 2]


def test_the_decomposition_is_one_minus_ap():
    rng = np.random.default_rng(1)
    for _ in range(50):
        labels = rng.integers(0, 2, 9)
        expected = value(range(9), np.zeros(9), labels, np.zeros(9), 1.0)
        assert ap_loss_of(np.arange(9), labels == 1) == pytest.approx(expected)


@pytest.mark.parametrize("labels", [[0, 0, 0], [1, 1, 1]])
def test_lists_of_one_kind_are_sorted(labels):
    for method in ("exact", "greedy"):
        ranking, objective = most_violating([1, 3, 2], labels, C=10, method=method)
        assert list(ranking) == [1, 2, 0]
        assert objective == pytest.approx(3 + 2 / 2 + 1 / 3)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"scores": [1.0, np.nan]}, "finite"),
        ({"labels": [1, 2]}, "0 or 1"),
        ({"labels": [1]}, "equal lists"),
        ({"C": -1}, "at least 0"),
        ({"weights": [0.5, 1.0]}, "not increasing"),
        ({"weights": [1.0]}, "one a position"),
        ({"method": "guess"}, "known: exact, greedy"),
    ],
)
def test_bad_input_is_told(change, told):
    case = {"scores": [1.0, 0.0], "labels": [1, 0], "C": 1.0} | change
    with pytest.raises(QaselError, match=told):
        most_violating(case.pop("scores"), case.pop("labels"), **case)


def test_hinge_bounds_the_loss_and_its_gradient_is_right():
    rng = np.random.default_rng(3)
    first = np.array([0, 6, 11])
    positive = np.array([1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0], bool)
    scores = rng.normal(size=11)
    values, gradient = structured_hinge(scores, positive, first)
    for q, (a, b) in enumerate(itertools.pairwise(first)):
        loss = ap_loss_of(np.argsort(-scores[a:b]), positive[a:b])
        assert values[q] >= loss > 0
    for i in range(11):
        moved = scores.copy()
        moved[i] += 1e-6
        slope = (structured_hinge(moved, positive, first)[0] - values).sum()
        assert slope / 1e-6 == pytest.approx(gradient[i], abs=1e-4)


def test_yue_is_the_best_of_all_permutations():
    rng = np.random.default_rng(4)
    for _ in range(60):
        size = int(rng.integers(2, 7))
        scores, positive = rng.normal(size=size) / 3, rng.random(size) < 0.5
        coefficients, losses = yue_rankings(scores, positive, np.array([0, size]))
        pairs = [(i, j) for i in range(size) for j in range(size) if positive[i] > positive[j]]
        if not pairs:
            assert not coefficients.any()
            assert losses[0] == 0
            continue
        best = -np.inf
        for p in itertools.permutations(range(size)):
            signed = sum((scores[i] - scores[j]) * (1 if p.index(i) < p.index(j) else -1)
                         for i, j in pairs)  # fmt: skip
            best = max(best, signed / len(pairs) + ap_loss_of(np.array(p), positive))
        assert coefficients @ scores + losses[0] == pytest.approx(best)
