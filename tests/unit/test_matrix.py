import dataclasses
import io

import numpy as np
import pandas as pd
import pytest
from ledger_rows import entry, ledger_row, runs_of
from scipy import stats

from qasel.datasets import load_dataset
from qasel.errors import QaselError
from qasel.papers import (
    ROOMS,
    hierarchical_ranking,
    latent_structured,
    ms_ranker,
    question_relevancy,
)
from qasel.papers.lesson import just_measured
from qasel.rankers import WordOverlap
from qasel.results import compare as side_by_side
from qasel.results.compare import Matrix, Tally, entries
from qasel.results.runs import Target, read_runs

WIKI, TREC = Target("wikiqa", "answered"), Target("trecqa", "clean")
TEN = [f"q{i}" for i in range(10)]


def outcome(system, values, target=WIKI, **more):
    """A run with a value a question, or one value for all ten."""
    if isinstance(values, float):
        values = dict.fromkeys(TEN, values)
    return entry(system, target, {"map": values}, **more)


def matrix_of(lines, measure="map"):
    return Matrix.of(pd.DataFrame(lines), measure)


def three():
    """A and B alike, C far behind on all of ten questions."""
    return [outcome("A", 0.9), outcome("B", 0.85), outcome("C", 0.1)]


def test_mean_and_intervals_over_seeds_and_questions():
    runs = [{"q1": 0.5, "q2": 1.0}, {"q1": 0.7, "q2": 1.0}]
    seconds = [outcome("A", run, seconds=s) for run, s in zip(runs, (10.0, 30.0), strict=True)]
    cell = matrix_of(seconds).cells["A", WIKI]
    assert cell.values == pytest.approx({"q1": 0.6, "q2": 1.0})
    assert (cell.mean, cell.runs, cell.seconds) == (pytest.approx(0.8), 2, 20.0)
    assert cell.means == pytest.approx((0.75, 0.85))
    deviation = 0.1 / 2**0.5
    half = stats.t.ppf(0.975, 1) * deviation / 2**0.5
    assert cell.over_seeds == pytest.approx((deviation, half))
    low, high = cell.over_questions
    assert 0.6 <= low < 0.8 < high <= 1.0


def test_one_seed_has_no_interval_over_seeds():
    cell = matrix_of([outcome("A", 0.5)]).cells["A", WIKI]
    assert cell.over_seeds == (None, None)
    assert cell.over_questions == (0.5, 0.5)
    assert (cell.parameters, cell.ranked_per_second) == (None, None)


def test_folds_are_pooled_and_compared_with_whole_runs():
    folds = [outcome("A", {"q1": 0.4, "q2": 0.6}), outcome("A", {"q3": 0.8})]
    matrix = matrix_of([*folds, outcome("B", {"q1": 0.4, "q2": 0.6, "q3": 0.8})])
    cell = matrix.cells["A", WIKI]
    assert (cell.mean, cell.runs, cell.means) == (pytest.approx(0.6), 2, ())
    assert cell.over_seeds == (None, None)
    assert matrix.compared(WIKI) == ["A", "B"]
    assert matrix.tally("A", WIKI) == Tally(0, 1, 0)
    assert "2 folds" in side_by_side.details(matrix, "A", WIKI)


def test_cost_is_the_mean_of_the_runs_that_tell_it():
    old = outcome("A", 0.5)
    new = [outcome("A", 0.5, parameters=10, ranked_per_second=r) for r in (100.0, 300.0)]
    cell = matrix_of([old, *new]).cells["A", WIKI]
    assert (cell.parameters, cell.ranked_per_second) == (10, 200.0)


def test_a_short_table_has_the_best_and_the_columns_asked_for():
    matrix = matrix_of([*three(), *(outcome("D", x, parameters=2_340_000) for x in (0.9, 0.91))])
    table = side_by_side.short(matrix, WIKI, ["± over seeds", "parameters"], 2)
    assert table.title == "WikiQA (answered): 10 questions, 4 systems; the best 2"
    assert table.header == ["system", "MAP", "± over seeds", "parameters"]
    # Two seeds are too few for an interval.
    assert table.cells == [["D", "0.905", "–", "2.3 M"], ["A", "0.900", "–", "–"]]
    assert len(side_by_side.short(matrix, WIKI).cells) == 4


