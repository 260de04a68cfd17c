"""Paper 5: AP-MPCNN as boxes and arrows, its claims beside our runs, and its figures.

`runs` is a frame of `read_runs`, by default that of the ledger.
"""

from collections.abc import Iterable
from itertools import groupby

import pandas as pd
import seaborn

from qasel.figures.charts import curves
from qasel.figures.diagrams import Box, Diagram, chain, diagrams
from qasel.figures.style import GREY, INK, HouseFigure, colour, house_style, new_figure
from qasel.papers.ap_mpcnn import ROOM
from qasel.papers.ap_mpcnn.model import compared_size
from qasel.papers.ap_mpcnn.recipes import ALONE, MAIN, SETTINGS, APMPCNNRecipe, recipe
from qasel.papers.report import OUT, OWN, SHARED, WORDS, table_figure
from qasel.results.compare import significance
from qasel.results.runs import histories, in_tables, pick, read_runs, shown
from qasel.results.tables import NOT_RUN, p_value, published

DATASET = "trecqa"


def network(recipe: APMPCNNRecipe) -> Diagram:
    """Return figure 2 as a diagram, with all four parts: the question above, the answer below."""
    r = recipe
    size = compared_size(r.filters, r.widths, sparse=True)
    filters, pooled = f"{r.filters} filters each", f"[{r.widths}, {r.filters}]"
    boxes = {
        "sparse": Box("sparse features", 3.95, 0, "[4]", SHARED, 1.6),
        "horizontal": Box("horizontal", 7.75, 0.85, f"[{2 * r.filters:,}]", SHARED, 1.25),
        "vertical": Box("vertical", 7.75, -0.85, f"[{3 * r.widths**2}]", SHARED, 1.25),
        "H": Box(r"compared  $H_v$", 9.4, 0, f"[{size:,}]", SHARED, 1.4),
        "hidden": Box("hidden layer", 11.05, 0, f"[{size:,}] to [{r.hidden}]", OWN, 1.4),
        "f": Box("f(q, p)", 12.55, 0, "triplet loss", OUT, 1.1),
    }
    arrows = chain("H", "hidden", "f")
    for part in ("sparse", "horizontal", "vertical"):
        arrows += chain(part, "H")
    for name, number, words, y, other in (
        ("question", 1, "n", 1.1, "answer"),
        ("answer", 2, "m", -1.1, "question"),
    ):
        weighted = f"[{words}, d] to [{words}, 2d]"
        copy, maps, regM = (f"{name} {part}" for part in ("copy", "maps", "pooled"))
        boxes |= {
            name: Box(f"{name} words", 0, y, f"$S_{number}$ [{words}, d]", WORDS, 1.45),
            copy: Box(f"weights  $A_{number}$", 1.95, y, weighted, SHARED, 1.5),
            maps: Box(f"windows of 1–{r.widths}", 3.95, y, filters, OWN, 1.6),
            regM: Box(f"max  regM$_{number}$", 5.85, y, pooled, SHARED, 1.4),
        }
        arrows += chain(name, "sparse") + chain(other, copy) + chain(name, copy, maps, regM)
        arrows += chain(regM, "horizontal") + chain(regM, "vertical")
    return Diagram(boxes, arrows)


