"""The explorer of the evidence: a walk with numbers made by hand, steps, and odd questions."""

import base64
import re

import pandas as pd
import pytest
from explorers import pick, plain, tables, told, write_own

from qasel.datasets.base import Candidate, Question, Split
from qasel.errors import QaselError
from qasel.papers.ms_ranker.explorer import CUT, EvidenceExplorer
from qasel.widgets.base import OWN

NAN = float("nan")
COLUMNS = ["id", "text", "label", "p", "p_alone", "gate", "ap", "reward"]
BY_HAND = {
    # gather: p, p_alone, gate, AP, reward of "first", "second", "third", "fourth"
    True: [
        (0.6, 0.6, 0.5, 0.0, 0.1),
        (0.8, 0.4, 0.4, 1.0, 1.0),
        (0.3, 0.45, 0.0, 1.0, 0.1),
        (0.3, 0.2, 0.0, 0.75, -0.25),
    ],
    False: [
        (0.6, 0.6, 0.0, 0.0, 0.1),
        (0.4, 0.4, 0.0, 0.5, 0.5),
        (0.45, 0.45, 0.0, 1 / 3, 1 / 3 - 0.5),
        (0.2, 0.2, 0.0, 5 / 12, 5 / 12 - 1 / 3),
    ],
}


def by_hand(question, gather):
    """The numbers above for the question that has them; falling scores for any other."""
    candidates = question.candidates
    if question.text == "boom":
        raise QaselError("nothing <is> known")
    if question.id == "hand":
        numbers = BY_HAND[gather]
    else:
        scores = [0.9 - 0.8 * i / len(candidates) for i in range(len(candidates))]
        known = all(c.label is not None for c in candidates)
        numbers = [
            (p, p, 0.25 if gather and p > 0.5 else 0.0, *((0.5, 0.1) if known else (NAN, NAN)))
            for p in scores
        ]
    rows = zip(candidates, numbers, strict=True)
    return pd.DataFrame([[c.id, c.text, c.label, *row] for c, row in rows], columns=COLUMNS)


def question(id, text, texts, labels):
    pairs = enumerate(zip(texts, labels, strict=True))
    return Question(id, text, tuple(Candidate(f"{id}-{i}", t, y, i) for i, (t, y) in pairs))


SPLIT = Split(
    "dev",
    (
        question("hand", "by hand", ["first", "second", "third", "fourth"], [0, 1, 0, 1]),
        question("one", "with one", ["alone"], [1]),
        question(
            "many", "with many", [f"answer {i}" for i in range(60)], [i == 40 for i in range(60)]
        ),
        question("long", "with long ones", ["x" * 2000, "word " * 400], [0, 1]),
        question("mixed", "not all known", ["right", "who knows"], [1, None]),
        question("bad", "<script>1 & 2", ["<b>bold</b><img src=x onerror=y>", "z"], [None, None]),
    ),
)


@pytest.fixture
def explorer():
    return EvidenceExplorer(by_hand, SPLIT)


def drawn(explorer):
    """The drawing's source."""
    code = re.search(r"base64,([^\"]*)", explorer.picture.value).group(1)
    return base64.b64decode(code).decode("utf-8")


def go(explorer, step):
    explorer.step.value = step
    return told(explorer)


def test_it_opens_at_the_last_step_and_leaves_a_picture_of_the_whole_walk(explorer):
    assert explorer.step.value == explorer.step.max == 4
    picture = explorer._repr_mimebundle_()["text/html"]
    assert "Step 4 of 4: candidate 4 enters, ✓ right" in picture
    assert "this is the picture after the last one" in picture
    assert len(tables(explorer)[1]) == 4
    assert "<script" not in picture
    assert "<style" not in picture
    assert EvidenceExplorer(by_hand, SPLIT, first="many").question.id == "many"


