"""The figures of paper 4, from the recipe and from the ledger."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.transforms import ScaledTranslation

from qasel.figures.diagrams import diagrams
from qasel.figures.style import (
    GREY,
    HouseFigure,
    colour,
    house_style,
    new_figure,
)
from qasel.papers.figures import drawn, table_figure
from qasel.papers.question_relevancy.drawings import network
from qasel.papers.question_relevancy.recipes import MAIN, PAPER, STL, WITHOUT, recipe
from qasel.results.experiments import varied
from qasel.results.ledger import Row, read_ledger

DATASET = "semeval-cqa"
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
    rows: Iterable[Row] | None = None, note: Callable[[str], None] = print
) -> dict[str, HouseFigure]:
    """Every figure by its name; `note` is told of those that the ledger has no runs for.

    `rows` default to the ledger.
    """
    rows = list(read_ledger(PAPER) if rows is None else rows)
    found: dict[str, HouseFigure | None] = {f"{PAPER}-network": architecture()}
    found |= {f"{PAPER}-{name}": table(rows, name) for name in TABLES}
    found[f"{PAPER}-learning-curve"] = learning_curve(rows)
    found[f"{PAPER}-hyperparameters"] = hyperparameters(rows)
    return drawn(found, note)


def architecture() -> HouseFigure:
    """The multi-task network (figure 1) with the shapes of the paper's recipe."""
    return diagrams(
        {" ": network(recipe(MAIN, DATASET))},
        unit=1.15,
        title="The multi-task network",
        note="blue: shared by all tasks, orange: each task has its own; only the main task ranks",
    )


def table(rows: Iterable[Row], name: str) -> HouseFigure | None:
    """One table of the paper: MAP on each test, against ours."""
    return table_figure(PAPER, rows, name, TABLES[name], _map_only)


def _map_only(frame: pd.DataFrame) -> pd.DataFrame:
    frame = frame[frame["measure"].eq("MAP") & frame["row"].ne("SemEval-Best")]
    return frame.assign(system=frame["row"], row=frame["row"].str.removeprefix(MAIN + WITHOUT))


def learning_curve(rows: Iterable[Row]) -> HouseFigure | None:
    """Figure 4: dev MAP against the share of the training lists, alone and with the QA task."""
    rows = list(rows)
    systems = {name: varied(PAPER, name, DATASET, "share", rows) for name in (STL, MAIN)}
    if any(len(values) < 2 for values in systems.values()):
        return None
    return _values(
        {"SemEval-2016 B": systems}, "dev MAP", "Figure 4: how much data it takes", "share of train"
    )


def hyperparameters(rows: Iterable[Row]) -> HouseFigure | None:
    """The values that figure 2 of the text tests, one setting at a time, on dev."""
    rows = list(rows)
    panels = {
        told: {MAIN: varied(PAPER, MAIN, DATASET, setting, rows)}
        for setting, told in HYPERPARAMETERS.items()
    }
    panels = {told: systems for told, systems in panels.items() if len(systems[MAIN]) > 1}
    if not panels:
        return None
    return _values(panels, "dev MAP", "One setting at a time, the others as the paper chose", "")


@house_style
def _values(
    panels: Mapping[str, Mapping[str, Mapping[float, list[Row]]]],
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
            scores = {v: [row.scores["dev"]["map"] for row in rows] for v, rows in values.items()}
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