def test_wins_ties_and_losses():
    matrix = matrix_of(three())
    assert list(matrix.column(WIKI)) == ["A", "B", "C"]
    assert matrix.beaten("A", WIKI) == matrix.beaten("B", WIKI) == ["C"]
    assert matrix.beaten("C", WIKI) == []
    tallies = [matrix.tally(system, WIKI) for system in "ABC"]
    assert tallies == [Tally(1, 1, 0), Tally(1, 1, 0), Tally(0, 0, 2)]
    assert str(tallies[0]) == "1 / 1 / 0"


def test_two_systems_are_tested_by_flipping_signs():
    # All flips of n equal differences: only the two with one sign reach the observed mean.
    few = matrix_of([outcome(s, dict.fromkeys(TEN[:3], v)) for s, v in (("A", 0.9), ("B", 0.1))])
    assert few.tests(WIKI)["A", "B"].p == pytest.approx(2 / 2**3, abs=0.02)
    assert few.tally("A", WIKI) == Tally(0, 1, 0)
    many = matrix_of([outcome("B", 0.1), outcome("A", 0.9)])
    assert many.tests(WIKI)["A", "B"].p == pytest.approx(2 / 2**10, abs=0.001)
    assert many.tally("A", WIKI) == Tally(1, 0, 0)


def test_one_system_or_one_question_cannot_be_compared():
    assert matrix_of([outcome("A", 0.5)]).tests(WIKI) == {}
    single = matrix_of([outcome(s, {"q": v}) for s, v in (("A", 0.9), ("B", 0.1))])
    assert single.tests(WIKI) == {}
    assert single.tally("A", WIKI) is None
    assert "| 0.900 | – | – | 1 | not compared |" in side_by_side.render(single)
    assert ",0.9,,,,,,,,,," in side_by_side.render(single, "csv")


def test_other_questions_are_told_and_not_compared():
    less = outcome("D", dict.fromkeys(TEN[:4], 1.0))
    matrix = matrix_of([*three(), less])
    assert matrix.left_out(WIKI) == {"D": 4}
    assert matrix.compared(WIKI) == ["A", "B", "C"]
    assert not any("D" in pair for pair in matrix.tests(WIKI))
    assert matrix.tally("D", WIKI) is None
    text = side_by_side.render(matrix)
    assert "| d | D |  | 1.000 (4 questions) |" in text
    assert "Not compared on WikiQA (answered), run on other than its 10: D (4)." in text
    lines = pd.read_csv(io.StringIO(side_by_side.render(matrix, "csv"))).set_index("system")
    assert lines.loc["D", ["wins", "ties", "losses", "beats"]].isna().all()
    assert lines.loc["D", "questions"] == 4


def test_the_questions_of_most_systems_count_then_the_larger_set():
    long, short = dict.fromkeys(TEN, 0.5), dict.fromkeys(TEN[:3], 0.5)
    most = matrix_of([outcome("A", short), outcome("B", short), outcome("C", long)])
    assert len(most.questions(WIKI)) == 3
    assert len(matrix_of([outcome("A", short), outcome("C", long)]).questions(WIKI)) == 10


def test_missing_cells_and_superscripts():
    matrix = matrix_of([outcome("C", 0.3, TREC), *three()])
    table = side_by_side.overview(matrix)
    assert table.header == ["", "system", "paper", "WikiQA (answered)", "TREC-QA (clean)"]
    assert table.cells == [
        ["a", "C", "", ("0.100", ""), ("0.300", "")],
        ["b", "A", "", ("0.900", "a"), "–"],
        ["c", "B", "", ("0.850", "a"), "–"],
    ]
    assert "| b | A |  | 0.900<sup>a</sup> | – |" in table.markdown()
    assert r"b & A &  & 0.900\textsuperscript{a} & -- \\" in table.latex()


def test_long_superscripts_are_ranges_and_many_systems_have_numbers():
    low = [outcome(f"L{i}", 0.1) for i in range(3)]
    matrix = matrix_of([*low, outcome("A", 0.9), outcome("M", 0.1)])
    assert side_by_side.overview(matrix).cells[3][3] == ("0.900", "a–c,e")
    many = matrix_of([outcome(f"S{i}", 0.5) for i in range(27)])
    marks = side_by_side.letters(many)
    assert (marks["S0"], marks["S26"]) == ("1", "27")


