"""`qasel run | table | notebooks | rank | evaluate` and what they say to bad input."""

import csv
import io
import json
import os
import shutil
import subprocess
import sys
import warnings

import pytest
import torch

from qasel.cli import main
from qasel.datasets import load_dataset
from qasel.datasets.base import Split
from qasel.evaluation import Run, TieWarning, evaluate
from qasel.locations import DATA
from qasel.papers import ROOMS
from qasel.results.measure import vectors_for
from qasel.text import load_vectors
from qasel.training import checkpoint

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
    assert run(tmp_path / "runs", "--seeds", "0", "--seeds", "1,0") == 0
    first, second, *table = capsys.readouterr().out.strip().splitlines()
    assert "seed 0" in first
    assert "seed 1" in second
    maps = [float(line.split("test MAP ")[1].split()[0]) for line in (first, second)]
    mean = table[-1].split("|")[-3]  # before the last column, which is the spread
    assert float(mean) == pytest.approx(sum(maps) / 2, abs=1e-4)
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
    card = (folders[0] / "README.md").read_text(encoding="utf-8")
    assert f"| test | {scores.map:.4f} | {scores.mrr:.4f} |" in card
    assert row["parameters"] > 0
    assert row["ranked_per_second"] > 0
    lines = [f"{q.id} 0 {c.id} {c.label}\n" for q in test for c in q.candidates]
    (tmp_path / "test.qrels").write_text("".join(lines))
    assert main(["evaluate", str(folders[0] / "test.run"), str(tmp_path / "test.qrels")]) == 0
    assert f"MAP {100 * scores.map:.2f}" in capsys.readouterr().out

    questions = tmp_path / "mine.jsonl"
    mine = {"question": "who built it?", "candidates": ["Zxqv Eiffel built it.", "It is tall."]}
    questions.write_text(json.dumps(mine) + "\n")
    assert main(["rank", str(folders[0]), str(questions)]) == 0
    lines = capsys.readouterr().out.strip().splitlines()
    assert [line.split()[3] for line in lines] == ["1", "2"]


def test_a_run_made_again_tells_which_row_it_replaces(tmp_path, capsys):
    def run(out):
        return main(["run", "yardsticks", "--variant", "BM25", "--out", str(out)])

    assert run(tmp_path / "runs") == 0
    told = capsys.readouterr().out.strip().splitlines()
    assert len(told) == 1  # nothing was on record
    assert run(tmp_path / "runs") == 0
    assert capsys.readouterr().out.strip().splitlines() == told  # the same run, read again
    assert run(tmp_path / "again") == 0
    _, replaced = capsys.readouterr().out.strip().splitlines()
    scores = told[0].split("test ")[1].split("  ")[0]
    assert f"in place of test {scores} (" in replaced
    assert run(tmp_path / "runs") == 0  # finished before: the ledger keeps the newer row
    assert capsys.readouterr().out.strip().splitlines() == told


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
        (
            ["run", "hierarchical-ranking", "--set", "seeds=3"],
            ["unknown setting 'seeds'; known: prot"],
        ),
        (["run", "hierarchical-ranking", "--set", f"batch={10**30}"], ["batch", "less than"]),
        (["run", "hierarchical-ranking", "--variant", "all", "--variant", "DCA"], ["'all'"]),
        (["notebooks", "00", "-p", "dataset=a", "-p", "dataset=b"], ["'dataset' is given twice"]),
        (["compare", "--figure", ""], ["--figure", "the name of a file"]),
        (["run", "hierarchical-ranking", "--seeds", "a"], ["--seeds", "0,1,2"]),
        (["run", "hierarchical-ranking", "--device", "tpu"], ["tpu", "cpu"]),
        (["table", "hierarchical-ranking", "--format", "pdf"], ["pdf", "latex"]),
        (["notebooks", "99_nothing"], ["99_nothing"]),
        (["notebooks", "00_start_here", "-p", "dataste=wikiqa"], ["dataste", "dataset"]),
        (["rank", "nowhere", "questions.tsv"], ["nowhere"]),
        (["evaluate", "no.run", "no.qrels"], ["no.run"]),
        (["frobnicate"], ["frobnicate"]),
        (["run", "hierarchical-ranking", "--data-dir", "no/data"], ["no/data", "does not exist"]),
    ],
)
def test_bad_input_is_one_clear_line(arguments, words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    one_error_line(capsys, *words)


def test_a_run_that_cannot_start_leaves_nothing_behind(capsys, tmp_path, monkeypatch):
    monkeypatch.delenv("QASEL_DATA", raising=False)
    monkeypatch.setattr("qasel.locations.DATA", tmp_path / "no data here")
    monkeypatch.setattr("qasel.datasets.load.data_dirs", lambda _: [tmp_path])
    arguments = ["run", "hierarchical-ranking", "--dataset", "wikiqa"]
    assert main([*arguments, "--out", str(tmp_path / "runs")]) == 2
    one_error_line(capsys, "qasel data fetch wikiqa")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"),
        RuntimeError("CUDA error: out of memory"),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"),
    ],
)
def test_short_memory_is_told_in_a_line(error, capsys, monkeypatch):
    def full(*arguments, **more):
        raise error

    monkeypatch.setattr("qasel.results.tables.comparison", full)
    assert main(["table", "ms-ranker"]) == 2
    one_error_line(capsys, "memory is short", "--set batch=")


