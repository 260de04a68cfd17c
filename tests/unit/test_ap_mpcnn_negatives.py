"""Paper 5's choice of wrong answers, and its triplet loss, by hand."""

import pytest
import torch

from qasel.papers.ap_mpcnn.negatives import NEGATIVES, choose, triplet_loss

# Right answers first; the second list is shorter, the third has no right answer, the fourth no
# wrong one.
SCORES = torch.tensor(
    [
        [0.5, 0.9, 0.95, 0.45, 0.1],
        [0.3, 0.2, 0.8, 0.0, 0.0],
        [0.6, 0.4, 0.5, 0.0, 0.0],
        [0.7, 0.0, 0.0, 0.0, 0.0],
    ]
)
LABELS = torch.tensor([[1.0, 1, 0, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 0, 0], [1, 0, 0, 0, 0]])
# As vectors, the first list's first wrong answer is like the first right one, and its last like the
# second, but for their lengths.
HIDDEN = torch.zeros(4, 5, 3)
HIDDEN[0] = torch.tensor([[1.0, 0, 0], [0, 1, 0], [9, 1, 0], [0, 0, 1], [0, 0.1, 0.02]])
HIDDEN[1] = torch.tensor([[1.0, 1, 0], [1, 0, 0], [-1, -1, 0], [9, 9, 0], [9, 9, 0]])
MASK = torch.arange(5) < torch.tensor([5, 3, 3, 1])[:, None]


def chosen(count, by, scores=SCORES):
    found = choose(scores, LABELS, MASK, count, by, HIDDEN)
    return [tuple(row) for row in found.nonzero().tolist()]


def test_nearest_and_highest_by_hand():
    assert chosen(1, "nearest") == [(0, 0, 3), (0, 1, 2), (1, 0, 1)]
    assert chosen(1, "highest") == [(0, 0, 2), (0, 1, 2), (1, 0, 2)]
    assert chosen(2, "nearest") == [
        *((0, 0, 3), (0, 0, 4)),
        *((0, 1, 2), (0, 1, 3)),
        *((1, 0, 1), (1, 0, 2)),
    ]


def test_alike_by_hand():
    assert chosen(1, "alike") == [(0, 0, 2), (0, 1, 4), (1, 0, 1)]


@pytest.mark.parametrize("by", NEGATIVES)
def test_more_than_there_are_takes_all_and_padding_never(by):
    every = [(0, i, j) for i in (0, 1) for j in (2, 3, 4)] + [(1, 0, 1), (1, 0, 2)]
    assert chosen(8, by) == chosen(3, by) == every


def test_random_ones_are_distinct_negatives_and_follow_the_seed():
    torch.manual_seed(0)
    draws = [choose(SCORES, LABELS, MASK, 2, "random") for _ in range(50)]
    torch.manual_seed(0)
    assert torch.equal(choose(SCORES, LABELS, MASK, 2, "random"), draws[0])
    for table in draws:
        assert table.sum((1, 2)).tolist() == [4, 2, 0, 0]
    assert torch.stack(draws).any(0).sum() == 8  # all have their turn


def test_triplet_loss_by_hand():
    triplets = choose(SCORES, LABELS, MASK, 1, "nearest")
    losses = [1 - (0.5 - 0.45), 1 - (0.9 - 0.95), 1 - (0.3 - 0.2)]
    torch.testing.assert_close(triplet_loss(SCORES, triplets, 1.0), torch.tensor(sum(losses) / 3))
    # A margin that some pairs keep: only 0.07 − (0.5 − 0.45) and 0.07 − (0.9 − 0.95) are left.
    torch.testing.assert_close(
        triplet_loss(SCORES, triplets, 0.07), torch.tensor((0.02 + 0.12) / 3)
    )


@pytest.mark.parametrize("by", NEGATIVES)
def test_lists_without_triplets_have_no_loss_and_no_gradient(by):
    scores = SCORES[2:].clone().requires_grad_()
    triplets = choose(scores, LABELS[2:], MASK[2:], 8, by, HIDDEN[2:])
    assert not triplets.any()
    loss = triplet_loss(scores, triplets, 1.0)
    assert loss == 0
    (gradient,) = torch.autograd.grad(loss, scores)
    assert (gradient == 0).all()


def test_they_change_nothing_beside_lists_with_triplets():
    alone = triplet_loss(SCORES[:2], choose(SCORES[:2], LABELS[:2], MASK[:2], 8, "nearest"), 1.0)
    together = triplet_loss(SCORES, choose(SCORES, LABELS, MASK, 8, "nearest"), 1.0)
    torch.testing.assert_close(alone, together)
