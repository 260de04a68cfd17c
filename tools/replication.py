"""Write the tables of the replication reports: `python tools/replication.py [PAPER...]`.

Pages of `docs/replication/` have a pair of marks, `<!-- NAME:begin -->` and `<!-- NAME:end -->`,
around each table. The text between them is rewritten from the ledger; the rest is kept.
"""

import sys
from collections.abc import Callable, Mapping

import pandas as pd

from qasel.errors import QaselError
from qasel.locations import DATA, ROOT
from qasel.papers import ROOMS
from qasel.papers.ap_mpcnn import report as ap_mpcnn
from qasel.papers.hierarchical_ranking import report as hierarchical_ranking
from qasel.papers.latent_structured import report as latent_structured
from qasel.papers.latent_structured.recipes import LEARNERS
from qasel.papers.ms_ranker import report as ms_ranker
from qasel.papers.question_relevancy import report as question_relevancy
from qasel.results.compare import (
    between,
    claims_table,
    compared,
    entries,
    significance,
    summary,
)
from qasel.results.runs import read_runs, target_of
from qasel.results.tables import beside, markdown_table, not_printed

PAGES = ROOT / "docs" / "replication"
Tables = Mapping[str, Callable[[pd.DataFrame], str]]


def _question_relevancy() -> Tables:
    room = ROOMS["question-relevancy"]

    def tasks(runs: pd.DataFrame) -> str:
        compared = question_relevancy.claims(runs)
        return f"{summary(compared)}\n\n{claims_table(compared)}"

    def readings(_: pd.DataFrame) -> str:
        frame = pd.read_csv(DATA / "held-out.csv").query("dataset == 'semeval-cqa'")
        grouped = frame.fillna({"setting": "as set"}).groupby(["variant", "setting"])["map"]
        found = grouped.agg(["mean", "count"]).reset_index()
        found["mean"] = [f"{mean:.3f}" for mean in found["mean"]]
        return markdown_table(found.set_axis(["system", "setting", "MAP", "runs"], axis=1))

    return {
        "table-1": lambda runs: beside(room, "table-1", runs),
        "search": lambda runs: markdown_table(question_relevancy.against_search(runs)),
        "tasks": tasks,
        "table-2": lambda runs: beside(room, "table-2", runs, legend=False),
        "table-3": lambda runs: beside(room, "table-3", runs, legend=False),
        "left-out": lambda runs: claims_table(question_relevancy.left_out(runs)),
        "held-out": readings,
        "not-printed": lambda runs: not_printed(room, runs),
    }


def _hierarchical_ranking() -> Tables:
    room, report = ROOMS["hierarchical-ranking"], hierarchical_ranking

    def claims(runs: pd.DataFrame) -> str:
        compared = report.claims(runs)
        return f"{summary(compared)}\n\n{claims_table(compared)}"

    def numbers(frame: pd.DataFrame, name: str) -> str:
        return markdown_table(frame.round(3).fillna("").rename_axis(name).reset_index())

    def held_out(_: pd.DataFrame) -> str:
        frame = pd.read_csv(DATA / "held-out.csv", dtype={"folds": str})
        frame = frame[frame["variant"].isin(room.variants) & (frame["dataset"] == "wikiqa")]
        frame = frame[frame["variant"].isin(["CA(list)", "MTL(list)", "RI(list)", "PRI(list)"])]
        grouped = frame.fillna({"setting": "as set"}).groupby(["folds", "variant", "setting"])
        found = grouped["map"].agg(["mean", "count"]).round(3).reset_index()
        return markdown_table(found.set_axis(["folds", "system", "setting", "MAP", "runs"], axis=1))

    return {
        "table-1": lambda runs: beside(room, "table-1", runs),
        "table-2": lambda runs: beside(room, "table-2", runs, legend=False),
        "claims": claims,
        "pair-level": lambda runs: numbers(report.pair_level(runs), "system"),
        "figure-4": lambda runs: numbers(report.convergence(runs), "data"),
        "dev-and-test": lambda runs: numbers(report.judged_by_dev(runs), "data"),
        "held-out": held_out,
        "not-printed": lambda runs: not_printed(room, runs),
    }


