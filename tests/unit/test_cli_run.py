"""`qasel run | table | notebooks | rank | evaluate` and what they say to bad input."""

import csv
import io
import json

import pytest

from qasel.cli import main
from qasel.datasets import load_dataset
from qasel.evaluation import Run, evaluate, write_qrels

SMALL = ["hidden=8", "channels=4", "epochs=1", "batch=20", "scale=quick"]


@pytest.fixture(autouse=True)
def own_ledger(tmp_path, monkeypatch):
    monkeypatch.setenv("QASEL_RESULTS", str(tmp_path / "ledger"))


def run(out, *more):
    arguments = ["run", "hierarchical-ranking", "--variant", "CA(list)", "--out", str(out)]
    for setting in SMALL:
        arguments += ["--set", setting]
    return main([*arguments, *more])


def one_error_line(capsys, *words):
    seen = capsys.readouterr().err.strip().splitlines()
    assert seen, "nothing on stderr"
    assert seen[-1].startswith("qasel: error: ")
    assert len([line for line in seen if line.startswith("qasel: error")]) == 1
    assert "Traceback" not in "".join(seen)
    for word in words:
        assert word in seen[-1]


def test_run_rank_and_evaluate_go_together(tmp_path, capsys):
    assert run(tmp_path / "runs", "--seeds", "0,1") == 0
    assert len(capsys.readouterr().out.strip().splitlines()) == 2
    folders = sorted((tmp_path / "runs").iterdir())
    assert len(folders) == 2
    for folder in folders:
        names = {path.name for path in folder.iterdir()}
        assert {"model.safetensors", "recipe.json", "dev.run", "test.run"} <= names
        assert "last.safetensors" not in names
    test = load_dataset("sample").test
    scores = evaluate(Run.read(folders[0] / "test.run"), test)
    row = json.loads(next(folders[0].glob("ca-list*.json")).read_text())
    assert row["scores"]["test"]["map"] == pytest.approx(scores.map)
    assert row["parameters"] > 0
    assert row["ranked_per_second"] > 0
    write_qrels(test, tmp_path / "test.qrels")
    assert main(["evaluate", str(folders[0] / "test.run"), str(tmp_path / "test.qrels")]) == 0
    assert f"MAP {100 * scores.map:.2f}" in capsys.readouterr().out

    questions = tmp_path / "mine.jsonl"
    mine = {"question": "who built it?", "candidates": ["Zxqv Eiffel built it.", "It is tall."]}
    questions.write_text(json.dumps(mine) + "\n")
    assert main(["rank", str(folders[0]), str(questions)]) == 0
    lines = capsys.readouterr().out.strip().splitlines()
    assert [line.split()[3] for line in lines] == ["1", "2"]


def test_table_in_three_forms(capsys):
    for form in ("md", "csv", "latex"):
        assert main(["table", "hierarchical-ranking", "--format", form]) == 0
        text = capsys.readouterr().out
        assert "PRI(list)" in text
        if form == "csv":
            header = next(csv.reader(io.StringIO(text)))
            names = "table,row,dataset,metric,paper,ours,std,runs,verdict"
            assert ",".join(header) == names


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "hierarchical-rankin"], ["unknown paper", "hierarchical-ranking"]),
        (["run", "hierarchical-ranking", "--variant", "CA(lst)"], ["unknown variant", "CA(list)"]),
        (["run", "hierarchical-ranking", "--dataset", "wikqa"], ["wikqa", "wikiqa"]),
        (["run", "hierarchical-ranking", "--set", "vectors=glove.7B"], ["glove.7B", "glove.6B"]),
        (["run", "hierarchical-ranking", "--set", "hiden=1"], ["hiden", "hidden"]),
        (["run", "hierarchical-ranking", "--seeds", "a"], ["--seeds", "0,1,2"]),
        (["run", "hierarchical-ranking", "--device", "tpu"], ["tpu", "cpu"]),
        (["table", "hierarchical-ranking", "--format", "pdf"], ["pdf", "latex"]),
        (["notebooks", "99_nothing"], ["99_nothing"]),
        (["notebooks", "00_start_here", "-p", "dataste=wikiqa"], ["dataste", "dataset"]),
        (["rank", "nowhere", "questions.tsv"], ["nowhere"]),
        (["evaluate", "no.run", "no.qrels"], ["no.run"]),
        (["frobnicate"], ["frobnicate"]),
    ],
)
def test_bad_input_is_one_clear_line(arguments, words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    one_error_line(capsys, *words)


def test_a_run_that_cannot_start_leaves_nothing_behind(capsys, tmp_path, monkeypatch):
    monkeypatch.delenv("QASEL_DATA", raising=False)
    monkeypatch.setattr("qasel.paths.DATA", tmp_path / "no data here")
    monkeypatch.setattr("qasel.datasets.load.data_dirs", lambda _: [tmp_path])
    arguments = ["run", "hierarchical-ranking", "--dataset", "wikiqa"]
    assert main([*arguments, "--out", str(tmp_path / "runs")]) == 2
    one_error_line(capsys, "qasel data fetch wikiqa")
    assert not list(tmp_path.iterdir())


def test_no_arguments_print_the_help(capsys):
    assert main([]) == 0
    assert "rank" in capsys.readouterr().out


def test_cuda_without_one(capsys, tmp_path):
    import torch

    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    assert run(tmp_path, "--device", "cuda") == 2
    one_error_line(capsys, "cuda", "cpu")


def test_unwritable_ledger(capsys, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("QASEL_RESULTS", str(tmp_path / "file"))
    assert run(tmp_path) == 2
    one_error_line(capsys, "cannot write", str(tmp_path / "file"))


def test_unwritable_output_folder(capsys, tmp_path):
    (tmp_path / "file").write_text("")
    assert run(tmp_path / "file" / "below") == 2
    one_error_line(capsys, "cannot write")
    assert not (tmp_path / "ledger").exists()


def test_a_model_that_is_no_network_runs_and_ranks_too(tmp_path, capsys):
    arguments = ["run", "latent-structured", "--variant", "LSP-AP (CNN)", "--out", str(tmp_path)]
    for setting in ("scale=quick", "cnn_epochs=1", "epochs=2", "costs=(1.0,)", "filters=4"):
        arguments += ["--set", setting]
    assert main(arguments) == 0
    told = capsys.readouterr().out
    assert "sample (mixed)" in told
    assert "C 1" in told
    questions = tmp_path / "mine.tsv"
    questions.write_text("question\tcandidate\nwho sleeps\tA cat sleeps.\nwho sleeps\tNo.\n")
    (folder,) = tmp_path.glob("lsp-ap--cnn-*")
    assert main(["rank", str(folder), str(questions)]) == 0
    assert len(capsys.readouterr().out.strip().splitlines()) == 2
