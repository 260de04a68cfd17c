"""tools/held_out.py: folds, what counts as the same run, and the two intervals."""

import json
import runpy

from qasel import load_dataset
from qasel.paths import ROOT

TOOL = runpy.run_path(str(ROOT / "tools" / "held_out.py"))


def row(setting: str, fold: int, **aps: float) -> dict[str, str]:
    return {
        "variant": "CA(list)",
        "dataset": "wikiqa",
        "setting": setting,
        "fold": str(fold),
        "folds": "2",
        "ap": json.dumps(aps),
    }


def test_every_training_question_is_held_out_once():
    train = load_dataset("sample").train
    parts = [TOOL["fold_of"](train, fold, 3) for fold in range(3)]
    held = [question.id for _, fold in parts for question in fold]
    assert sorted(held) == sorted(question.id for question in train)
    for rest, fold in parts:
        assert not {q.id for q in rest} & {q.id for q in fold}
        assert len(rest) + len(fold) == len(train)


def test_settings_are_the_same_run_in_any_order():
    key = TOOL["key"]
    assert key(row("k_max=5,seed=1", 0)) == key(row("seed=1,k_max=5", 0))
    assert key(row("k_max=5,seed=1", 0)) != key(row("k_max=5", 0))
    assert key(row("k_max=5", 0)) != key(row("k_max=5", 1))
    assert TOOL["parts_of"]("kernels=(1,2),seed=1") == ["kernels=(1,2)", "seed=1"]
    assert TOOL["parts_of"]("") == []


def test_the_difference_is_told_over_questions_and_over_runs():
    table = TOOL["table"](
        [
            row("", 0, a=0.5, b=0.5),
            row("k_max=5", 0, a=0.7, b=0.7),
            row("", 1, c=0.5),
            row("k_max=5", 1, c=0.6),
            row("k_max=5,seed=1", 1, c=0.0),  # no run of the first has this seed
        ]
    )
    first, second = table.splitlines()[2:]
    assert first == "| CA(list) | 2 | 0.5000 | – | – | – | – |"
    name, runs, score, difference, _, over_runs, ahead = second.strip("| ").split(" | ")
    assert (name, runs, score) == ("CA(list), k_max=5", "3", "0.5667")  # (0.7 + 0.7 + 0.3) / 3
    # Differences of the two runs: 0.2 and 0.1; t(1) = 12.706, deviation 0.0707.
    assert (difference, over_runs, ahead) == ("+0.1500", "-0.4853 to +0.7853", "2 of 2")
