import csv
import io
import json

import numpy as np
import pandas as pd
import pytest
from ledger_rows import ledger_row, runs_of
from scipy import stats

from qasel.errors import QaselError
from qasel.evaluation import hierarchical_bootstrap
from qasel.papers import ROOMS
from qasel.papers.hierarchical_ranking import ROOM, SCHEMES, recipe
from qasel.papers.hierarchical_ranking import report as claims
from qasel.papers.ms_ranker import ROOM as paper_3
from qasel.papers.ms_ranker import recipe as paper_3_recipe
from qasel.results.claims import report
from qasel.results.compare import significance
from qasel.results.ledger import Row
from qasel.results.runs import VECTORS, in_tables
from qasel.results.tables import (
    COLUMNS,
    SCOPE_COLUMNS,
    _scope,
    as_text,
    beside,
    comparison,
    escape_latex,
    parts_of,
    provenance,
    published,
    scopes,
    verdict,
)

PAPER = "hierarchical-ranking"
HEADER = "table,row,dataset,metric,paper,ours,std,runs,verdict"


def row(variant="PRI(list)", dataset="wikiqa", map_=0.74, seed=0, vectors=None, **changes):
    chosen = recipe(variant, dataset, seed=seed, vectors=vectors).change(**changes)
    values = {q: map_ + d for q, d in (("q1", -0.1), ("q2", 0.0), ("q3", 0.1 + seed / 100))}
    test = {"map": map_, "mrr": map_ + 0.01}
    return ledger_row(chosen, {"map": 0.9, "mrr": 0.9}, test, values, device="a GPU")


def line(frame, variant="PRI(list)", dataset="wikiqa", metric="MAP", table="table-1"):
    chosen = frame.query(
        "table == @table and row == @variant and dataset == @dataset and metric == @metric"
    )
    assert len(chosen) == 1
    return chosen.iloc[0]


def test_published_holds_both_tables():
    numbers = published(ROOM)
    assert list(numbers) == ["table", "row", "dataset", "metric", "value", "kind", "note"]
    assert len(numbers) == 106
    # 24 rows of table 1, three of them with two cells empty; 4 rows of table 2.
    first, second = (numbers[numbers["table"] == t] for t in ("table-1", "table-2"))
    assert (len(first), first["row"].nunique()) == (24 * 4 - 3 * 2, 24)
    assert (len(second), second["row"].nunique()) == (16, 4)
    own = numbers[numbers["kind"] == "own"]
    assert set(own["row"]) == set(SCHEMES)
    assert len(own) == (12 + 4) * 4
    keys = ["table", "row", "dataset", "metric"]
    assert not numbers.duplicated(keys).any()
    value = numbers.set_index(keys)["value"]
    assert value["table-1", "PRI(list)", "trecqa", "MAP"] == 0.841
    assert value["table-1", "RI(pair)", "trecqa", "MRR"] == 0.904
    assert value["table-1", "DCA", "wikiqa", "MRR"] == 0.749
    assert value["table-1", "AP-CNN", "wikiqa", "MAP"] == 0.689
    assert value["table-1", "RoBERTa Fine-Tuning", "trecqa", "MRR"] == 0.978
    assert value["table-2", "PRI(all list)", "trecqa", "MRR"] == 0.859
    assert value["table-2", "PRI(list) w/o pair-level", "wikiqa", "MRR"] == 0.752
    assert ("table-1", "PWIM", "trecqa", "MAP") not in value
    assert numbers["value"].sum() == pytest.approx(84.823)
    marked = numbers[numbers["note"] != ""]
    assert [(m.row, m.dataset, m.metric, m.note) for m in marked.itertuples()] == [
        ("PRI(list)", "wikiqa", "MAP", "†"),
        ("PRI(list)", "trecqa", "MAP", "‡"),
        ("PRI(list)", "trecqa", "MRR", "‡"),
    ]


