"""Paper 4's figures, claims, and what its notebook counts."""

import pytest
from ledger_rows import PAGES, ledger_row, runs_of

from qasel.errors import QaselError
from qasel.papers import ROOMS
from qasel.papers.figures import figures as drawn
from qasel.papers.lesson import chosen_recipes
from qasel.papers.question_relevancy import ROOM, recipe
from qasel.papers.question_relevancy.recipes import LATER_TEST, MAIN, STL, VARIANTS
from qasel.results.claims import claims as judged
from qasel.results.runs import varied
from qasel.results.tables import beside, comparison, spelled

PAPER = "question-relevancy"


def row(variant=MAIN, seed=0, test=0.73, later=0.43, **changes):
    chosen = recipe(variant, "semeval-cqa", seed=seed).change(**changes)
    means = {"map": test, "mrr": test, "p1": test, "avgrec": test, "acc": test}
    values = {f"q{i}": test + 0.01 * (i % 3) for i in range(8)}
    made = ledger_row(chosen, {**means, "map": 0.7 + 0.01 * seed}, means, values)
    made.scores[LATER_TEST] = dict.fromkeys(means, later)
    made.per_question[LATER_TEST] = {"map": {f"r{i}": later for i in range(8)}}
    return made


def test_both_tests_of_one_training():
    frame = comparison(ROOM, runs_of([row()])).set_index(["table", "row", "metric"])
    assert frame.loc[("table-1", MAIN, "MAP"), "ours"] == pytest.approx(0.73)
    later = frame.loc[("table-1", MAIN, "test-2017 MAP")]
    assert later["ours"] == pytest.approx(0.43)
    assert (later["data"], later["measure"]) == ("SemEval-2017 B", "MAP")
    assert spelled(ROOM, "semeval-cqa", "MAP") == ("SemEval-2016 B", "MAP")
    assert spelled(ROOMS["ms-ranker"], "semeval-cqa", "MAP") == ("SemEval-2016 A", "MAP")
    assert spelled(ROOMS["ms-ranker"], "wikiqa", "dev MAP") == ("WikiQA", "dev MAP")
    told = beside(ROOM, "table-1", runs_of([row()]))
    assert "| SemEval-2017 B accuracy |" in told


def test_a_narrow_table_of_a_wide_one():
    told = beside(ROOM, "table-1", runs_of([row()]), measures=("MAP", "MRR"), legend=False)
    head, _, *lines = [line for line in told.splitlines() if line.startswith("|")]
    assert head.split(" | ")[1:-1] == [
        f"SemEval-{year} B {measure}" for year in (2016, 2017) for measure in ("MAP", "MRR")
    ]
    (main,) = [line.replace("\u00a0", " ") for line in lines if line.startswith(f"| {MAIN} |")]
    cells = "0.776 / 0.730 ↓° | 0.843 / 0.730 ↓° | 0.477 / 0.430 ↓° | 0.524 / 0.430 ↓°"
    assert main == f"| {MAIN} | {cells} | 1 |"
    assert told.startswith("Of the 44 numbers")
    assert beside(ROOM, "table-1", runs_of([row()])).startswith("Each cell: ")


def test_rows_that_differ_in_one_setting():
    rows = [row(seed=1), row(), row(share=0.5), row(share=0.5, width=8), row(STL, share=0.2)]
    found = varied(ROOM, MAIN, "semeval-cqa", "share", runs_of(rows))
    assert {share: list(group["seed"]) for share, group in found.items()} == {
        0.5: [0],
        1.0: [0, 1],
    }


