"""`qasel compare` and `qasel figures compare` on a ledger of a few made-up rows."""

import csv
import io
from dataclasses import replace

import pytest
from test_cli_run import one_error_line
from test_tables import row

from qasel.cli import main


@pytest.fixture(autouse=True)
def ledger(tmp_path, monkeypatch):
    monkeypatch.setenv("QASEL_RESULTS", str(tmp_path / "ledger"))


def fill():
    for found in (
        row("PRI(list)", map_=0.8),
        row("PRI(list)", map_=0.8, seed=1),
        row("DCA", map_=0.6),
        row("DCA", "trecqa", map_=0.7),
        row("CA(list)", map_=0.1, margin=0.1),  # an experiment
    ):
        found.write()


def test_all_forms(capsys):
    fill()
    assert main(["compare"]) == 0
    text = capsys.readouterr().out
    assert "| a | PRI(list) | hierarchical-ranking | 0.802<sup>b</sup> | – |" in text
    assert "WikiQA (answered): 3 questions, 2 systems" in text
    assert "CA(list)" not in text
    assert main(["compare", "--format", "latex"]) == 0
    text = capsys.readouterr().out
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 3
    assert main(["compare", "--format", "csv", "--measure", "mrr"]) == 0
    lines = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(line["system"], line["dataset"], line["runs"]) for line in lines] == [
        ("PRI(list)", "wikiqa", "2"),
        ("DCA", "wikiqa", "1"),
        ("DCA", "trecqa", "1"),
    ]
    assert {line["measure"] for line in lines} == {"mrr"}


def test_a_part_only(capsys):
    fill()
    arguments = ["compare", "--system", "DCA", "--dataset", "wikiqa/answered", "--format", "csv"]
    assert main(arguments) == 0
    (line,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert (line["system"], line["protocol"], line["wins"]) == ("DCA", "answered", "")


def test_experiments_are_not_compared_but_told(capsys):
    fill()
    assert main(["compare", "--dataset", "wikiqa"]) == 0
    told = capsys.readouterr().err
    assert "1 run with other settings" in told
    assert "CA(list) (margin=0.1)" in told
    assert main(["compare", "--system", "CA(list)"]) == 2
    one_error_line(capsys, "no run of the system", "not compared: CA(list) (margin=0.1)")
    assert main(["compare", "--system", "DCA"]) == 0
    assert not capsys.readouterr().err


def test_what_this_version_does_not_know_is_set_aside(capsys):
    fill()
    for name in ("paper", "variant"):
        known = row("CA(list)", seed=5)
        hidden = replace(known, recipe={**known.recipe, name: "mine"}, slug=f"other-{name}")
        hidden.write()
    assert main(["compare"]) == 0
    seen = capsys.readouterr()
    assert "WikiQA (answered): 3 questions, 2 systems" in seen.out
    assert "3 runs" in seen.err
    assert main(["compare", "--dataset", "wikiqa"]) == 0
    assert "mine (not known to this version)" in capsys.readouterr().err


def test_a_figure_beside_the_table(tmp_path, capsys):
    fill()
    assert main(["compare", "--figure", str(tmp_path / "new" / "matrix.png")]) == 0
    seen = capsys.readouterr()
    assert seen.out.startswith("###")
    assert len(seen.err.splitlines()) == 1 + 3
    written = {path.name for path in (tmp_path / "new").iterdir()}
    assert written == {"matrix.pdf", "matrix.svg", "matrix.png"}


def test_figures_compare(tmp_path, capsys):
    out = tmp_path / "figures"
    assert main(["figures", "compare", "--out", str(out)]) == 0
    assert "skipped" in capsys.readouterr().out
    fill()
    assert main(["figures", "compare", "--out", str(out)]) == 0
    assert {path.stem for path in out.iterdir()} == {"compare-matrix", "compare-cost"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--system", "PRI(lst)"], ["PRI(lst)", "did you mean 'PRI(list)'"]),
        (["--dataset", "wikqa"], ["wikqa", "did you mean", "wikiqa"]),
        (["--dataset", "trecqa", "--system", "PRI(list)"], ["none of these systems", "trecqa"]),
        (["--measure", "acc"], ["unknown measure 'acc'", "map"]),
        (["--format", "html"], ["html", "'md', 'csv', 'latex'"]),
    ],
)
def test_bad_input_is_one_clear_line(arguments, words, capsys):
    fill()
    assert main(["compare", *arguments]) == 2
    one_error_line(capsys, *words)


def test_an_empty_ledger_is_told(capsys):
    assert main(["compare"]) == 2
    one_error_line(capsys, "no runs to compare", "qasel run")
