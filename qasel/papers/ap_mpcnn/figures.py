"""The figures of paper 5, from the recipe and from the ledger."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from qasel.figures.curves import curves
from qasel.figures.diagrams import diagrams
from qasel.figures.style import GREY, INK, HouseFigure, colour, house_style, new_figure
from qasel.papers.ap_mpcnn.drawings import network
from qasel.papers.ap_mpcnn.grid import OneSetting, settings_of
from qasel.papers.ap_mpcnn.recipes import ALONE, MAIN, PAPER, recipe
from qasel.papers.figures import drawn, table_figure
from qasel.results.ledger import Row, read_ledger
from qasel.results.tables import MEASURES, counted, pick, published

DATASET = "trecqa"
BARS = (*ALONE, MAIN)
"""The bars of figure 11, here dots, from top to bottom."""


def figures(
    rows: Iterable[Row] | None = None, note: Callable[[str], None] = print
) -> dict[str, HouseFigure]:
    """Every figure by its name; `note` is told of those that the ledger has no runs for.

    `rows` default to the ledger.
    """
    rows = list(read_ledger(PAPER) if rows is None else rows)
    found = {
        f"{PAPER}-network": architecture(),
        f"{PAPER}-table-5": table_5(rows),
        f"{PAPER}-figure-11": figure_11(rows),
        f"{PAPER}-table-4": table_4(rows),
        f"{PAPER}-training": training(rows),
    }
    return drawn(found, note)


def architecture() -> HouseFigure:
    """The network (figure 2) with the shapes of the paper's recipe."""
    return diagrams(
        {" ": network(recipe(MAIN, DATASET))},
        unit=1.1,
        title="AP-MPCNN",
        note="n words of the question, m of the answer, d numbers a word vector; "
        "orange: has weights to learn, blue: computed without any",
    )


def table_5(rows: Iterable[Row]) -> HouseFigure | None:
    """Table V: the paper's number and those that it cites, ours beside its own."""
    return table_figure(
        PAPER, rows, "table-5", "Table V: AP-MPCNN among those it is compared with", _cited
    )


def _cited(frame: pd.DataFrame) -> pd.DataFrame:
    cited = frame["row"].ne(MAIN)
    return frame.assign(verdict=frame["verdict"].mask(cited, "cited"))


@house_style
def figure_11(rows: Iterable[Row]) -> HouseFigure | None:
    """Figure 11: each part alone and all together, ours; the paper prints a picture only."""
    runs = counted(PAPER, rows)
    choices = {name: runs[name, DATASET] for name in BARS if (name, DATASET) in runs}
    if MAIN not in choices or len(choices) < 2:
        return None
    figure = new_figure(9.5, 1.9 + 0.55 * len(choices))
    panels = figure.subplots(1, 2, sharey=True)
    known = published(PAPER).query("table == 'table-5'").set_index(["row", "metric"])["value"]
    for axes, metric in zip(panels, ("MAP", "MRR"), strict=True):
        for y, (name, choice) in enumerate(choices.items()):
            values = [row.scores["test"][MEASURES[metric]] for row in choice[pick(choice)]]
            mean = float(np.mean(values))
            axes.plot(values, [y] * len(values), "o", color=colour(name), alpha=0.4, markersize=5)
            axes.plot(mean, y, "D", color=colour(name), markersize=8)
            above = {"xytext": (0, 8), "textcoords": "offset points", "ha": "center"}
            axes.annotate(f"{mean:.3f}", (mean, y), fontsize=10, **above)
        y = list(choices).index(MAIN)
        axes.plot([known[MAIN, metric]] * 2, [y - 0.36, y + 0.36], color=INK)
        axes.set_title(f"test {metric}")
        axes.set_yticks(range(len(choices)), list(choices))
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=False, axis="y")
        axes.margins(x=0.12)
    axes.set_ylim(len(choices) - 0.4, -0.6)
    handles = [
        Line2D([], [], color=GREY, marker="D", linestyle="", markersize=8, label="our mean"),
        Line2D([], [], color=GREY, alpha=0.5, marker="o", linestyle="", ms=5, label="one seed"),
        Line2D([], [], color=INK, marker="|", linestyle="", markersize=12, mew=2, label="paper"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    figure.suptitle("Figure 11: one part alone, and all four")
    return figure


@house_style
def table_4(rows: Iterable[Row]) -> HouseFigure | None:
    """Table IV: a panel a setting, its two values and the recipe's own between them; MAP."""
    settings = settings_of(rows)
    if not any(len(setting.ours) > 1 for setting in settings):
        return None
    figure = new_figure(12.5, 6.6)
    grid = figure.subplots(2, -(-len(settings) // 2), sharey=True)
    for axes, setting in zip(grid.flat, settings, strict=True):
        _setting(axes, setting)
    for axes in grid[:, 0]:
        axes.set_ylabel("test MAP")
    dot: dict[str, Any] = {"marker": "o", "markersize": 6, "color": colour(MAIN)}
    handles = [
        Line2D([], [], color=INK, linestyle="--", marker="s", markersize=5, label="paper"),
        Line2D([], [], **dot, label="our mean"),
        Line2D([], [], **dot | {"markersize": 4}, linestyle="", alpha=0.4, label="one seed"),
        Line2D([], [], color=GREY, linestyle=":", label="the recipe's own value"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=4)
    figure.suptitle("Table IV: one setting changed at a time")
    return figure


def _setting(axes: Axes, setting: OneSetting) -> None:
    values = list(setting.paper)
    axes.plot(range(3), list(setting.paper.values()), "s--", color=INK, markersize=5, linewidth=1.2)
    places = [values.index(value) for value in setting.ours]
    shade = colour(MAIN)
    for place, found in zip(places, setting.ours.values(), strict=True):
        axes.plot([place] * len(found), found, "o", color=shade, alpha=0.3, markersize=4)
    axes.plot(places, [np.mean(found) for found in setting.ours.values()], "o-", color=shade)
    axes.axvline(values.index(setting.own), color=GREY, linestyle=":", linewidth=1.2, zorder=0)
    axes.set_title(setting.name)
    axes.set_xticks(range(3), [f"{value:g}" for value in values])
    axes.margins(x=0.15)
    axes.grid(visible=False, axis="x")


def training(rows: Iterable[Row]) -> HouseFigure | None:
    """Loss and dev MAP after each epoch: of the pairwise systems, and of all in figure 11."""
    runs = counted(PAPER, rows)
    if (MAIN, DATASET) not in runs:
        return None
    panels = {
        "triplet loss": _histories(runs, (MAIN, "Pairwise ranking only"), "loss"),
        "dev MAP": _histories(runs, (MAIN, *ALONE), "dev_map"),
    }
    return curves(panels, "", title="AP-MPCNN's training on TREC-QA")


def _histories(runs: Mapping, names: Sequence[str], key: str) -> dict[str, list[list[float]]]:
    choices = {name: runs[name, DATASET] for name in names if (name, DATASET) in runs}
    return {
        name: [[epoch[key] for epoch in row.history] for row in choice[pick(choice)]]
        for name, choice in choices.items()
    }