def settings(runs: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return which of each setting's three values has the best test MAP in table IV and in ours.

    The recipe's own value is the one in the middle. `gap` is its mean less that of the better of
    the other two; p tests this difference over questions and seeds (`significance`). Ours are runs
    with the word vectors of the recipe's own, on the seeds (`runs`) that all three values have.
    """
    runs = read_runs([ROOM]) if runs is None else runs
    lines = in_tables(ROOM, runs).query("dataset == @DATASET and split == 'test'")
    lines = lines[lines["vectors"] == pick(lines[lines["variant"] == MAIN], [MAIN])]
    maps = lines.pivot(index="seed", columns="variant", values="map")
    paper = published(ROOM).query("metric == 'MAP' and kind == 'own'").set_index("row")["value"]
    found = []
    for name, variants in groupby(SETTINGS, lambda variant: variant.rpartition(" ")[0]):
        rows = list(variants)
        (key,) = SETTINGS[rows[0]]
        own = getattr(recipe(), key)
        values = pd.Series({MAIN: own} | {row: SETTINGS[row][key] for row in rows}).sort_values()
        ours = maps.reindex(columns=[row for row in values.index if row in maps]).dropna()
        line = {
            "setting": name,
            "values": _listed(values),
            "recipe": f"{own:g}",
            "best (paper)": _best(values, paper[values.index]),
            "best (ours)": NOT_RUN,
            "gap": "",
            "p": "",
            "runs": " / ".join(str(len(ours) if row in ours else 0) for row in values.index),
        }
        if len(ours) and len(ours.columns) == len(values):
            means = ours.mean()
            rival = means.drop(MAIN).idxmax()
            tested = significance(ROOM, DATASET, "map", MAIN, rival, runs)
            line["best (ours)"] = _best(values, means)
            line["gap"] = f"{means[MAIN] - means[rival]:+.3f}"
            line["p"] = p_value(tested.estimate.p) if tested else ""
        found.append(line)
    return pd.DataFrame(found)


def _best(values: pd.Series, scores: pd.Series) -> str:
    """List the values with the highest score, several in case of a tie."""
    return _listed(values[scores == scores.max()])


def _listed(values: Iterable[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)


def summary(frame: pd.DataFrame) -> list[str]:
    """Say in two sentences how often the recipe's own value is the best of its three."""
    sentences = []
    for where, column in (("In the paper's numbers", "best (paper)"), ("In ours", "best (ours)")):
        ran = frame[frame[column] != NOT_RUN]
        pairs = zip(ran["recipe"], ran[column], strict=True)
        best = [values for own, values in pairs if own in values.split(", ")]
        level = sum("," in values for values in best)
        text = (
            f" the recipe's value is the best in {len(best)} of {len(ran)} settings, "
            f"in {level} of them level with another."
        )
        sentences.append(where + (text if len(ran) else ": not run yet."))
    return sentences


def answered(runs: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return test MAP and MRR over all questions (as in the tables) and over answered ones.

    Means over seeds, one row per system and vectors. Without a relevant answer, AP is 0.
    """
    lines = in_tables(ROOM, runs).query("dataset == @DATASET and split == 'test'")
    means = []
    for run in lines[lines["variant"].isin((MAIN, *ALONE))].itertuples():
        values = pd.DataFrame(run.values)
        means.append({"system": run.variant, "vectors": run.vectors})
        for part in (values, values[values["map"] > 0]):
            means[-1] |= {f"{m.upper()} of {len(part)}": part[m].mean() for m in ("map", "mrr")}
    if not means:
        return pd.DataFrame()
    groups = pd.DataFrame(means).groupby(["system", "vectors"])
    table = groups.mean().assign(runs=groups.size())
    return table.reindex((MAIN, *ALONE), level="system")


def figures(runs: pd.DataFrame) -> dict[str, HouseFigure | None]:
    """Return every figure by name; None for one without runs."""
    return {
        "network": architecture(),
        "table-5": table_5(runs),
        "figure-11": figure_11(runs),
        "table-4": table_4(runs),
        "training": training(runs),
    }


def architecture() -> HouseFigure:
    """Draw the network (figure 2) with the shapes of the paper's recipe."""
    return diagrams(
        {" ": network(recipe(MAIN, DATASET))},
        unit=1.1,
        title="AP-MPCNN",
        note="n words of the question, m of the answer, d numbers per word vector; "
        "orange: has weights to learn, blue: computed without any",
    )


def table_5(runs: pd.DataFrame | None = None) -> HouseFigure | None:
    """Draw table V: the paper's number beside ours, and the numbers that it cites."""

    def cited(frame: pd.DataFrame) -> pd.DataFrame:
        return frame.assign(verdict=frame["verdict"].mask(frame["row"].ne(MAIN), "cited"))

    title = "Table V: AP-MPCNN among those it is compared with"
    return table_figure(ROOM, runs, "table-5", title, cited)


def table_4(runs: pd.DataFrame | None = None) -> HouseFigure | None:
    """Draw table IV: two other values of each setting, the paper's numbers and ours."""
    title = "Table IV: one setting changed at a time"
    return table_figure(ROOM, runs, "table-4", title, lambda frame: frame.assign(system=MAIN))


def _each(names: Iterable[str], runs: pd.DataFrame | None) -> dict[str, pd.DataFrame]:
    """Return the test rows of the systems that were run, each with its own row's word vectors."""
    found = (shown(ROOM, DATASET, name, runs=runs) for name in names)
    return {name: lines for systems in found for name, lines in systems.items()}


@house_style
def figure_11(runs: pd.DataFrame | None = None) -> HouseFigure | None:
    """Draw figure 11 from our runs: each part alone, none and all. The paper has no numbers."""
    systems = _each((*ALONE, MAIN), runs)
    if MAIN not in systems or len(systems) < 2:
        return None
    lines = pd.concat(systems.values())
    figure = new_figure(9.5, 1.9 + 0.55 * len(systems))
    panels = figure.subplots(1, 2, sharey=True)
    known = published(ROOM).query("table == 'table-5' and row == @MAIN").set_index("metric")
    colours = {name: colour(name) for name in systems}
    for axes, (metric, printed) in zip(panels, known["value"].items(), strict=True):
        how = {"x": metric.lower(), "y": "variant", "hue": "variant", "palette": colours}
        how |= {"data": lines, "legend": False, "ax": axes}
        seaborn.stripplot(**how, jitter=False, alpha=0.4, size=5)
        seaborn.pointplot(**how, errorbar=None, linestyle="none", marker="D")
        axes.axvline(printed, color=INK)
        axes.set(title=f"test {metric}", xlabel="", ylabel="")
        axes.margins(x=0.12)
    figure.supxlabel(
        f"dots: seeds, diamonds: their means, line: {MAIN} in the paper", fontsize=11, color=GREY
    )
    figure.suptitle("Figure 11: no part, one part alone, and all four")
    return figure


def training(runs: pd.DataFrame | None = None) -> HouseFigure | None:
    """Draw the pairwise systems' loss and the dev MAP of all in figure 11, after each epoch."""
    systems = _each((MAIN, *ALONE), runs)
    if MAIN not in systems:
        return None
    pairwise = {n: g for n, g in systems.items() if n in (MAIN, "Pairwise ranking only")}
    panels = {"triplet loss": histories(pairwise, "loss"), "dev MAP": histories(systems, "dev_map")}
    return curves(panels, "", title="AP-MPCNN's training on TREC-QA")
