import shlex

import numpy as np
import pandas as pd
import pytest
from ledger_rows import README, runs_of
from test_tables import row

from qasel.cli import main
from qasel.papers import PAPERS, ROOMS
from qasel.papers.hierarchical_ranking import ROOM
from qasel.results.check import OFF, SAME, WITHIN, judged, recipe_of, recorded, tolerances
from qasel.results.ledger import place_of
from qasel.results.tables import POINT
from qasel.training.recipe import settings

FLAT = lambda self, split: [np.zeros(len(question.candidates)) for question in split]  # noqa: E731
"""Scores that rank nothing."""


@pytest.fixture(autouse=True)
def _own_ledger(monkeypatch):
    monkeypatch.delenv("QASEL_RESULTS", raising=False)


@pytest.mark.parametrize("name", PAPERS)
def test_each_command_resolves_to_the_recipe_of_its_row(name):
    room = ROOMS[name]
    for lines in recorded(room).values():
        for _, line in lines.iterrows():
            words = shlex.split(README["command"]("run", line))
            options = list(zip(words[3::2], words[4::2], strict=True))
            given = dict(options)
            chosen = settings(value for key, value in options if key == "--set")
            recipe = room.configured(given["--variant"], given["--dataset"], chosen)
            recipe = recipe.change(seed=int(given["--seeds"]))
            assert recipe == recipe_of(room, line)
            assert place_of(recipe).exists(), words


def test_the_spread_over_seeds_is_the_tolerance():
    rows = [row(map_=value, seed=seed) for seed, value in enumerate((0.70, 0.72, 0.74))]
    (lines,) = recorded(ROOM, runs_of(rows)).values()
    allowed = tolerances(lines, ["map"])
    # t of two degrees of freedom, 4.3027, times the deviation, 0.02, times the root of 4/3.
    assert allowed.loc["test", "map"] == pytest.approx(4.3027 * 0.02 * (4 / 3) ** 0.5, rel=1e-4)
    few = tolerances(lines[lines["seed"] < 2], ["map"])
    assert few.loc["test", "map"] == POINT
    # Folds differ in their questions, so their spread is not that of seeds.
    asked = [{"map": {f"{seed}-{n}": 0.7 for n in range(3)}} for seed in lines["seed"]]
    assert tolerances(lines.assign(values=asked), ["map"]).loc["test", "map"] == POINT


def test_a_run_is_compared_with_those_under_its_protocol():
    runs = runs_of([row(seed=0), row(seed=1)])
    runs["protocol"] = runs["seed"].map({0: "all", 1: "answered"})
    (lines,) = recorded(ROOM, runs).values()
    assert set(lines["seed"]) == {0}


def test_a_run_is_the_same_within_tolerance_or_off():
    old = row(map_=0.70)
    measures = list(old.scores["test"])
    allowed = pd.DataFrame(0.02, index=list(old.scores), columns=measures)
    for value, verdict in ((0.70, SAME), (0.715, WITHIN), (0.73, OFF), (0.67, OFF)):
        table = judged(old, row(map_=value), allowed)
        (found,) = table.loc[(table["split"] == "test") & (table["measure"] == "map"), "verdict"]
        assert found == verdict


def test_a_row_of_the_sample_comes_out_the_same(tmp_path, capsys):
    out = str(tmp_path)
    words = ["check", "yardsticks", "BM25", "--device", "cpu", "--out", out]
    assert main(words) == 0
    assert capsys.readouterr().out.endswith("BM25, sample (answered), seed 0: same\n")
    (place,) = tmp_path.iterdir()
    (place / "a first stage").mkdir()
    assert main(words) == 0
    assert capsys.readouterr().out.endswith("BM25, sample (answered), seed 0: same\n")
    assert not (place / "a first stage").exists()  # nothing of a finished check is left to build on


def test_a_finished_run_is_neither_read_nor_removed(tmp_path, capsys, monkeypatch):
    from qasel.rankers import BM25

    words = ["yardsticks", "--variant", "BM25", "--device", "cpu", "--out", str(tmp_path)]
    with monkeypatch.context() as patch:
        patch.setenv("QASEL_RESULTS", str(tmp_path / "ledger"))
        assert main(["run", *words]) == 0
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.json")}
    monkeypatch.setattr(BM25, "scores", FLAT)
    assert main(["check", "yardsticks", "BM25", *words[3:]]) == 1
    assert before.items() <= {path: path.read_bytes() for path in tmp_path.rglob("*.json")}.items()


def test_a_worse_row_is_off(tmp_path, capsys, monkeypatch):
    from qasel.rankers import BM25

    monkeypatch.setattr(BM25, "scores", FLAT)
    assert main(["check", "yardsticks", "BM25", "--device", "cpu", "--out", str(tmp_path)]) == 1
    assert "BM25, sample (answered), seed 0: off" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["BM26"], "no run of 'BM26' on sample"),
        (["BM25", "--dataset", "nowhere"], "on record: sample"),
        (["BM25", "--seed", "77"], "no run of seed 77; on record: 0"),
    ],
)
def test_what_is_not_on_record_is_told(words, told, capsys):
    assert main(["check", "yardsticks", *words]) == 2
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1
