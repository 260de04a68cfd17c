import importlib.util
from types import SimpleNamespace

import nbformat
import pytest
from ledger_rows import ledger_row, runs_of
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from qasel.errors import QaselError
from qasel.locations import NOTEBOOKS, ROOT
from qasel.papers import PAPERS, ROOMS
from qasel.results.claims import (
    AGAINST,
    HELD,
    LEANS,
    LEANS_AGAINST,
    SAME,
    claims,
    report,
    stated,
    verdict,
)
from qasel.results.tables import NOT_RUN

_SPEC = importlib.util.spec_from_file_location("tool", ROOT / "tools" / "claims.py")
tool = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(tool)

BETTER = {f"q{i}": 0.8 for i in range(10)}
WORSE = dict.fromkeys(BETTER, 0.6)


def row(paper, variant, values, dataset, **changes):
    chosen = ROOMS[paper].recipe(variant, dataset).change(**changes)
    mean = dict.fromkeys(("map", "mrr"), sum(values.values()) / len(values))
    return ledger_row(chosen, mean, mean, values)


@pytest.mark.parametrize("paper", PAPERS)
def test_every_claim_is_of_rows_that_can_be_run_and_says_where_it_is_made(paper):
    frame = stated(ROOMS[paper])
    assert list(frame) == ["text", "first", "second", "dataset", "metric", "section"]
    assert set(frame["first"]) | set(frame["second"]) <= set(ROOMS[paper].variants)
    assert (frame != "").all(axis=None)
    assert not frame.duplicated(["first", "second", "dataset", "metric"]).any()
    assert set(claims(ROOMS[paper], runs_of([]))["verdict"]) == {NOT_RUN}


def test_a_system_without_word_vectors_is_compared_with_one_that_has_some():
    paper = "question-relevancy"
    rows = [row(paper, "IR baseline", WORSE, "semeval-cqa")]
    rows += [row(paper, "STL-MLP", BETTER, "semeval-cqa", seed=seed) for seed in (0, 1)]
    found = claims(ROOMS[paper], runs_of(rows)).set_index(["systems", "data"])["verdict"]
    assert found["STL-MLP over IR baseline", "SemEval-2016 B"] == HELD
    # Two systems with vectors, each its own, are not.
    rows = [
        row(paper, name, BETTER, "semeval-cqa", vectors=name)
        for name in ("STL-MLP", "MTL-MLP (QA)")
    ]
    found = claims(ROOMS[paper], runs_of(rows)).set_index(["systems", "data"])["verdict"]
    assert found["MTL-MLP (QA) over STL-MLP", "SemEval-2016 B"] == NOT_RUN


@pytest.mark.parametrize(
    ("paper", "ours", "clear", "expected"),
    [
        (-0.02, -0.03, True, HELD),  # the paper itself has the second ahead
        (-0.02, 0.03, True, AGAINST),
        (None, 0.03, False, LEANS),
        (0.02, -0.03, False, LEANS_AGAINST),
        (0.02, 0.0004, True, SAME),
    ],
)
def test_a_verdict_goes_by_the_sign_of_the_papers_difference(paper, ours, clear, expected):
    found = SimpleNamespace(estimate=SimpleNamespace(difference=ours), clear=clear)
    assert verdict(found, paper) == expected


def test_a_table_ends_with_the_claims_and_both_counts():
    runs = runs_of([row("ap-mpcnn", "AP-MPCNN", BETTER, "trecqa")])
    numbers, stated_ = report(ROOMS["ap-mpcnn"], "md", runs).split("### What the paper says")
    assert "| table-5 | AP-MPCNN | trecqa | MAP | 0.806 | 0.800 | – | 1 | reproduced |" in numbers
    assert "| four parts beat one | AP-MPCNN over Attention only | TREC-QA | MAP |" in stated_
    assert "| not run | 4.4 |" in stated_
    told = "34 numbers of the paper's own systems: 1 reproduced, 0 above, 1 below, 32 not run."
    assert told in stated_
    assert "8 comparisons, 0 of them run by us." in stated_
    assert report(ROOMS["ap-mpcnn"], "csv", runs).count("\n") > 30
    assert "four parts" not in report(ROOMS["ap-mpcnn"], "csv", runs)
    with pytest.raises(QaselError, match="no paper"):
        report(ROOMS["yardsticks"], "md", runs)


def notebook(*told, source='f"It is {gain:+.1f} points,\\n {ahead} of {len(all_)}."'):
    outputs = [new_output("display_data", {"text/markdown": text}) for text in told]
    claim = new_code_cell(source, outputs=outputs, metadata={"tags": ["claim"]})
    prose = new_markdown_cell(
        "Typed: 0.123, in the paper 0.456, $0.789$, `0.111`, a rate of 0.00018."
    )
    return new_notebook(cells=[prose, claim])


def test_the_numbers_of_a_claim_are_found_in_what_it_says():
    told = "It is +1.5 points, 3 of 8. It is -0.5 points, 1 of 8."
    (found,) = tool.claims(notebook(told))
    assert found == (1, told, {"gain": "+1.5, -0.5", "ahead": "3, 1", "len(all_)": "8, 8"})
    for other in ([], ["It is unknown."]):
        with pytest.raises(QaselError, match="cell 1: no number"):
            list(tool.claims(notebook(*other)))


def test_typed_scores_that_no_paper_prints_are_seen():
    assert list(tool.typed(notebook(), {"0.456"})) == [(0, "0.123")]


@pytest.mark.parametrize(
    "name",
    ["00_start_here", "01_hierarchical_ranking", "03_ms_ranker", "05_ap_mpcnn", "06_side_by_side"],
)
def test_no_score_of_ours_is_typed(name):
    saved = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    assert not list(tool.typed(saved, tool.printed()))


def test_the_page_of_the_notebooks_claims_is_of_the_notebooks_as_saved():
    assert tool.PAGE.read_text("utf-8") == tool.page(NOTEBOOKS)
