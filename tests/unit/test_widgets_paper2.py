"""The explorer of the most violating ranking: values by hand, steps, and lists of one kind."""

import itertools
import re

import numpy as np
import pytest

from qasel.errors import QaselError
from qasel.papers.latent_structured import most_violating
from qasel.papers.latent_structured.explorer import ViolatingExplorer, lost_at
from qasel.papers.latent_structured.lesson import places
from qasel.training.loss_augmented import ap_loss_of, grid, harmonic, stacks


def make(scores=(1, 0), labels=(1, 0), C=1.1):
    return ViolatingExplorer(scores, labels, C=C)


def cells(explorer):
    """The cells of the table of ranks, a list per row."""
    body = re.search("<tbody>(.*?)</tbody>", explorer.picture.value, re.DOTALL)[1]
    rows = body.split("</tr>")[:-1]
    return [re.findall(r"<t[hd]>(.*?)</t[hd]>", row) for row in rows]


def test_values_of_a_list_by_hand():
    # Turned round, as exact has it: 0 + 1 · 1/2 + 1.1 · 1/2 = 1.05. Greedy keeps it: 1 + 0.
    explorer = make()
    first, second, sums = cells(explorer)
    assert first == ["1", "B", "0.000", "0.000", "A ✓", "1.000", "0.000", "1.000", ""]
    assert second == ["2", "A ✓", "0.500", "0.550", "B", "0.000", "0.000", "0.500", "0.000"]
    assert sums[:4] == ["objective", "1.0500", "0.500", "0.550"]
    assert sums[4:] == ["1.0000", "1.000", "0.000", "", ""]
    picture = explorer.picture.value
    assert "misses the optimum by 0.0500" in picture
    assert "rank 2, its step 1 from the bottom" in picture
    assert "it puts B there, but only A ✓ leads to the optimum" in picture
    assert 'alt="Best objectives: 0.00 1.00; 0.00 1.05"' in picture


def test_what_a_wrong_answer_costs_those_below_it():
    # At rank 2 greedy weighs A ✓, 1/2, against B, 0.8/2 + 2/(3 · 2) for C ✓ at rank 3.
    explorer = make([1, 0.8, 0], [1, 0, 1], C=2.0)
    assert [row[-2:] for row in cells(explorer)[1:3]] == [["0.500", "0.733"], ["0.000", "0.267"]]
    assert "its ranking is the exact one" in explorer.picture.value


def test_a_moved_slider_redraws():
    explorer = make()
    explorer.C.value = 0.9
    assert "its ranking is the exact one" in explorer.picture.value
    explorer.scores[1].value = 2.0
    assert cells(explorer)[0][1:3] == ["B", "2.000"]
    assert [slider.description for slider in explorer.scores] == ["A ✓", "B"]


def test_the_exact_path_grows_from_the_top_and_the_greedy_one_from_the_bottom():
    explorer = make()
    whole = explorer.picture.value
    explorer.step.value = 1
    assert [row[1] for row in cells(explorer)] == ["B", "", "0.0000"]
    assert [row[4] for row in cells(explorer)] == ["", "B", "0.0000"]
    assert cells(explorer)[2][0] == "so far"
    explorer.step.value = 0
    assert "can still reach the optimum" in explorer.picture.value
    explorer.step.value = 2
    assert explorer.picture.value == whole


def test_where_greedy_leaves_the_optimum():
    random = np.random.default_rng(0)
    left = 0
    for _ in range(40):
        labels = np.array([1, 0, 1, 0, random.integers(2)])
        scores, C = random.normal(size=5).round(1), float(random.integers(1, 20)) / 10
        _, highest = most_violating(scores, labels, C=C)
        greedy, objective = most_violating(scores, labels, C=C, method="greedy")
        terms = places(greedy, scores, labels, C)
        assert (terms["v · score"] + terms["prize"]).sum() == pytest.approx(objective)

        def reach(rank, scores=scores, labels=labels, C=C, greedy=greedy):
            """The best objective of the rankings that end as greedy's does from a rank on."""
            tail = greedy[rank - 1 :]
            heads = itertools.permutations(set(range(5)) - set(tail.tolist()))
            whole = (np.array([*head, *tail]) for head in heads)
            return max(
                harmonic(5) @ scores[ranking] + C * ap_loss_of(ranking, labels == 1)
                for ranking in whole
            )

        lost = [rank for rank in range(5, 0, -1) if reach(rank) < highest - 1e-9]
        best, _ = grid(scores, *stacks(scores, labels == 1), harmonic(5), C)
        assert lost_at(best, terms) == (lost[0] if lost else None)
        left += bool(lost)
    assert 5 < left < 35


@pytest.mark.parametrize(("label", "reason"), [(1, "AP is 1"), (0, "no AP is lost")])
def test_a_list_of_one_kind_has_nothing_to_violate(label, reason):
    picture = make([0, 1], [label, label]).static()
    assert "nothing to violate" in picture
    assert reason in picture


def test_the_picture_stands_alone():
    picture = make().static()
    assert "<script" not in picture
    assert "<style" not in picture


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scores": [0] * 9, "labels": [0, 1, 1] * 3}, "2 to 8 candidates"),
        ({"scores": [0], "labels": [1]}, "2 to 8 candidates"),
        ({"labels": [1, 0, 1]}, "as many labels"),
        ({"labels": [1, 2]}, "labels 0 or 1"),
        ({"scores": [0, 3.5]}, "from −3 to 3"),
        ({"scores": [0, float("nan")]}, "from −3 to 3"),
        ({"C": 6}, "C from 0 to 5"),
    ],
)
def test_lists_that_do_not_fit_are_refused(changes, message):
    with pytest.raises(QaselError, match=message):
        make(**changes)