def test_csv_has_its_columns_and_a_line_a_cell():
    runs = [outcome("A", 0.8, seconds=2.0, parameters=7, ranked_per_second=50.0, paper="p")]
    runs += [outcome("A", 0.9, seconds=4.0), outcome("B", 0.1, vectors="v")]
    text = side_by_side.render(matrix_of(runs), "csv")
    assert text.splitlines()[0] == (
        "paper,system,vectors,dataset,protocol,under,scale,measure,questions,runs,mean,std,seed_low,seed_high,"
        "question_low,question_high,wins,ties,losses,beats,seconds,parameters,ranked_per_second"
    )
    half = stats.t.ppf(0.975, 1) * 0.05
    a, b = pd.read_csv(io.StringIO(text)).to_dict("records")
    assert (a["system"], a["dataset"], a["protocol"]) == ("A", "wikiqa", "answered")
    assert (a["questions"], a["runs"], a["seconds"], a["parameters"]) == (10, 2, 3.0, 7.0)
    assert (a["seed_low"], a["seed_high"]) == pytest.approx((0.85 - half, 0.85 + half), rel=1e-4)
    assert (a["wins"], a["ties"], a["losses"], a["beats"]) == (1, 0, 0, "B")
    assert (b["mean"], b["losses"], b["vectors"]) == (0.1, 1, "v")
    assert np.isnan(b["std"])


def test_a_part_of_the_matrix():
    mixed = Target("wikiqa", "mixed")
    matrix = matrix_of([*three(), outcome("A", 0.2, mixed), outcome("B", 0.3, TREC)])
    assert matrix.targets == (WIKI, mixed, TREC)
    assert set(matrix.only(data=["wikiqa"]).cells) == {
        ("A", WIKI), ("B", WIKI), ("C", WIKI), ("A", mixed)
    }  # fmt: skip
    assert set(matrix.only(["A"], ["wikiqa/mixed"]).cells) == {("A", mixed)}
    assert matrix.only(["C"], ["trecqa"]).cells == {}
    assert matrix.leaders(1) == ["A", "B"]
    with pytest.raises(QaselError, match=r"no run of the data set 'wikqa'.* 'wikiqa'"):
        matrix.only(data=["wikqa"])


def test_near_names_of_systems_are_told():
    matrix = matrix_of([outcome("PRI(list)", 0.9), outcome("DCA", 0.5)])
    with pytest.raises(QaselError, match=r"'pri\(lst\)' in the ledger; did you mean 'PRI\(list\)'"):
        matrix.only(["pri(lst)"])
    with pytest.raises(QaselError, match=r"there are: PRI\(list\), DCA"):
        matrix.only(["zzz"])
    with pytest.raises(QaselError, match=r"unknown measure 'acc'.* map"):
        matrix_of([outcome("A", 0.5)], "acc")
    with pytest.raises(QaselError, match="md, csv, latex"):
        side_by_side.render(matrix, "html")


def row(room, variant, dataset="wikiqa", seed=0, vectors=None, scale="paper", **changes):
    recipe = room.recipe(variant, dataset, vectors=vectors, seed=seed, scale=scale)
    return ledger_row(recipe.change(**changes), {}, {"map": 0.5}, {"q1": 0.5})


def names(*rows):
    return [(o.system, o.target.key) for o in entries(runs_of(rows)).itertuples()]


def test_rows_that_count_by_paper_and_variant():
    rows = [
        row(ms_ranker, "MS-Ranker"),
        row(hierarchical_ranking, "PRI(list)", seed=1),
        row(hierarchical_ranking, "CA(list)"),
        row(hierarchical_ranking, "PRI(list)", seed=0),
        row(hierarchical_ranking, "DCA", margin=0.5),  # an experiment
        row(hierarchical_ranking, "DCA", scale="quick"),
        row(latent_structured, "LSP", "trecqa"),
    ]
    assert names(*rows) == [
        ("CA(list)", "wikiqa/answered"),
        ("PRI(list)", "wikiqa/answered"),
        ("PRI(list)", "wikiqa/answered"),
        ("LSP", "trecqa/clean"),
        ("MS-Ranker", "wikiqa/answered"),
    ]
    assert Matrix.of(entries(runs_of(rows))).cells["PRI(list)", WIKI].runs == 2


def test_on_the_sample_small_recipes_count_under_their_scale():
    wiki = row(hierarchical_ranking, "DCA")
    paper, quick = (
        row(hierarchical_ranking, "DCA", "sample", scale=scale) for scale in ("paper", "quick")
    )
    matrix = Matrix.of(entries(runs_of([wiki, quick])))
    assert matrix.systems == ("DCA",)
    sample = Target("sample", "answered")
    assert side_by_side.details(matrix, "DCA", sample)[3] == "1 (quick)"
    assert any("Runs (quick)" in note for note in side_by_side.notes_of(matrix))
    assert names(quick, paper) == [("DCA", "sample/answered"), ("DCA, quick", "sample/answered")]


