"""Paper 5's figures and claims, and what its notebook counts and draws."""

import os

import numpy as np
import pytest
import torch
from ledger_rows import ledger_row, runs_of

from qasel.datasets import load_dataset
from qasel.datasets.base import Candidate, Question, Split
from qasel.figures.charts import heatmaps
from qasel.papers.ap_mpcnn import MAIN, ROOM, VARIANTS, APMPCNNRanker, recipe
from qasel.papers.ap_mpcnn import report as claims
from qasel.papers.ap_mpcnn import report as figures
from qasel.papers.ap_mpcnn.recipes import SETTINGS
from qasel.papers.figures import figures as drawn
from qasel.results.claims import AGAINST, HELD
from qasel.results.claims import claims as judged
from qasel.results.tables import NOT_RUN
from qasel.text import Vectors, tokenize

PAPER = "ap-mpcnn"


def row(variant=MAIN, seed=0, test=0.75, **changes):
    chosen = recipe(variant, "trecqa", seed=seed).change(**changes)
    means = {"map": test, "mrr": test + 0.05, "p1": test - 0.1}
    history = [{"loss": 0.9, "dev_map": test} for _ in range(chosen.epochs)]
    values = {f"q{i}": test + 0.01 * (i % 3) for i in range(8)}
    return ledger_row(chosen, means, means, values, history=history)


def test_figures_of_what_was_run():
    told = []
    found = drawn(PAPER, runs_of([row(name) for name in VARIANTS]), told.append)
    names = ("network", "table-5", "figure-11", "table-4", "training")
    assert list(found) == [f"{PAPER}-{name}" for name in names]
    assert not told
    assert set(drawn(PAPER, runs_of([]), told.append)) == {f"{PAPER}-network"}
    assert len(told) == 4


def test_what_some_figures_need_and_show():
    assert figures.figure_11(runs_of([row()])) is None  # nothing to set it beside
    assert figures.table_4(runs_of([row(), row("Attention only")])) is None
    assert figures.training(runs_of([row("Attention only")])) is None
    bars = figures.figure_11(runs_of([row(), row("Wide convolution only")])).axes[0]
    assert [label.get_text() for label in bars.get_yticklabels()] == ["Wide convolution only", MAIN]
    panels = figures.table_4(runs_of([row(), row("window 4", test=0.77)])).axes
    assert [label.get_text() for label in panels[0].get_yticklabels()] == [*SETTINGS]


def test_settings_are_compared_on_the_seeds_that_all_values_have():
    rows = [row(), row(seed=1, test=0.77), row("filters 500"), row("window 2"), row("window 4")]
    table = claims.settings(runs_of(rows)).set_index("setting")
    assert table["values"]["filters"] == "200, 300, 500"
    assert table["recipe"]["learning rate"] == "0.00018"
    assert table["runs"].to_dict() == {
        **dict.fromkeys(("epochs", "batch", "hidden", "negatives", "regularization"), "0 / 2 / 0"),
        **{"learning rate": "0 / 2 / 0", "filters": "0 / 1 / 1", "window": "1 / 1 / 1"},
    }
    assert table["gap"]["window"] == "+0.000"  # seed 1 of the recipe does not count
    alone = claims.settings(runs_of([row("filters 500")]))
    assert set(alone["runs"]) == {"0 / 0 / 0"}  # nothing of the recipe itself


def test_the_parts_together_against_each_alone():
    rows = [row(seed=seed, test=0.77) for seed in range(2)]
    rows += [row("Attention only", seed, test=0.75) for seed in range(3)]
    rows += [row("Pairwise ranking only", seed, test=0.78) for seed in range(2)]
    table = judged(ROOM, runs_of(rows))
    table = table.set_index(["systems", "measure"])
    line = table.loc[(f"{MAIN} over Attention only", "MAP")]
    assert (line["ours"], line["seeds"], line["verdict"]) == ("+0.020", 2, HELD)
    assert table.loc[(f"{MAIN} over Pairwise ranking only", "MRR")]["verdict"] == AGAINST
    assert table.loc[(f"{MAIN} over Wide convolution only", "MAP")]["verdict"] == NOT_RUN
    assert len(table) == 2 * 4