@pytest.mark.parametrize(
    ("paper", "ours", "interval", "expected"),
    [
        (0.742, 0.750, None, "reproduced"),
        (0.742, 0.752, None, "reproduced"),  # exactly a point above
        (0.742, 0.7521, None, "above"),
        (0.742, 0.732, None, "reproduced"),  # exactly a point below
        (0.742, 0.7319, None, "below"),
        (0.742, 0.7319, 0.005, "below"),  # a narrow interval takes nothing away from the point
        (0.742, 0.722, 0.020, "reproduced"),  # exactly the interval below
        (0.742, 0.7219, 0.020, "below"),
        (0.742, 0.762, 0.020, "reproduced"),
        (0.655, 0.748, 0.020, "above"),
        (0.742, None, None, "not run"),
    ],
)
def test_verdict(paper, ours, interval, expected):
    assert verdict(paper, ours, interval) == expected


def test_an_empty_ledger_has_nothing_run():
    frame = comparison(ROOM, runs_of([]))
    assert len(frame) == len(published(ROOM))
    assert list(frame)[: len(COLUMNS)] == COLUMNS
    assert set(frame["verdict"]) == {"not run"}
    assert set(frame["runs"]) == {0}
    assert frame[["ours", "std", "interval"]].isna().all(axis=None)
    assert provenance(frame) == ""
    for format_ in ("md", "latex"):
        assert as_text(*parts_of(frame), format_)


def test_mean_deviation_and_interval_over_seeds():
    rows = [row(map_=value, seed=seed) for seed, value in enumerate((0.70, 0.72, 0.74))]
    found = line(comparison(ROOM, runs_of(rows)))
    assert (found["ours"], found["std"]) == pytest.approx((0.72, 0.02))
    assert found["interval"] == pytest.approx(stats.t.ppf(0.975, 2) * 0.02 / 3**0.5)
    assert found["runs"] == 3
    # 0.022 below the paper, within an interval of 0.0497.
    assert found["verdict"] == "reproduced"
    assert line(comparison(ROOM, runs_of(rows)), metric="MRR")["ours"] == pytest.approx(0.73)
    assert line(comparison(ROOM, runs_of(rows)), table="table-2")["ours"] == pytest.approx(0.72)
    assert line(comparison(ROOM, runs_of(rows)), dataset="trecqa")["verdict"] == "not run"


def test_the_spread_of_folds_excuses_nothing():
    rows = [row(map_=value, seed=seed) for seed, value in enumerate((0.70, 0.72, 0.74))]
    for fold, found in enumerate(rows):
        found.per_question["test"] = {"map": {f"question {fold}": 1.0}}
    found = line(comparison(ROOM, runs_of(rows)))
    assert (found["ours"], found["std"], found["runs"]) == pytest.approx((0.72, 0.02, 3))
    assert pd.isna(found["interval"])
    assert found["verdict"] == "below"


def test_one_seed_has_no_deviation():
    found = line(comparison(ROOM, runs_of([row(map_=0.73)])))
    assert found[["std", "interval"]].isna().all()
    assert (found["runs"], found["verdict"]) == (1, "below")


@pytest.mark.parametrize(
    "changes", [{"k_max": 0}, {"scale": "quick"}, {"protocol": "mixed"}, {"epochs": 1}]
)
def test_experiments_do_not_count(changes):
    rows = [row(map_=0.1, **changes), row(map_=0.74, seed=1)]
    found = line(comparison(ROOM, runs_of(rows)))
    assert (found["ours"], found["runs"]) == (0.74, 1)
    assert in_tables(ROOM, runs_of(rows[:1])).empty


def test_rows_of_other_papers_or_systems_do_not_count():
    other = row()
    stranger = row()
    other.recipe["paper"] = "ms-ranker"
    stranger.recipe["variant"] = "BERT"
    assert in_tables(ROOM, runs_of([other, stranger])).empty


