"""The explorer of two systems, on two questions with known orders."""

import pytest

from qasel.datasets.base import Candidate, Question, Split
from qasel.errors import QaselError
from qasel.evaluation import Run
from qasel.widgets.comparison import SideBySideExplorer

LABELS = (0, 1, 0, 0)


def question(qid, text):
    texts = ["one", "<b>two</b> $x$", "three", "four"]
    pairs = enumerate(zip(texts, LABELS, strict=True))
    return Question(qid, text, tuple(Candidate(f"{qid}-{i}", t, y, i) for i, (t, y) in pairs))


TEXTS = {"q1": "who is <i>it</i>", "q2": "why", "q3": "x"}
SPLIT = Split("test", tuple(question(qid, text) for qid, text in TEXTS.items()))


def run(**ranks):
    """The right answer, the second candidate, at these ranks; question → rank."""
    scores = {}
    for qid, rank in ranks.items():
        others = [r for r in (1, 2, 3, 4) if r != rank]
        places = [others[0], rank, *others[1:]]
        scores[qid] = {f"{qid}-{i}": -float(place) for i, place in enumerate(places)}
    return Run(scores)


RUNS = {"A": run(q1=1, q2=2, q3=2), "B": run(q1=2, q2=4, q3=4), "C <": run(q1=4, q2=1, q3=2)}


@pytest.fixture
def explorer():
    return SideBySideExplorer(RUNS, SPLIT)


def test_the_largest_difference_comes_first(explorer):
    assert explorer.pair == ("A", "B")
    assert explorer.choice.options == (
        ("-0.50  who is <i>it</i>", "q1"),
        ("-0.25  why", "q2"),
        ("-0.25  x", "q3"),
    )
    shown = explorer.picture.value
    assert "<b>A</b> better on 3 of 3" in shown
    assert "<b>B</b> better on 0 of 3" in shown
    assert "AP 1.00, RR 1.00" in shown
    assert "AP 0.50, RR 0.50" in shown
    assert "✓" in shown


def test_a_point_shows_its_questions_one_after_another(explorer):
    assert set(explorer.buttons) == {(20, 10), (10, 5)}
    several = explorer.buttons[10, 5]
    assert several.description == "2"
    assert several.tooltip == "2 questions, AP about 0.50 across, 0.25 upwards"
    for expected in ("q2", "q3", "q2"):
        several.click()
        assert explorer.choice.value == expected
        assert several.layout.border_top == "3px solid #222222"
    explorer.choice.value = "q1"
    assert several.layout.border_top == "none"
    assert explorer.buttons[20, 10].layout.border_top != "none"


def test_points_lie_where_their_values_are(explorer):
    # 21 rows from 1 at the top down to 0; the first column has the axis' numbers.
    assert explorer.buttons[20, 10].layout.grid_area == "11 / 22"
    assert explorer.buttons[10, 5].layout.grid_area == "16 / 12"
    explorer.systems[1].value = "C <"
    assert len({button.style.button_color for button in explorer.buttons.values()}) == 3


def test_another_pair_has_other_points(explorer):
    before = list(explorer.buttons.values())
    explorer.systems[1].value = "C <"
    assert set(explorer.buttons) == {(20, 5), (10, 20), (10, 10)}
    assert explorer.choice.value == "q1"
    assert set(explorer.buttons.values()) < set(explorer.points.children)
    assert not set(before) & set(explorer.buttons.values())
    assert "<b>C &lt;</b> better on 1 of 3" in explorer.picture.value
    explorer.systems[0].value = "C <"  # against itself
    assert "better on 0 of 3" in explorer.picture.value


def test_what_is_saved_stands_alone_and_is_escaped(explorer):
    saved = explorer._repr_mimebundle_()["text/html"]
    assert "average precision of each question: A across, B upwards" in saved
    assert "<i>" not in saved
    assert "<b>two" not in saved
    assert "&lt;b&gt;two" in saved
    assert "script" not in saved


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(QaselError, match="two systems or more"):
        SideBySideExplorer({"A": RUNS["A"]}, SPLIT)
    with pytest.raises(QaselError, match="q3"):
        SideBySideExplorer(RUNS | {"B": run(q1=1, q2=1)}, SPLIT)
