"""What a run read, in digits: files of one's own that change are seen, a protocol is no change."""

import json
import os
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from qasel import load_dataset, load_vectors
from qasel import locations as paths
from qasel.cli import main
from qasel.errors import QaselError
from qasel.locations import require_numba_cache
from qasel.papers import ROOMS
from qasel.papers.latent_structured import recipe as structured
from qasel.papers.question_relevancy import RelevancyRanker
from qasel.papers.question_relevancy import recipe as relevancy
from qasel.papers.yardsticks import recipe as yardstick
from qasel.results.measure import by_name, fingerprint
from qasel.results.runs import described, varied
from qasel.results.sweep import check
from qasel.text import Vectors
from qasel.text.encoders import own_fingerprint

NONE = Vectors.empty("")


@pytest.fixture
def folder(tmp_path):
    for name in ("train", "dev", "test"):
        lines = ["question\tcandidate\tlabel"]
        for q in range(10):
            lines += [f"q {name} {q}\ta {q}\t1", f"q {name} {q}\tb {q}\t{int(q == 0)}"]
        (tmp_path / f"{name}.tsv").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_a_fold_and_a_share_are_no_other_data(folder):
    recipes = [
        yardstick("BM25", str(folder)),
        relevancy("STL-MLP", str(folder)).change(share=0.5),
        *(structured("SVM (5-fold)", str(folder), seed=seed) for seed in (0, 1)),
    ]
    read = [recipe.load() for recipe in recipes]
    assert len({data.fingerprint for data in read}) == 4, "what is learnt from does differ"
    found = [fingerprint(r, data, NONE).split()[0] for r, data in zip(recipes, read, strict=True)]
    assert len(set(found)) == 1
    (folder / "test.tsv").write_text((folder / "dev.tsv").read_text())
    (first, *_) = recipes
    assert fingerprint(first, first.load(), NONE) != found[0]


def test_an_encoder_in_a_folder_is_a_file_of_ones_own(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"1")
    named = yardstick("cross-encoder (list)", "sample")
    own = named.change(encoder=str(tmp_path))
    assert (by_name(named), by_name(own)) == (True, False)
    assert own_fingerprint(named.encoder) == own_fingerprint("") == ""
    before, read = own_fingerprint(str(tmp_path)), fingerprint(own, own.load(), NONE)
    (tmp_path / "notes.txt").write_text("no part of the model")
    assert own_fingerprint(str(tmp_path)) == before
    (tmp_path / "model.safetensors").write_bytes(b"2")
    assert own_fingerprint(str(tmp_path)) != before
    assert fingerprint(own, own.load(), NONE) != read


