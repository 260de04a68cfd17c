import gzip
import os
from dataclasses import replace

import numpy as np
import pytest

from qasel.datasets import load_dataset
from qasel.datasets.base import Candidate, Question, Split
from qasel.errors import QaselError
from qasel.evaluation import Run, read_qrels
from qasel.evaluation.run import write_whole
from qasel.rankers import BM25


def split(rows, name="toy"):
    """{question id: {candidate id: label}} as a split."""
    questions = []
    for qid, row in rows.items():
        candidates = (
            Candidate(c, f"text {c}", label, i) for i, (c, label) in enumerate(row.items())
        )
        questions.append(Question(qid, "what ?", tuple(candidates)))
    return Split(name, tuple(questions))


TOY = {"q1": {"a": 1, "b": 0, "c": 0}, "q2": {"a": 0, "d": 1}}


def test_from_scores_follows_the_order_of_the_split():
    run = Run.from_scores(split(TOY), [np.array([1, 3, 2]), [0.5, 0.25]], "mine")
    assert run.scores == {"q1": {"a": 1.0, "b": 3.0, "c": 2.0}, "q2": {"a": 0.5, "d": 0.25}}
    assert run.ranking("q1") == ["b", "c", "a"]
    assert (len(run.scores), run.tag) == (2, "mine")
    with pytest.raises(QaselError, match="no question 'q3'"):
        run.ranking("q3")


@pytest.mark.parametrize("scores", [[[1, 2, 3]], [[1, 2], [1, 2]], [[[1], [2], [3]], [1, 2]]])
def test_from_scores_refuses_other_shapes(scores):
    with pytest.raises(QaselError, match=r"questions, but|shape"):
        Run.from_scores(split(TOY), scores)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_scores_must_be_finite(bad):
    with pytest.raises(QaselError, match=r"'q1', candidate 'b'.*not a finite"):
        Run({"q1": {"a": 0.0, "b": bad}})
    with pytest.raises(QaselError, match="no candidates"):
        Run({"q1": {}})


def test_ties_stay_in_the_order_of_the_run():
    assert Run({"q": {"b": 1.0, "a": 1.0, "c": 2.0}}).ranking("q") == ["c", "b", "a"]


@pytest.mark.parametrize("name", ["run.txt", "new/folder/run.trec.gz"])
def test_reading_what_was_written_gives_the_same_run(tmp_path, name):
    generator = np.random.default_rng(0)
    scores = generator.normal(size=(20, 7)) * 10.0 ** generator.integers(-300, 300, size=(20, 7))
    rows = {f"q{i}": {f"é{j}": float(v) for j, v in enumerate(row)} for i, row in enumerate(scores)}
    rows["ties"] = {"z": 0.1, "a": 0.1, "m": np.float32(0.1).item(), "n": 5e-324}
    run = Run(rows, "mine")
    run.write(tmp_path / name)
    again = Run.read(tmp_path / name)
    assert again == run
    assert [again.ranking(qid) for qid in rows] == [run.ranking(qid) for qid in rows]
    assert list(again.scores) == list(run.scores)
    assert [file.name for file in (tmp_path / name).parent.iterdir()] == [name.split("/")[-1]]


def test_the_written_form_is_trec(tmp_path):
    Run({"q1": {"a": 0.5, "b": 2}}, "t").write(tmp_path / "run")
    assert (tmp_path / "run").read_text() == "q1 Q0 b 1 2.0 t\nq1 Q0 a 2 0.5 t\n"


@pytest.mark.parametrize(
    "run",
    [
        Run({"q 1": {"a": 1.0}}),
        Run({"q": {"a\u00a0b": 1.0}}),
        Run({"q": {"": 1.0}}),
        Run({"q": {"a": 1}}, ""),
    ],
)
def test_ids_with_blanks_are_refused_and_leave_the_old_file(tmp_path, run):
    path = tmp_path / "run"
    path.write_text("old")
    with pytest.raises(QaselError, match="blanks"):
        run.write(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_only_plain_files_are_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name in (".", "folder", "pipe"):
        with pytest.raises(QaselError, match="give the name of a file"):
            write_whole(name, "new")
    ends = os.pipe()
    with pytest.raises(QaselError, match="it is no plain file"):
        write_whole(f"/dev/fd/{ends[1]}", "new")
    for end in ends:
        os.close(end)
    (tmp_path / "link").symlink_to(tmp_path / "folder" / "file")
    write_whole("link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "folder" / "file").read_text() == "new"


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "run"
    path.write_text("old")
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q Q0 a 1 0.5 t\nq Q0 b 2 0.5\n", r"run:2: 5 columns"),
        ("q Q0 a 1 0.5 t\n\nq Q0 b 2 half t\n", r"run:3: score 'half'"),
        ("q Q0 a 1 nan t\n", r"run:1: score 'nan'"),
        ("q Q0 a 1 1e999 t\n", r"run:1: score '1e999'"),
        ("q Q0 a 1 1 t\nq Q0 a 2 0 t\n", r"run:2: question 'q' has candidate 'a' twice"),
        ("\n", r"run: the file is empty"),
        (b"q Q0 \xff 1 1 t\n", r"run:1: not UTF-8"),
        (gzip.compress(b"q Q0 a 1 1 t\n", mtime=0)[:-9], r"run: broken gzip"),
    ],
)
def test_malformed_runs_are_refused_with_file_and_line(tmp_path, text, message):
    path = tmp_path / "run"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(QaselError, match=message):
        Run.read(path)


