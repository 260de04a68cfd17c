"""The figures of paper 3, from the recipe and from the ledger."""

from collections.abc import Callable, Iterable, Mapping

import pandas as pd

from qasel.figures.curves import curves
from qasel.figures.diagrams import diagrams
from qasel.figures.style import GREY, INK, HouseFigure, colour, house_style, new_figure
from qasel.papers.figures import drawn, table_figure
from qasel.papers.ms_ranker.drawings import agent
from qasel.papers.ms_ranker.recipes import ABLATIONS, MAIN, PAPER, PRE_RANKER, recipe
from qasel.papers.ms_ranker.teaching import READINGS, gradients, name
from qasel.rankers.base import History
from qasel.results.ledger import Row, read_ledger
from qasel.results.tables import DATASETS, counted, pick

TABLES = {
    "table-2": "Table 2: MS-Ranker, paper against ours",
    "table-3": "Table 3: encoders, paper against ours",
    "table-4": "Table 4: the ablations on dev, paper against ours",
}


def figures(
    rows: Iterable[Row] | None = None, note: Callable[[str], None] = print
) -> dict[str, HouseFigure]:
    """Every figure by its name; `note` is told of those that the ledger has no runs for.

    `rows` default to the ledger.
    """
    rows = list(read_ledger(PAPER) if rows is None else rows)
    found: dict[str, HouseFigure | None] = {f"{PAPER}-agent": architecture()}
    found |= {f"{PAPER}-{name}": table(rows, name) for name in TABLES}
    found[f"{PAPER}-training"] = training(rows)
    return drawn(found, note)


def architecture(dataset: str = "wikiqa") -> HouseFigure:
    """One step of the agent (figures 1 and 2) with the shapes of the paper's recipe."""
    return diagrams(
        {" ": agent(recipe(dataset=dataset))},
        unit=1.15,
        title="One step of the agent",
        note="n words of the question, m of the candidate; blue: computed once for all candidates, "
        "orange: step by step, because the evidence changes",
    )


def table(rows: Iterable[Row], name: str) -> HouseFigure | None:
    """One table of the paper, its own rows, against ours."""
    return table_figure(PAPER, rows, name, TABLES[name], _own)


def _own(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[frame["row"].isin((MAIN, PRE_RANKER, *ABLATIONS)) | frame["runs"].gt(0)]


def training(rows: Iterable[Row]) -> HouseFigure | None:
    """Mean reward a question and dev MAP after each epoch of the agent."""
    runs = counted(PAPER, rows)
    panels = {}
    for dataset, shown in DATASETS.items():
        choice = runs.get((MAIN, dataset), {})
        if not choice:
            continue
        for key, label in (("reward", "reward a question"), ("dev_map", "dev MAP")):
            histories = [[e[key] for e in row.history] for row in choice[pick(choice)]]
            panels[f"{shown}, {label}"] = {MAIN: histories}
    if not panels:
        return None
    return curves(panels, "", title="The agent's training", columns=2)


@house_style
def gradient_figure(logits: list[float], labels: list[int]) -> HouseFigure:
    """A panel a reading of the reward: mean gradients of a small list, and their deviations."""
    figure = new_figure(12, 3.6)
    panels = figure.subplots(1, len(READINGS), sharey=True)
    shades = [INK if label else GREY for label in labels]
    for axes, (told, reading) in zip(panels, READINGS.items(), strict=True):
        mean, deviation = gradients(logits, labels, *reading)
        axes.vlines(name(labels), mean - deviation, mean + deviation, colors=shades)
        axes.scatter(name(labels), mean, c=shades, s=60, zorder=3)
        axes.axhline(0, color=GREY, linewidth=0.8)
        axes.set_title(told.replace(", ", ",\n"), fontsize=10)
        axes.margins(x=0.15)
        axes.grid(visible=False, axis="x")
    panels[0].set_ylabel("gradient with respect\nto the log odds")
    figure.supxlabel(
        "candidates in the order of entering, ✓ = right; dot: mean, bar: ± deviation", fontsize=12
    )
    return figure


@house_style
def entering(counts: Mapping[int, int]) -> HouseFigure:
    """Questions by the step at which their first right candidate enters; 0: it has none."""
    figure = new_figure(8, 2.9)
    axes = figure.subplots()
    steps = range(min(counts), max(counts) + 1)
    bars = axes.bar(
        [f"{step}" if step else "none" for step in steps],
        [counts.get(step, 0) for step in steps],
        color=colour(PRE_RANKER),
        width=0.7,
    )
    axes.bar_label(bars, [f"{counts[step]}" if step in counts else "" for step in steps], padding=2)
    axes.margins(y=0.15)
    axes.grid(visible=False, axis="x")
    axes.set_xlabel("step at which the first right candidate enters")
    axes.set_ylabel("questions")
    return figure


@house_style
def learning(histories: Mapping[str, History], start: float) -> HouseFigure:
    """Dev MAP of each agent after each epoch, and the reward a question of those that earn one.

    `start` is the dev MAP of the pre-ranker that they start from.
    """
    panels = {"MAP on the development split": ("dev_map", "MAP")}
    panels["reward in training"] = ("reward", "reward a question")
    found = {
        title: {n: [[e[key] for e in h.epochs]] for n, h in histories.items() if key in h.epochs[0]}
        for title, (key, _) in panels.items()
    }
    figure = curves({title: systems for title, systems in found.items() if systems}, "")
    first = figure.axes[0]
    first.axhline(start, color=colour(PRE_RANKER), linestyle=":", label=PRE_RANKER)
    for axes, (_, told) in zip(figure.axes, panels.values(), strict=False):
        axes.set_ylabel(told)
        if legend := axes.get_legend():
            legend.remove()
    for legend in figure.legends:
        legend.remove()
    handles = dict(zip(histories, first.lines, strict=False)) | {PRE_RANKER: first.lines[-1]}
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4)
    return figure
