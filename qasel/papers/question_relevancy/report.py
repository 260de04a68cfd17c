"""What the paper says of its systems, beside the same in our runs."""

from collections.abc import Callable, Iterable, Mapping
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
from qasel.papers.question_relevancy.recipes import (
    AUXILIARY,
    LATER_TEST,
    MAIN,
    MTL,
    OURS,
    PAPER,
    SIM,
    STL,
    WITHOUT,
    RelevancyRecipe,
    recipe,
)
from qasel.papers.report import drawn, table_figure
from qasel.results.claims import COLUMNS, Claim, judged, line
from qasel.results.compare import between
from qasel.results.experiments import varied
from qasel.results.ledger import Row, read_ledger
from qasel.results.tables import counted, pick, published
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


def claims(rows: Iterable[Row] | None = None) -> pd.DataFrame:
    """Other tasks against none, and the small network against the large, on both tests.

    As `results.claims.judged` gives them; the paper's differences with its stars.
    """
    metrics = {year: "MAP" if split == "test" else f"{split} MAP" for split, year in TESTS.items()}
    asked = [
        Claim(year, first, second, DATASET, metric)
        for first, second in COMPARISONS
        for year, metric in metrics.items()
    ]
    known = published(PAPER).query("table == 'table-1'").set_index(["row", "metric"])["note"]
    frame = judged(PAPER, asked, rows).rename(columns={"claim": "test"})
    stars = [STARS[known[claim.first, claim.metric]] for claim in asked]
    return frame.assign(paper=frame["paper"] + stars).drop(columns=["data", "measure"])


def left_out(rows: Iterable[Row] | None = None) -> pd.DataFrame:
    """Table 3: all distances against all but one, on the test of 2016; as `judged` gives them."""
    return judged(
        PAPER, [Claim(name, MAIN, f"{MAIN}{WITHOUT}{name}", DATASET) for name in NAMES], rows
    )


def against_search(rows: Iterable[Row] | None = None) -> pd.DataFrame:
    """Test MAP less that of the search engine's order, in the text's distances and in ours.

    One line a test and system. The interval is a bootstrap over the questions, on each one's mean
    over seeds; systems that were not run are left out. `rows` default to the ledger.
    """
    rows = list(read_ledger(PAPER) if rows is None else rows)
    lines = []
    for split, year in TESTS.items():
        for name in (STL, MAIN, *OURS):
            group, order = _beside_search(name, rows)
            if not group:
                continue
            ours, engine = (_means(runs, split) for runs in (group, order))
            low, high = bootstrap_interval(ours, engine)
            scores = [float(np.mean(list(values.values()))) for values in (ours, engine)]
            told = [f"{score:.3f}" for score in scores]
            told += [f"{scores[0] - scores[1]:+.3f}", f"{low:+.3f} to {high:+.3f}"]
            lines.append([year, name, *told, len(group)])
    columns = ["test", "system", "MAP", "search engine", "difference", INTERVAL, "seeds"]
    return pd.DataFrame(lines, columns=columns)


def held(rows: Iterable[Row] | None = None) -> pd.DataFrame:
    """What the paper says of its systems in table 1, test by test; as `judged` gives it."""
    rows = list(read_ledger(PAPER) if rows is None else rows)
    lines = []
    for split in TESTS:
        metric = "MAP" if split == "test" else f"{split} MAP"
        for name in (STL, MAIN):
            claim = Claim("network beats search engine", name, ORDER, DATASET, metric)
            group, order = _beside_search(name, rows)
            found = between({name: group, ORDER: order}, "map", split) if group else None
            lines.append(line(PAPER, claim, found))
    network = pd.DataFrame(lines, columns=COLUMNS)
    others = judged(
        PAPER,
        [
            Claim(text, first, STL if first != STL else f"STL{SIM}", DATASET, metric)
            for metric in ("MAP", f"{LATER_TEST} MAP")
            for text, first in (
                ("small network beats BiLSTM", STL),
                *((f"other tasks: {name}", f"{MTL} ({name})") for name in AUXILIARY),
            )
        ],
        rows,
    )
    return pd.concat([network, others]).sort_values("data", kind="stable", ignore_index=True)


def _beside_search(name: str, rows: Iterable[Row]) -> tuple[list[Row], list[Row]]:
    """The rows of a system, and the run of the search engine's order."""
    runs = counted(PAPER, rows)
    learnt, order = (runs.get((system, DATASET), {}) for system in (name, ORDER))
    if not learnt or not order:
        return [], []
    return learnt[pick(learnt)], order[pick(order)]


def _means(rows: Iterable[Row], split: str) -> dict[str, float]:
    """Each question's MAP, the mean over rows."""
    return pd.DataFrame([row.per_question[split]["map"] for row in rows]).mean().to_dict()


WORDS, SHARED, OWN, OUT = "#F4F4F4", "#E4ECF5", "#F8E9DD", "#DDF0E4"
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


CURVE_DATASET = "semeval-cqa"
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
        {" ": network(recipe(MAIN, CURVE_DATASET))},
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
    systems = {name: varied(PAPER, name, CURVE_DATASET, "share", rows) for name in (STL, MAIN)}
    if any(len(values) < 2 for values in systems.values()):
        return None
    return _values(
        {"SemEval-2016 B": systems}, "dev MAP", "Figure 4: how much data it takes", "share of train"
    )


def hyperparameters(rows: Iterable[Row]) -> HouseFigure | None:
    """The values that figure 2 of the text tests, one setting at a time, on dev."""
    rows = list(rows)
    panels = {
        told: {MAIN: varied(PAPER, MAIN, CURVE_DATASET, setting, rows)}
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
