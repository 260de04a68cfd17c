import dataclasses
import itertools

import numpy as np
import pandas as pd
import pytest
from ledger_rows import entry, ledger_row, runs_of

from qasel.errors import QaselError
from qasel.figures import compare
from qasel.figures.compare import FEWER, NAMED, WIDEST, agreement, leaders
from qasel.papers import ROOMS
from qasel.results.families import CORRECTIONS, FAMILIES, Family
from qasel.results.matrix import ADJUSTED, CLEAR, targets, with_tests, worth
from qasel.results.matrix import matrix as side_by_side
from qasel.results.matrix_text import worth_its_cost

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


def test_seven_headings_stand_beside_each_other_whatever_the_names_of_the_systems():
    name = "cross-encoder (list), sentence-transformers/all-mpnet-base-v2"
    cut = [*(f"wikiqa/{p}" for p in ("answered", "mixed", "all")), "trecqa/clean", "trecqa/raw"]
    cut += ["semeval-cqa/a-2016", "semeval-cqa/b-2016"]
    figure = compare.score_matrix(matrix_of([entry(name, t, {"map": {"q": 0.1}}) for t in cut]))
    figure.draw_without_rendering()
    (axes,) = figure.axes
    assert axes.get_yticklabels()[0].get_text() == "cross-encoder (list),\nall-mpnet-base-v2"
    boxes = [label.get_window_extent() for label in axes.get_xticklabels()]
    assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))


def family(**pairs):
    return Family("some", "Which?", "benjamini-hochberg", pairs=pairs)


def costs(system, mean, seconds, **more):
    """A run with about the same AP for each of thirty questions."""
    values = {str(i): mean + 0.001 * (i % 3) for i in range(30)}
    return entry(system, WIKI, {"map": values}, seconds=seconds, **more)


def test_tuning_shows_the_ways_that_have_a_run_and_a_cost(tmp_path, monkeypatch):
    room = ROOMS["yardsticks"]
    costs = [f"{encoder},{trained},0,5,2.4" for encoder, trained in compare.TUNED][:-1]
    path = tmp_path / "costs.csv"
    path.write_text("\n".join(["encoder,trained,weights,minutes an epoch,peak GiB", *costs]))
    monkeypatch.setattr(compare, "COSTS", path)
    rows = []
    for variant, changed in compare.TUNED.values():
        assert (compare.tuning(runs_of(rows)) is None) == (len(rows) < 2)
        recipe = room.recipe(variant, "wikiqa").change(**changed)
        rows.append(ledger_row(recipe, {"map": 0.7}, {"map": 0.7}, {"q": 0.7}))
    for row in list(rows):  # not shown, as each was run in float32, too
        recipe, scores = row.recipe | {"precision": "bfloat16"}, {"test": {"map": 0.2}}
        rows.append(dataclasses.replace(row, recipe=recipe, scores=scores))
    (axes,) = compare.tuning(runs_of(rows)).axes
    assert [text.get_text() for text in axes.texts] == ["1", "2", "3", "4", "5", "6"]
    told = [handle.get_label() for handle in axes.get_legend_handles_labels()[0]]
    ways = [f"{number}  {': '.join(way)}" for number, way in enumerate(compare.TUNED, 1)]
    assert [text.split("\n")[0] for text in told] == ways[:-1]
    assert told[-2].endswith("0.700, 2.4 GiB")
    assert {line.get_xdata()[0] for line in axes.get_lines()} == {0, 20}  # four epochs


def test_cost_has_a_panel_per_data_set():
    cells = with_tests(side_by_side(pd.DataFrame([
        costs("A", 0.7, 9.0, seed=0), costs("A", 0.72, 5.0, seed=1), costs("A", 0.71, 4.0, seed=2),
        costs("B", 0.3, 3.0), entry("A", TREC, {"map": {"q": 0.5}}, seconds=0.0),
    ])))  # fmt: skip
    panels = compare.quality_cost(cells).axes
    titles = [axes.get_title(loc="left") for axes in panels]
    assert titles == ["WikiQA (answered)", "TREC-QA (clean)"]
    names = [text.get_text() for text in panels[0].get_legend().get_texts()]
    assert names == ["1  A", "2  B"]
    better, cheaper = panels[0].get_lines()
    assert better.get_markerfacecolor() != "white"
    assert cheaper.get_markerfacecolor() == "white"  # nothing is cheaper
    quality, range_ = (bar.get_segments()[0] for bar in panels[0].collections[:2])
    assert quality[0, 1] < 0.711 < quality[1, 1]
    assert range_[:, 0].tolist() == [4.0, 9.0]
    low, high = panels[1].get_xlim()
    assert low < 0.0 < high  # where nothing is trained


def test_of_many_systems_those_are_named_that_are_clearly_better_than_the_most_cheaper_ones():
    runs = [costs(f"system {i}", 0.3 + i / 50, 1.0 + i) for i in range(NAMED + 1)]
    few, many = (
        [text.get_text() for text in compare.quality_cost(found).axes[0].get_legend().get_texts()]
        for found in (with_tests(matrix_of(part)) for part in (runs[:NAMED], runs))
    )
    assert len(few) == NAMED
    assert many == [f"{n}  system {NAMED + 1 - n}" for n in range(1, FEWER + 1)]


def test_cheaper_systems_that_one_is_clearly_better_than():
    runs = [costs("dear", 0.8, 9.0), costs("alike", 0.8, 5.0), costs("cheap", 0.5, 2.0)]
    table = worth_its_cost(with_tests(matrix_of([*runs, costs("slow", 0.1, 99.0)])).loc[WIKI])
    assert table["clearly better than"].to_dict() == {
        "dear": "cheap", "alike": "cheap", "cheap": "", "slow": "",
    }  # fmt: skip
    assert table["cheaper"].tolist() == [2, 1, 0, 3]