def test_a_run_that_is_not_there(tmp_path):
    with pytest.raises(QaselError, match="nothing: no such file"):
        Run.read(tmp_path / "nothing")


def test_foreign_line_ends_and_tabs_are_read(tmp_path):
    (tmp_path / "run").write_bytes(b"\xef\xbb\xbfq\tQ0\ta\t1\t-1e-3\tsys\r\n")
    assert Run.read(tmp_path / "run") == Run({"q": {"a": -0.001}}, "sys")


def test_only_keeps_the_questions_named():
    run = Run({"q1": {"a": 1.0}, "q2": {"a": 0.0, "d": 1.0}, "q3": {"a": 1.0}}, "t")
    assert list(run.only(split(TOY)).scores) == ["q1", "q2"]
    assert run.only(["q3", "q9"]) == Run({"q3": {"a": 1.0}}, "t")


def test_predicted_labels_are_of_the_candidates_with_scores():
    run = Run.from_scores(split(TOY), [[1, 3, 2], [0.5, 0.25]], relevant_above=0.5)
    assert run.predicted == {"q1": {"a": 1, "b": 1, "c": 1}, "q2": {"a": 0, "d": 0}}
    assert run.only(["q2"]).predicted == {"q2": {"a": 0, "d": 0}}
    assert Run.from_scores(split(TOY), [[1, 3, 2], [0.5, 0.25]]).predicted is None
    assert Run(run.scores).only(["q2"]).predicted is None


@pytest.mark.parametrize(
    ("predicted", "message"),
    [
        ({}, "question 'q', candidate 'a' has a score, but no predicted label"),
        ({"q": {"a": 1}}, "candidate 'b' has a score, but no"),
        ({"q": {"a": 1, "b": 0, "c": 0}}, "candidate 'c' has a predicted label, but no score"),
        ({"q": {"a": 1, "b": 0}, "r": {"a": 0}}, "question 'r', candidate 'a' has a predicted"),
        ({"q": {"a": 1, "b": 0.5}}, "candidate 'b': predicted label 0.5 is not 0 or 1"),
    ],
)
def test_predicted_labels_that_do_not_fit_are_refused(predicted, message):
    with pytest.raises(QaselError, match=f"run 'mine': .*{message}"):
        Run({"q": {"a": 1.0, "b": 2.0}}, "mine", predicted)


def test_qrels_are_read_in_the_order_of_the_file(tmp_path):
    text = "".join(f"{q} 0 {c} {label}\n" for q, row in TOY.items() for c, label in row.items())
    (tmp_path / "qrels.gz").write_bytes(gzip.compress(text.encode()))
    qrels = read_qrels(tmp_path / "qrels.gz")
    assert qrels == TOY
    assert [list(row) for row in qrels.values()] == [list(row) for row in TOY.values()]


def test_malformed_qrels_are_refused_with_file_and_line(tmp_path):
    for text, message in [
        ("q 0 a yes\n", "qrels:1: relevance 'yes' is not a whole number"),
        ("q 0 a\n", "qrels:1: 3 col"),
    ]:
        (tmp_path / "qrels").write_text(text)
        with pytest.raises(QaselError, match=message):
            read_qrels(tmp_path / "qrels")


def test_what_is_printed_fits_a_line():
    data = load_dataset("sample")
    assert repr(data.test) == "Split('test': 45 questions, 510 candidates, 51 right)"
    assert repr(data.test[0]).startswith("Question('Q")
    assert len(repr(replace(data.test[0], text="why " * 99))) < 120
    run = BM25().rank(data.test)
    assert repr(run) == "Run('bm25': 45 questions, 510 candidates)"
