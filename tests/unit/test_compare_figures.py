import numpy as np
import pandas as pd
import pytest
from ledger_rows import entry, runs_of

from qasel.errors import QaselError
from qasel.figures import compare
from qasel.figures.compare import NAMED, WIDEST, agreement, best_buys, leaders, worth_naming
from qasel.results.compare import ADJUSTED, CLEAR, SEEDS, targets, worth
from qasel.results.compare import matrix as side_by_side

WIKI, TREC = "wikiqa/answered", "trecqa/clean"


def matrix_of(lines):
    return side_by_side(pd.DataFrame(lines))


def matrix():
    values = {"A": {"q1": 1.0, "q2": 0.5}, "B": {"q1": 0.25, "q2": 0.5}}
    runs = [entry(name, WIKI, {"map": found}, seconds=3.0) for name, found in values.items()]
    return matrix_of([*runs, entry("A", TREC, {"map": {"q": 0.5}}, seconds=0.0)])


def test_the_grid_shows_numbers_and_dashes():
    axes = compare.score_matrix(matrix()).axes[0]
    assert [text.get_text() for text in axes.texts] == ["0.750", "0.500", "0.375", "–"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["A", "B"]
    assert axes.get_xticklabels()[0].get_text() == "WikiQA\n(answered)\n2"
    # Each column has a scale of its own; a column of one value is at its lower end.
    (cells,) = axes.collections
    assert np.asarray(cells.get_array()).reshape(2, 2).tolist()[0] == [1.0, 0.0]
    runs = [entry("a system", f"data {i}/raw", {"map": {"q": 0.1}}) for i in range(20)]
    assert compare.score_matrix(matrix_of(runs)).get_figwidth() == WIDEST


def test_cost_has_a_panel_per_data_set():
    panels = compare.quality_cost(matrix()).axes
    titles = [axes.get_title(loc="left") for axes in panels]
    assert titles == ["WikiQA (answered)", "TREC-QA (clean)"]
    names = [text.get_text() for text in panels[0].get_legend().get_texts()]
    assert names == ["1  A", "2  B"]
    best, other, steps = panels[0].get_lines()
    assert best.get_markerfacecolor() != "white"
    assert other.get_markerfacecolor() == "white"  # as long to train, and no better
    assert steps.get_xdata()[0] == 3.0
    assert steps.get_ydata().tolist() == [0.75, 0.75]
    low, high = panels[1].get_xlim()
    assert low < 0.0 < high  # where nothing is trained


def places(*pairs):
    return pd.DataFrame(pairs, [f"{x}, {y}" for x, y in pairs], ["seconds", "mean"])


def test_of_many_systems_only_best_buys_are_named():
    means = [0.5 + i / 1000 for i in range(NAMED)] + [0.9]
    runs = [
        entry(f"system {mean}", WIKI, {"map": {"q": mean}}, seconds=1.0 + i)
        for i, mean in enumerate(means)
    ]
    few, many = (
        compare.quality_cost(matrix_of(part)).axes[0].get_legend().get_texts()
        for part in (runs[:NAMED], runs)
    )
    assert len(few) == NAMED
    assert {text.get_text() for text in many} == {"1  system 0.9", "2  system 0.5"}


def test_the_best_buys_are_what_nothing_beats_in_both():
    column = places((1, 0.5), (2, 0.4), (2, 0.7), (3, 0.7), (4, 0.9), (1, 0.3))
    assert list(best_buys(column).index) == ["1, 0.5", "2, 0.7", "4, 0.9"]


def test_of_many_best_buys_the_ends_and_the_steps_are_named():
    best = places(*enumerate((0.5, 0.505, 0.51, 0.6, 0.601, 0.602)))
    assert best["mean"][worth_naming(best)].tolist() == [0.602, 0.6, 0.51, 0.5]


def test_a_part_has_the_targets_that_there_are():
    assert targets(compare.part(matrix(), ["trecqa/clean", "wikiqa/mixed"])) == [TREC]
    assert targets(compare.part(matrix(), ["wikiqa/mixed"])) == [WIKI, TREC]
    assert leaders(matrix(), 1).index.tolist() == [(WIKI, "A"), (TREC, "A")]


def test_questions_of_two_systems():
    axes = compare.questions(matrix(), WIKI, "A", "B").axes[0]
    assert axes.get_xlabel() == "AP, A (better on 1 of 2)"
    assert axes.get_ylabel() == "AP, B (better on 0)"
    dots = [points.get_offsets().tolist() for points in axes.collections]
    assert dots == [[[0.5, 0.5]], [[1.0, 0.25]]]
    a, b = {"p": 0, "q": 0, "r": 0, "s": 1}, {"p": 1, "q": 1, "r": 1, "s": 0}
    three, one = agreement(a, b, ("a", "b"), "AP").axes[0].collections
    assert three.get_sizes()[0] == 3 * one.get_sizes()[0]
    with pytest.raises(QaselError, match="no question"):
        agreement(a, {"t": 1}, ("a", "b"), "AP")


def test_an_empty_ledger_has_no_figures():
    notes = []
    assert compare.figures(runs_of([]), notes.append) == {}
    assert "skipped" in notes[0]


def test_what_an_idea_is_worth():
    high, low = (dict.fromkeys(map(str, range(10)), value) for value in (0.9, 0.4))
    runs = [entry("with", WIKI, {"map": high}), entry("without", WIKI, {"map": low})]
    runs.append(entry("with", TREC, {"map": high}))
    both = {"harm": ("without", "with"), "help": ("with", "without")}
    frame = worth(matrix_of([*runs, runs[0]]), both)
    assert frame[["idea", "data", "questions", "runs"]].to_numpy().tolist() == [
        ["harm", "WikiQA (answered)", 10, "1 / 2"],
        ["help", "WikiQA (answered)", 10, "2 / 1"],
    ]
    assert frame["difference"].tolist() == pytest.approx([-0.5, 0.5])
    assert frame[["low", "high"]].iloc[1].tolist() == pytest.approx([0.5, 0.5])
    assert frame[ADJUSTED].tolist() == pytest.approx([2 / 2**10] * 2)
    assert not frame[CLEAR].any()  # of one seed it is not known
    axes = compare.worth(frame).axes[0]
    assert axes.get_xlabel() == "difference in MAP"
    assert [text.get_text() for text in axes.texts] == ["harm", "help"]
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["WikiQA (answered)  1 / 2", "WikiQA (answered)  2 / 1"]
    assert len(worth(matrix_of(runs), {"other": ("with", "nothing")})) == 0
    # What is only a part of another column is not counted twice.
    part = [entry(o["system"], TREC, o["values"], under="raw") for o in runs[:2]]
    assert len(worth(matrix_of([*runs[:2], *part]), {"help": ("with", "without")})) == 1
    # Two lines without a difference (p = 1) beside it multiply its p by three.
    same = worth(matrix_of(runs), {"none": ("with", "with"), "help": ("with", "without")})
    assert same[ADJUSTED].tolist() == pytest.approx([1.0, 1.0, 6 / 2**10])


def test_many_differences_stand_in_two_columns():
    def drawn(*sizes):
        lines = [
            (f"idea {i}", f"data {n}", "1 / 1", 0.1 * i, 0.0, 0.3, 1.0, False)
            for i, size in enumerate(sizes)
            for n in range(size)
        ]
        names = ["idea", "data", "runs", "difference", "low", "high", ADJUSTED, CLEAR]
        columns = compare.worth(pd.DataFrame(lines, columns=names)).axes
        assert len({axes.get_xlim() for axes in columns}) == 1
        assert len({axes.get_ylim() for axes in columns}) == 1
        return [[text.get_text() for text in axes.texts] for axes in columns]

    assert drawn(10, 10) == [["idea 0", "idea 1"]]
    # Heights of 5.3, 5.3, 4.5 and 6.9: two and two are the nearest to equal.
    assert drawn(5, 5, 4, 7) == [["idea 0", "idea 1"], ["idea 2", "idea 3"]]
    assert drawn(21) == [["idea 0"]]


def test_an_idea_is_clear_over_questions_and_over_seeds():
    def runs(system, *means):
        return [
            entry(system, WIKI, {"map": dict.fromkeys(map(str, range(10)), mean)}, seed=seed)
            for seed, mean in enumerate(means)
        ]

    found = [*runs("none", 0.4, 0.5), *runs("steady", 0.6, 0.7, 0.9), *runs("shaky", 0.5, 0.9)]
    ideas = {name: (name, "none") for name in ("steady", "shaky")}
    frame = worth(matrix_of([*found, *runs("once", 0.9)]), ideas | {"once": ("once", "none")})
    assert (frame[ADJUSTED] < 0.05).all()
    assert frame[CLEAR].tolist() == [True, False, False]
    # Differences .1 and .4: deviation .2121, t(1) = 12.706; the third seed has no partner.
    assert frame[SEEDS].tolist()[:2] == pytest.approx([0.0, 12.7062 * 0.15], abs=1e-3)
    assert frame[SEEDS].isna().tolist() == [False, False, True]
    faces = [dot.get_markerfacecolor() for dot in compare.worth(frame).axes[0].lines[1::2]]
    assert [face == "white" for face in faces] == [False, True, True]
