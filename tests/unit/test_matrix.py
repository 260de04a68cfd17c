import dataclasses
import io

import numpy as np
import pandas as pd
import pytest
import torch
from ledger_rows import entry, ledger_row, runs_of

from qasel.datasets import load_dataset
from qasel.errors import QaselError
from qasel.evaluation import hierarchical_bootstrap, holm
from qasel.papers import (
    ROOMS,
    hierarchical_ranking,
    latent_structured,
    ms_ranker,
    question_relevancy,
    yardsticks,
)
from qasel.papers.lesson import compete
from qasel.results import matrix as side_by_side
from qasel.results import matrix_text
from qasel.results.matrix import entries, matrix, with_tests
from qasel.results.runs import read_runs, target_name
from qasel.results.tables import latex_table, markdown_table
from qasel.training.neural import Reference

WIKI, TREC = "wikiqa/answered", "trecqa/clean"
TEN = [f"q{i}" for i in range(10)]


def outcome(system, values, target=WIKI, **more):
    """A run with a value per question, or one value for all ten."""
    if isinstance(values, float):
        values = dict.fromkeys(TEN, values)
    return entry(system, target, {"map": values}, **more)


def matrix_of(lines, measure="map"):
    return with_tests(matrix(pd.DataFrame(lines), measure))


def tallies(cells, target=WIKI):
    """System → wins, ties and losses."""
    lines = cells.loc[target, ["wins", "ties", "losses"]]
    return {name: tuple(line) for name, line in lines.iterrows()}


def three():
    """A and B not clearly apart, C far behind on all of ten questions."""
    near = dict(zip(TEN, [0.75, 0.95] * 5, strict=True))
    return [outcome("A", 0.9), outcome("B", near), outcome("C", 0.1)]


def test_mean_and_intervals_over_seeds_and_questions():
    runs = [{"q1": 0.5, "q2": 1.0}, {"q1": 0.7, "q2": 1.0}]
    seconds = [
        outcome("A", run, seconds=s, seed=s) for run, s in zip(runs, (10.0, 30.0), strict=True)
    ]
    cells = matrix_of(seconds)
    cell = cells.loc[(WIKI, "A")]
    assert cell["values"] == pytest.approx({"q1": 0.6, "q2": 1.0})
    assert (cell["mean"], cell["runs"], cell["seconds"]) == (pytest.approx(0.8), 2, 20.0)
    assert cell["means"] == pytest.approx([0.75, 0.85])
    deviation = 0.1 / 2**0.5
    assert cell["std"] == pytest.approx(deviation)
    assert cell["by_seed"].to_numpy().tolist() == [[0.5, 1.0], [0.7, 1.0]]
    found = hierarchical_bootstrap(list(runs))
    ends = matrix_text.details(cells.loc[WIKI]).loc["A", matrix_text.INTERVAL]
    assert ends == f"{found.low:.3f} to {found.high:.3f}"


def test_one_run_has_no_deviation():
    cells = matrix_of([outcome("A", 0.5)])
    assert cells.loc[(WIKI, "A"), ["std", "parameters", "ranked_per_second"]].isna().all()
    ends = matrix_text.details(cells.loc[WIKI]).loc["A", matrix_text.INTERVAL]
    assert ends == "0.500 to 0.500"


def test_folds_are_pooled_and_compared_with_whole_runs():
    folds = [outcome("A", {"q1": 0.4, "q2": 0.6}), outcome("A", {"q3": 0.8})]
    cells = matrix_of([*folds, outcome("B", {"q1": 0.4, "q2": 0.6, "q3": 0.8})])
    cell = cells.loc[(WIKI, "A")]
    assert (cell["mean"], cell["runs"], cell["means"]) == (pytest.approx(0.6), 2, [])
    assert pd.isna(cell["std"])
    assert cells["compared"].all()
    assert tallies(cells)["A"] == (0, 1, 0)
    assert matrix_text.details(cells.loc[WIKI]).loc["A", "runs"] == "2 folds"


def test_cost_is_the_mean_of_the_runs_that_tell_it():
    old = outcome("A", 0.5)
    new = [outcome("A", 0.5, parameters=10, ranked_per_second=r) for r in (100.0, 300.0)]
    cell = matrix_of([old, *new]).loc[(WIKI, "A")]
    assert (cell["parameters"], cell["ranked_per_second"]) == (10, 200.0)


def test_details_are_texts_best_first():
    cells = matrix_of([*three(), *(outcome("D", x, parameters=2_340_000) for x in (0.9, 0.91))])
    assert matrix_text.counted(cells, WIKI) == "WikiQA (answered): 10 questions, 4 systems"
    table = matrix_text.details(cells.loc[WIKI])[["MAP", "± over runs", "parameters"]]
    assert table.loc["D"].tolist() == ["0.905", "0.007", "2.3 M"]
    assert table.loc["A"].tolist() == ["0.900", "–", "–"]
    assert list(table.index) == ["D", "A", "B", "C"]


