import csv
import gzip
import os
import warnings
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval

from qasel.datasets.base import Candidate, Question, Split
from qasel.errors import QaselError
from qasel.evaluation import MissingWarning, Run, TieWarning, evaluate, read_qrels

DATA = Path(os.environ.get("QASEL_DATA") or "no data")
golden = pytest.mark.skipif(
    not os.environ.get("QASEL_DATA"), reason="golden numbers need the real data: set QASEL_DATA"
)


def split(rows, name="toy"):
    """{question id: labels} as a split; candidates are "0", "1", …"""
    questions = []
    for qid, labels in rows.items():
        candidates = (Candidate(str(i), f"text {i}", label, i) for i, label in enumerate(labels))
        questions.append(Question(qid, "what ?", tuple(candidates)))
    return Split(name, tuple(questions))


def one(labels, scores, protocol="trec"):
    """Scores of a single question, ties allowed without a word."""
    toy = split({"q": labels})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TieWarning)
        return evaluate(Run.from_scores(toy, [scores]), toy, protocol)


@pytest.mark.parametrize(
    ("labels", "scores", "ap", "rr", "p1"),
    [
        ([1, 0, 1, 0], [4, 3, 2, 1], (1 + 2 / 3) / 2, 1, 1),
        ([0, 1, 1, 0], [4, 3, 2, 1], (1 / 2 + 2 / 3) / 2, 1 / 2, 0),
        ([0, 0, 1], [-1.5, -2, -3], 1 / 3, 1 / 3, 0),
        ([1, 0, 0], [0, 0, 0], 1 / 3, 1 / 3, 0),  # all tied: the relevant one last
        ([1, 1, 0, 0], [5, 1, 1, 0], (1 + 2 / 3) / 2, 1, 1),  # a tie in the middle
        ([1, 0, 1], [1, 1, 1], (1 / 2 + 2 / 3) / 2, 1 / 2, 0),
        ([1, 1], [0, 0], 1, 1, 1),  # all positive: ties do no harm
        ([0, 0, 0], [3, 2, 1], 0, 0, 0),  # nothing relevant
        ([1], [0], 1, 1, 1),
        ([0, 1], [1.0, 1.0 + 1e-15], 1, 1, 1),  # single precision would call it a tie
    ],
)
def test_trec_by_hand(labels, scores, ap, rr, p1):
    result = one(labels, scores)
    assert (result.map, result.mrr, result.p1) == pytest.approx((ap, rr, p1), abs=1e-12)
    assert result.per_question["map"]["q"] == pytest.approx(ap, abs=1e-12)


def test_means_count_every_question():
    toy = split({"q1": [1, 0], "q2": [0, 0], "q3": [0, 1], "q4": [1, 1]})
    result = evaluate(Run.from_scores(toy, [[2, 1], [2, 1], [2, 1], [2, 1]]), toy)
    assert result.mean == pytest.approx({"map": 2.5 / 4, "mrr": 2.5 / 4, "p1": 2 / 4})
    assert (result.questions, result.unanswered, result.tied) == (4, 1, 0)
    assert list(result.per_question["map"]) == ["q1", "q2", "q3", "q4"]
    assert "MAP 0.625" in str(result)
    assert "4 questions, 1 without an answer" in str(result)
    assert "0 with ties that matter, broken against the system" in str(result)
    assert "in file order; the ten best only" in str(replace(result, protocol="semeval"))
    assert "<td>0.625</td>" in result._repr_html_()


def test_the_order_of_a_split_changes_nothing():
    generator = np.random.default_rng(0)
    toy = split({f"q{i}": generator.integers(0, 2, 14).tolist() for i in range(30)})
    scores = {q.id: {c.id: float(generator.integers(0, 6)) for c in q.candidates} for q in toy}
    qrels = {q.id: {c.id: c.label for c in q.candidates} for q in toy}
    for protocol in ("trec", "semeval"):
        with pytest.warns(TieWarning):
            first = evaluate(Run(scores), toy, protocol)
        with pytest.warns(TieWarning):
            assert evaluate(Run(scores), toy.shuffled(), protocol) == first
        with pytest.warns(TieWarning):
            assert evaluate(Run(scores), qrels, protocol) == first


def test_a_constant_scorer_is_at_or_below_random_and_never_perfect():
    toy = split({f"q{i}": [1] * (1 + i % 3) + [0] * (2 + i % 7) for i in range(60)})  # sorted file
    with pytest.warns(TieWarning, match="60 of 60"):
        constant = evaluate(Run.from_scores(toy, [np.zeros(len(q.candidates)) for q in toy]), toy)
    generator = np.random.default_rng(0)
    draws = [
        evaluate(Run.from_scores(toy, [generator.random(len(q.candidates)) for q in toy]), toy)
        for _ in range(20)
    ]
    for measure in ("map", "mrr", "p1"):
        assert constant.mean[measure] < np.mean([draw.mean[measure] for draw in draws])
    assert constant.p1 == 0
    assert max(constant.per_question["map"].values()) < 1
    assert constant.tied == 60


