import importlib.util

import pandas as pd
import pytest
from ledger_rows import runs_of
from test_tables import row

from qasel.errors import QaselError
from qasel.locations import DATA, ROOT
from qasel.papers import ROOMS
from qasel.papers.hierarchical_ranking import ROOM
from qasel.results.ledger import read_ledger
from qasel.results.runs import read_runs
from qasel.results.tables import comparison

spec = importlib.util.spec_from_file_location("readme", ROOT / "tools" / "readme.py")
readme = importlib.util.module_from_spec(spec)
spec.loader.exec_module(readme)


@pytest.fixture(scope="module")
def on_record():
    return read_runs(ROOMS.values(), read_ledger(folder=DATA / "results"))


def test_readme_is_short_and_what_the_ledger_gives(on_record):
    text = readme.README.read_text(encoding="utf-8")
    assert readme.filled(text, on_record) == text, "run `python tools/readme.py`"
    assert len(text.splitlines()) <= 150


@pytest.mark.parametrize("name", readme.PAGES)
def test_each_page_is_what_the_ledger_gives(name, on_record):
    text = (readme.RESULTS / name).read_text(encoding="utf-8")
    assert readme.WRITTEN + readme.PAGES[name](on_record) == text, "run `python tools/readme.py`"


def table(text):
    lines = [part for part in text.splitlines() if part.startswith("|")]
    cells = [[cell.strip() for cell in part.strip("|").split("|")] for part in lines]
    return pd.DataFrame(cells[2:], columns=cells[0]).set_index("row")


def test_section_sets_the_paper_beside_ours():
    # WikiQA: far above; TREC-QA: far below, in MAP and in MRR.
    rows = [row(map_=0.75), row(map_=0.77, seed=1), row(dataset="trecqa", map_=0.7)]
    text = readme.section(ROOM, comparison(ROOM, runs_of(rows)))
    found = table(text)
    assert list(found) == ["WikiQA MAP", "WikiQA MRR", "TREC-QA MAP", "TREC-QA MRR", "runs"]
    assert len(found) == 15  # the paper's own rows of both tables, PRI(list) once
    cells = [cell.replace("\u00a0", " ") for cell in found.loc["PRI(list)"]]
    assert cells == [
        "0.742 / 0.760 ± 0.014 ↑",
        "0.754 / 0.770 ± 0.014 ↑",
        "0.841 / 0.700 ↓",
        "0.898 / 0.710 ↓",
        "2 / 1",
    ]
    cells = [cell.replace("\u00a0", " ") for cell in found.loc["DCA", ["WikiQA MAP", "runs"]]]
    assert cells == ["0.736 / –", "0 / 0"]
    assert "Of the 60 numbers" in text
    assert "0 reproduced, 2 above, 2 below, 56 not run" in text
    assert "glove.6B.100d" in text
    assert "a GPU" in text
    assert "the 12 systems that the paper only cites" in text


def test_section_of_an_empty_ledger_says_so():
    text = readme.section(ROOM, comparison(ROOM, runs_of([])))
    assert "Nothing was run yet" in text
    assert not any(mark in text for mark in "✓↑↓")


def test_only_what_stands_between_the_markers_is_replaced():
    none = runs_of([])
    marks = [
        f"<!-- {name}:{end} -->" for name in ("notebooks", "papers") for end in ("begin", "end")
    ]
    text = readme.filled("before\n{}\nold\n{}\nafter\n{}\nold\n{}\n".format(*marks), none)
    assert "old" not in text
    assert text.startswith("before\n")
    assert "\nafter\n" in text
    assert readme.papers(none) in text
    assert readme.filled(text, none) == text
    with pytest.raises(QaselError, match="notebooks:begin"):
        readme.filled("no markers", none)


def test_the_best_of_each_data_set_stand_side_by_side():
    systems = {"PRI(list)": 0.9, "CA(list)": 0.8, "DCA": 0.7, "RI(list)": 0.6}
    rows = [row(name, map_=value) for name, value in systems.items()]
    rows.append(row("CA(list)", map_=0.82, seed=1))
    text = readme.leaders(runs_of([*rows, row("DCA", dataset="trecqa", map_=0.5)]))
    lines = [part.split(" | ") for part in text.splitlines() if part.startswith("| ")][2:]
    found = [[line[0].strip("| "), line[1], line[3], line[6]] for line in lines]
    assert found == [
        ["WikiQA (answered): 3 questions, 4 systems", "PRI(list)", "0.900", "1"],
        ["", "CA(list)", "0.812", "2"],
        ["", "DCA", "0.700", "1"],
        ["TREC-QA (clean): 3 questions, 1 system", "DCA", "0.500", "1"],
    ]
    assert "Nothing was run yet" in readme.leaders(runs_of([]))
