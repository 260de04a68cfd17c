"""The three losses against values worked out by hand."""

import math

import pytest
import torch

from qasel.training import losses
from qasel.training.losses import (
    Head,
    Scheme,
    joint_loss,
    list_loss,
    pair_loss,
    point_loss,
)

# Two lists: [positive, negative, negative] and [positive, padding, padding].
SCORES = torch.tensor([[1.0, 0.0, -1.0], [2.0, 9.0, 9.0]])
LABELS = torch.tensor([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
MASK = torch.tensor([[True, True, True], [True, False, False]])


def softplus(x):
    return math.log1p(math.exp(x))


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def test_point_loss():
    first = (softplus(-1) + softplus(0) + softplus(-1)) / 3
    second = softplus(-2)
    loss = point_loss(SCORES, LABELS, MASK)
    assert loss.item() == pytest.approx((first + second) / 2)


def test_pair_loss_of_all_pairs_uses_sigmoid_scores():
    pairs = [0.8 - (sigmoid(1) - sigmoid(0)), 0.8 - (sigmoid(1) - sigmoid(-1))]
    loss = pair_loss(SCORES, LABELS, MASK, margin=0.8, pairs="all")
    # The second list has no negative, so it adds 0.
    assert loss.item() == pytest.approx(sum(pairs) / 2 / 2)


def test_pair_loss_of_the_hardest_negative_uses_raw_scores():
    # 1 - (1 - 0) = 0 for margin 1; 0.5 for margin 1.5.
    assert pair_loss(SCORES, LABELS, MASK, 1.0, "hardest").item() == pytest.approx(0.0)
    assert pair_loss(SCORES, LABELS, MASK, 1.5, "hardest").item() == pytest.approx(0.25)


def test_list_loss():
    normal = math.log(math.e + 1 + math.exp(-1))
    first = normal - 1  # KL of a one-hot target; the second list has one candidate and KL 0
    printed = list_loss(SCORES, LABELS, MASK, mean="list")
    assert printed.item() == pytest.approx((first / 3 + 0 / 1) / 2)
    assert list_loss(SCORES, LABELS, MASK).item() == pytest.approx(first / (3 + 1))
    assert list_loss(SCORES, LABELS, MASK, mean="none").item() == pytest.approx(first / 2)


def test_a_joint_loss_weighs_each_head_by_its_name():
    heads = (Head("point", "point"), Head("list", "list"), Head("second", "list"))
    scores = {"point": SCORES, "list": SCORES, "second": 2 * SCORES}
    how = {"margin": 1.0, "pairs": "all", "mean": "list"}
    found = joint_loss(heads, scores, LABELS, MASK, {"point": 3.0, "list": 0.5}, **how)
    parts = {
        "point": point_loss(SCORES, LABELS, MASK),
        "list": list_loss(SCORES, LABELS, MASK, "list"),
        "second": list_loss(2 * SCORES, LABELS, MASK, "list"),
    }
    assert {name: found[name] for name in parts} == parts
    total = 3 * parts["point"] + 0.5 * parts["list"] + parts["second"]
    assert found["loss"].item() == pytest.approx(total.item())


def test_list_loss_is_zero_for_the_perfect_distribution():
    labels = torch.tensor([[1.0, 1.0, 0.0]])
    scores = torch.tensor([[50.0, 50.0, -50.0]])
    assert list_loss(scores, labels, labels >= 0).item() == pytest.approx(0.0, abs=1e-6)


LOSSES = {
    "point": point_loss,
    "pair-all": lambda s, y, m: pair_loss(s, y, m, 0.8, "all"),
    "pair-hardest": lambda s, y, m: pair_loss(s, y, m, 1.0, "hardest"),
    "list": list_loss,
    "list-printed": lambda s, y, m: list_loss(s, y, m, "list"),
}


@pytest.mark.parametrize("name", LOSSES)
def test_padding_changes_neither_value_nor_gradient(name):
    torch.manual_seed(0)
    scores = torch.randn(3, 4, requires_grad=True)
    labels = torch.tensor([[1.0, 0, 0, 1], [0, 1, 0, 0], [0, 0, 0, 1]])
    full = torch.ones(3, 4, dtype=torch.bool)
    value = LOSSES[name](scores, labels, full)
    (gradient,) = torch.autograd.grad(value, scores)
    wider = torch.cat([scores, torch.full((3, 2), 1e4)], dim=1)
    padded = LOSSES[name](
        wider, torch.cat([labels, torch.zeros(3, 2)], 1), torch.cat([full, ~full[:, :2]], 1)
    )
    (padded_gradient,) = torch.autograd.grad(padded, scores)
    torch.testing.assert_close(padded, value)
    torch.testing.assert_close(padded_gradient, gradient)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("label", [0.0, 1.0])
@pytest.mark.parametrize("size", [1, 3])
def test_extreme_scores_and_one_sided_lists_stay_finite(name, label, size):
    scores = torch.tensor([[1e4, -1e4, 0.0]])[:, :size].requires_grad_()
    labels = torch.full((1, size), label)
    loss = LOSSES[name](scores, labels, labels >= 0)
    (gradient,) = torch.autograd.grad(loss, scores)
    assert loss.isfinite()
    assert gradient.isfinite().all()
    if name.startswith("pair"):
        assert loss.item() == 0.0


def test_a_loss_has_one_place(monkeypatch):
    monkeypatch.setitem(losses.LOSSES, "sum", lambda scores, labels, mask, **_: scores[mask].sum())
    heads = Scheme((Head("own", "sum"),), "own").heads
    found = joint_loss(heads, {"own": SCORES}, LABELS, MASK, {}, margin=1.0, pairs="all")
    assert found["loss"] == SCORES[MASK].sum()
