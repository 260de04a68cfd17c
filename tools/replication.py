"""Write the tables of the replication reports: `python tools/replication.py [PAPER...]`.

Pages of `docs/replication/` have a pair of marks, `<!-- NAME:begin -->` and `<!-- NAME:end -->`,
around each table. The text between them is rewritten from the ledger; the rest is kept.
"""

import sys
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from scipy import stats

from qasel.errors import QaselError
from qasel.locations import DATA, ROOT
from qasel.papers import ROOMS
from qasel.papers.ap_mpcnn import report as ap_mpcnn
from qasel.papers.hierarchical_ranking.recipes import MAIN as PRI
from qasel.papers.hierarchical_ranking.recipes import SCHEMES
from qasel.papers.latent_structured import report as latent_structured
from qasel.papers.latent_structured.recipes import LEARNERS
from qasel.papers.question_relevancy.recipes import (
    AUXILIARY,
    LATER_TEST,
    MAIN,
    MTL,
    OURS,
    SIM,
    STL,
    TASKS,
    WITHOUT,
)
from qasel.results.claims import Claim, claims, claims_table, judged, summary
from qasel.results.compare import Significance, between, compared, significance
from qasel.results.matrix import entries
from qasel.results.runs import (
    DATASETS,
    histories,
    in_tables,
    pick,
    read_runs,
    shown,
    target_of,
    varied,
)
from qasel.results.tables import beside, markdown_table, not_printed, published, put_between
from qasel.text.features.distances import NAMES

PAGES = ROOT / "docs" / "replication"
Tables = Mapping[str, Callable[[pd.DataFrame], str]]


def told(frame: pd.DataFrame) -> str:
    """Return a count of the verdicts, and the table of claims."""
    return f"{summary(frame)}\n\n{claims_table(frame)}"


def three_digits(frame: pd.DataFrame) -> pd.DataFrame:
    """Write floats with three digits, and missing ones as nothing."""
    floats = frame.select_dtypes("float")
    texts = floats.map(lambda x: "" if np.isnan(x) else f"{x:.3f}")
    return frame.assign(**dict(texts.items()))


# Paper 1

HIERARCHICAL = ROOMS["hierarchical-ranking"]
BOTH = ("wikiqa", "trecqa")
"""The data sets of the paper."""


def pair_level(runs: pd.DataFrame, epochs: int = 6) -> pd.DataFrame:
    """Return the pair loss of the first epochs on TREC-QA, with the resulting dev and test MAP.

    One row, of the first seed, per system with a pair loss and per activation of the pair head.
    """
    lines = {}
    with_pairs = (n for n, scheme in SCHEMES.items() if any(h.loss == "pair" for h in scheme.heads))
    for system in with_pairs:
        asked = HIERARCHICAL, system, "trecqa", "pair_head", runs
        dev, test = (varied(*asked, split) for split in ("dev", "test"))
        for activation, found in test.items():
            history = found["history"].iloc[0][:epochs]
            losses = {f"epoch {n}": e["pair"] for n, e in enumerate(history, 1) if "pair" in e}
            if losses:
                maps = {"dev MAP": dev[activation]["map"].iloc[0], "test MAP": found["map"].iloc[0]}
                lines[f"{system}, {activation}"] = losses | maps
    return pd.DataFrame.from_dict(lines, orient="index")


RUNS = 10
"""Minimum number of runs for correlating dev and test scores."""


def both_splits(runs: pd.DataFrame) -> pd.DataFrame:
    """Return dev and test MAP of each run: columns dataset, variant, seed, dev, test.

    Only runs that the tables count, with the word vectors of the variant's row there. Data sets
    with fewer than `RUNS` of them are left out.
    """
    lines = in_tables(HIERARCHICAL, runs)
    same = lines["dataset"].eq("wikiqa") & lines["variant"].eq("DCA")  # as CA(list)
    lines = lines[lines["dataset"].isin(BOTH) & ~same]
    groups = lines.groupby(["dataset", "variant"])
    vectors = {key: pick(group, key[1:]) for key, group in groups}
    kept = [vectors[run.dataset, run.variant] == run.vectors for run in lines.itertuples()]
    run = ["dataset", "variant", "seed"]
    maps = lines.loc[kept].pivot(index=run, columns="split", values="map")
    frame = maps.reindex(columns=["dev", "test"]).reindex(BOTH, level="dataset").reset_index()
    return frame[frame.groupby("dataset")["seed"].transform("size") >= RUNS]


