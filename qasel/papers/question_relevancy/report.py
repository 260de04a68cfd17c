"""Paper 4: what it says of its systems beside our runs, its network as boxes, and its figures.

`runs` are the frame of `read_runs`, by default the ledger's.
"""

from collections.abc import Callable, Mapping
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.transforms import ScaledTranslation

from qasel.evaluation import bootstrap_interval
from qasel.figures.diagrams import Arrow, Box, Diagram, diagrams
from qasel.figures.style import (
    GREY,
    HouseFigure,
    colour,
    house_style,
    new_figure,
)
from qasel.papers.question_relevancy import ROOM
from qasel.papers.question_relevancy.recipes import (
    AUXILIARY,
    LATER_TEST,
    MAIN,
    MTL,
    OURS,
    SIM,
    STL,
    WITHOUT,
    RelevancyRecipe,
    recipe,
)
from qasel.papers.report import OUT, OWN, SHARED, WORDS, drawn, table_figure
from qasel.results.compare import CLAIM_COLUMNS, Claim, between, judge, judged
from qasel.results.runs import by_question, read_runs, shown, varied
from qasel.results.tables import published
from qasel.text.features.distances import NAMES

DATASET = "semeval-cqa"
ORDER = "IR baseline"
INTERVAL = "95 % over questions"
TESTS = {"test": "2016", LATER_TEST: "2017"}
STARS = {"": "", "one star in the paper": "*", "two stars in the paper": "**"}
COMPARISONS = (
    *((f"{MTL} ({name})", STL) for name in AUXILIARY),
    *((f"MTL{SIM} ({name})", f"STL{SIM}") for name in ("QA", "FNC", "NLI")),
    (STL, f"STL{SIM}"),
)
"""The multi-task system and the single-task one, and the small network against the large."""


def claims(runs: pd.DataFrame | None = None) -> pd.DataFrame:
    """Other tasks against none, and the small network against the large, on both tests.

    As `judged` gives them; the paper's differences with its stars.
    """
    asked = [
        Claim(year, first, second, DATASET, _map_of(split))
        for first, second in COMPARISONS
        for split, year in TESTS.items()
    ]
    known = published(ROOM).query("table == 'table-1'").set_index(["row", "metric"])["note"]
    frame = judged(ROOM, asked, runs).rename(columns={"claim": "test"})
    stars = [STARS[known[claim.first, claim.metric]] for claim in asked]
    return frame.assign(paper=frame["paper"] + stars).drop(columns=["data", "measure"])


def _map_of(split: str) -> str:
    """MAP on a test split, as `published.csv` has it."""
    return "MAP" if split == "test" else f"{split} MAP"


def left_out(runs: pd.DataFrame | None = None) -> pd.DataFrame:
    """Table 3: all distances against all but one, on the test of 2016; as `judged` gives them."""
    asked = [Claim(name, MAIN, f"{MAIN}{WITHOUT}{name}", DATASET) for name in NAMES]
    return judged(ROOM, asked, runs)


def against_search(runs: pd.DataFrame | None = None) -> pd.DataFrame:
    """Test MAP less that of the search engine's order, in the text's distances and in ours.

    One line a test and system. The interval is a bootstrap over the questions, on each one's mean
    over seeds; systems that were not run are left out.
    """
    lines = []
    for split, year in TESTS.items():
        for name in (STL, MAIN, *OURS):
            systems = _beside_search(name, split, runs)
            if len(systems) < 2:
                continue
            ours, engine = (by_question(group, "map") for group in systems.values())
            low, high = bootstrap_interval(ours, engine)
            score, order = (fmean(values.values()) for values in (ours, engine))
            told = [f"{score:.3f}", f"{order:.3f}", f"{score - order:+.3f}"]
            lines.append([year, name, *told, f"{low:+.3f} to {high:+.3f}", len(systems[name])])
    columns = ["test", "system", "MAP", "search engine", "difference", INTERVAL, "seeds"]
    return pd.DataFrame(lines, columns=columns)


def held(runs: pd.DataFrame | None = None) -> pd.DataFrame:
    """What the paper says of its systems in table 1, test by test; as `judged` gives it."""
    network, others = [], []
    for split in TESTS:
        metric = _map_of(split)
        for name in (STL, MAIN):
            claim = Claim("network beats search engine", name, ORDER, DATASET, metric)
            network.append(judge(ROOM, claim, between(_beside_search(name, split, runs))))
        others.append(Claim("small network beats BiLSTM", STL, f"STL{SIM}", DATASET, metric))
        for name in AUXILIARY:
            claim = Claim(f"other tasks: {name}", f"{MTL} ({name})", STL, DATASET, metric)
            others.append(claim)
    found = [pd.DataFrame(network, columns=CLAIM_COLUMNS), judged(ROOM, others, runs)]
    return pd.concat(found).sort_values("data", kind="stable", ignore_index=True)


def _beside_search(name: str, split: str, runs: pd.DataFrame | None) -> dict[str, pd.DataFrame]:
    """The lines of a system, and of the search engine's order, those that there are."""
    learnt, order = (shown(ROOM, DATASET, n, runs=runs, split=split) for n in (name, ORDER))
    return learnt | order


CLASSES = {"QA": 2, "FNC": 4, "NLI": 3}


