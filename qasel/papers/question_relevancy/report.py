"""Paper 4: its claims beside our runs, its network as boxes and arrows, and its figures.

`runs` is a frame of `read_runs`, by default that of the ledger.
"""

from collections.abc import Mapping, Sequence

import pandas as pd
import seaborn

from qasel.figures.diagrams import Arrow, Box, Diagram, diagrams
from qasel.figures.style import HouseFigure, colour, house_style, new_figure
from qasel.papers.question_relevancy import ROOM
from qasel.papers.question_relevancy.recipes import MAIN, STL, WITHOUT, recipe
from qasel.papers.report import OUT, OWN, SHARED, WORDS, table_figure
from qasel.results.runs import varied

DATASET = "semeval-cqa"


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


def figures(runs: pd.DataFrame) -> dict[str, HouseFigure | None]:
    """Return every figure by name; None for one without runs."""
    return {
        "network": architecture(),
        **{name: table(runs, name) for name in TABLES},
        "learning-curve": learning_curve(runs),
        "hyperparameters": hyperparameters(runs),
    }


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