def test_the_steps_by_hand(explorer):
    first = go(explorer, 1)
    assert first["Score"] == "0.600 from the question alone, which is all the evidence so far"
    assert first["Gate"].startswith("0.600 > 0.5: it becomes evidence and replaces 50% of the old")
    assert first["Evidence"] == "by now the question (50%) · ✗ 1 (50%)"
    assert first["Reward"] == "AP stays at 0.000, which earns +0.100"
    second = go(explorer, 2)
    assert second["Score"] == "0.400 from the question alone, 0.800 with the evidence (+0.400)"
    assert second["Evidence"] == "by now the question (30%) · ✗ 1 (30%) · ✓ 2 (40%)"
    assert second["List L"] == "it enters at place 1 of 2"
    assert second["Reward"] == "AP 0.000 → 1.000, which earns +1.000"
    third = go(explorer, 3)
    assert third["Score"] == "0.450 from the question alone, 0.300 with the evidence (−0.150)"
    assert third["Gate"] == "0.300 ≤ 0.5: it stays out of the evidence"
    assert third["Evidence"] == second["Evidence"]
    fourth = go(explorer, 4)
    assert fourth["Reward"] == "AP 1.000 → 0.750, which earns −0.250"


def test_the_list_is_sorted_and_ties_go_below(explorer):
    explorer.step.value = 4
    ranked = tables(explorer)[1]
    assert [row[:5] for row in ranked] == [
        ["1", "✓ right", "2", "0.800", "40%"],
        ["2", "✗ wrong", "1", "0.600", "30%"],
        ["3", "✗ wrong", "3", "0.300", "–"],
        ["4", "✓ right", "4", "0.300", "–"],
    ]
    assert [row[5] for row in ranked] == ["second", "first", "third", "▶ enters now: fourth"]
    assert told(explorer)["List L"] == "it enters at place 4 of 4"


def test_only_what_has_entered_is_shown(explorer):
    explorer.step.value = 1
    assert len(tables(explorer)[1]) == 1
    for later in ("second", "third", "fourth"):
        assert later not in explorer.picture.value
    assert "AP of L so far: 0.000" in drawn(explorer)


def test_buttons_and_slider_go_together(explorer):
    first, back, forward, last = explorer.buttons
    assert [b.description for b in explorer.buttons] == ["First", "Back", "Forward", "Last"]
    for button, step in [(last, 4), (forward, 4), (back, 3), (first, 1), (back, 1), (forward, 2)]:
        button.click()
        assert explorer.step.value == step
        assert f"Step {step} of 4" in explorer.picture.value


def test_without_evidence(explorer):
    explorer.step.value = 2
    on = drawn(explorer)
    explorer.gather.value = False
    assert explorer.step.value == 2
    off = told(explorer)
    assert off["Score"] == "0.400 from the question alone; evidence is off"
    assert off["Gate"] == "0.400 ≤ 0.5: it stays out of the evidence, which is off"
    assert off["Evidence"] == "by now the question (100%)"
    assert off["Reward"] == "AP 0.000 → 0.500, which earns +0.500"
    assert [row[2] for row in tables(explorer)[1]] == ["1", "2"]
    assert "AP of L so far: 0.500" in drawn(explorer)
    explorer.step.value = 1
    assert go(explorer, 1)["Gate"] == "0.600 > 0.5: it stays out of the evidence, which is off"
    explorer.step.value, explorer.gather.value = 2, True
    assert drawn(explorer) == on


def test_the_drawing_has_scores_threshold_and_both_curves():
    explorer = EvidenceExplorer(by_hand, SPLIT, threshold=0.25)
    explorer.step.value = 2
    image = drawn(explorer)
    assert "threshold 0.25" in image
    assert ">0.400<" in image
    assert ">0.800<" in image
    assert re.search(r">Q<|>question<", image)
    for name in (">✗ 1<", ">✓ 2<", "evidence on", "evidence off"):
        assert name in image
    # One point a step, in both curves: the dashed one is that without evidence.
    dashed = re.search(r'd="([^"]*)"[^>]*dasharray[^>]*stroke: #767676', image).group(1)
    assert len(re.findall("[ML]", dashed)) == 2


def test_an_alternative_text_says_what_is_drawn(explorer):
    explorer.step.value = 2
    alternative = re.search(r'alt="([^"]*)"', explorer.picture.value).group(1)
    assert "0.800 with the evidence" in alternative
    assert "✗ 1 (30%)" in plain(alternative)
    assert "AP 0.000 → 1.000" in alternative