def test_the_papers_vectors_go_first_then_those_with_most_runs():
    few = [row(map_=0.5, vectors="a")]
    many = [row(map_=0.6, vectors="b", seed=seed) for seed in range(2)]
    found = line(comparison(ROOM, runs_of(few + many)))
    assert (found["vectors"], found["runs"]) == ("b", 2)
    frame = comparison(ROOM, runs_of([*few, *many, row(map_=0.7, vectors=VECTORS), row("DCA")]))
    assert line(frame)["vectors"] == VECTORS
    assert line(frame)["ours"] == 0.7
    note = provenance(frame)
    assert "glove.840B.300d" in note
    assert "but glove.6B.100d for DCA (WikiQA)" in note
    assert "a GPU" in note
    filled = [row(name, vectors="a+b") for name in ("DCA", "PRI(list)")]
    note = provenance(comparison(ROOM, runs_of([*filled, row(dataset="trecqa")])))
    words = "word vectors a+b (words that the first set lacks are from the second)"
    assert f"{words}, but glove.6B.100d for all of TREC-QA;" in note


def test_the_ledger_is_read_when_no_rows_are_given(tmp_path, monkeypatch):
    monkeypatch.setenv("QASEL_RESULTS", str(tmp_path))
    assert not comparison(ROOM)["runs"].any()
    row(map_=0.75).write()
    assert line(comparison(ROOM))["ours"] == 0.75


def test_csv_has_exactly_the_columns():
    text = report(ROOM, "csv", runs_of([row(map_=0.74), row(map_=0.75, seed=1)]))
    assert text.splitlines()[0] == HEADER
    lines = list(csv.DictReader(io.StringIO(text)))
    assert len(lines) == 106
    by_row = {(v["table"], v["row"], v["dataset"], v["metric"]): v for v in lines}
    found = by_row["table-1", "PRI(list)", "wikiqa", "MAP"]
    assert (float(found["paper"]), float(found["ours"])) == (0.742, 0.745)
    assert float(found["std"]) == pytest.approx(0.0070711, rel=1e-4)
    assert (found["runs"], found["verdict"]) == ("2", "reproduced")
    missing = by_row["table-1", "AP-CNN", "wikiqa", "MAP"]
    assert (missing["ours"], missing["std"], missing["runs"]) == ("", "", "0")


def test_what_is_narrower_or_wider_than_the_papers_data_is_said_beside_the_verdict():
    chosen = paper_3_recipe(dataset="semeval-cqa")
    rows = [ledger_row(chosen, {}, {"map": 0.76, "mrr": 0.82}, {"q": 0.76})]
    text = as_text(*parts_of(comparison(paper_3, runs_of(rows))), "md")
    assert "| MS-Ranker | semeval-cqa | MAP | 0.807 | 0.760 | – | 1 | below° |" in text
    assert "| MS-Ranker | wikiqa | MAP | 0.750 | – | – | 0 | not run |" in text
    told = "° Data narrower than the paper's, 3,996 of 4,873 training questions of SemEval-2016 A"
    assert text.count("°") == 3  # two numbers and the note
    assert told in text
    assert f"{told} (the comments" in beside(paper_3, "table-2", runs_of(rows))
    assert "°" not in report(paper_3, "csv", runs_of(rows))
    # Which rows of a paper, by what their names have in them.
    told = _scope(scopes(ROOMS["question-relevancy"]), "MTL-MLP (ALL)", "semeval-cqa")
    assert [sentence.split(":")[0] for sentence in told] == [
        "Rows with (QA) or (ALL)",
        "Rows with (NLI) or (ALL)",
    ]
    known = pd.DataFrame([["trecqa", "", "lists", 970, 974, "so"]], columns=SCOPE_COLUMNS)
    assert _scope(known, "SVM", "trecqa") == (
        "Data wider than the paper's, 974 lists, not 970 (so).",
    )
    assert _scope(known, "SVM", "wikiqa") == ()


def test_markdown():
    lines = as_text(*parts_of(comparison(ROOM, runs_of([row(map_=0.74)]))), "md").splitlines()
    assert lines[0] == "| " + " | ".join(COLUMNS) + " |"
    assert "| table-1 | PRI(list) | wikiqa | MAP | 0.742 | 0.740 | – | 1 | reproduced |" in lines
    assert lines[-1] == "Our numbers: word vectors glove.6B.100d; run on a GPU."


