"""Paper 5: AP-MPCNN as boxes and arrows, its claims beside our runs, and its figures.

`runs` are the frame of `read_runs`, by default the ledger's.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from qasel.datasets import Dataset
from qasel.figures.charts import curves
from qasel.figures.diagrams import Arrow, Box, Diagram, diagrams
from qasel.figures.style import GREY, INK, HouseFigure, colour, house_style, new_figure
from qasel.papers.ap_mpcnn import ROOM
from qasel.papers.ap_mpcnn.model import compared_size
from qasel.papers.ap_mpcnn.recipes import ALONE, MAIN, SETTINGS, APMPCNNRecipe, recipe
from qasel.papers.report import OUT, OWN, SHARED, WORDS, drawn, table_figure
from qasel.results.compare import Claim, judged, significance
from qasel.results.runs import histories, in_tables, pick, read_runs, shown
from qasel.results.tables import NOT_RUN, published

DATASET = "trecqa"


def network(recipe: APMPCNNRecipe) -> Diagram:
    """Figure 2 from left to right, all four parts on: the question above, the answer below."""
    r = recipe
    size = compared_size(r.filters, r.widths, sparse=True)
    boxes = {
        "sparse": Box("sparse features", 3.95, 0, "[4]", SHARED, 1.6),
        "horizontal": Box("horizontal", 7.75, 0.85, f"[{2 * r.filters:,}]", SHARED, 1.25),
        "vertical": Box("vertical", 7.75, -0.85, f"[{3 * r.widths**2}]", SHARED, 1.25),
        "H": Box(r"compared  $H_v$", 9.4, 0, f"[{size:,}]", SHARED, 1.4),
        "hidden": Box("hidden layer", 11.05, 0, f"[{size:,}] to [{r.hidden}]", OWN, 1.4),
        "f": Box("f(q, p)", 12.55, 0, "triplet loss", OUT, 1.1),
    }
    sides = (("question", 1, "n", 1.1, "answer"), ("answer", 2, "m", -1.1, "question"))
    arrows = [Arrow(start, end) for start, end in pairwise(("H", "hidden", "f"))]
    arrows += [Arrow(part, "H") for part in ("horizontal", "sparse", "vertical")]
    for name, number, words, y, other in sides:
        weighted = f"[{words}, d] to [{words}, 2d]"
        boxes |= {
            name: Box(f"{name} words", 0, y, f"$S_{number}$ [{words}, d]", WORDS, 1.45),
            f"{name} copy": Box(f"weights  $A_{number}$", 1.95, y, weighted, SHARED, 1.5),
            f"{name} maps": Box(
                f"windows of 1–{r.widths}", 3.95, y, f"{r.filters} filters each", OWN, 1.6
            ),
            f"{name} pooled": Box(
                f"max  regM$_{number}$", 5.85, y, f"[{r.widths}, {r.filters}]", SHARED, 1.4
            ),
        }
        arrows += [Arrow(name, "sparse"), Arrow(other, f"{name} copy")]
        flow = (name, f"{name} copy", f"{name} maps", f"{name} pooled")
        arrows += [Arrow(start, end) for start, end in pairwise(flow)]
        arrows += [Arrow(f"{name} pooled", part) for part in ("horizontal", "vertical")]
    return Diagram(boxes, arrows)


def parts(runs: pd.DataFrame | None = None) -> pd.DataFrame:
    """Figure 11: all parts together against each alone; see `judged`.

    The paper gives its figure no numbers; it says that all together are better than any alone.
    """
    asked = [
        Claim("four parts beat one", MAIN, alone, DATASET, metric)
        for alone in ALONE
        for metric in ("MAP", "MRR")
    ]
    return judged(ROOM, asked, runs)


@dataclass(frozen=True)
class OneSetting:
    """A setting of table IV: test MAP by its value, in the order of the values.

    `own` is the value of the recipe, `rows` the variant of each value; `paper` has all three
    values and `ours` those that were run, a score for each seed that all of them have.
    """

    name: str
    own: float
    rows: dict[float, str]
    paper: dict[float, float]
    ours: dict[float, list[float]]


def settings_of(runs: pd.DataFrame | None = None) -> list[OneSetting]:
    """The eight settings, each with the paper's numbers and ours.

    The recipe's own value has the numbers of table V. Ours are of runs with the vectors that
    the recipe itself was run with; without a run of it there are none.
    """
    lines = in_tables(ROOM, runs).query("dataset == @DATASET and split == 'test'")
    lines = lines[lines["vectors"] == pick(lines[lines["variant"] == MAIN], [MAIN])]
    maps = lines.pivot(index="seed", columns="variant", values="map")
    known = published(ROOM).query("metric == 'MAP' and kind == 'own'")
    paper = known.set_index("row")["value"]
    default = recipe()
    variants: dict[str, dict[float, str]] = {}
    own = {}
    for variant, change in SETTINGS.items():
        ((key, value),) = change.items()
        name = variant.rpartition(" ")[0]
        own[name] = getattr(default, key)
        variants.setdefault(name, {own[name]: MAIN})[value] = variant
    found = []
    for name, rows in variants.items():
        rows = dict(sorted(rows.items()))
        # Another seed can move a score as far as another setting: values are compared by the same.
        same = maps[[row for row in rows.values() if row in maps]].dropna()
        ours = {v: same[row].tolist() for v, row in rows.items() if row in same and len(same)}
        printed = {value: float(paper[row]) for value, row in rows.items()}
        found.append(OneSetting(name, own[name], rows, printed, ours))
    return found


def settings(runs: pd.DataFrame | None = None) -> pd.DataFrame:
    """Table IV: of each setting's three values, which has the best test MAP, the paper's and ours.

    The recipe's own value is the one in the middle. `gap` is its mean less that of the better one
    of the other two, p Fisher's randomisation test of the two over the test questions (on common
    seeds), `runs` the seeds of each value.
    """
    runs = read_runs([ROOM]) if runs is None else runs
    lines = []
    for setting in settings_of(runs):
        line = {
            "setting": setting.name,
            "values": _listed(setting.paper),
            "recipe": f"{setting.own:g}",
            "best (paper)": _best(setting.paper),
            "best (ours)": NOT_RUN,
            "gap": "",
            "p": "",
            "runs": " / ".join(str(len(setting.ours.get(v, []))) for v in setting.paper),
        }
        if len(setting.ours) == len(setting.paper):
            means = {value: fmean(scores) for value, scores in setting.ours.items()}
            rival = max(means.keys() - {setting.own}, key=means.__getitem__)
            found = significance(ROOM, DATASET, "map", MAIN, setting.rows[rival], runs)
            line["best (ours)"] = _best(means)
            line["gap"] = f"{means[setting.own] - means[rival]:+.3f}"
            line["p"] = f"{found.randomisation.p:.3f}" if found else ""
        lines.append(line)
    return pd.DataFrame(lines)


def _best(scores: Mapping[float, float]) -> str:
    """The values with the highest score: more than one where it is a tie."""
    return _listed(value for value, score in scores.items() if score == max(scores.values()))


def _listed(values: Iterable[float]) -> str:
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


def answered(runs: pd.DataFrame | None = None) -> pd.DataFrame:
    """Test MAP and MRR over all questions, as in the tables, and over those with a right answer.

    Means over seeds, one line a system and its vectors. A question without a right answer is one
    whose MAP is 0, which no ranking of a right answer gives.
    """
    lines = in_tables(ROOM, runs).query("dataset == @DATASET and split == 'test'")
    lines = lines.assign(runs=lines.groupby(["variant", "vectors"])["seed"].transform("size"))
    found: dict[tuple[str, str], dict[str, float]] = {}
    for name in (MAIN, *ALONE):
        own = lines[lines["variant"] == name].sort_values("runs", ascending=False, kind="stable")
        for vectors, group in own.groupby("vectors", sort=False):
            means: dict[str, list[float]] = {}
            for scores in group["values"]:
                values = pd.DataFrame(scores)
                for part in (values, values[values["map"] > 0]):
                    for measure in ("map", "mrr"):
                        title = f"{measure.upper()} of {len(part)}"
                        means.setdefault(title, []).append(part[measure].mean())
            found[name, str(vectors)] = {t: fmean(x) for t, x in means.items()} | {
                "runs": len(group)
            }
    table = pd.DataFrame.from_dict(found, orient="index")
    table.index = pd.MultiIndex.from_tuples(found, names=["system", "vectors"])
    return table


def statistics(dataset: Dataset) -> pd.DataFrame:
    """Table III: questions, pairs and the share of relevant pairs, the paper's and a data set's.

    One line a split, and their total; the paper's numbers are TREC-QA's (raw), whatever the
    data set.
    """
    known = published(ROOM).query("table == 'table-3'").set_index(["row", "metric"])["value"]
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


BARS = (*ALONE, MAIN)
"""The bars of figure 11, here dots, from top to bottom."""


def figures(
    runs: pd.DataFrame | None = None, note: Callable[[str], None] = print
) -> dict[str, HouseFigure]:
    """Every figure by its name; `note` is told of those that there are no runs for."""
    runs = read_runs([ROOM]) if runs is None else runs
    found = {
        "network": architecture(),
        "table-5": table_5(runs),
        "figure-11": figure_11(runs),
        "table-4": table_4(runs),
        "training": training(runs),
    }
    return drawn(ROOM, found, note)


def architecture() -> HouseFigure:
    """The network (figure 2) with the shapes of the paper's recipe."""
    return diagrams(
        {" ": network(recipe(MAIN, DATASET))},
        unit=1.1,
        title="AP-MPCNN",
        note="n words of the question, m of the answer, d numbers a word vector; "
        "orange: has weights to learn, blue: computed without any",
    )