def test_rows_may_be_named_one_by_one(capsys, tmp_path):
    arguments = ["run", "yardsticks", "--variant", "BM25", "--variant", "word overlap"]
    assert main([*arguments, "--out", str(tmp_path)]) == 0
    told = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[1] for line in told[:2]] == ["BM25", "word overlap"]


def test_no_arguments_print_the_help(capsys):
    assert main([]) == 0
    assert capsys.readouterr().out.strip().startswith("Usage: qasel")


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


@pytest.fixture
def saved(tmp_path, monkeypatch):
    """Makes the folder of a model of the sample, as it is before training."""
    monkeypatch.setenv("QASEL_CACHE", str(tmp_path / "cache"))

    def save(name, variant, **changes):
        chosen = ROOMS[name].recipe(variant, scale="quick").change(**changes)
        data = chosen.load()
        ranker = ROOMS[name].ranker(chosen, vectors_for(chosen, data), torch.device("cpu"))
        train = Split("train", data.train[:3])
        ranker.prepare(train, {} if name == "question-relevancy" else train)
        ranker.save(tmp_path / "model")
        return tmp_path / "model"

    return save


@pytest.fixture
def mine(tmp_path):
    """A file of questions."""
    path = tmp_path / "mine.tsv"
    path.write_text("question\tcandidate\nwho sleeps\tA cat sleeps.\nwho sleeps\tNo.\n")
    return str(path)


def altered(folder, weights=lambda tensors: None, values=lambda values: None):
    """The model in a folder, with other weights or values."""
    model = folder / "model.safetensors"
    tensors, plain = checkpoint.load(model)
    weights(tensors)
    values(plain)
    checkpoint.save(model, tensors, plain)


CA = ("hierarchical-ranking", "CA(list)")
STL = ("question-relevancy", "STL-MLP")
OTHER_VERSIONS = {
    "a weight too few": (CA, lambda f: altered(f, weights=lambda w: w.popitem())),
    "another size": (CA, lambda f: altered(f, weights=lambda w: w.update(vectors=w["vectors"].T))),
    "no vectors": (CA, lambda f: altered(f, weights=lambda w: w.pop("vectors"))),
    "no words": (CA, lambda f: altered(f, values=lambda v: v.pop("words"))),
    "no setting": (CA, lambda f: altered(f, values=lambda v: v["recipe"].pop("k_max"))),
    "no words of texts": (STL, lambda f: altered(f, values=lambda v: v.pop("words"))),
    "no vectors of texts": (STL, lambda f: altered(f, weights=lambda w: w.pop("vectors"))),
    "no variant": (STL, lambda f: recipe_json(f, lambda r: r.pop("variant"))),
}