def test_wins_ties_and_losses():
    cells = matrix_of(three())
    assert list(cells.loc[WIKI].index) == ["A", "B", "C"]
    assert cells["beats"].tolist() == [["C"], ["C"], []]
    assert tallies(cells) == {"A": (1, 1, 0), "B": (1, 1, 0), "C": (0, 0, 2)}
    told = matrix_text.details(cells.loc[WIKI])[matrix_text.TALLY]
    assert told["A"] == "1 / 1 / 0"


def test_pairs_are_tested_as_alone_and_corrected_by_holm():
    draw = np.random.default_rng(3)
    values = {name: dict(zip(TEN, draw.random(10) + up, strict=True)) for name, up in
              (("A", 0.45), ("B", 0.2), ("C", 0.0))}  # fmt: skip
    cells = matrix_of([outcome(name, found) for name, found in values.items()])
    found = side_by_side.pairs(cells.loc[WIKI])
    alone = [hierarchical_bootstrap(values[a], values[b]).p for a, b in found.index]
    adjusted = holm(alone)
    assert found["p"].tolist() == pytest.approx(adjusted)
    assert max(adjusted) > max(alone) / 2 > 0.0001


def test_pairs_are_tested_on_common_seeds_and_random_is_left_out():
    def runs(system, *means):
        return [outcome(system, mean, seed=seed) for seed, mean in enumerate(means)]

    cells = matrix_of([*runs("A", 0.9, 0.1), *runs("B", 0.8), *runs("random", 0.1)])
    found = side_by_side.pairs(cells.loc[WIKI])
    assert list(found.index) == [("B", "A")]  # better first, by the mean of all runs
    assert found["difference"].item() == pytest.approx(-0.1)  # on the seed that both have
    assert tallies(cells)["A"] == (1, 0, 0)
    assert cells.loc[(WIKI, "random"), "wins"] is pd.NA
    # Nothing drawn: one run serves both seeds of the other.
    fixed = outcome("B", 0.8, seed=0, seeded=False)
    cells = matrix_of(
        [outcome("A", m, seed=s, seeded=True) for s, m in enumerate((0.9, 0.3))] + [fixed]
    )
    assert side_by_side.pairs(cells.loc[WIKI])["difference"].item() == pytest.approx(0.2)


def test_one_system_or_one_question_cannot_be_compared():
    assert side_by_side.pairs(matrix_of([outcome("A", 0.5)]).loc[WIKI]).empty
    single = matrix_of([outcome(s, {"q": v}) for s, v in (("A", 0.9), ("B", 0.1))])
    assert side_by_side.pairs(single.loc[WIKI]).empty
    assert single["wins"].isna().all()
    assert "| 0.900 | – | – | 1 | not compared |" in matrix_text.render(single)
    assert ",0.9,,,,,,,," in matrix_text.render(single, "csv")


def test_other_questions_are_told_and_not_compared():
    less = outcome("D", dict.fromkeys(TEN[:4], 1.0))
    cells = matrix_of([*three(), less])
    assert cells["compared"].loc[WIKI].to_dict() == {"D": False, "A": True, "B": True, "C": True}
    assert not any("D" in pair for pair in side_by_side.pairs(cells.loc[WIKI]).index)
    text = matrix_text.render(cells)
    assert "| d | D |  | 1.000 (4 questions) |" in text
    assert "Not compared on WikiQA (answered), run on other than its 10: D (4)." in text
    lines = pd.read_csv(io.StringIO(matrix_text.render(cells, "csv"))).set_index("system")
    assert lines.loc["D", ["wins", "ties", "losses", "beats"]].isna().all()
    assert lines.loc["D", "questions"] == 4


def test_the_questions_of_most_systems_count_then_the_larger_set():
    long, short = dict.fromkeys(TEN, 0.5), dict.fromkeys(TEN[:3], 0.5)
    most = matrix_of([outcome("A", short), outcome("B", short), outcome("C", long)])
    assert most.query("compared")["questions"].tolist() == [3, 3]
    larger = matrix_of([outcome("A", short), outcome("C", long)])
    assert larger.query("compared")["questions"].tolist() == [10]


def test_missing_cells_and_superscripts():
    cells = matrix_of([outcome("C", 0.3, TREC), *three()])
    table = matrix_text.overview(cells)
    assert list(table) == ["", "system", "paper", "WikiQA (answered)", "TREC-QA (clean)"]
    assert table.to_numpy().tolist() == [
        ["a", "C", "", "0.100", "0.300"],
        ["b", "A", "", "0.900<sup>a</sup>", "–"],
        ["c", "B", "", "0.850<sup>a</sup>", "–"],
    ]
    assert "| b | A |  | 0.900<sup>a</sup> | – |" in markdown_table(table)
    assert r"b & A &  & 0.900\textsuperscript{a} & -- \\" in latex_table(table)