def _ap_mpcnn() -> Tables:
    room, report = ROOMS["ap-mpcnn"], ap_mpcnn

    def parts(runs: pd.DataFrame) -> str:
        compared = report.parts(runs).drop(columns="claim")
        return f"{summary(compared)}\n\n{claims_table(compared)}"

    def settings(runs: pd.DataFrame) -> str:
        grid = report.settings(runs)
        return f"{' '.join(report.summary(grid))}\n\n{markdown_table(grid)}"

    def questions(runs: pd.DataFrame) -> str:
        return markdown_table(report.answered(runs).round(3).reset_index())

    return {
        "table-5": lambda runs: beside(room, "table-5", runs),
        "questions": questions,
        "parts": parts,
        "table-4": lambda runs: beside(room, "table-4", runs, legend=False),
        "settings": settings,
        "not-printed": lambda runs: not_printed(room, runs),
    }


def _ms_ranker() -> Tables:
    room = ROOMS["ms-ranker"]

    def claims(_: pd.DataFrame) -> str:
        found = ms_ranker.claims()
        return f"{summary(found)}\n\n{claims_table(found)}"

    return {
        "claims": claims,
        "table-2": lambda runs: beside(room, "table-2", runs),
        "table-4": lambda runs: beside(room, "table-4", runs, legend=False),
        "table-3": lambda runs: beside(room, "table-3", runs, legend=False),
        "not-printed": lambda runs: not_printed(room, runs),
    }


def _latent_structured() -> Tables:
    room, report = ROOMS["latent-structured"], latent_structured

    def table(name: str) -> Callable[[pd.DataFrame], str]:
        return lambda runs: beside(room, name, runs, legend=name == "table-1")

    def searches(runs: pd.DataFrame) -> str:
        tests = (significance(room, d, "map", a, b, runs) for a, b, d in report.SEARCHES)
        return markdown_table(compared(tests))

    def given_order(_: pd.DataFrame) -> str:
        found = read_runs(ROOMS.values())
        lines = entries(found[found["variant"].isin([*LEARNERS, "given order"])])
        lines = lines[lines["target"] == target_of("wikiqa", "mixed")]
        systems = dict(list(lines.groupby("system", sort=False)))
        given = systems.pop("given order", lines[:0])
        tests = (between({name: own, "given order": given}) for name, own in systems.items())
        return markdown_table(compared(tests))

    def networks(_: pd.DataFrame) -> str:
        pairs = (("CA(ap)", "CA(list)"), ("PRI(list→ap)", "PRI(list)"))
        other = ROOMS["hierarchical-ranking"]
        tests = (significance(other, "wikiqa", m, *pair) for m in ("map", "mrr") for pair in pairs)
        return markdown_table(compared(tests))

    return {
        **{f"table-{number}": table(f"table-{number}") for number in (1, 2, 3, 4)},
        "figure-1": report.figure_1,
        "searches": searches,
        "given-order": given_order,
        "networks": networks,
        "not-printed": lambda runs: not_printed(room, runs),
    }


REPORTS: Mapping[str, Callable[[], Tables]] = {
    "ap-mpcnn": _ap_mpcnn,
    "hierarchical-ranking": _hierarchical_ranking,
    "latent-structured": _latent_structured,
    "ms-ranker": _ms_ranker,
    "question-relevancy": _question_relevancy,
}
"""Paper -> function that returns the tables of its page, by the name in their marks."""


def filled(text: str, paper: str) -> str:
    """Return a page with the current tables; raises `QaselError` if it lacks the marks of one."""
    runs = read_runs([ROOMS[paper]])
    for name, table in REPORTS[paper]().items():
        begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
        before, found, rest = text.partition(begin)
        _, ended, after = rest.partition(end)
        if not found or not ended:
            raise QaselError(f"{paper}.md has no lines {begin} and {end} to put a table between")
        text = f"{before}{begin}\n\n{table(runs).strip()}\n\n{end}{after}"
    return text


def main() -> int:
    """Rewrite the pages in place; returns the exit status."""
    try:
        for paper in sys.argv[1:] or REPORTS:
            if paper not in REPORTS:
                raise QaselError(f"no report {paper!r}; there are {', '.join(REPORTS)}")
            page = PAGES / f"{paper}.md"
            page.write_text(filled(page.read_text(encoding="utf-8"), paper), encoding="utf-8")
            print(f"{page.name}: written")
    except QaselError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