def recipe_json(folder, change):
    values = json.loads((folder / "recipe.json").read_text())
    change(values)
    (folder / "recipe.json").write_text(json.dumps(values))


@pytest.mark.parametrize("what", OTHER_VERSIONS)
def test_a_model_of_another_version_is_one_line(what, saved, mine, capsys):
    row, change = OTHER_VERSIONS[what]
    folder = saved(*row, **({"hidden": 4, "channels": 2} if row == CA else {}))
    change(folder)
    assert main(["rank", str(folder), mine]) == 2
    one_error_line(capsys, "version of qasel", "train it again")


def test_a_recipe_that_names_no_paper_is_one_line(saved, mine, capsys):
    folder = saved(*STL)
    recipe_json(folder, lambda values: values.update(paper=["question-relevancy"]))
    assert main(["rank", str(folder), mine]) == 2
    one_error_line(capsys, "is not a model folder")


@pytest.mark.parametrize("variant", ["STL-MLP", "STL-BiLSTM-SIM"])
def test_distances_need_the_vectors_for_new_words_only(
    variant, saved, tmp_path, capsys, monkeypatch
):
    vectors = tmp_path / "mine.npz"
    shutil.copy(DATA / "sample" / "vectors.npz", vectors)
    folder = saved("question-relevancy", variant, vectors=str(vectors))
    questions = tmp_path / "known.jsonl"
    question = ROOMS["question-relevancy"].recipe("STL-MLP").load().train[0]
    texts = [candidate.text for candidate in question.candidates[:3]]
    questions.write_text(json.dumps({"question": question.text, "candidates": texts}) + "\n")
    assert main(["rank", str(folder), str(questions)]) == 0
    there = capsys.readouterr()
    assert "warning" not in there.err
    vectors.unlink()
    assert main(["rank", str(folder), str(questions)]) == 0
    gone = capsys.readouterr()
    assert "words new to the model count as unknown" in gone.err
    assert gone.out == there.out


def test_rank_reads_the_vectors_of_the_questions_words_only(saved, mine, monkeypatch):
    folder = saved(*CA, hidden=4, channels=2)
    asked = []

    def load(name, data_dir, words):
        asked.append(words)
        return load_vectors(name, data_dir, words)

    monkeypatch.setattr("qasel.text.load_vectors", load)
    assert main(["rank", str(folder), mine]) == 0
    assert asked == [{"who", "sleeps", "a", "cat", "no", "."}]


def test_what_is_told_is_utf_8_wherever_it_goes():
    script = "import sys; from qasel.cli import main; sys.exit(main())"
    arguments = ["sweep", "--paper", "hierarchical-ranking", "--variant", "all", "--dry-run"]
    env = os.environ | {"PYTHONIOENCODING": "cp1252"}
    done = subprocess.run([sys.executable, "-c", script, *arguments], env=env, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert "PRI(list→ap)" in done.stdout.decode("utf-8")


def test_names_that_are_no_text_are_told_all_the_same():
    script = "import sys; from qasel.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", script, "evaluate", b"\xff.run", "qrels"]
    done = subprocess.run(command, capture_output=True)
    assert done.returncode == 2
    assert done.stderr.decode().startswith(r"qasel: error: \udcff.run: ")


def test_warnings_of_ours_are_a_line_without_a_place_in_the_code():
    main([])
    assert warnings.formatwarning("ties", TieWarning, "a.py", 1) == "qasel: warning: ties\n"
    assert "a.py:1: UserWarning: other" in warnings.formatwarning("other", UserWarning, "a.py", 1)