def test_latex_is_escaped():
    assert escape_latex(r"50% of a_b & c#1 {x} $2 ~ ^ \n") == (
        r"50\% of a\_b \& c\#1 \{x\} \$2 \textasciitilde{} \textasciicircum{} \textbackslash{}n"
    )
    assert escape_latex("PRI(list→ap) ± 1 < 2") == r"PRI(list$\rightarrow$ap) $\pm$ 1 $<$ 2"
    frame = comparison(ROOM, runs_of([row(vectors="my_vectors")]))
    frame.loc[0, "row"] = "R&D"
    text = as_text(*parts_of(frame), "latex")
    assert r"R\&D" in text
    assert r"my\_vectors" in text
    assert text.count(r"rule") == 3
    assert all(part.endswith(r"\\") for part in text.splitlines() if " & " in part)


def test_significance_pairs_questions_over_common_seeds():
    rows = [row("PRI(list)", map_=0.8, seed=seed) for seed in range(3)]
    rows += [row("DCA", map_=0.7, seed=seed) for seed in range(2)]
    rows[-1].per_question["test"]["map"]["q1"] = 0.65
    found = significance(ROOM, "wikiqa", "map", "PRI(list)", "DCA", runs_of(rows))
    assert (found.first, found.second) == ("PRI(list)", "DCA")
    assert list(found.runs[0].index) == [0, 1]
    # q1: 0.7 against (0.6 + 0.65) / 2, then 0.1 twice.
    differences = [0.075, 0.1, 0.1]
    gaps = np.array([[0.1, 0.1, 0.1], [0.05, 0.1, 0.1]])
    assert found.estimate.difference == pytest.approx(sum(differences) / 3)
    assert found.estimate.p == pytest.approx(hierarchical_bootstrap(gaps).p, abs=0.005)
    assert (found.estimate.questions, found.estimate.seeds) == (3, 2)
    # q3 is 0.1 (seed 0) and 0.11 (seed 1) above the mean, q1 0.1 below, but for the changed one.
    first = (0.7 + 0.8 + 0.905) / 3
    assert found.means == pytest.approx((first, first - sum(differences) / 3))


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [row("PRI(list)")],
        [row("PRI(list)", seed=0), row("DCA", seed=1)],
        [row("PRI(list)", vectors="a"), row("DCA", vectors="b")],
        [row("PRI(list)"), row("DCA", k_max=3)],
    ],
)
def test_significance_needs_both_systems(rows):
    assert significance(ROOM, "wikiqa", "map", "PRI(list)", "DCA", runs_of(rows)) is None


def test_comparisons_together_by_hand():
    rows = [row("MTL(list)", map_=0.8), row("RI(list)", map_=0.7), row("CA(list)", map_=0.6)]
    rows[0].per_question["test"]["map"]["q1"] = 0.3
    # q1: 0.3 and 0.6 against 0.5; q2 and q3: 0.2 and 0.1 ahead.
    gaps = [-0.05, 0.15, 0.15]
    frame = claims.together(runs_of(rows))
    assert list(frame.index) == ["WikiQA"]
    assert frame.loc["WikiQA"].tolist() == pytest.approx(
        [2, 2, 0.0035, sum(gaps) / 3, hierarchical_bootstrap(gaps).p], abs=1e-6
    )


def test_a_row_of_a_newer_version_is_read_and_another_file_is_not(tmp_path):
    path = row(map_=0.74).write(tmp_path)
    whole = json.loads(path.read_text())
    path.write_text(json.dumps(whole | {"colour": "blue"}))
    assert Row.read(path) == row(map_=0.74)
    for broken in ({"recipe": {"paper": PAPER}}, {"recipe": []}):
        path.write_text(json.dumps(whole | broken))
        with pytest.raises(QaselError, match=f"{path.name}: not a row of the ledger"):
            Row.read(path)
