import numpy as np
import pandas as pd
import pytest
from ledger_rows import entry, runs_of

from qasel.errors import QaselError
from qasel.figures import compare
from qasel.figures.charts import WIDEST, Difference, differences, grid
from qasel.figures.compare import (
    NAMED,
    Point,
    agreement,
    front,
    labelled,
    spaced,
    steps_of,
    uncross,
)
from qasel.results.compare import ADJUSTED, CLEAR, SEEDS, Matrix, worth
from qasel.results.runs import Target

WIKI, TREC = Target("wikiqa", "answered"), Target("trecqa", "clean")


def matrix_of(lines):
    return Matrix.of(pd.DataFrame(lines))


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
    with pytest.raises(QaselError, match=r"\(1, 2\)"):
        grid([[0.1, 0.2]], ["a", "b"], ["c"])
    many = grid([[0.1] * 20], ["a system"], ["a data set"] * 20)
    assert many.get_figwidth() == WIDEST


def test_cost_has_a_panel_a_data_set():
    panels = compare.quality_cost(matrix()).axes
    assert [axes.get_title(loc="left") for axes in panels] == [
        "WikiQA (answered)",
        "TREC-QA (clean)",
    ]
    assert sorted(text.get_text() for text in panels[0].texts) == ["A", "B"]
    best, other, steps = panels[0].get_lines()
    assert best.get_markerfacecolor() != "white"
    assert other.get_markerfacecolor() == "white"  # as long to train, and no better
    assert steps.get_xdata()[0] == 3.0
    assert steps.get_ydata().tolist() == [0.75, 0.75]
    free = panels[1].get_lines()[0].get_xdata()[0]  # nothing to train
    place = panels[1].get_xticks().tolist().index(free)
    assert panels[1].get_xticklabels()[place].get_text() == "none"


def test_names_do_not_overlap():
    points = [Point(1.0 + i, 0.5 + i / 1000, f"system {i}") for i in range(NAMED)]
    figure = labelled({"x": points}, xlabel="s", ylabel="MAP")
    figure.draw_without_rendering()
    renderer = figure._get_renderer()
    boxes = [text.get_window_extent(renderer) for text in figure.axes[0].texts]
    assert len(boxes) == NAMED
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[i + 1 :])
    more = [*points, Point(0.5, 0.9, "the best")]
    named = [text.get_text() for text in labelled({"x": more}, xlabel="", ylabel="").axes[0].texts]
    assert named == ["the best"]


def test_the_front_is_what_nothing_beats_in_both():
    places = [(1, 0.5), (2, 0.4), (2, 0.7), (3, 0.7), (4, 0.9), (1, 0.3)]
    points = [Point(x, y, f"{x}, {y}") for x, y in places]
    assert [point.name for point in front(points)] == ["1, 0.5", "2, 0.7", "4, 0.9"]


def test_of_many_best_buys_the_ends_and_the_steps_are_named():
    best = [Point(x, y, str(y)) for x, y in enumerate((0.5, 0.505, 0.51, 0.6, 0.601, 0.602))]
    assert [point.y for point in steps_of(best)] == [0.5, 0.51, 0.6, 0.602]


def test_lines_to_names_do_not_cross():
    # The first starts left of the second and above it, but would end below it.
    heights = {0: 0.4, 1: 0.6}
    uncross([0.1, 0.9], [0.5, 0.3], heights)
    assert heights == {0: 0.6, 1: 0.4}
    uncross([0.1, 0.9], [0.5, 0.3], heights)
    assert heights == {0: 0.6, 1: 0.4}


def test_a_part_has_the_targets_that_there_are():
    assert compare.part(matrix(), ["trecqa/clean", "wikiqa/mixed"]).targets == (TREC,)
    assert compare.part(matrix(), ["wikiqa/mixed"]).targets == (WIKI, TREC)


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ([], []),
        ([0.2, 0.8], [0.2, 0.8]),
        ([0.2, 0.25], [0.2, 0.3]),
        ([0.95, 0.97, 1.0], [0.8, 0.9, 1.0]),
        ([0.1, 0.1, 0.1], [0.1, 0.2, 0.3]),
    ],
)
def test_places_keep_their_distance(places, expected):
    assert spaced(places, 0.1) == pytest.approx(expected)
    assert spaced([0.3, 0.95, 1.0], 0.1, top=0.9) == pytest.approx([0.3, 0.8, 0.9])


def test_questions_of_two_systems():
    axes = compare.questions(matrix(), WIKI, "A", "B").axes[0]
    assert axes.get_xlabel() == "AP, A (better on 1 of 2)"
    assert axes.get_ylabel() == "AP, B (better on 0)"
    dots = [points.get_offsets().tolist() for points in axes.collections]
    assert dots == [[[0.5, 0.5]], [[1.0, 0.25]]]
    three, one = agreement([(0, 1), (0, 1), (0, 1), (1, 0)], ("a", "b")).axes[0].collections
    assert three.get_sizes()[0] == 3 * one.get_sizes()[0]
    with pytest.raises(QaselError, match="no question"):
        agreement([], ("a", "b"))


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
            Difference(f"idea {i}", f"data {n}", 0.1 * i, 0.0, 0.3, found=False, clear=False)
            for i, size in enumerate(sizes)
            for n in range(size)
        ]
        columns = differences(lines, xlabel="difference", note="lines: 95 %").axes
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