def judged_by_dev(runs: pd.DataFrame) -> pd.DataFrame:
    """Return Spearman's rank correlation of dev and test MAP over the runs of each data set.

    Its p value treats all runs as independent. Further columns describe the run with the highest
    dev MAP: its test MAP, and how many other runs are better on test.
    """
    lines = {}
    for dataset, frame in both_splits(runs).groupby("dataset", sort=False):
        found = stats.spearmanr(frame["dev"], frame["test"])
        best = frame.loc[frame["dev"].idxmax()]
        lines[DATASETS[dataset]] = {
            "runs": len(frame),
            "span of test MAP": np.ptp(frame["test"]),
            "rank correlation": found.statistic,
            "p": found.pvalue,
            "best on dev": best["variant"],
            "its dev MAP": best["dev"],
            "its test MAP": best["test"],
            "better on test": (frame["test"] > best["test"]).sum(),
        }
    return pd.DataFrame.from_dict(lines, orient="index")


def convergence(runs: pd.DataFrame) -> pd.DataFrame:
    """Compare how fast PRI(list) and CA(list) learn (figure 4).

    Columns per data set: the number of epochs that all runs have, in how many of them PRI(list)
    has the lower mean list loss, and each system's best dev epoch, as the mean over its runs.
    """
    lines = {}
    for dataset in BOTH:
        systems = shown(HIERARCHICAL, dataset, PRI, "CA(list)", runs=runs)
        if systems:
            losses = histories(systems, "list").values()
            means = [np.mean([*zip(*seeds, strict=False)], axis=1) for seeds in losses]
            epochs = min(map(len, means))  # up to the shortest run
            joint, alone = (mean[:epochs] for mean in means)
            epoch = {name: own["best_epoch"].mean() for name, own in systems.items()}
            best = {f"best epoch, {name}": f"{mean:.1f}" for name, mean in epoch.items()}
            counts = " and ".join(str(len(own)) for own in systems.values())
            known = {"epochs": epochs, f"{PRI} lower in": (joint < alone).sum()}
            lines[DATASETS[dataset]] = known | best | {"runs": counts}
    return pd.DataFrame.from_dict(lines, orient="index")


# Paper 4

RELEVANCY = ROOMS["question-relevancy"]
SEMEVAL = "semeval-cqa"
ORDER = "IR baseline"
TESTS = {"test": "2016", LATER_TEST: "2017"}
STARS = {"": "", "one star in the paper": "*", "two stars in the paper": "**"}
COMPARISONS = (
    *((f"{MTL} ({name})", STL) for name in AUXILIARY),
    *((f"MTL{SIM} ({name})", f"STL{SIM}") for name in TASKS),
    (STL, f"STL{SIM}"),
)
"""Pairs of systems: multi-task against single-task, and the small network against the large."""


def _claim(text: str, first: str, second: str, split: str = "test") -> Claim:
    """Return a comparison by MAP on a test split, spelled as in `published.csv`."""
    return Claim(text, first, second, SEMEVAL, "MAP" if split == "test" else f"{split} MAP")


def task_claims(runs: pd.DataFrame) -> pd.DataFrame:
    """Judge `COMPARISONS` on both test splits; the paper's differences carry its stars."""
    asked = [_claim(year, *pair, split) for pair in COMPARISONS for split, year in TESTS.items()]
    known = published(RELEVANCY).query("table == 'table-1'").set_index(["row", "metric"])["note"]
    frame = judged(RELEVANCY, asked, runs).rename(columns={"claim": "test"})
    stars = [STARS[known[claim.first, claim.metric]] for claim in asked]
    return frame.assign(paper=frame["paper"] + stars).drop(columns=["data", "measure"])


def left_out(runs: pd.DataFrame) -> pd.DataFrame:
    """Judge table 3: all distances against all but one, on the test split of 2016."""
    return judged(RELEVANCY, [_claim(name, MAIN, f"{MAIN}{WITHOUT}{name}") for name in NAMES], runs)


