"""tools/held_out.py: folds, what counts as the same run, and the two intervals."""

import json
import runpy

import pytest

from qasel import load_dataset
from qasel.datasets.base import Candidate, Question, Split
from qasel.locations import ROOT
from qasel.papers import ROOMS

TOOL = runpy.run_path(str(ROOT / "tools" / "held_out.py"))


def row(setting: str, fold: int, seed: int = 0, **aps: float) -> dict[str, str]:
    return {
        "variant": "CA(list)",
        "setting": setting,
        "seed": str(seed),
        "recipe": recipe(setting, seed).hash,
        "fold": str(fold),
        "folds": "2 by sentence",
        "ap": json.dumps(aps),
    }


def recipe(setting: str, seed: int = 0):
    return TOOL["recipe_of"]("hierarchical-ranking", "CA(list)", "wikiqa", setting, seed)


def test_every_training_question_is_held_out_once():
    train = load_dataset("sample").train
    parts = [TOOL["fold_of"](train, fold, 3) for fold in range(3)]
    held = [question.id for _, fold in parts for question in fold]
    assert sorted(held) == sorted(question.id for question in train)
    for rest, fold in parts:
        assert not {q.id for q in rest} & {q.id for q in fold}
        assert len(rest) + len(fold) == len(train)


def test_no_fold_shares_a_sentence_with_the_rest():
    texts = (("a", "b"), ("B", "c"), ("d",), ("c",), ("e",), ("f",))  # the first, second and fourth
    train = Split(
        "train",
        tuple(
            Question(
                str(i), "?", tuple(Candidate(f"{i}-{j}", t, 0, j) for j, t in enumerate(given))
            )
            for i, given in enumerate(texts)
        ),
    )
    for fold in range(2):
        parts = TOOL["fold_of"](train, fold, 2)
        rest, held = ({c.text.lower() for q in part for c in q.candidates} for part in parts)
        assert rest
        assert held
        assert not rest & held


def test_a_line_is_found_by_what_was_run():
    rows = [row("k_max=3,dropout=0.1", 0), row("", 1, seed=1)]

    def found(setting: str, fold: int, seed: int = 0, folds: int = 2):
        return TOOL["found"](rows, recipe(setting, seed), fold, folds)

    assert found("dropout=0.1,k_max=3", 0) is rows[0]
    assert found("k_max=5", 1, seed=1) is rows[1]  # what it is without being said
    assert found("k_max=3", 0) is None
    assert found("", 1) is None
    assert found("", 0, seed=1) is None
    assert found("", 1, seed=1, folds=3) is None
    # A line whose defaults have changed since is of another recipe.
    rows[1]["recipe"] = "0" * 12
    assert found("", 1, seed=1) is None


def test_settings_may_be_tuples_and_a_scale_brings_its_own():
    assert recipe("kernels=(1,2),batch=7").kernels == (1, 2)
    assert recipe("kernels=(1,2),batch=7").batch == 7
    assert recipe("scale=quick").hidden < recipe("").hidden


def test_the_file_has_the_recipes_of_its_lines():
    """A changed default has to be named in the lines that were run without it."""
    for line in TOOL["known"](TOOL["PATH"]):
        asked = (line["variant"], line["dataset"], line["setting"], int(line["seed"]))
        room = next(name for name, room in ROOMS.items() if line["variant"] in room.variants)
        assert TOOL["recipe_of"](room, *asked).hash == line["recipe"]


def test_the_difference_is_told_over_questions_and_over_runs():
    table = TOOL["table"](
        [
            row("", 0, a=0.5, b=0.5),
            row("k_max=5", 0, a=0.7, b=0.7),
            row("", 1, c=0.5),
            row("k_max=5", 1, c=0.6),
            row("k_max=5", 1, seed=1, c=0.0),  # no run of the first has this seed
        ]
    )
    first, second = table.splitlines()[2:]
    assert first == "| CA(list) | 2 | 0.5000 | – | – | – | – |"
    name, runs, score, difference, _, over_runs, ahead = second.strip("| ").split(" | ")
    assert (name, runs, score) == ("CA(list), k_max=5", "3", "0.5667")  # (0.7 + 0.7 + 0.3) / 3
    # Differences of the two runs: 0.2 and 0.1; t(1) = 12.706, deviation 0.0707.
    assert (difference, over_runs, ahead) == ("+0.1500", "-0.4853 to +0.7853", "2 of 2")


def test_some_questions_alone_may_count():
    rows = [row("", 0, a=0.5, b=0.5, c=0.0), row("k_max=5", 0, a=0.7, b=0.5, c=1.0)]
    first, second = TOOL["table"](TOOL["only"](rows, {"a", "b"})).splitlines()[2:]
    assert first.startswith("| CA(list) | 1 | 0.5000")
    assert second.startswith("| CA(list), k_max=5 | 1 | 0.6000 | +0.1000")


def test_a_stopped_fold_goes_on(tmp_path, monkeypatch):
    fold = "hierarchical-ranking", "CA(point)", "sample", "scale=quick,epochs=3", 0, 0, 3
    whole = TOOL["run_fold"](*fold)
    names, scored = TOOL["run_fold"].__globals__, []

    def stop_at_the_second(*args):
        scored.append(TOOL["score"](*args))
        if len(scored) == 2:
            raise KeyboardInterrupt
        return scored[-1]

    with monkeypatch.context() as patch:
        patch.setitem(names, "score", stop_at_the_second)
        with pytest.raises(KeyboardInterrupt):
            TOOL["run_fold"](*fold, tmp_path)
    for row, same in zip(TOOL["run_fold"](*fold, tmp_path), whole, strict=True):
        assert row["map"] == same["map"]
        assert json.loads(row["by_epoch"]) == [None, None, json.loads(same["by_epoch"])[2]]