def test_few_ties_do_not_warn_and_harmless_ones_do_not_count():
    rows = {f"q{i}": [1, 0, 0] for i in range(10)}
    scores = [[2, 1, 1]] * 9 + [[1, 1, 0]]  # one question of ten has a tie that matters
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = evaluate(Run.from_scores(split(rows), scores), split(rows))
    assert result.tied == 1
    scores[0] = [1, 1, 1]
    with pytest.warns(TieWarning, match="2 of 10"):
        evaluate(Run.from_scores(split(rows), scores), split(rows))


def test_semeval_by_hand():
    # 12 candidates, relevant at the ranks 2, 10 and 12: the last does not count at all
    labels = [0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1]
    result = one(labels, range(12, 0, -1), "semeval")
    assert result.map == pytest.approx((1 / 2 + 2 / 10) / 2)
    assert result.mrr == 1 / 2
    assert one(labels, range(12, 0, -1)).map == pytest.approx((1 / 2 + 2 / 10 + 3 / 12) / 3)
    # nothing relevant among the ten
    late = one([0] * 10 + [1], range(11, 0, -1), "semeval")
    assert (late.map, late.mrr, late.unanswered) == (0, 0, 0)
    # ties keep the file's order, in favour or against
    assert one([1, 0], [0, 0], "semeval").map == 1
    assert one([0, 1], [0, 0], "semeval").map == 1 / 2


def test_semeval_average_recall_by_hand():
    toy = split({"q1": [1, 0, 1], "q2": [0, 1, 0], "q3": [0, 0, 0]})
    result = evaluate(Run.from_scores(toy, [[3, 2, 1]] * 3), toy, "semeval")
    # found: 1, 2, 3, 3, …; possible: 2, 3, 3, 3, …
    assert result.mean["avgrec"] == pytest.approx((1 / 2 + 2 / 3 + 8) / 10)
    assert result.map == pytest.approx(((1 + 2 / 3) / 2 + 1 / 2 + 0) / 3)
    assert result.unanswered == 1
    nothing = split({"q": [0, 0]})
    result = evaluate(Run.from_scores(nothing, [[2, 1]]), nothing, "semeval")
    assert result.mean == {"map": 0, "mrr": 0, "p1": 0, "avgrec": 0}


@pytest.mark.parametrize("protocol", ["trec", "semeval"])
def test_accuracy_is_the_share_of_all_pairs_predicted_right(protocol):
    toy = split({"q1": [1] + [0] * 11, "q2": [0, 1], "q3": [0]})
    scores = [range(12, 0, -1), [0, 1], [-1]]
    assert "acc" not in evaluate(Run.from_scores(toy, scores), toy, protocol).mean
    run = Run.from_scores(toy.shuffled(), _shuffled(toy, scores), relevant_above=1)
    result = evaluate(run, toy, protocol)
    # Wrong: the 10 of q1 with a score from 2 to 11, and the right answer of q2 at the threshold.
    assert result.mean["acc"] == (15 - 10 - 1) / 15
    assert "accuracy 0.267" in str(result)
    assert "acc" not in result.per_question


def _shuffled(toy, scores):
    """The scores, given in the order of the file, in that of `toy.shuffled()`."""
    rows = zip(toy.shuffled(), scores, strict=True)
    return [[row[candidate.place] for candidate in q.candidates] for q, row in rows]


def test_graded_qrels_count_as_relevant_when_positive():
    run = Run({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    assert evaluate(run, {"q": {"a": -1, "b": 2, "c": 0}}).mrr == 1 / 2
    assert evaluate(run, {"q": {"a": -1, "b": -2, "c": 0}}).unanswered == 1
    assert evaluate(Run({"q": {"a": 1.0, "b": 1.0}}), {"q": {"a": 1, "b": 2}}).tied == 0


def test_ids_may_be_any_text():
    # trec_eval, in C, would take the first two for one question.
    qrels = {qid: {"x": 1, "y": 0} for qid in ("a\0b", "a\0c", "ä b", "7")}
    run = Run({qid: {"x": 2.0, "y": 1.0} for qid in qrels})
    assert evaluate(run, qrels).per_question["map"] == dict.fromkeys(qrels, 1.0)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ({"q1": {"0": 1, "1": 2}}, "lacks question 'q2' of toy"),
        (
            {"q1": {"0": 1, "1": 2}, "q2": {"0": 1}, "q3": {"0": 1}},
            "has question 'q3', toy has not",
        ),
        ({"q1": {"0": 1, "1": 2}, "q2": {"0": 1, "x": 0}}, "'q2' has candidate 'x', in toy"),
    ],
)
def test_run_and_split_must_fit(scores, message):
    with pytest.raises(QaselError, match=message):
        evaluate(Run(scores), split({"q1": [1, 0], "q2": [1]}))


