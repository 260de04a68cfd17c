"""The counts of real data that notebook 00 shows."""

import json
import runpy

import pytest

from qasel.datasets import Candidate, Question, Split
from qasel.locations import ROOT

TOOL = runpy.run_path(str(ROOT / "tools" / "aggregates.py"))
ON_RECORD = json.loads(TOOL["PATH"].read_text(encoding="utf-8"))


@pytest.mark.parametrize("title", TOOL["NAMED"])
def test_the_file_holds_what_the_data_give(data_dir, title):
    found = TOOL["aggregates"](*TOOL["NAMED"][title])
    assert json.loads(json.dumps(found)) == ON_RECORD[title]


def test_places_and_lengths_of_a_split_by_hand(monkeypatch):
    candidates = [("one two", 1), ("a b c d e f", 0), ("x", 0)]
    question = Question("q", "who", tuple(
        Candidate(str(place), text, label, place) for place, (text, label) in enumerate(candidates)
    ))  # fmt: skip
    monkeypatch.setitem(TOOL["of_train"].__globals__, "PLACES", 3)
    found = TOOL["of_train"](Split("train", (question,)))
    assert found["words"] == {"right": {0: 1}, "wrong": {0: 1, 5: 1}}
    assert found["right_by_place"] == [1, 0, 0]
    assert found["candidates"] == {3: 1}