def test_costs_are_of_one_device():
    cpu, gpu = "CPU (1 threads)", "GPU"
    runs = [costs("A", 0.5, 8.0, device=cpu), costs("A", 0.5, 1.0, device=gpu)]
    cells = matrix_of([*runs, costs("B", 0.5, 2.0, device=gpu), costs("C", 0.5, 4.0, device=cpu),
                       costs("D", 0.5, 3.0, device=cpu)])  # fmt: skip
    assert cells.loc[WIKI, "seconds"].loc[["A", "C", "D"]].tolist() == [8.0, 4.0, 3.0]
    assert np.isnan(cells.loc[(WIKI, "B"), "seconds"])
    assert cells["device"].unique().tolist() == [cpu]


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
    both = family(harm=("without", "with"), help=("with", "without"))
    frame = worth(matrix_of([*runs, runs[0]]), both)
    assert frame[["idea", "data", "questions", "seeds"]].to_numpy().tolist() == [
        ["harm", "WikiQA (answered)", 10, 1],
        ["help", "WikiQA (answered)", 10, 1],
    ]
    assert frame["difference"].tolist() == pytest.approx([-0.5, 0.5])
    assert frame[["low", "high"]].iloc[1].tolist() == pytest.approx([0.5, 0.5])
    assert (frame[ADJUSTED] < 0.001).all()
    assert not frame[CLEAR].any()  # of one seed it is not known
    axes = compare.worth(frame).axes[0]
    assert axes.get_xlabel() == "difference in MAP"
    assert [text.get_text() for text in axes.texts] == ["harm", "help"]
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["WikiQA (answered)  1"] * 2
    assert len(worth(matrix_of(runs), family(other=("with", "nothing")))) == 0
    # What is only a part of another column is not counted twice.
    part = [entry(o["system"], TREC, o["values"], under="raw") for o in runs[:2]]
    assert len(worth(matrix_of([*runs[:2], *part]), family(help=("with", "without")))) == 1
    # Two lines without a difference (p = 1) beside it multiply its p by three.
    same = worth(matrix_of(runs), family(none=("with", "with"), help=("with", "without")))
    assert same[ADJUSTED].tolist() == pytest.approx([1.0, 1.0, 3e-4])


def test_the_sample_is_in_no_family_with_real_data():
    on_sample = family(help=("with", "without"))
    values = [(s, {"map": dict.fromkeys("abc", v)}) for s, v in (("with", 0.9), ("without", 0.1))]
    cells = matrix_of([entry(s, t, v) for t in (WIKI, "sample/answered") for s, v in values])
    found = {
        data: worth(cells, dataclasses.replace(on_sample, data=data))["data"].tolist()
        for data in ("real", "sample")
    }
    assert found == {"real": ["WikiQA (answered)"], "sample": ["sample (answered)"]}
    for one in FAMILIES.values():
        assert one.data or not one.pairs, "a list of pairs says on which data"
        assert one.correction in CORRECTIONS
    caption = FAMILIES["ideas"].caption(7)
    assert caption == "Family “ideas”: 7 tests, Benjamini-Hochberg."


def test_many_differences_stand_in_two_columns():
    def drawn(*sizes):
        lines = [
            (f"idea {i}", f"data {n}", 1, 0.1 * i, 0.0, 0.3, 1.0, False)
            for i, size in enumerate(sizes)
            for n in range(size)
        ]
        names = ["idea", "data", "seeds", "difference", "low", "high", ADJUSTED, CLEAR]
        columns = compare.worth(pd.DataFrame(lines, columns=names)).axes
        assert len({axes.get_xlim() for axes in columns}) == 1
        assert len({axes.get_ylim() for axes in columns}) == 1
        return [[text.get_text() for text in axes.texts] for axes in columns]

    assert drawn(10, 10) == [["idea 0", "idea 1"]]
    # Heights of 5.3, 5.3, 4.5 and 6.9: two and two are the nearest to equal.
    assert drawn(5, 5, 4, 7) == [["idea 0", "idea 1"], ["idea 2", "idea 3"]]
    assert drawn(21) == [["idea 0"]]


def test_an_idea_is_clear_with_the_seeds_in_the_test():
    def runs(system, *means):
        return [
            entry(system, WIKI, {"map": dict.fromkeys(map(str, range(10)), mean)}, seed=seed)
            for seed, mean in enumerate(means)
        ]

    found = [*runs("none", 0.4, 0.5, 0.4), *runs("steady", 0.6, 0.7, 0.6), *runs("shaky", 0.5, 0.9)]
    ideas = {name: (name, "none") for name in ("steady", "shaky", "once")}
    frame = worth(matrix_of([*found, *runs("once", 0.9)]), family(**ideas)).set_index("idea")
    assert frame["seeds"].tolist() == [3, 2, 1]
    assert (frame[ADJUSTED] < 0.05).tolist() == [True, False, True]
    assert frame[CLEAR].tolist() == [True, False, False]
    # Differences .1 and .4: t(1) = 12.706, deviation .2121.
    assert frame.loc["shaky", "high"] - 0.25 == pytest.approx(12.7062 * 0.15, rel=0.1)
    faces = [
        dot.get_markerfacecolor() for dot in compare.worth(frame.reset_index()).axes[0].lines[1::2]
    ]
    assert [face == "white" for face in faces] == [False, True, True]