def test_vectors_that_are_not_the_usual_ones_part_systems():
    a, b = (row(hierarchical_ranking, "DCA", vectors=v) for v in ("a", "b"))
    c = row(hierarchical_ranking, "DCA", "trecqa", vectors="c")
    assert [name for name, _ in names(a, b, c)] == ["DCA, c", "DCA, a", "DCA, b"]
    usual = row(hierarchical_ranking, "DCA")
    assert [name for name, _ in names(a, usual)] == ["DCA, a", "DCA"]


def test_the_same_name_in_two_papers_has_its_paper():
    rows = [row(hierarchical_ranking, "DCA"), row(latent_structured, "CNN", "trecqa")]
    rows[1].recipe["variant"] = "DCA"
    made = latent_structured.recipe("CNN", "trecqa")

    class Renamed(type(made)):
        def as_dict(self):
            return made.as_dict() | {"variant": "DCA"}

    renamed = Renamed(**made.model_dump())
    other = dataclasses.replace(
        latent_structured.ROOM, variants=("DCA",), recipe=lambda *_, **__: renamed
    )
    runs = read_runs([ROOMS["hierarchical-ranking"], other], rows)
    found = list(entries(runs)["system"])
    assert found == ["DCA (hierarchical-ranking)", "DCA (latent-structured)"]


def test_a_run_counts_on_fewer_questions_too():
    fewer = row(latent_structured, "LSP")  # mixed: q1
    more = [row(hierarchical_ranking, "DCA", seed=seed) for seed in (0, 1)]
    for wide, value in zip(more, (0.2, 0.4), strict=True):
        wide.per_question["test"]["map"] = {"q1": value, "q2": 1.0}
    matrix = Matrix.of(entries(runs_of([*more, fewer])))
    mixed = Target("wikiqa", "mixed")
    assert matrix.cells["DCA", WIKI].mean == pytest.approx(0.65)
    assert matrix.cells["DCA", mixed].values == pytest.approx({"q1": 0.3})
    assert (matrix.cells["DCA", mixed].under, matrix.cells["LSP", mixed].under) == ("answered", "")
    assert ("LSP", WIKI) not in matrix.cells  # it never saw q2
    assert matrix.compared(mixed) == ["LSP", "DCA"]
    assert side_by_side.details(matrix, "DCA", mixed)[3] == "2 (answered)"
    assert any("Runs (answered): trained" in note for note in side_by_side.notes_of(matrix))
    # Which questions are mixed is known from runs on them.
    assert names(*more) == [("DCA", "wikiqa/answered")] * 2


def test_a_later_test_is_a_target_of_its_own():
    first = row(question_relevancy, "STL-MLP", "semeval-cqa")
    first.per_question["test-2017"] = {"map": {"q9": 0.25}}
    found = {o.target: o.values["map"] for o in entries(runs_of([first])).itertuples()}
    assert found == {
        Target("semeval-cqa", "b-2016"): {"q1": 0.5},
        Target("semeval-cqa", "b-2017"): {"q9": 0.25},
    }
    assert [target.name for target in found] == ["SemEval-2016 B", "SemEval-2017 B"]


def test_a_ranker_just_fitted_is_an_outcome_too():
    data = load_dataset("sample")
    ranker = WordOverlap()
    run, found = just_measured("word overlap", ranker, ranker.fit(data.train, data.dev), data)
    assert (found["target"].key, found["parameters"]) == ("sample/answered", None)
    assert found["ranked_per_second"] > 0
    assert set(found["values"]["map"]) == set(run.scores) == {q.id for q in data.test}
    assert matrix_of([found]).cells["word overlap", found["target"]].runs == 1


class Growing(WordOverlap):
    """Takes in the words of what it ranks, as the networks do."""

    parameter_count = 5

    def rank(self, split):
        self.parameter_count += len(split)
        return super().rank(split)


def test_parameters_are_counted_before_new_words_come():
    data = load_dataset("sample")
    ranker = Growing()
    _, found = just_measured("growing", ranker, ranker.fit(data.train, data.dev), data)
    assert found["parameters"] == 5
