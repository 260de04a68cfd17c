"""The explorer of the most violating ranking: values by hand, steps, and odd lists."""

import itertools
import re

import numpy as np
import pytest

from qasel.errors import QaselError
from qasel.papers.latent_structured import most_violating
from qasel.papers.latent_structured.explorer import Case, Filling, ViolatingExplorer


def make(scores=(1, 0), labels=(1, 0), **options):
    return ViolatingExplorer(most_violating, scores, labels, **{"C": 1.1, **options})


def cells(explorer):
    """The cells of the table of ranks, a list a row, as plain text."""
    ranks = explorer.picture.value.split("<table>")[2].split("</table>")[0]
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in ranks.split("<tr>")[2:]]
    return [[re.sub("<.*?>", "", cell).replace("&nbsp;", " ") for cell in row] for row in rows]


def test_values_of_a_list_by_hand():
    # Turned round, as exact has it: 0 + 1 · 1/2 + 1.1 · 1/2 = 1.05. Greedy keeps it: 1 + 0.
    explorer = make()
    first, second, sums, ap = cells(explorer)
    assert first[:6] == ["1", "1/1", "✗ B 0.0", "0.000", "0.000", "≠"]
    assert first[6:] == ["✓ A 1.0", "1.000", "0.000", "only one kind is left"]
    assert second[:6] == ["2", "1/2", "✓ A 1.0", "0.500", "0.550 = 1.1·1/(2·1)", "≠"]
    assert second[6:] == ["✗ B 0.0", "0.000", "0.000", "✓ A 0.500 &gt; ✗ B 0.000"]
    assert sums[1:6] == ["objective", "1.0500", "0.500", "0.550", ""]
    assert sums[6:] == ["1.0000", "1.000", "0.000", "gap 0.0500"]
    assert (ap[2], ap[6]) == ("0.5000", "1.0000")
    assert "misses the optimum by 0.0500" in explorer.picture.value
    assert "rank 2, place 1 from the bottom" in explorer.picture.value
    assert 'alt="Best objectives: 0.00 1.00; 0.00 1.05"' in explorer.picture.value


def test_what_a_wrong_answer_costs_those_below_it():
    # At rank 2 greedy weighs ✓ A, 1/2, against ✗ B, 0.8/2 + 2/(3 · 2) for ✓ C at rank 3.
    explorer = make([1, 0.8, 0], [1, 0, 1], C=2.0)
    choices = [row[-1] for row in cells(explorer)[:3]]
    assert choices[1:] == ["✓ A 0.500 ≤ ✗ B 0.400 + 0.333", "✓ C 0.000 ≤ ✗ B 0.267"]
    assert "its ranking is the exact one" in explorer.picture.value


def test_a_moved_slider_redraws():
    explorer = make()
    explorer.C.value = 0.9
    assert "its ranking is the exact one" in explorer.picture.value
    assert [row[5] for row in cells(explorer)[:2]] == ["=", "="]
    explorer.scores[1].value = 2.0
    assert cells(explorer)[0][2] == "✗ B 2.0"


def test_the_exact_path_grows_from_the_top_and_the_greedy_one_from_the_bottom():
    explorer = make()
    whole = explorer.picture.value
    explorer.step.value = 1
    assert [row[2] for row in cells(explorer)] == ["✗ B 0.0", "·", "0.0000", ""]
    assert [row[6] for row in cells(explorer)] == ["·", "✗ B 0.0", "0.0000", ""]
    assert cells(explorer)[2][1] == "so far"
    explorer.step.value = 0
    assert explorer.picture.value.count("no rank yet") == 2
    assert "can still reach the optimum" in explorer.picture.value
    explorer.step.value = 2
    assert explorer.picture.value == whole


def test_where_greedy_leaves_the_optimum():
    random = np.random.default_rng(0)
    left = 0
    for _ in range(40):
        labels = np.array([1, 0, 1, 0, random.integers(2)])
        scores, C = random.normal(size=5).round(1), float(random.integers(1, 20)) / 10
        case = Case(list("ABCDE"), scores, labels, C)
        exact, greedy = (
            Filling(case, most_violating(scores, labels, C=C, method=method), range(1, 6))
            for method in ("exact", "greedy")
        )
        for filling in (exact, greedy):
            assert sum(filling.shares + filling.losses) == pytest.approx(filling.objective)

        def reach(rank, case=case, greedy=greedy):
            tail = greedy.ranking[rank - 1 :]
            heads = itertools.permutations(set(range(5)) - set(tail))
            whole = (np.array([*head, *tail]) for head in heads)
            fillings = (Filling(case, (numbers, 0.0), range(1, 6)) for numbers in whole)
            return max(sum(filling.shares + filling.losses) for filling in fillings)

        lost = [rank for rank in range(5, 0, -1) if reach(rank) < exact.objective - 1e-9]
        assert greedy.leaves(case.best) == (lost[0] if lost else None)
        left += bool(lost)
    assert 5 < left < 35


@pytest.mark.parametrize(("label", "told"), [(1, "AP is 1"), (0, "no AP is lost")])
def test_a_list_of_one_kind_has_nothing_to_violate(label, told):
    explorer = make([0, 1], [label, label])
    assert "nothing to violate" in explorer.picture.value
    assert told in explorer.picture.value
    mark = "✓" if label else "✗"
    assert f"Sorted by score: {mark} B, {mark} A." in explorer.picture.value


@pytest.mark.parametrize("labels", [(1, 0), (0, 0)])
def test_the_picture_stands_alone_and_names_are_escaped(labels):
    picture = make(labels=labels, names=["<script>x", "<b>&"]).static()
    assert "<script" not in picture
    assert "<style" not in picture
    assert "&lt;script&gt;x" in picture
    assert "&lt;b&gt;&amp;" in picture


def test_sliders_say_what_is_right():
    explorer = make(names=["one", "two"])
    assert [slider.description for slider in explorer.scores] == ["✓ one", "✗ two"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scores": [0] * 9, "labels": [0, 1, 1] * 3}, "2 to 8 candidates"),
        ({"scores": [0], "labels": [1]}, "2 to 8 candidates"),
        ({"labels": [1, 0, 1]}, "as many labels"),
        ({"names": ["A"]}, "as many labels and names"),
        ({"labels": [1, 2]}, "labels 0 or 1"),
        ({"scores": [0, 3.5]}, "from −3 to 3"),
        ({"scores": [0, float("nan")]}, "from −3 to 3"),
        ({"C": 6}, "C from 0 to 5"),
    ],
)
def test_lists_that_do_not_fit_are_refused(changes, message):
    with pytest.raises(QaselError, match=message):
        make(**changes)