def test_questions_without_a_right_answer_can_be_left_out():
    rows = [row(seed=seed) for seed in (0, 1)]
    for each, values in zip(rows, ((0.5, 1.0, 0.0), (0.7, 0.8, 0.0)), strict=True):
        for measure in each.per_question["test"]:
            each.per_question["test"][measure] = dict(zip("abc", values, strict=True))
    found = claims.answered(runs_of(rows))
    assert list(found.columns) == ["MAP of 3", "MRR of 3", "MAP of 2", "MRR of 2", "runs"]
    usual = (MAIN, "glove.6B.100d")
    assert found.loc[usual].tolist() == pytest.approx([0.5, 0.5, 0.75, 0.75, 2])
    # Other vectors are a line of their own.
    found = claims.answered(runs_of([*rows, row(vectors="glove.6B.300d")]))
    assert found["runs"].to_dict() == {usual: 2, (MAIN, "glove.6B.300d"): 1}
    assert claims.answered(runs_of([])).empty


def test_how_often_the_recipes_value_is_the_best():
    rows = [row(), row("window 2", test=0.74), row("window 4", test=0.77)]
    table = claims.settings(runs_of([*rows, row("epochs 5")])).set_index("setting")
    assert table.loc["window", "best (ours)"] == "4"
    assert (table.loc["window", "gap"], table.loc["window", "runs"]) == ("-0.020", "1 / 1 / 1")
    assert table.loc["window", "p"] == "<0.001"  # never 0.000
    assert table.loc["epochs", "best (ours)"] == "not run"  # only two of its three values
    assert table.loc["epochs", "best (paper)"] == "6, 7"
    paper, ours = claims.summary(table.reset_index())
    assert "the best in 8 of 8 settings, in 1 of them level" in paper
    assert "the best in 0 of 1 settings" in ours
    assert claims.summary(claims.settings(runs_of([])))[1] == "In ours: not run yet."


LISTS = Split(
    "train",
    (
        Question(
            "a",
            "how many red cats",
            (
                Candidate("a0", "red cats sleep , how many red ones ?", 0, 0),
                Candidate("a1", "nine cats .", 1, 1),
                Candidate("a2", "dogs bark .", 0, 2),
            ),
        ),
        Question("b", "blue birds", (Candidate("b0", "green green birds sing", 1, 0),)),
    ),
)


@pytest.mark.skipif(not os.environ.get("QASEL_DATA"), reason="real data: set QASEL_DATA")
def test_what_the_report_says_of_the_public_files():
    data = load_dataset("trecqa", "raw")
    sizes = [(len(split), split.pairs, split.positives) for split in (data.train, data.test)]
    assert sizes == [(1_229, 53_417, 6_403), (95, 1_517, 284)]
    assert pytest.approx(0.136, abs=5e-4) == 6_403 / (53_417 - 6_403)
    assert pytest.approx(0.230, abs=5e-4) == 284 / (1_517 - 284)
    answered = [question for question in data.test if question.answered]
    assert (len(answered), sum(question.mixed for question in answered)) == (89, 68)


@pytest.fixture(scope="module")
def ranker():
    words = sorted(
        {w for q in LISTS for c in q.candidates for w in tokenize(q.text + " " + c.text)}
    )
    matrix = np.random.default_rng(0).normal(size=(len(words), 5)).astype(np.float32)
    vectors = Vectors("tiny", {word: i for i, word in enumerate(words)}, matrix)
    settings = recipe(scale="quick").change(filters=3, hidden=4, epochs=1, vectors="tiny")
    found = APMPCNNRanker(settings, vectors, torch.device("cpu"))
    found.fit(LISTS, LISTS)
    return found


def test_feature_maps_are_drawn(ranker):
    question = LISTS[0]
    table = ranker.inside(question.text, question.candidates[1].text).answer.maps[1].T
    (picture,) = heatmaps({"two words": table}).axes
    told = [label.get_text() for label in picture.get_xticklabels()]
    assert told == ["∅ nine", "nine cats", "cats .", ". ∅"]
    assert len(picture.texts) == table.size
