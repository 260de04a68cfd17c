"""Paper 4: its claims beside our runs, its network as boxes and arrows, and its figures.

`runs` is a frame of `read_runs`, by default that of the ledger.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import pandas as pd
import seaborn

from qasel.figures.diagrams import Arrow, Box, Diagram, diagrams
from qasel.figures.style import HouseFigure, colour, house_style, new_figure
from qasel.papers.question_relevancy import ROOM
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
    recipe,
)
from qasel.papers.report import OUT, OWN, SHARED, WORDS, drawn, table_figure
from qasel.results.claims import claims as judged_claims
from qasel.results.compare import Claim, Significance, between, judged
from qasel.results.runs import read_runs, shown, varied
from qasel.results.tables import published
from qasel.text.features.distances import NAMES

DATASET = "semeval-cqa"
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
    return Claim(text, first, second, DATASET, "MAP" if split == "test" else f"{split} MAP")


def claims(runs: pd.DataFrame | None = None) -> pd.DataFrame:
    """Judge `COMPARISONS` on both test splits; the paper's differences carry its stars."""
    asked = [_claim(year, *pair, split) for pair in COMPARISONS for split, year in TESTS.items()]
    known = published(ROOM).query("table == 'table-1'").set_index(["row", "metric"])["note"]
    frame = judged(ROOM, asked, runs).rename(columns={"claim": "test"})
    stars = [STARS[known[claim.first, claim.metric]] for claim in asked]
    return frame.assign(paper=frame["paper"] + stars).drop(columns=["data", "measure"])


def left_out(runs: pd.DataFrame | None = None) -> pd.DataFrame:
    """Judge table 3: all distances against all but one, on the test split of 2016."""
    return judged(ROOM, [_claim(name, MAIN, f"{MAIN}{WITHOUT}{name}") for name in NAMES], runs)


held = partial(judged_claims, ROOM)
"""The paper's conclusions (`claims.csv`), one row per comparison; columns as in `judged`."""


def against_search(runs: pd.DataFrame | None = None) -> pd.DataFrame:
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


def _against_order(name: str, split: str, runs: pd.DataFrame | None) -> Significance | None:
    """Compare a system with the search engine's order, whose runs have no word vectors."""
    learnt, order = (shown(ROOM, DATASET, n, runs=runs, split=split) for n in (name, ORDER))
    return between(learnt | order)


def architecture() -> HouseFigure:
    """Draw figure 1 with the shapes of the paper's recipe: the main task above the others."""
    settings = recipe(MAIN, DATASET)
    width, distances = settings.width, len(settings.features)
    boxes = {
        "pair": Box("two texts", 0, 0, "of any task", WORDS, 1.2),
        "x": Box("distances", 1.7, 0, f"[{distances}]", WORDS, 1.2),
        "shared": Box("shared layer", 3.4, 0, f"[{distances}] to [{width}]", SHARED, 1.45),
    }
    arrows = [Arrow("pair", "x"), Arrow("x", "shared")]
    classes_of = {"questions": 2, "QA": 2, "FNC": 4, "NLI": 3}
    for place, (name, classes) in enumerate(classes_of.items()):
        main, y = not place, 1.2 - 0.8 * place
        end = "relevant or not: ranks" if main else "only to learn from"
        task = name if main else f"{name} task"
        boxes[name] = Box(task, 5.3, y, f"[{width}] to [{width}]", OWN, 1.45)
        boxes[f"{name} out"] = Box(f"{classes} classes", 7.2, y, end, OUT if main else OWN, 1.75)
        arrows += [Arrow("shared", name), Arrow(name, f"{name} out")]
    return diagrams(
        {" ": Diagram(boxes, arrows)},
        unit=1.15,
        title="The multi-task network",
        note="blue: shared by all tasks, orange: each task has its own; only the main task ranks",
    )


TABLES = {
    "table-1": "Table 1: systems and auxiliary tasks, paper against ours",
    "table-2": "Table 2: sets of distances, paper against ours",
    "table-3": "Table 3: one distance left out, paper against ours",
}
HYPERPARAMETERS = {"batch": "pairs per batch", "learning_rate": "learning rate"}
HYPERPARAMETERS |= {name: name for name in ("momentum", "dropout")}
"""Settings of figure 2 of the text, except the number of epochs."""


def figures(
    runs: pd.DataFrame | None = None, note: Callable[[str], None] = print
) -> dict[str, HouseFigure]:
    """Return every figure by name; `note` gets a line about each one that has no runs."""
    runs = read_runs([ROOM]) if runs is None else runs
    found = {"network": architecture()} | {name: table(runs, name) for name in TABLES}
    found |= {"learning-curve": learning_curve(runs), "hyperparameters": hyperparameters(runs)}
    return drawn(ROOM, found, note)


def table(runs: pd.DataFrame | None, name: str) -> HouseFigure | None:
    """Draw one table of the paper against ours: MAP on each test split."""

    def map_only(frame: pd.DataFrame) -> pd.DataFrame:
        hidden = frame["row"].isin(["SemEval-Best", "Random baseline"])  # would stretch the axis
        frame = frame[frame["measure"].eq("MAP") & ~hidden]
        return frame.assign(system=frame["row"], row=frame["row"].str.removeprefix(MAIN + WITHOUT))

    return table_figure(ROOM, runs, name, TABLES[name], map_only)


def learning_curve(runs: pd.DataFrame | None = None) -> HouseFigure | None:
    """Draw figure 4: dev MAP against the share of training lists, alone and with the QA task."""
    title = "Figure 4: how much data it takes"
    return _panels({"share": "share of train"}, (STL, MAIN), runs, title)


def hyperparameters(runs: pd.DataFrame | None = None) -> HouseFigure | None:
    """Draw dev MAP for the values that figure 2 of the text tests, one setting at a time."""
    return _panels(HYPERPARAMETERS, (MAIN,), runs, "One setting at a time, the others as chosen")


@house_style
def _panels(
    settings: Mapping[str, str], systems: Sequence[str], runs: pd.DataFrame | None, title: str
) -> HouseFigure | None:
    """Draw dev MAP by the value of a setting, a panel each: means, and a band over all seeds.

    A setting has a panel only if each system was run with at least two of its values.
    """
    panels = {}
    for setting, name in settings.items():
        values = {s: varied(ROOM, s, DATASET, setting, runs, "dev") for s in systems}
        if min(map(len, values.values())) > 1:
            panels[name] = pd.concat(
                lines.assign(system=system, value=value)
                for system, found in values.items()
                for value, lines in found.items()
            )
    if not panels:
        return None
    figure = new_figure(max(7.0, 1.0 + 3.4 * len(panels)), 4.2)
    grid = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, (name, frame) in zip(grid, panels.items(), strict=True):
        seaborn.lineplot(
            frame.reset_index(), x="value", y="map", hue="system", marker="o", ax=axes,
            palette={system: colour(system) for system in systems},
            errorbar=("pi", 100), legend=axes is grid[0],
        )  # fmt: skip
        scale = "log" if name == "learning rate" else "linear"
        axes.set(xlabel=name, ylabel="dev MAP", xscale=scale)
        axes.xaxis.set_major_formatter("{x:g}")
    shown_by = grid[0].get_legend_handles_labels()
    grid[0].get_legend().remove()
    figure.legend(*shown_by, loc="outside lower center", ncols=2, title="mean and all seeds")
    figure.suptitle(title)
    return figure
