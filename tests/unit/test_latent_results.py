"""Paper 2's published numbers, and tables, claims and figures made from rows of a ledger."""

import pytest
from ledger_rows import ledger_row, runs_of

from qasel.papers.figures import figures
from qasel.papers.latent_structured import ROOM, VARIANTS, recipe
from qasel.results.claims import claims
from qasel.results.compare import between
from qasel.results.tables import comparison, published

PAPER = "latent-structured"


def row(variant, dataset="wikiqa", seed=0, map_=0.6, dev=0.7, epochs=60):
    chosen = recipe(variant, dataset, seed=seed)
    values = {f"q{i}": map_ + shift for i, shift in enumerate((-0.1, 0.0, 0.1))}
    means = {"map": map_, "mrr": map_ + 0.01, "p1": map_ - 0.1}
    history = [{"epoch": i + 1.0, "dev_map": dev - 0.001 * (epochs - i)} for i in range(epochs)]
    return ledger_row(
        chosen,
        dict.fromkeys(means, dev),
        means,
        values,
        history=history,
        best_epoch=epochs,
        chosen={"C": 10.0},
    )


def test_published_numbers():
    numbers = published(ROOM)
    assert not numbers.duplicated(["table", "row", "dataset", "metric"]).any()
    assert set(numbers["row"]) <= set(VARIANTS)
    counts = numbers["table"].value_counts().to_dict()
    # Dev and test of 7 and 8 systems, less the test row that cannot be read; 5 systems in folds.
    assert counts == {"table-1": 39, "table-2": 45, "table-3": 15, "table-4": 15}
    value = numbers.set_index(["table", "row", "dataset", "metric"])["value"]
    assert value["table-1", "LSP-AP", "wikiqa", "MAP"] == 0.6450
    assert value["table-1", "LSP-AP*", "wikiqa", "dev MAP"] == 0.6951
    assert value["table-2", "CNN", "wikiqa", "P@1"] == 0.5612
    assert value["table-4", "LSP (5-fold)", "trecqa", "MRR"] == 0.8254


def test_dev_and_test_scores_stand_beside_their_own_numbers():
    frame = comparison(ROOM, runs_of(row("LSP", seed=s, map_=0.64, dev=0.69) for s in range(3)))
    ours = frame[frame["row"] == "LSP"].set_index("metric")["ours"]
    assert ours["MAP"] == pytest.approx(0.64)
    assert ours["P@1"] == pytest.approx(0.54)
    assert ours["dev MAP"] == pytest.approx(0.69)
    assert frame.loc[frame["row"] == "LSP", "runs"].tolist() == [3] * 6
    # The cross-validated system is another row.
    assert (frame.loc[frame["row"] == "LSP (5-fold)", "verdict"] == "not run").all()


def test_figures_need_rows():
    told = []
    assert figures(PAPER, runs_of([]), told.append) == {}
    assert len(told) == 5
    rows = [row(name) for name in ("LSP", "LSP-AP", "LSP-AP*")]
    found = figures(PAPER, runs_of(rows), told.append)
    assert set(found) == {f"{PAPER}-table-1", f"{PAPER}-figure-1"}


def test_one_run_of_a_system_that_draws_nothing_serves_all_seeds():
    def tested(*rows):
        lines = runs_of(rows).query("split == 'test'")
        return between(dict(list(lines.groupby("variant", sort=False))))

    svm = row("SVM", map_=0.5)
    found = tested(*(row("LSP", seed=s, map_=0.6 + 0.01 * s) for s in (2, 3)), svm)
    assert found is not None
    assert (list(found.runs[0].index), found.seeded) == ([2, 3], True)
    gaps = found.runs[0].to_numpy() - found.runs[1].to_numpy()
    assert gaps.mean(axis=1) == pytest.approx((0.12, 0.13))
    # The perceptrons take the training lists in the seed's order, so a seed of one is not another.
    assert tested(row("LSP", seed=1), row("LSP-AP", seed=0)) is None
    fixed = tested(row("LSSVM-AP"), svm)
    assert fixed is not None
    assert (fixed.estimate.seeds, fixed.seeded) == (1, False)


def test_conclusions_are_judged_by_the_runs():
    rows = [row("LSP-AP", map_=0.66), row("SVM", map_=0.5), row("LSP", map_=0.7)]
    frame = claims(ROOM, runs_of(rows)).set_index("systems")
    assert frame.loc["LSP-AP over SVM", "ours"] == "+0.160"
    assert frame.loc["LSP-AP over LSP", ["paper", "ours"]].tolist() == ["+0.002", "-0.040"]
    exact = frame.loc["LSSVM-AP* over LSSVM-AP", ["paper", "verdict"]]
    assert exact.tolist() == ["better", "not run"], "a number that cannot be read"
    assert set(claims(ROOM, runs_of([]))["verdict"]) == {"not run"}
    assert set(frame["paper"]) - {"better"}, "numbers for all others"