def network(recipe: RelevancyRecipe) -> Diagram:
    """Figure 1, from left to right: the main task above, every auxiliary task below it."""
    width, distances = recipe.width, len(recipe.features)
    boxes = {
        "pair": Box("two texts", 0, 0, "of any task", WORDS, 1.2),
        "x": Box("distances", 1.7, 0, f"[{distances}]", WORDS, 1.2),
        "shared": Box("shared layer", 3.4, 0, f"[{distances}] to [{width}]", SHARED, 1.45),
    }
    arrows = [Arrow("pair", "x"), Arrow("x", "shared")]
    tasks = {"main": ("questions", 2), **{n: (f"{n} task", CLASSES[n]) for n in AUXILIARY["ALL"]}}
    for place, (name, (told, classes)) in enumerate(tasks.items()):
        y = 1.2 - 0.8 * place
        end = "relevant or not: ranks" if name == "main" else "only to learn from"
        boxes[name] = Box(told, 5.3, y, f"[{width}] to [{width}]", OWN, 1.45)
        boxes[f"{name} out"] = Box(
            f"{classes} classes", 7.2, y, end, OUT if name == "main" else OWN, 1.75
        )
        arrows += [Arrow("shared", name), Arrow(name, f"{name} out")]
    return Diagram(boxes, arrows)


TABLES = {
    "table-1": "Table 1: systems and auxiliary tasks, paper against ours",
    "table-2": "Table 2: sets of distances, paper against ours",
    "table-3": "Table 3: one distance left out, paper against ours",
}
HYPERPARAMETERS = {
    "batch": "pairs a batch",
    "learning_rate": "learning rate",
    "momentum": "momentum",
    "dropout": "dropout",
}
"""Settings of figure 2 of the text, but for the number of epochs, which the curves show."""
LOG = {"learning rate"}
"""Panels whose values are orders of magnitude apart."""
ASIDE = 2.5
"""Points by which a system is drawn beside its place, half of what is between two."""


def figures(
    runs: pd.DataFrame | None = None, note: Callable[[str], None] = print
) -> dict[str, HouseFigure]:
    """Every figure by its name; `note` is told of those that there are no runs for."""
    runs = read_runs([ROOM]) if runs is None else runs
    found = {"network": architecture()} | {name: table(runs, name) for name in TABLES}
    found |= {"learning-curve": learning_curve(runs), "hyperparameters": hyperparameters(runs)}
    return drawn(ROOM, found, note)


def architecture() -> HouseFigure:
    """The multi-task network (figure 1) with the shapes of the paper's recipe."""
    return diagrams(
        {" ": network(recipe(MAIN, DATASET))},
        unit=1.15,
        title="The multi-task network",
        note="blue: shared by all tasks, orange: each task has its own; only the main task ranks",
    )


def table(runs: pd.DataFrame | None, name: str) -> HouseFigure | None:
    """One table of the paper: MAP on each test, against ours."""

    def map_only(frame: pd.DataFrame) -> pd.DataFrame:
        frame = frame[frame["measure"].eq("MAP") & frame["row"].ne("SemEval-Best")]
        return frame.assign(system=frame["row"], row=frame["row"].str.removeprefix(MAIN + WITHOUT))

    return table_figure(ROOM, runs, name, TABLES[name], map_only)


def learning_curve(runs: pd.DataFrame | None = None) -> HouseFigure | None:
    """Figure 4: dev MAP against the share of the training lists, alone and with the QA task."""
    systems = {name: varied(ROOM, name, DATASET, "share", runs, "dev") for name in (STL, MAIN)}
    if any(len(values) < 2 for values in systems.values()):
        return None
    title = "Figure 4: how much data it takes"
    return _values({"SemEval-2016 B": systems}, "dev MAP", title, "share of train")


def hyperparameters(runs: pd.DataFrame | None = None) -> HouseFigure | None:
    """The values that figure 2 of the text tests, one setting at a time, on dev."""
    panels = {
        told: {MAIN: varied(ROOM, MAIN, DATASET, setting, runs, "dev")}
        for setting, told in HYPERPARAMETERS.items()
    }
    panels = {told: systems for told, systems in panels.items() if len(systems[MAIN]) > 1}
    if not panels:
        return None
    return _values(panels, "dev MAP", "One setting at a time, the others as the paper chose", "")


@house_style
def _values(
    panels: Mapping[str, Mapping[str, Mapping[Any, pd.DataFrame]]],
    ylabel: str,
    title: str,
    xlabel: str,
) -> HouseFigure:
    """A panel for each setting: a dot a seed, and a line through the means.

    Values stand where they are on a scale, a logarithmic one where the panel's name is in `LOG`;
    systems are drawn a little beside each other.
    """
    figure = new_figure(max(7.0, 1.0 + 3.4 * len(panels)), 4.2)
    grid = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, (name, systems) in zip(grid, panels.items(), strict=True):
        if name in LOG:
            axes.set_xscale("log")
        for number, (system, values) in enumerate(systems.items()):
            scores = {value: lines["map"] for value, lines in values.items()}
            points = ASIDE * (2 * number - len(systems) + 1) / 72
            aside = axes.transData + ScaledTranslation(points, 0, figure.dpi_scale_trans)
            style: dict[str, Any] = {"color": colour(system), "transform": aside}
            for value, found in scores.items():
                axes.plot([value] * len(found), found, "o", alpha=0.4, markersize=4, **style)
                axes.update_datalim([(value, score) for score in found])
            means = [np.mean(found) for found in scores.values()]
            axes.plot(list(scores), means, label=system, **style)
        axes.autoscale_view()  # which leaves what is drawn aside alone
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set_title(name)
        axes.set_xlabel(xlabel)
    grid[0].set_ylabel(ylabel)
    axes.plot([], [], "o", color=GREY, alpha=0.5, markersize=4, label="one seed")
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    figure.suptitle(title)
    return figure
