"""AP-MPCNN as boxes and arrows, from the recipe."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from qasel.datasets import Dataset
from qasel.figures.curves import curves
from qasel.figures.diagrams import Arrow, Box, Diagram, diagrams
from qasel.figures.style import GREY, INK, HouseFigure, colour, house_style, new_figure
from qasel.papers.ap_mpcnn.model import compared_size
from qasel.papers.ap_mpcnn.recipes import (
    ALONE,
    DATASET,
    MAIN,
    PAPER,
    APMPCNNRecipe,
    OneSetting,
    recipe,
    settings_of,
)
from qasel.papers.report import drawn, table_figure
from qasel.results.claims import Claim, judged
from qasel.results.compare import significance
from qasel.results.ledger import Row, read_ledger
from qasel.results.tables import MEASURES, NOT_RUN, counted, pick, published

WORDS, PLAIN, TRAINED, OUT = "#F4F4F4", "#E4ECF5", "#F8E9DD", "#DDF0E4"


def network(recipe: APMPCNNRecipe) -> Diagram:
    """Figure 2 from left to right, all four parts on: the question above, the answer below."""
    r = recipe
    size = compared_size(r.filters, r.widths, sparse=True)
    boxes = {
        "sparse": Box("sparse features", 3.95, 0, "[4]", PLAIN, 1.6),
        "horizontal": Box("horizontal", 7.75, 0.85, f"[{2 * r.filters:,}]", PLAIN, 1.25),
        "vertical": Box("vertical", 7.75, -0.85, f"[{3 * r.widths**2}]", PLAIN, 1.25),
        "H": Box(r"compared  $H_v$", 9.4, 0, f"[{size:,}]", PLAIN, 1.4),
        "hidden": Box("hidden layer", 11.05, 0, f"[{size:,}] to [{r.hidden}]", TRAINED, 1.4),
        "f": Box("f(q, p)", 12.55, 0, "triplet loss", OUT, 1.1),
    }
    sides = (("question", 1, "n", 1.1, "answer"), ("answer", 2, "m", -1.1, "question"))
    arrows = [Arrow(start, end) for start, end in pairwise(("H", "hidden", "f"))]
    arrows += [Arrow(part, "H") for part in ("horizontal", "sparse", "vertical")]
    for name, number, words, y, other in sides:
        weighted = f"[{words}, d] to [{words}, 2d]"
        boxes |= {
            name: Box(f"{name} words", 0, y, f"$S_{number}$ [{words}, d]", WORDS, 1.45),
            f"{name} copy": Box(f"weights  $A_{number}$", 1.95, y, weighted, PLAIN, 1.5),
            f"{name} maps": Box(
                f"windows of 1–{r.widths}", 3.95, y, f"{r.filters} filters each", TRAINED, 1.6
            ),
            f"{name} pooled": Box(
                f"max  regM$_{number}$", 5.85, y, f"[{r.widths}, {r.filters}]", PLAIN, 1.4
            ),
        }
        arrows += [Arrow(name, "sparse"), Arrow(other, f"{name} copy")]
        flow = (name, f"{name} copy", f"{name} maps", f"{name} pooled")
        arrows += [Arrow(start, end) for start, end in pairwise(flow)]
        arrows += [Arrow(f"{name} pooled", part) for part in ("horizontal", "vertical")]
    return Diagram(boxes, arrows)


def parts(rows: Iterable[Row] | None = None) -> pd.DataFrame:
    """Figure 11: all parts together against each alone; see `results.claims.judged`.

    The paper gives its figure no numbers; it says that all together are better than any alone.
    """
    return judged(
        PAPER,
        [
            Claim("four parts beat one", MAIN, alone, DATASET, metric)
            for alone in ALONE
            for metric in ("MAP", "MRR")
        ],
        rows,
    )


def settings(rows: Iterable[Row] | None = None) -> pd.DataFrame:
    """Table IV: of each setting's three values, which has the best test MAP, the paper's and ours.

    The recipe's own value is the one in the middle. `gap` is its mean less that of the better one
    of the other two, p Fisher's randomisation test of the two over the test questions (on common
    seeds), `runs` the seeds of each value. `rows` default to the ledger.
    """
    rows = list(read_ledger(PAPER) if rows is None else rows)
    lines = []
    for setting in settings_of(rows):
        means = {value: fmean(scores) for value, scores in setting.ours.items()}
        whole = len(means) == len(setting.paper)
        others = {value: mean for value, mean in means.items() if value != setting.own}
        rival = max(others, key=lambda value: others[value]) if whole else None
        found = (
            None
            if rival is None
            else significance(PAPER, DATASET, "map", MAIN, setting.rows[rival], rows)
        )
        lines.append(
            {
                "setting": setting.name,
                "values": _told(setting.paper),
                "recipe": f"{setting.own:g}",
                "best (paper)": _told(setting.best(setting.paper)),
                "best (ours)": _told(setting.best(means)) if whole else NOT_RUN,
                "gap": "" if rival is None else f"{means[setting.own] - means[rival]:+.3f}",
                "p": f"{found.randomisation.p:.3f}" if found else "",
                "runs": " / ".join(str(len(setting.ours.get(v, []))) for v in setting.paper),
            }
        )
    return pd.DataFrame(lines)


def _told(values: Iterable[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)


def summary(frame: pd.DataFrame) -> list[str]:
    """How often the recipe's own value is the best of its three, in two sentences."""
    told = []
    for whose in ("paper", "ours"):
        best = frame[f"best ({whose})"]
        ran = best.ne(NOT_RUN)
        alone = int((best == frame["recipe"]).sum())
        tied = sum(
            own in found.split(", ") for own, found in zip(frame["recipe"], best, strict=True)
        )
        where = {"paper": "In the paper's numbers", "ours": "In ours"}[whose]
        if not ran.any():
            told.append(f"{where}: not run yet.")
            continue
        told.append(
            f"{where} the recipe's value is the best in {tied} of {int(ran.sum())} settings, "
            f"in {tied - alone} of them level with another."
        )
    return told