def test_figures_of_what_was_run():
    told = []
    names = {f"table-{i}" for i in (1, 2, 3)} | {"learning-curve", "hyperparameters", "network"}
    rows = [row(v) for v in VARIANTS]
    rows += [row(v, share=0.4) for v in (STL, MAIN)] + [
        row(batch=10),
        row(learning_rate=0.1),
        row(momentum=0.0),
    ]
    found = drawn(PAPER, runs_of(rows), told.append)
    assert set(found) == {f"{PAPER}-{name}" for name in names}
    assert not told
    curve = found[f"{PAPER}-learning-curve"].axes[0]
    low, high = curve.get_xlim()
    assert 0 < low < 0.4 < 1 < high < 1.1  # shares to scale
    grid = found[f"{PAPER}-hyperparameters"].axes
    titles = [axes.get_xlabel() for axes in grid]
    assert titles == ["pairs per batch", "learning rate", "momentum"]
    assert [axes.get_xscale() for axes in grid] == ["linear", "log", "linear"]
    dots = found[f"{PAPER}-table-3"].axes[0].get_lines()[1::2]
    assert len({line.get_color() for line in dots}) == 1  # one system
    assert set(drawn(PAPER, runs_of([]), told.append)) == {f"{PAPER}-network"}
    assert len(told) == 5


def test_claims_beside_ours():
    rows = [row(STL, seed, test=0.72) for seed in range(3)]
    rows += [row(MAIN, seed, test=0.74) for seed in range(2)]
    table = PAGES["task_claims"](runs_of(rows)).set_index(["systems", "test"])
    line = table.loc[(f"{MAIN} over {STL}", "2016")]
    assert (line["paper"], line["ours"], line["seeds"]) == ("+0.014**", "+0.020", 2)
    assert line["verdict"] == "clearly the paper's way"
    assert table.loc[(f"{MAIN} over {STL}", "2017")]["ours"] == "+0.000"
    assert table.loc[("MTL-MLP (ALL) over STL-MLP", "2016")]["verdict"] == "not run"


def test_the_network_against_the_search_engines_order():
    rows = [row(STL, seed, test=0.72) for seed in range(3)]
    assert PAGES["against_search"](runs_of(rows)).empty  # nothing to set it beside
    assert set(judged(ROOM, runs_of(rows))["verdict"]) == {"not run"}
    rows.append(row("IR baseline", test=0.75, later=0.40))  # one run, beside each seed
    first, later = PAGES["against_search"](runs_of(rows)).to_dict("records")
    assert (first["test"], first["MAP"], first["search engine"]) == ("2016", "0.729", "0.759")
    assert first["difference"] == "-0.030"
    assert first["95 % interval"] == "-0.030 to -0.030"
    assert (later["test"], later["difference"], later["seeds"]) == ("2017", "+0.030", 3)
    table = judged(ROOM, runs_of(rows)).set_index(["systems", "data"])
    line = table.loc[(f"{STL} over IR baseline", "SemEval-2016 B")]
    assert (line["paper"], line["ours"], line["seeds"]) == ("+0.015", "-0.030", 3)
    assert line["verdict"] == "clearly the other way"
    assert len(table) == 2 * 7


def test_one_distance_left_out():
    rows = [row(test=0.73), row(f"{MAIN} w/o jaccard trigram", test=0.72)]
    table = PAGES["left_out"](runs_of(rows)).set_index("claim")
    assert len(table) == 14
    assert table.loc["jaccard trigram", ["paper", "ours"]].tolist() == ["+0.083", "+0.010"]
    assert table.loc["cosine unigram", "verdict"] == "not run"


def test_the_notebooks_parameters():
    made = chosen_recipes(
        PAPER, "STL-MLP,MTL-MLP (QA)", "sample", scale="quick", seed=3, settings="words=all"
    )
    assert list(made) == ["STL-MLP", "MTL-MLP (QA)"]
    assert {(r.seed, r.words, r.protocol) for r in made.values()} == {(3, "all", "related")}
    with_commas = "STL-MLP, Unigrams,STL-MLP,  MTL-MLP (QA), tf-idf"
    made = chosen_recipes(PAPER, with_commas, "sample", scale="quick", seed=0)
    assert list(made) == ["STL-MLP, Unigrams", "STL-MLP", "MTL-MLP (QA), tf-idf"]
    with pytest.raises(QaselError, match="unknown variant"):
        chosen_recipes(PAPER, "STL", "sample", scale="quick", seed=0)