def test_long_superscripts_are_ranges_and_many_systems_have_numbers():
    low = [outcome(f"L{i}", 0.1) for i in range(3)]
    cells = matrix_of([*low, outcome("A", 0.9), outcome("M", 0.1)])
    assert matrix_text.overview(cells).iloc[3, 3] == "0.900<sup>a–c,e</sup>"
    many = matrix_of([outcome(f"S{i}", 0.5) for i in range(27)])
    marks = matrix_text.letters(many)
    assert (marks["S0"], marks["S26"]) == ("1", "27")


def test_csv_has_its_columns_and_a_line_per_cell():
    runs = [outcome("A", 0.8, seconds=2.0, parameters=7, ranked_per_second=50.0, paper="p")]
    runs += [outcome("A", 0.9, seconds=4.0), outcome("B", 0.1, vectors="v")]
    text = matrix_text.render(matrix_of(runs), "csv")
    assert text.splitlines()[0] == (
        "paper,system,vectors,dataset,protocol,under,scale,measure,questions,runs,mean,std,low,high,"
        "wins,ties,losses,beats,seconds,parameters,ranked_per_second"
    )
    a, b = pd.read_csv(io.StringIO(text)).to_dict("records")
    assert (a["system"], a["dataset"], a["protocol"]) == ("A", "wikiqa", "answered")
    assert (a["questions"], a["runs"], a["seconds"], a["parameters"]) == (10, 2, 3.0, 7.0)
    assert (a["std"], a["low"], a["high"]) == pytest.approx((0.05 * 2**0.5, 0.85, 0.85), rel=1e-4)
    assert (a["wins"], a["ties"], a["losses"], a["beats"]) == (1, 0, 0, "B")
    assert (b["mean"], b["losses"], b["vectors"]) == (0.1, 1, "v")
    assert np.isnan(b["std"])


def test_a_part_of_the_runs():
    mixed = "wikiqa/mixed"
    lines = pd.DataFrame([*three(), outcome("A", 0.2, mixed), outcome("B", 0.3, TREC)])
    cells = matrix(lines)
    assert side_by_side.targets(cells) == [WIKI, mixed, TREC]
    assert side_by_side.systems(cells) == ["A", "B", "C"]
    chosen = side_by_side.chosen
    assert chosen(lines, data=["wikiqa"])["system"].tolist() == ["A", "B", "C", "A"]
    assert chosen(lines, ["A"], [mixed]).index.tolist() == [3]
    assert chosen(lines, ["C"], ["trecqa"]).empty
    with pytest.raises(QaselError, match=r"no run of the data set 'wikqa'.* 'wikiqa'"):
        chosen(lines, data=["wikqa"])


def test_near_names_of_systems_are_told():
    lines = pd.DataFrame([outcome("PRI(list)", 0.9), outcome("DCA", 0.5)])
    with pytest.raises(QaselError, match=r"'pri\(lst\)' in the ledger; did you mean 'PRI\(list\)'"):
        side_by_side.chosen(lines, ["pri(lst)"])
    with pytest.raises(QaselError, match=r"there are: PRI\(list\), DCA"):
        side_by_side.chosen(lines, ["zzz"])
    with pytest.raises(QaselError, match=r"unknown measure 'acc'.* map"):
        matrix_of([outcome("A", 0.5)], "acc")


def row(room, variant, dataset="wikiqa", seed=0, vectors=None, scale="paper", **changes):
    recipe = room.recipe(variant, dataset, vectors=vectors, seed=seed, scale=scale)
    return ledger_row(recipe.change(**changes), {}, {"map": 0.5}, {"q1": 0.5})


def names(*rows):
    return [(o.system, o.target) for o in entries(runs_of(rows)).itertuples()]


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
    assert matrix(entries(runs_of(rows))).loc[(WIKI, "PRI(list)"), "runs"] == 2


def test_of_the_same_run_in_two_precisions_the_exact_one_counts():
    recipe = "cross-encoder (list)", "wikiqa"
    exact, other = row(yardsticks, *recipe), row(yardsticks, *recipe, seed=1, precision="bfloat16")
    twin = row(yardsticks, *recipe, precision="bfloat16")
    found = entries(runs_of([twin, exact, other]))
    seeds = [(r["seed"], r["precision"]) for r in found["recipe"]]
    assert seeds == [(0, "float32"), (1, "bfloat16")]


