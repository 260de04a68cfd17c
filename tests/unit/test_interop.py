"""Beside other tools: pandas tables, PyTerrier and ranx."""

import numpy as np
import pandas as pd
import pytest

from qasel.datasets import from_frame, load_dataset, to_frame
from qasel.errors import QaselError
from qasel.evaluation import Run, evaluate
from qasel.rankers import BM25, as_transformer

DEV = load_dataset("sample").dev


def trained():
    ranker = BM25()
    ranker.fit(load_dataset("sample").train)
    return ranker


def without_ties(run):
    """The run with the scores of a question a little apart."""
    drawn = np.random.default_rng(0)
    scores = {
        qid: {cid: value + 1e-6 * drawn.random() for cid, value in row.items()}
        for qid, row in run.scores.items()
    }
    return Run(scores, run.tag)


def test_a_table_and_back():
    frame = to_frame(DEV)
    assert list(frame.columns) == ["question_id", "question", "candidate_id", "answer", "label"]
    assert from_frame(frame, DEV.name).shuffled() == DEV
    assert "label" not in to_frame(from_frame(frame.drop(columns="label")))


def test_the_columns_of_the_hub():
    hub = pd.DataFrame(
        {
            "question_id": ["Q1", "Q2", "Q1"],
            "question": ["who", "when", "who"],
            "document_title": ["Title", "Other", "Title"],
            "answer": ["she", "then", "he"],
            "label": [1.0, 0.0, 0.0],
        }
    )
    first, second = from_frame(hub)
    assert [c.text for c in first.candidates] == ["she", "he"]
    assert first.labels.tolist() == [1, 0]
    assert second.id == "Q2"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": [1, None]}, "table:2: label '' is not 0 or 1"),
        ({"answer": ["a", " "]}, "table:2: question 'Q1' has no candidate here"),
        ({"candidate": ["a", "b"]}, "two columns for the candidate"),
    ],
)
def test_a_faulty_table_is_refused(change, message):
    rows = {"question_id": ["Q1"] * 2, "question": ["who"] * 2, "answer": ["a", "b"]}
    with pytest.raises(QaselError, match=message):
        from_frame(pd.DataFrame(rows | change))


def test_pyterrier_measures_the_same():
    pyterrier = pytest.importorskip("pyterrier")
    frame = to_frame(DEV).rename(
        columns={
            "question_id": "qid", "question": "query", "candidate_id": "docno", "answer": "text"
        }
    )  # fmt: skip
    ranker = trained()
    ranker.rank = lambda split, rank=ranker.rank: without_ties(rank(split))
    pools, qrels = frame.drop(columns="label"), frame[["qid", "docno", "label"]]
    nothing = as_transformer(ranker).transform(pools.iloc[:0])
    assert list(nothing) == [*pools, "score", "rank"]
    found = pyterrier.Experiment([as_transformer(ranker)], pools, qrels, ["map", "recip_rank"])
    ours = evaluate(ranker.rank(from_frame(to_frame(DEV))), DEV)
    assert found["map"][0] == pytest.approx(ours.map, abs=1e-9)
    assert found["recip_rank"][0] == pytest.approx(ours.mrr, abs=1e-9)


def test_ranx_measures_the_same():
    ranx = pytest.importorskip("ranx")
    run = without_ties(trained().rank(DEV))
    labels = {q.id: {c.id: c.label for c in q.candidates} for q in DEV}
    scores = ranx.evaluate(ranx.Qrels(labels), ranx.Run(run.scores), ["map", "mrr"])
    ours = evaluate(run, DEV)
    assert scores == {"map": pytest.approx(ours.map), "mrr": pytest.approx(ours.mrr)}


def test_a_constant_scorer_profits_from_order_elsewhere_only():
    """With ties, trec_eval reads the ids and ranx the order; qasel puts the right ones last."""
    ranx = pytest.importorskip("ranx")
    right_first = {q.id: sorted(q.candidates, key=lambda c: -c.label) for q in DEV if q.answered}
    flat = {qid: {c.id: 0.5 for c in row} for qid, row in right_first.items()}
    labels = {qid: {c.id: c.label for c in row} for qid, row in right_first.items()}
    with pytest.warns(UserWarning, match="have the same score"):
        ours = evaluate(Run(flat), labels).map
    assert ranx.evaluate(ranx.Qrels(labels), ranx.Run(flat), "map") > ours + 0.3
