"""A folder of one's own as a data set: what is refused before training, and what comes after."""

import dataclasses
import json

import numpy as np
import pytest
from ledger_rows import ledger_row, runs_of

from qasel.cli import main
from qasel.papers import ROOMS
from qasel.papers.hierarchical_ranking import recipe as small
from qasel.papers.latent_structured import recipe as structured
from qasel.papers.yardsticks import recipe
from qasel.results.matrix import entries
from qasel.results.measure import by_name
from qasel.results.runs import read_runs
from qasel.results.sweep import run_one

LINES = [
    ("who built it", "Eiffel built it", 1),
    ("who built it", "it is tall", 0),
    ("how tall is it", "it is tall", 0),
    ("how tall is it", "300 metres", 1),
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("QASEL_RESULTS", str(tmp_path / "ledger"))
    monkeypatch.chdir(tmp_path)
    for name in ("train", "dev", "test"):
        write(tmp_path / "mine" / f"{name}.tsv")
    return tmp_path / "mine"


def write(path, lines=LINES, labels=True):
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [("question", "candidate", "label"), *lines]
    path.write_text("".join("\t".join(map(str, row[: 2 + labels])) + "\n" for row in rows))


def run(*more):
    arguments = ["run", "yardsticks", "--variant", "word overlap", "--dataset", "mine"]
    return main([*arguments, *more])


def refused(capsys, *words):
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert line.startswith("qasel: error: ")
    for word in words:
        assert word in line


def ledger(folder):
    return list((folder.parent / "ledger").glob("*/*.json"))


def test_protocols_of_own_data_are_compared_on_what_they_share(folder):
    more = ("nobody knows", "no", 0), ("nobody knows", "nor here", 0), ("yes?", "yes", 1)
    for name in ("train", "dev", "test"):
        write(folder / f"{name}.tsv", [*LINES, *more])
    assert run("--set", "protocol=all") == run() == 0
    other = ["run", "yardsticks", "--variant", "BM25", "--dataset", "mine"]
    assert main([*other, "--set", "protocol=mixed"]) == 0
    found = {
        (line.system, line.target.rpartition("/")[2], line.under): len(line.values["map"])
        for line in entries(read_runs(ROOMS.values())).itertuples()
    }
    # Of a system's runs those on the target itself count, then those on the nearest wider one.
    assert found == {
        ("word overlap", "all", ""): 4,
        ("word overlap", "answered", ""): 3,
        ("word overlap", "mixed", "answered"): 2,
        ("BM25", "mixed", ""): 2,
    }


@pytest.mark.filterwarnings("ignore::qasel.evaluation.TieWarning")
def test_data_that_changed_are_not_told_by_their_old_scores(folder, capsys):
    assert run() == 0
    told = capsys.readouterr().out
    assert run() == 0
    assert capsys.readouterr().out == told
    write(folder / "test.tsv", [(q, c, 1 - label) for q, c, label in LINES])
    assert run() == 2
    refused(capsys, "mine", "changed", "word-overlap-0-")
    assert run("--out", "elsewhere") == 0


@pytest.mark.filterwarnings("ignore::qasel.evaluation.TieWarning")
def test_word_vectors_that_changed_are_not_told_by_their_old_scores(folder, capsys):
    words = sorted({word for line in LINES for text in line[:2] for word in text.split()})
    small = ("hidden=2", "channels=2", "kernels=(1,)", "epochs=1", "vectors=own.npz")
    settings = [part for setting in small for part in ("--set", setting)]
    arguments = ["hierarchical-ranking", "--dataset", "sample", *settings]
    for value, status in ((1.0, 0), (1.0, 0), (2.0, 2)):
        np.savez(folder.parent / "own.npz", words=words, vectors=np.full((len(words), 3), value))
        capsys.readouterr()
        assert main(["run", *arguments]) == status
    refused(capsys, "word vectors or encoder have changed", "pri-list-0-")


@pytest.mark.filterwarnings("ignore::qasel.evaluation.TieWarning")
def test_a_sweep_knows_its_runs_by_their_data(folder, capsys, monkeypatch):
    def told(*more):
        arguments = ["--variant", "word overlap", "--dataset", "./mine", "--dry-run"]
        assert main(["sweep", "--paper", "yardsticks", *arguments]) == 0
        return capsys.readouterr().out.splitlines()[-1]

    assert run("--dataset", "./mine") == 0
    capsys.readouterr()
    assert told() == "0 to run, 1 held"
    # Another folder that has the same name from where one is.
    elsewhere = folder.parent / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    for name in ("train", "dev", "test"):
        write(elsewhere / "mine" / f"{name}.tsv", LINES[:2])
    assert told() == "1 to run, 0 held"


@pytest.mark.filterwarnings("ignore::qasel.evaluation.TieWarning")
def test_systems_are_compared_on_the_same_data_only(folder, capsys, monkeypatch):
    def compared(name="mine"):
        capsys.readouterr()
        assert main(["compare", "--dataset", name]) == 0
        out = capsys.readouterr().out
        return [system for system in ("BM25", "word overlap") if f"| {system} |" in out]

    def other(name="./mine/"):
        return main(["run", "yardsticks", "--variant", "BM25", "--dataset", name, "--out", "new"])

    assert run() == 0
    assert other() == 0  # the same folder, by another name
    assert compared() == compared("../" + folder.parent.name + "/mine") == ["BM25", "word overlap"]
    assert compared("./mine/answered") == ["BM25", "word overlap"]
    # One that has the same name from where one is.
    for name in ("train", "dev", "test"):
        write(folder.parent / "elsewhere" / "mine" / f"{name}.tsv")
    monkeypatch.chdir(folder.parent / "elsewhere")
    assert other() == 0
    assert compared() == ["BM25"]
    # What a folder held before.
    monkeypatch.chdir(folder.parent)
    write(folder / "test.tsv", [(q, c, 1 - label) for q, c, label in LINES])
    again = ["run", "yardsticks", "--dataset", "mine", "--out", "third", "--variant", "BM25"]
    assert main(again) == 0
    assert compared() == ["BM25"]


def test_describe_tells_what_is_odd(folder, capsys):
    (folder / "dev.tsv").rename(folder / "valid.tsv")
    write(folder / "train.tsv", [LINES[0], LINES[2]])
    write(folder / "test.tsv", labels=False)
    assert main(["data", "describe", "mine"]) == 0
    notes = [line for line in capsys.readouterr().out.splitlines() if line.startswith("note: ")]
    assert notes == [
        "note: no dev file; training needs all three",
        "note: not read: valid.tsv",
        "note: train: no question has two candidates, so there is nothing to rank",
        "note: train: 2 of 2 questions have only right or only wrong candidates, and tell nothing "
        "of a ranking",
        "note: test: no labels; it can be ranked, not learnt from or measured",
        "note: test: 2 of 2 questions are in train too",
    ]


@pytest.mark.parametrize("missing", ["a split", "its labels"])
def test_what_training_would_miss_is_told_before_it(missing, folder, capsys, monkeypatch):
    room = dataclasses.replace(ROOMS["yardsticks"], kind=None)
    monkeypatch.setattr("qasel.papers.yardsticks.ROOM", room)  # no run gets as far as this
    (folder / "test.tsv").unlink()
    if missing == "its labels":
        write(folder / "test.tsv", labels=False)
    assert run("--set", "protocol=all") == 2
    refused(capsys, "test" if missing == "a split" else "label")
    assert not ledger(folder)


@pytest.mark.filterwarnings("ignore::qasel.evaluation.TieWarning")
def test_a_worker_elsewhere_finds_what_is_named_from_here(folder, monkeypatch, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    chosen = recipe("word overlap", "mine")
    row = run_one(ROOMS["yardsticks"], chosen, "cpu", str(tmp_path / "runs"), None, str(tmp_path))
    assert json.loads((tmp_path / "runs" / row.slug / f"{row.slug}.json").read_text())


def test_rows_of_a_question_stand_together(folder, capsys):
    write(folder / "train.tsv", [LINES[0], LINES[2], LINES[1], LINES[3]])
    assert run() == 2
    refused(capsys, "train.tsv:4", "of line 2 comes again", "qid")


def test_a_file_is_no_folder_and_a_folder_no_file(folder, capsys):
    assert main(["run", "yardsticks", "--variant", "BM25", "--dataset", "mine/test.tsv"]) == 2
    refused(capsys, "give its folder, mine")
    assert main(["run", "yardsticks", "--variant", "BM25", "--dataset", "mine/answered"]) == 2
    refused(capsys, "mine/answered: no such folder", "--set protocol=answered")
    assert main(["rank", "nowhere", "mine"]) == 2
    refused(capsys, "nowhere: no such folder")
    assert run() == 0
    (model,) = (folder.parent / "runs").iterdir()
    capsys.readouterr()
    assert main(["rank", str(model), "mine"]) == 2
    refused(capsys, "mine is a folder; give one file of it")


@pytest.mark.filterwarnings("ignore::qasel.evaluation.TieWarning")
def test_a_run_is_measured_by_the_labelled_questions(folder, capsys):
    assert run() == 0
    (model,) = (folder.parent / "runs").iterdir()
    assert main(["rank", str(model), "mine/test.tsv", "--out", "mine.run"]) == 0
    capsys.readouterr()
    assert main(["evaluate", "mine.run", "mine/test.tsv"]) == 0
    assert "MAP 75.00  MRR 75.00  P@1 50.00  (2 questions" in capsys.readouterr().out


def test_which_runs_read_files_of_ones_own():
    known = structured("LSP", "wikiqa")
    assert by_name(known)
    for change in ({"dataset": "./mine"}, {"corpus": "documents.txt"}, {"vectors": "own.txt"}):
        assert not by_name(known.model_copy(update=change))


def test_small_settings_count_on_data_of_ones_own():
    values = {"q1": 0.5, "q2": 0.5}
    rows = [
        ledger_row(small("CA(list)", "mine", scale=scale), {"map": 0.5}, {"map": 0.5}, values)
        for scale in ("paper", "quick")
    ]
    assert list(entries(runs_of(rows[1:]))["system"]) == ["CA(list)"]
    assert set(entries(runs_of(rows))["system"]) == {"CA(list)", "CA(list), quick"}