def against_search(runs: pd.DataFrame) -> pd.DataFrame:
    """Return test MAP less that of the search engine's order, one row per test split and system.

    The 95 % interval is over questions and, if there are two or more, over seeds.
    """
    lines = []
    for split, year in TESTS.items():
        for name in (STL, MAIN, *OURS):
            if test := _against_order(name, split, runs):
                ours = test.estimate
                cells = [*(f"{mean:.3f}" for mean in test.means), f"{ours.difference:+.3f}"]
                ends = f"{ours.low:+.3f} to {ours.high:+.3f}"
                lines.append([year, name, *cells, ends, ours.seeds])
    columns = "test", "system", "MAP", "search engine", "difference", "95 % interval", "seeds"
    return pd.DataFrame(lines, columns=columns)


def _against_order(name: str, split: str, runs: pd.DataFrame) -> Significance | None:
    """Compare a system with the search engine's order, whose runs have no word vectors."""
    learnt, order = (shown(RELEVANCY, SEMEVAL, n, runs=runs, split=split) for n in (name, ORDER))
    return between(learnt | order)


# The pages


def _question_relevancy() -> Tables:
    room = RELEVANCY

    def readings(_: pd.DataFrame) -> str:
        frame = pd.read_csv(DATA / "held-out.csv").query("dataset == 'semeval-cqa'")
        grouped = frame.fillna({"setting": "as set"}).groupby(["variant", "setting"])["map"]
        found = three_digits(grouped.agg(["mean", "count"]).reset_index())
        return markdown_table(found.set_axis(["system", "setting", "MAP", "runs"], axis=1))

    return {
        "table-1": lambda runs: beside(room, "table-1", runs),
        "search": lambda runs: markdown_table(against_search(runs)),
        "tasks": lambda runs: told(task_claims(runs)),
        "table-2": lambda runs: beside(room, "table-2", runs, legend=False),
        "table-3": lambda runs: beside(room, "table-3", runs, legend=False),
        "left-out": lambda runs: claims_table(left_out(runs)),
        "held-out": readings,
        "not-printed": lambda runs: not_printed(room, runs),
    }


def _hierarchical_ranking() -> Tables:
    room = HIERARCHICAL

    def numbers(frame: pd.DataFrame, name: str) -> str:
        return markdown_table(three_digits(frame).rename_axis(name).reset_index())

    def held_out(_: pd.DataFrame) -> str:
        frame = pd.read_csv(DATA / "held-out.csv", dtype={"folds": str})
        frame = frame[frame["variant"].isin(SCHEMES)]
        frame["data"] = frame["dataset"].map(DATASETS)
        grouped = frame.fillna({"setting": "as set"}).groupby(
            ["data", "folds", "variant", "setting"]
        )
        found = three_digits(grouped["map"].agg(["mean", "count"]).reset_index())
        columns = ["data", "folds", "system", "setting", "MAP", "runs"]
        return markdown_table(found.set_axis(columns, axis=1))

    return {
        "table-1": lambda runs: beside(room, "table-1", runs),
        "table-2": lambda runs: beside(room, "table-2", runs, legend=False),
        "claims": lambda runs: told(claims(room, runs)),
        "pair-level": lambda runs: numbers(pair_level(runs), "system"),
        "figure-4": lambda runs: numbers(convergence(runs), "data"),
        "dev-and-test": lambda runs: numbers(judged_by_dev(runs), "data"),
        "held-out": held_out,
        "not-printed": lambda runs: not_printed(room, runs),
    }


def _ap_mpcnn() -> Tables:
    room, report = ROOMS["ap-mpcnn"], ap_mpcnn

    def settings(runs: pd.DataFrame) -> str:
        grid = report.settings(runs)
        return f"{' '.join(report.summary(grid))}\n\n{markdown_table(grid)}"

    def questions(runs: pd.DataFrame) -> str:
        return markdown_table(three_digits(report.answered(runs)).reset_index())

    return {
        "table-5": lambda runs: beside(room, "table-5", runs),
        "questions": questions,
        "parts": lambda runs: told(claims(room, runs).drop(columns="claim")),
        "table-4": lambda runs: beside(room, "table-4", runs, legend=False),
        "settings": settings,
        "not-printed": lambda runs: not_printed(room, runs),
    }


def _ms_ranker() -> Tables:
    room = ROOMS["ms-ranker"]
    return {
        "claims": lambda runs: told(claims(room, runs)),
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
        text = put_between(text, name, table(runs), f"{paper}.md")
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
