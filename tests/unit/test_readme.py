import importlib.util

import pandas as pd
import pytest
from ledger_rows import runs_of
from test_tables import row

from qasel.errors import QaselError
from qasel.locations import ROOT
from qasel.papers.hierarchical_ranking import ROOM
from qasel.results.tables import comparison

spec = importlib.util.spec_from_file_location("readme", ROOT / "tools" / "readme.py")
readme = importlib.util.module_from_spec(spec)
spec.loader.exec_module(readme)


def test_readme_is_what_the_ledger_gives(monkeypatch):
    monkeypatch.delenv("QASEL_RESULTS", raising=False)
    text = readme.README.read_text(encoding="utf-8")
    assert readme.filled(text) == text, "run `python tools/readme.py`"


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


def test_only_what_stands_between_the_markers_is_replaced(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("QASEL_RESULTS", str(tmp_path))
    path = tmp_path / "README.md"
    marked = f"{readme.COMPARE_BEGIN}\nold\n{readme.COMPARE_END}"
    path.write_text(f"# before\n{readme.BEGIN}\nold\n{readme.END}\nafter\n{marked}\n")
    monkeypatch.setattr(readme, "README", path)
    readme.main()
    none = runs_of([])
    compared = f"{readme.COMPARE_BEGIN}\n\n{readme.leaders(none)}\n{readme.COMPARE_END}\n"
    tables = f"{readme.BEGIN}\n\n{readme.block(none)}\n{readme.END}\n"
    assert path.read_text() == f"# before\n{tables}after\n{compared}"
    readme.main()
    assert capsys.readouterr().out == "README.md: rewritten\nREADME.md: unchanged\n"
    with pytest.raises(QaselError, match="results:begin"):
        readme.filled("no markers")
    with pytest.raises(QaselError, match="compare:begin"):
        readme.filled(f"{readme.BEGIN}\n{readme.END}")


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