def test_a_run_cut_to_its_best_is_scored_as_by_trec_eval():
    drawn = np.random.default_rng(0)
    qrels = {f"q{q}": {f"c{c}": int(drawn.random() < 0.4) for c in range(8)} for q in range(20)}
    qrels = {qid: row for qid, row in qrels.items() if any(row.values())}
    order = {qid: drawn.permutation(list(row))[:4].tolist() for qid, row in qrels.items()}
    run = {qid: {cid: -float(place) for place, cid in enumerate(row)} for qid, row in order.items()}
    with pytest.warns(MissingWarning, match=f"lacks {4 * len(qrels)} labelled candidates"):
        ours = evaluate(Run(run), qrels)
    names = {"map", "recip_rank", "P_1"}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, names).evaluate(run)
    for name, measure in (("map", "map"), ("mrr", "recip_rank"), ("p1", "P_1")):
        for qid, value in ours.per_question[name].items():
            assert value == pytest.approx(theirs[qid][measure], abs=1e-12)
    assert ours.unanswered == 0


def test_what_a_run_lacks_comes_last_under_semeval():
    labels = {"q": {"a": 1, "b": 0, "c": 1, "d": 1}}
    whole = evaluate(Run({"q": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}}), labels, "semeval")
    with pytest.warns(MissingWarning, match="lacks 2 labelled candidates, which come last"):
        cut = evaluate(Run({"q": {"a": 4.0, "b": 3.0}}), labels, "semeval")
    assert cut.mean == whole.mean


def test_what_cannot_be_measured():
    toy = split({"q": [1, None]})
    with pytest.raises(QaselError, match="'q' has candidates without a label"):
        evaluate(Run.from_scores(toy, [[1, 2]]), toy)
    with pytest.raises(QaselError, match="unknown protocol 'tv'"):
        evaluate(Run({"q": {"0": 1.0}}), split({"q": [1]}), "tv")
    with pytest.raises(QaselError, match="no question"):
        evaluate(Run({}), {})


def percent(value):
    return round(100 * value, 2)


@golden
@pytest.mark.parametrize(
    ("system", "part", "filtered", "answered"),
    [
        ("CNN", "test", (237, 61.90, 62.81), (243, 62.84, 63.73)),
        ("CNN", "dev", (122, 66.25, 66.83), (126, 67.32, 67.88)),
        ("CNN-Cnt", "test", (237, 65.91, 67.38), (243, 66.75, 68.18)),
        ("CNN-Cnt", "dev", (122, 67.39, 67.87), (126, 68.43, 68.89)),
    ],
)
def test_wikiqa_runs_of_the_authors(system, part, filtered, answered):
    run = Run.read(DATA / f"wikiqa/runs/WikiQA.{system}.{part}.rank.gz")
    mixed = read_qrels(DATA / f"wikiqa/WikiQA-{part}-filtered.ref.gz")
    every = read_qrels(DATA / f"wikiqa/WikiQA-{part}.ref.gz")
    some = {qid: row for qid, row in every.items() if any(row.values())}
    for qrels, expected in ((mixed, filtered), (some, answered)):
        result = evaluate(run.only(qrels), qrels)
        assert (result.questions, percent(result.map), percent(result.mrr)) == expected
        assert (result.unanswered, result.tied) == (0, 0)
    everything = evaluate(run, every)
    assert everything.questions - everything.unanswered == answered[0]
    assert everything.map == pytest.approx(result.map * answered[0] / len(every))


def relevancy(name):
    """A SemEval gold file: qrels, and the search engine's (or the thread's) scores, 1/rank."""
    qrels, scores = defaultdict(dict), defaultdict(dict)
    with gzip.open(DATA / f"semeval-cqa/{name}.relevancy.gz", "rt", encoding="utf-8") as file:
        for qid, cid, _, score, label in csv.reader(file, delimiter="\t"):
            qrels[qid][cid] = int(label == "true")
            scores[qid][cid] = float(score)
    return dict(qrels), dict(scores)


@golden
@pytest.mark.filterwarnings("ignore::qasel.evaluation.TieWarning")
@pytest.mark.parametrize(
    ("task", "gold", "runs"),
    [
        ("A", "SemEval2016-Task3-CQA-QL-test-subtaskA.xml.subtaskA", 32),
        ("B", "SemEval2016-Task3-CQA-QL-test.xml.subtaskB", 28),
    ],
)
def test_the_official_runs_of_semeval_2016(task, gold, runs):
    qrels, _ = relevancy(gold)
    systems = defaultdict(lambda: defaultdict(dict))
    predicted = defaultdict(lambda: defaultdict(dict))
    stem = DATA / f"semeval-cqa/subtask{task}-2016-official"
    with gzip.open(f"{stem}-runs.tsv.gz", "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            systems[row["run"]][row["q_id"]][row["cand_id"]] = float(row["score"])
            predicted[row["run"]][row["q_id"]][row["cand_id"]] = int(row["label"] == "true")
    with Path(f"{stem}-scores.tsv").open(encoding="utf-8") as file:
        published = {row["run"]: row for row in csv.DictReader(file, delimiter="\t")}
    assert len(published) == runs
    assert systems.keys() == published.keys()
    for name, row in published.items():
        mean = evaluate(Run(systems[name], name, predicted[name]), qrels, "semeval").mean
        ours = [f"{mean[measure]:.4f}" for measure in ("map", "avgrec", "acc")]
        assert ours == [row["MAP"], row["AvgRec"], row["Acc"]], name
        assert f"{100 * mean['mrr']:.4f}" == row["MRR"], name