def test_on_the_sample_small_recipes_count_under_their_scale():
    wiki = row(hierarchical_ranking, "DCA")
    paper, quick = (
        row(hierarchical_ranking, "DCA", "sample", scale=scale) for scale in ("paper", "quick")
    )
    cells = with_tests(matrix(entries(runs_of([wiki, quick]))))
    assert side_by_side.systems(cells) == ["DCA"]
    assert matrix_text.details(cells.loc["sample/answered"]).loc["DCA", "runs"] == "1 (quick)"
    assert any("Runs (quick)" in note for note in matrix_text.notes_of(cells))
    assert names(quick, paper) == [("DCA", "sample/answered"), ("DCA, quick", "sample/answered")]


def test_vectors_that_are_not_the_usual_ones_part_systems():
    a, b = (row(hierarchical_ranking, "DCA", vectors=v) for v in ("a", "b"))
    c = row(hierarchical_ranking, "DCA", "trecqa", vectors="c")
    assert [name for name, _ in names(a, b, c)] == ["DCA, c", "DCA, a", "DCA, b"]
    usual = row(hierarchical_ranking, "DCA")
    assert [name for name, _ in names(a, usual)] == ["DCA, a", "DCA"]
    # Vectors of most systems are the usual ones there; the recipe's own are then named.
    others = [row(hierarchical_ranking, name, vectors="a") for name in ("CA(list)", "PRI(list)")]
    found = [name for name, _ in names(a, usual, *others)]
    assert found == ["CA(list)", "PRI(list)", "DCA", "DCA, glove.6B.100d"]


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
    cells = with_tests(matrix(entries(runs_of([*more, fewer]))))
    assert cells.loc[(WIKI, "DCA"), "mean"] == pytest.approx(0.65)
    mixed = cells.loc["wikiqa/mixed"]
    assert mixed.loc["DCA", "values"] == pytest.approx({"q1": 0.3})
    assert mixed["under"].to_dict() == {"DCA": "answered", "LSP": ""}
    assert list(cells.loc[WIKI].index) == ["DCA"]  # LSP never saw q2
    assert list(mixed.index) == ["LSP", "DCA"]
    assert mixed["compared"].all()
    assert matrix_text.details(mixed).loc["DCA", "runs"] == "2 (answered)"
    assert any("Runs (answered): trained" in note for note in matrix_text.notes_of(cells))
    # Which questions are mixed is known from runs on them.
    assert names(*more) == [("DCA", "wikiqa/answered")] * 2


def test_a_run_of_the_target_itself_goes_before_one_cut_to_it():
    wide = row(hierarchical_ranking, "DCA", "./own")
    wide.per_question["test"]["map"] = {"q1": 0.2, "q2": 1.0}
    itself = row(hierarchical_ranking, "DCA", "./own", protocol="mixed")
    other = row(hierarchical_ranking, "CA(list)", "./own")
    cells = matrix(entries(runs_of([wide, itself, other])))
    mixed = cells.loc["./own/mixed"]
    assert (mixed.loc["DCA", "runs"], mixed.loc["DCA", "under"]) == (1, "")
    assert mixed.loc["CA(list)", "under"] == "answered"


def test_a_later_test_is_a_target_of_its_own():
    first = row(question_relevancy, "STL-MLP", "semeval-cqa")
    first.per_question["test-2017"] = {"map": {"q9": 0.25}}
    found = {o.target: o.values["map"] for o in entries(runs_of([first])).itertuples()}
    assert found == {"semeval-cqa/b-2016": {"q1": 0.5}, "semeval-cqa/b-2017": {"q9": 0.25}}
    assert [target_name(target) for target in found] == ["SemEval-2016 B", "SemEval-2017 B"]


def test_a_ranker_just_fitted_is_an_outcome_too():
    overlap = yardsticks.recipe("word overlap", "sample")
    run, found = compete({"word overlap": overlap}, torch.device("cpu"))["word overlap"]
    assert (found["target"], found["parameters"]) == ("sample/answered", None)
    assert found["ranked_per_second"] > 0
    asked = {q.id for q in load_dataset("sample").test}
    assert set(found["values"]["map"]) == set(run.scores) == asked
    assert matrix_of([found])["runs"].tolist() == [1]


class Growing(Reference):
    """Takes in the words of what it ranks, as the networks do."""

    parameter_count = 5

    def rank(self, split):
        self.parameter_count += len(split)
        return super().rank(split)


def test_parameters_are_counted_before_new_words_come(monkeypatch):
    room = dataclasses.replace(yardsticks.ROOM, kind=lambda variant: Growing)
    monkeypatch.setattr("qasel.papers.yardsticks.ROOM", room)
    overlap = yardsticks.recipe("word overlap", "sample")
    _, found = compete({"growing": overlap}, torch.device("cpu"))["growing"]
    assert found["parameters"] == 5