def answered(rows: Iterable[Row] | None = None) -> pd.DataFrame:
    """Test MAP and MRR over all questions, as in the tables, and over those with a right answer.

    Means over seeds, one line a system and its vectors. A question without a right answer is one
    whose MAP is 0, which no ranking of a right answer gives. `rows` default to the ledger.
    """
    runs = counted(PAPER, rows)
    lines = {}
    for name in (MAIN, *ALONE):
        choices = runs.get((name, DATASET), {})
        for vectors, group in sorted(choices.items(), key=lambda choice: -len(choice[1])):
            found: dict[str, list[float]] = {}
            for row in group:
                values = pd.DataFrame(row.per_question["test"])
                with_answer = values[values["map"] > 0]
                for part in (values, with_answer):
                    for measure in ("map", "mrr"):
                        title = f"{measure.upper()} of {len(part)}"
                        found.setdefault(title, []).append(part[measure].mean())
            means = {title: fmean(scores) for title, scores in found.items()}
            lines[name, vectors] = means | {"runs": len(group)}
    table = pd.DataFrame.from_dict(lines, orient="index")
    table.index = pd.MultiIndex.from_tuples(lines, names=["system", "vectors"])
    return table


def statistics(dataset: Dataset) -> pd.DataFrame:
    """Table III: questions, pairs and the share of relevant pairs, the paper's and a data set's.

    One line a split, and their total; the paper's numbers are TREC-QA's (raw), whatever the
    data set.
    """
    known = published(PAPER).query("table == 'table-3'").set_index(["row", "metric"])["value"]
    splits = [dataset.train, dataset.dev, dataset.test]
    counts = {s.name: [len(s), s.pairs, s.positives] for s in splits}
    counts["total"] = [sum(column) for column in zip(*counts.values(), strict=True)]
    found: dict[tuple[str, str], dict[str, str]] = {}
    for name, (questions, pairs, positives) in counts.items():
        ours = {"questions": questions, "pairs": pairs, "relevant": positives / pairs}
        for metric, value in ours.items():
            told = (known[name, metric], value)
            form = "{:.3f}" if metric == "relevant" else "{:,.0f}"
            for whose, number in zip(("paper", dataset.name), told, strict=True):
                found.setdefault((metric, whose), {})[name] = form.format(number)
    return pd.DataFrame(found).rename_axis("split")


ABLATED_ON = "trecqa"
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
        {" ": network(recipe(MAIN, ABLATED_ON))},
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
    choices = {name: runs[name, ABLATED_ON] for name in BARS if (name, ABLATED_ON) in runs}
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
    if (MAIN, ABLATED_ON) not in runs:
        return None
    panels = {
        "triplet loss": _histories(runs, (MAIN, "Pairwise ranking only"), "loss"),
        "dev MAP": _histories(runs, (MAIN, *ALONE), "dev_map"),
    }
    return curves(panels, "", title="AP-MPCNN's training on TREC-QA")


def _histories(runs: Mapping, names: Sequence[str], key: str) -> dict[str, list[list[float]]]:
    choices = {name: runs[name, ABLATED_ON] for name in names if (name, ABLATED_ON) in runs}
    return {
        name: [[epoch[key] for epoch in row.history] for row in choice[pick(choice)]]
        for name, choice in choices.items()
    }