@pytest.mark.filterwarnings("ignore::qasel.evaluation.TieWarning")
def test_a_finished_run_and_the_ledger(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("QASEL_RESULTS", str(tmp_path / "ledger"))
    monkeypatch.chdir(tmp_path)
    run = ["run", "yardsticks", "--variant", "BM25", "--dataset", "sample", "--out", "old"]
    assert main(run) == 0
    (held,) = (tmp_path / "ledger").glob("*/*.json")
    row = json.loads(held.read_text())
    older = tmp_path / "old" / row["slug"] / held.name
    older.write_text(json.dumps(row | {"data": None, "revision": "older"}))
    assert main(run) == 0, "names say what is read, so the ledger's row stands"
    assert json.loads(held.read_text()) == row
    held.unlink()
    assert main(run) == 0, "a ledger without it gets it"
    assert json.loads(held.read_text())["revision"] == "older"
    capsys.readouterr()


def test_a_setting_that_came_later_is_named_where_it_is_as_it_was_before():
    from qasel.papers.hierarchical_ranking import recipe

    chosen = recipe("CA(pair)", "trecqa")
    assert described(ROOMS[chosen.paper], chosen.as_dict()).endswith("seed 0")
    other = chosen.change(pair_head="relu").as_dict()
    assert described(ROOMS[chosen.paper], other).endswith("  pair_head=relu")


def test_every_corpus_is_read_before_anything_runs(folder):
    (folder / "there.txt").write_text("one\ntwo\n")
    chosen = structured("LSP", str(folder))
    recipes = [chosen.change(corpus=str(folder / f"{name}.txt")) for name in ("missing", "there")]
    with pytest.raises(QaselError, match=r"missing\.txt"):
        check(ROOMS, recipes)


def test_runs_with_other_vectors_are_not_mixed():
    from ledger_rows import ledger_row, runs_of

    from qasel.papers.hierarchical_ranking import ROOM, recipe

    def row(vectors, **changes):
        chosen = recipe("CA(list)", "wikiqa", vectors=vectors).change(**changes)
        return ledger_row(chosen, {"map": 0.7}, {"map": 0.7}, {"q": 0.7})

    usual, other = "glove.6B.100d", "glove.6B.300d"
    rows = [row(usual), row(other), row(usual, dropout=0.4)]
    found = varied(ROOM, "CA(list)", "wikiqa", "dropout", runs_of(rows))
    assert {value: len(group) for value, group in found.items()} == {0.2: 1, 0.4: 1}


def test_a_first_stage_knows_the_encoder_it_was_tuned_from(tmp_path):
    from tiny_encoders import make_encoder

    from qasel.papers.ms_ranker import ROOM, recipe

    made = make_encoder(tmp_path / "encoder")
    chosen = recipe("MiniLM", "sample", scale="quick").change(encoder=str(made), pre_epochs=1)
    data = chosen.load()
    few = [replace(split, questions=split.questions[:3]) for split in (data.train, data.dev)]
    agent = tmp_path / "runs" / "agent"
    first = ROOM.ranker(chosen, NONE, torch.device("cpu")).as_stage(*few, agent)
    assert first.as_stage(*few, agent)
    make_encoder(made, seed=1)
    with pytest.raises(QaselError, match="other data"):
        ROOM.ranker(chosen, NONE, torch.device("cpu")).as_stage(*few, agent)


def test_folds_need_a_question_each_and_a_seed_is_one(folder):
    recipe = structured("LSP (5-fold)", str(folder))
    lines = (folder / "test.tsv").read_text().splitlines(keepends=True)
    (folder / "test.tsv").write_text("".join(lines[: 1 + 2 * 4]))
    with pytest.raises(QaselError, match=r"split test has 3 questions that count: too few"):
        recipe.load()  # mixed lists count, and the first is none
    with pytest.raises(QaselError, match=r"its seed is the fold, 0 to 4; got 5"):
        recipe.change(seed=5)
    assert recipe.change(seed=4).seed == 4


def test_the_relevancy_network_does_not_go_on_from_other_data_or_settings(folder, tmp_path):
    def fit(data, **changes):
        recipe = relevancy("MTL-MLP (QA)", "sample", scale="quick").change(epochs=1, **changes)
        ranker = RelevancyRanker(recipe, load_vectors("sample"), torch.device("cpu"))
        tasks = recipe.load().tasks
        return ranker.fit(data.train, data.dev, tmp_path / "run", tasks=tasks)

    related, answered = load_dataset("sample", "related"), load_dataset("sample", "answered")
    first = fit(related)
    assert fit(related).epochs == first.epochs
    for data, changes in ((answered, {}), (related, {"width": 8})):
        with pytest.raises(QaselError, match="learns from other data"):
            fit(data, **changes)


def test_numba_has_a_place_for_what_it_compiles(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", "")  # so that what was there comes back
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(paths, "__file__", "/proc/none/paths.py")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    require_numba_cache()
    assert "NUMBA_CACHE_DIR" not in os.environ
    monkeypatch.setattr(os, "access", lambda *_: False)
    require_numba_cache()
    assert Path(os.environ["NUMBA_CACHE_DIR"]).parent == tmp_path