def test_a_gate_that_does_not_follow_the_threshold_is_said():
    def all_enter(question, gather):
        return by_hand(question, gather).assign(gate=0.5 if gather else 0.0)

    explorer = EvidenceExplorer(all_enter, SPLIT)
    assert go(explorer, 3)["Gate"].startswith("0.300 ≤ 0.5: yet it becomes evidence")


def test_a_question_picked_later_begins_at_its_first_step(explorer):
    explorer.step.value = 3
    pick(explorer, SPLIT, "many")
    assert (explorer.step.value, explorer.step.max) == (1, 60)
    explorer.step.value = 60
    pick(explorer, SPLIT, "hand")
    assert (explorer.step.value, explorer.step.max) == (1, 4)
    assert "Step 1 of 4" in explorer.picture.value


def test_each_walk_is_done_once():
    calls = []

    def walk(question, gather):
        calls.append((question.id, gather))
        return by_hand(question, gather)

    explorer = EvidenceExplorer(walk, SPLIT)
    for _ in range(2):
        for button in explorer.buttons:
            button.click()
        explorer.gather.value = not explorer.gather.value
        pick(explorer, SPLIT, "one")
        pick(explorer, SPLIT, "hand")
    assert sorted(calls) == [(id, gather) for id in ("hand", "one") for gather in (False, True)]


def test_one_candidate(explorer):
    pick(explorer, SPLIT, "one")
    assert (explorer.step.value, explorer.step.max) == (1, 1)
    for button in explorer.buttons:
        button.click()
    assert "Step 1 of 1" in explorer.picture.value


def test_many_and_long_candidates(explorer):
    pick(explorer, SPLIT, "many")
    explorer.step.value = 60
    assert [int(row[2]) for row in tables(explorer)[1]] == list(range(1, 61))
    assert tables(explorer)[1][0][4] == "<1%"
    pick(explorer, SPLIT, "long")
    assert "x" * 2000 in explorer.picture.value  # as it enters
    assert max(len(row[5]) for row in tables(explorer)[1]) < CUT + 40


@pytest.mark.parametrize("id", ["bad", "mixed"])
def test_labels_that_are_not_known(explorer, id):
    pick(explorer, SPLIT, id)
    explorer.step.value = 2
    assert "candidate 2 enters, ? not known" in explorer.picture.value
    assert told(explorer)["Reward"].startswith("none, nor an AP")
    assert "AP of L so far: not known" in drawn(explorer)
    assert "nan" not in plain(explorer.picture.value)
    assert "nan" not in drawn(explorer)


def test_texts_are_escaped(explorer):
    pick(explorer, SPLIT, "bad")
    picture = explorer.static()
    for markup in ("<script", "<b>bold", "<img src=x"):
        assert markup not in picture
    assert "&lt;script&gt;1 &amp; 2" in picture
    assert "&lt;b&gt;bold&lt;/b&gt;&lt;img src=x onerror=y&gt;" in picture


def test_a_typed_question(explorer):
    write_own(explorer, "who <i>is</i> it", "one\n+two <i>x</i>\nthree")
    assert "Step 1 of 3: candidate 1 enters, ✗ wrong" in explorer.picture.value
    explorer.step.value = 2
    assert "candidate 2 enters, ✓ right" in explorer.picture.value
    assert "two &lt;i&gt;x&lt;/i&gt;" in explorer.picture.value
    assert "<i>" not in explorer.picture.value
    explorer.lines.value = "one\ntwo"
    assert "Step 1 of 2" in explorer.picture.value
    assert told(explorer)["Reward"].startswith("none")


def test_what_goes_wrong_is_told_in_place_of_the_picture(explorer):
    explorer.choice.value = OWN
    assert "Type a question" in explorer.picture.value
    for button in explorer.buttons:
        button.click()
    write_own(explorer, "boom", "one")
    assert "nothing &lt;is&gt; known" in explorer.picture.value
    assert "<table" not in explorer.picture.value
    pick(explorer, SPLIT, "hand")
    assert "of 4" in explorer.picture.value


def test_an_empty_split_is_refused():
    with pytest.raises(QaselError, match="dev has no question to explore"):
        EvidenceExplorer(by_hand, Split("dev", ()))
    with pytest.raises(QaselError, match="no question 'q9'"):
        EvidenceExplorer(by_hand, SPLIT, first="q9")
