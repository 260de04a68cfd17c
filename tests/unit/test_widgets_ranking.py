"""The explorers of rankings and of measures."""

import re

from explorers import plain, tables, write_own

from qasel.datasets.base import Candidate, Question, Split
from qasel.evaluation import Run
from qasel.rankers import FileOrder, WordOverlap
from qasel.widgets.ranking import MeasureExplorer, RankingExplorer, rankings


def test_small_scores_say_more_than_zero():
    scores = {"a": 1.234, "b": 0.0, "c": -0.5, "d": -3.2e-10}
    candidates = tuple(Candidate(name, "text", 0, i) for i, name in enumerate(scores))
    told = rankings(Question("q", "what", candidates), {"one": Run({"q": scores})})
    shown = [part.split("</small>")[0] for part in told.split("<small>")[2:]]
    assert shown == ["1.23", "0", "−3.2e−10", "−0.5"]


def test_answers_are_flipped_and_moved():
    explorer = MeasureExplorer([0, 1, 0, 0, 1, 0])
    assert tables(explorer)[1][0][1:3] == ["1/2 · (1/2 + 2/5)", "= 0.4500"]
    explorer.toggles[0].value = True
    assert [row[1] for row in tables(explorer)[1]] == ["1/3 · (1/1 + 2/2 + 3/5)", "1/1", "1/1"]
    *_, down = explorer.children[1].children  # B, right, goes below C, wrong
    down.click()
    assert [row[1] for row in tables(explorer)[0]][:3] == ["A  ✓ right", "C  ✗ wrong", "B  ✓ right"]
    assert tables(explorer)[1][0][1] == "1/3 · (1/1 + 2/3 + 3/5)"
    for toggle in explorer.toggles:
        toggle.value = False
    assert "No answer is right" in explorer.picture.value


def test_rankers_stand_side_by_side():
    texts = [("it rained", 0), ("she drew the <b>wall</b>", 1)]
    candidates = tuple(Candidate(str(i), t, y, i) for i, (t, y) in enumerate(texts))
    split = Split("dev", (Question("q", "who drew the wall", candidates),))
    explorer = RankingExplorer({"file": FileOrder(), "overlap": WordOverlap()}, split)
    head = plain(re.search("<thead>(.*?)</thead>", explorer.picture.value)[1])
    assert head == "fileAP 0.50, RR 0.50overlapAP 1.00, RR 1.00"
    assert [[cell[:8] for cell in row] for row in tables(explorer)[0]] == [
        ["1", "it raine", "✓ she dr"],
        ["2", "✓ she dr", "it raine"],
    ]
    assert "<b>wall" not in explorer.picture.value
    write_own(explorer, "who slept", "no one\nwho <i>slept</i>")
    assert [row[2][:3] for row in tables(explorer)[0]] == ["who", "no "]
    assert "AP" not in explorer.picture.value  # no right answer is known
    assert "<i>" not in explorer.picture.value