def table_5(runs: pd.DataFrame | None = None) -> HouseFigure | None:
    """Table V: the paper's number and those that it cites, ours beside its own."""

    def cited(frame: pd.DataFrame) -> pd.DataFrame:
        return frame.assign(verdict=frame["verdict"].mask(frame["row"].ne(MAIN), "cited"))

    title = "Table V: AP-MPCNN among those it is compared with"
    return table_figure(ROOM, runs, "table-5", title, cited)


def _each(names: Iterable[str], runs: pd.DataFrame | None) -> dict[str, pd.DataFrame]:
    """The test lines of the systems that were run, each with the vectors of its own row."""
    systems: dict[str, pd.DataFrame] = {}
    for name in names:
        systems |= shown(ROOM, DATASET, name, runs=runs)
    return systems


@house_style
def figure_11(runs: pd.DataFrame | None = None) -> HouseFigure | None:
    """Figure 11: each part alone and all together, ours; the paper prints a picture only."""
    systems = _each(BARS, runs)
    if MAIN not in systems or len(systems) < 2:
        return None
    figure = new_figure(9.5, 1.9 + 0.55 * len(systems))
    panels = figure.subplots(1, 2, sharey=True)
    known = published(ROOM).query("table == 'table-5'").set_index(["row", "metric"])["value"]
    for axes, metric in zip(panels, ("MAP", "MRR"), strict=True):
        for y, (name, lines) in enumerate(systems.items()):
            values = lines[metric.lower()].tolist()
            mean = fmean(values)
            axes.plot(values, [y] * len(values), "o", color=colour(name), alpha=0.4, markersize=5)
            axes.plot(mean, y, "D", color=colour(name), markersize=8)
            above = {"xytext": (0, 8), "textcoords": "offset points", "ha": "center"}
            axes.annotate(f"{mean:.3f}", (mean, y), fontsize=10, **above)
        y = list(systems).index(MAIN)
        axes.plot([known[MAIN, metric]] * 2, [y - 0.36, y + 0.36], color=INK)
        axes.set_title(f"test {metric}")
        axes.set_yticks(range(len(systems)), list(systems))
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=False, axis="y")
        axes.margins(x=0.12)
    axes.set_ylim(len(systems) - 0.4, -0.6)
    handles = [
        Line2D([], [], color=GREY, marker="D", linestyle="", markersize=8, label="our mean"),
        Line2D([], [], color=GREY, alpha=0.5, marker="o", linestyle="", ms=5, label="one seed"),
        Line2D([], [], color=INK, marker="|", linestyle="", markersize=12, mew=2, label="paper"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    figure.suptitle("Figure 11: one part alone, and all four")
    return figure


@house_style
def table_4(runs: pd.DataFrame | None = None) -> HouseFigure | None:
    """Table IV: a panel a setting, its two values and the recipe's own between them; MAP."""
    found = settings_of(runs)
    if not any(len(setting.ours) > 1 for setting in found):
        return None
    figure = new_figure(12.5, 6.6)
    grid = figure.subplots(2, -(-len(found) // 2), sharey=True)
    for axes, setting in zip(grid.flat, found, strict=True):
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


def training(runs: pd.DataFrame | None = None) -> HouseFigure | None:
    """Loss and dev MAP after each epoch: of the pairwise systems, and of all in figure 11."""
    systems = _each((MAIN, *ALONE), runs)
    if MAIN not in systems:
        return None
    pairwise = {n: g for n, g in systems.items() if n in (MAIN, "Pairwise ranking only")}
    panels = {"triplet loss": histories(pairwise, "loss"), "dev MAP": histories(systems, "dev_map")}
    return curves(panels, "", title="AP-MPCNN's training on TREC-QA")
