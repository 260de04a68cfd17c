"""The stand-in for SemEval's subtask B, made from the bundled sample."""

import pytest

from qasel.datasets import load_dataset
from qasel.datasets.base import Candidate, Question, Split
from qasel.datasets.related import related
from qasel.evaluation import evaluate
from qasel.rankers import FileOrder, RandomRanker


def question(identity, text, passage):
    return Question(identity, text, (Candidate(passage, "A sentence .", 0, 0),))


def test_golden_counts_of_the_sample(monkeypatch):
    monkeypatch.delenv("QASEL_DATA", raising=False)
    dataset = load_dataset("sample", "related")
    assert (dataset.protocol, dataset.scoring) == ("related", "semeval")
    assert [
        (len(split), split.pairs, split.positives, sum(not q.answered for q in split))
        for split in dataset.splits.values()
    ] == [(108, 1080, 162, 13), (27, 270, 46, 2), (45, 450, 72, 5)]


@pytest.mark.parametrize("name", ["train", "dev", "test"])
def test_the_order_of_bm25_is_better_than_random(name):
    split = load_dataset("sample", "related")[name]
    found, drawn = (
        evaluate(ranker.rank(split), split, "semeval") for ranker in (FileOrder(), RandomRanker())
    )
    assert found.map > drawn.map + 0.2


def test_the_others_in_the_order_of_bm25_related_by_passage():
    split = Split(
        "toy",
        (
            question("q1", "Who built the Eiffel tower?", "D1"),
            question("q2", "xyzzy", "D2"),
            question("q3", "Where is the Eiffel TOWER", "D1"),
            question("q4", "plugh", "D1"),
            question("q5", "where is it", "D2"),
        ),
    )
    found = related(split)
    assert [
        [(candidate.id, candidate.label, candidate.place) for candidate in q.candidates]
        for q in found
    ] == [
        # Without a common word, the order of the split.
        [("q3", 1, 0), ("q2", 0, 1), ("q4", 1, 2), ("q5", 0, 3)],
        [("q1", 0, 0), ("q3", 0, 1), ("q4", 0, 2), ("q5", 1, 3)],
        [("q1", 1, 0), ("q5", 0, 1), ("q2", 0, 2), ("q4", 1, 3)],
        [("q1", 1, 0), ("q2", 0, 1), ("q3", 1, 2), ("q5", 0, 3)],
        [("q3", 0, 0), ("q1", 0, 1), ("q2", 1, 2), ("q4", 0, 3)],
    ]
    assert found[0].candidates[0].text == "Where is the Eiffel TOWER"
