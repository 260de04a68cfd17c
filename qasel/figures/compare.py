"""Figures that compare systems: scores, quality against cost, single questions, gains of ideas."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from qasel.errors import QaselError
from qasel.evaluation.measures import NAMES
from qasel.figures.charts import DOT, name_rows
from qasel.figures.style import (
    BLUE,
    GREY,
    ORANGE,
    PALE,
    VERMILLION,
    HouseFigure,
    house_style,
    new_figure,
)
from qasel.locations import DATA
from qasel.results.compare import ALPHA
from qasel.results.matrix import ADJUSTED, CLEAR, entries, matrix, systems, targets
from qasel.results.matrix import with_tests as tested
from qasel.results.matrix_text import interval, worth_its_cost
from qasel.results.runs import REPEATED, SAMPLE, target_name

NAME = "compare"
"""Name of these figures in `qasel figures`."""
LEADERS = 3
"""Number of best systems per data set that `figures` shows."""
PANELS = ("wikiqa/answered", "trecqa/clean", "semeval-cqa/a-2016", "semeval-cqa/b-2016")
"""Targets that have a panel of quality against cost, one per task."""
WIDEST = 9.5
"""Maximum width in inches; a page shrinks wider figures, and their text with them."""
LEAST_SECONDS = 0.1
"""The axis of seconds is linear below this value, so that it can show 0 (no training)."""
NAMED = 8
"""Panels with up to this many systems name all of them, larger ones at most `FEWER`."""
FEWER = 5
SMALLEST, LARGEST = 28.0, 1_500.0
"""Area per question of a dot, and maximum area: if a dot exceeds it, all dots are scaled down."""
NOTHING = "nothing: cosine of two vectors"
ENCODERS = {"MiniLM": "all-MiniLM-L6-v2", "MPNet": "sentence-transformers/all-mpnet-base-v2"}
"""Encoder as named in figures → name of its model."""
SHADES = {"MiniLM": BLUE, "MPNet": VERMILLION}
_COSINE, _CROSS = "sentence encoder (cosine)", "cross-encoder (list)"
_EVIDENCE = "cross-encoder (evidence)"
_LARGER = {"encoder": ENCODERS["MPNet"]}
TUNED: Mapping[tuple[str, str], tuple[str, dict[str, Any]]] = {
    ("MiniLM", NOTHING): (_COSINE, {}),
    ("MiniLM", "the head alone"): (_CROSS, {"tune": "heads", "learning_rate": 1e-3}),
    ("MiniLM", "the head and LoRA"): (_CROSS, {"tune": "lora", "learning_rate": 3e-4}),
    ("MiniLM", "all weights"): (_CROSS, {}),
    ("MiniLM", "all weights and evidence"): (_EVIDENCE, {}),
    ("MPNet", NOTHING): (_COSINE, _LARGER),
    ("MPNet", "all weights"): (_CROSS, _LARGER),
}
"""(Encoder, the part of it that is trained) → (yardstick, its changed settings)."""
COSTS = DATA / "tuning-cost.csv"
"""Cost of an epoch of each entry of `TUNED`, written by `tools/tuning_cost.py`."""
DARK_ORANGE = "#9A6A00"
"""An orange dark enough for text."""
SHORT = 20
"""Maximum number of rows in one column; longer tables get two, as slides are wider than high."""


def figures(runs: pd.DataFrame, note: Callable[[str], None] = print) -> dict[str, HouseFigure]:
    """Return the figures of all runs by name: best systems, quality against cost, tuning."""
    cells = matrix(entries(runs))
    if cells.empty:
        note(f"{NAME}: skipped, the ledger has no runs at the paper's scale")
        return {}
    real = [target for target in targets(cells) if not target.startswith(f"{SAMPLE}/")]
    found = {f"{NAME}-matrix": score_matrix(leaders(part(cells, real)))}
    if (panels := part(cells))["seconds"].notna().any():
        found[f"{NAME}-cost"] = quality_cost(tested(panels))
    if figure := tuning(runs):
        found[f"{NAME}-tuning"] = figure
    return found


def part(cells: pd.DataFrame, wanted: Collection[str] = PANELS) -> pd.DataFrame:
    """Keep the `wanted` targets (`wikiqa/answered`) of a matrix, or all if it has none of them."""
    some = cells[cells.index.isin(wanted, level="target")]
    return cells if some.empty else some


def leaders(cells: pd.DataFrame, count: int = LEADERS) -> pd.DataFrame:
    """Return the matrix of those systems that are among the `count` best on at least one target."""
    best = cells.groupby("target").head(count).index.unique("system")
    return cells[cells.index.isin(best, level="system")]


@house_style
def score_matrix(cells: pd.DataFrame) -> HouseFigure:
    """Draw systems × data sets: means, shaded per data set from lowest to highest; –: not run."""
    means = cells["mean"].unstack("target").reindex(systems(cells))[targets(cells)]
    asked = cells[cells["compared"]].groupby("target")["questions"].first()
    names = [  # in two lines, so that seven columns fit on a page
        target_name(t).replace(" (", "\n(").replace("SemEval-", "SemEval\n") + f"\n{asked[t]}"
        for t in means
    ]
    # Long names in two lines, without the account that an encoder lies under on the hub.
    rows = [
        name.replace("sentence-transformers/", "").replace(", ", ",\n" if len(name) > 24 else ", ")
        for name in means.index
    ]
    measure = NAMES[cells["measure"].iloc[0]]
    note = f"{measure} over seeds; below the data set's name, its test questions"
    longest, across = (max(map(len, "\n".join(texts).split("\n"))) for texts in (rows, names))
    width = 0.8 + 0.095 * longest + max(1.0, 0.105 * across) * len(names)
    figure = new_figure(min(WIDEST, max(width, 0.085 * len(note))), 1.5 + 0.33 * len(means))
    span = (means.max() - means.min()).replace(0.0, 1.0)
    axes = sns.heatmap(
        ((means - means.min()) / span).fillna(-0.15), vmin=-0.15, vmax=1.1, cmap="Blues",
        annot=means.map("{:.3f}".format, na_action="ignore").fillna("–"), fmt="",
        annot_kws={"size": 10}, xticklabels=names, yticklabels=rows, cbar=False, linewidths=1,
        ax=figure.subplots(),
    )  # fmt: skip
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.set(xlabel="", ylabel="")
    figure.supxlabel(note, fontsize=10, color=GREY)
    return figure


@house_style
def quality_cost(cells: pd.DataFrame) -> HouseFigure:
    """Plot mean quality against seconds to train, one panel per data set of a `with_tests` matrix.

    Filled dots are systems that clearly beat at least one cheaper system; numbered dots, those that
    beat the largest number of them (`_panel`). Bars are the 95 % interval of the mean and the range
    of the runs' seconds.
    """
    shown = [t for t in targets(cells) if cells.loc[t, "seconds"].notna().any()]
    columns = min(2, len(shown))
    lines = -(-len(shown) // columns)
    figure = new_figure(6.2 * columns, 0.5 + 4.6 * lines)
    grid = figure.subplots(lines, columns, squeeze=False)
    for axes in grid.flat[len(shown) :]:
        axes.set_visible(False)
    drawn = []
    for axes, target in zip(grid.flat, shown, strict=False):
        column = cells.loc[target].dropna(subset="seconds")
        drawn.append((axes, column, _panel(axes, column)))
        axes.set(xlabel="seconds to train", ylabel=NAMES[cells["measure"].iloc[0]])
        axes.set_title(target_name(target))
    note = (
        "filled: clearly better than a cheaper system; numbered: than the largest number of them; "
        "bars: 95 % interval, range of seconds"
    )
    figure.supxlabel(note, fontsize=10, color=GREY)
    figure.draw_without_rendering()  # lays the panels out, so that the dots have a place
    for axes, column, named in drawn:
        _number(axes, column, named, points=figure.dpi / 72)
    return figure


@house_style
def tuning(runs: pd.DataFrame, target: str = "wikiqa/answered") -> HouseFigure | None:
    """Plot test MAP against minutes of training for the entries of `TUNED`.

    Minutes are those of an epoch in float32 (`COSTS`) times the recipe's epochs, also for runs in
    bfloat16; bars are the range over seeds. Entries without a run or a cost are left out. Returns
    None if fewer than two remain.
    """
    costs = pd.read_csv(COSTS).set_index(["encoder", "trained"])
    figure = new_figure(9.5, 5.6)
    axes = figure.subplots()
    on_test = runs[(runs["split"] == "test") & (runs["target"] == target)]
    on_test = on_test[on_test["counts"] != REPEATED]
    settings = on_test["changed"].map(lambda own: {k: own[k] for k in own if k != "precision"})
    for (encoder, trained), (variant, changed) in TUNED.items():
        found = on_test[(on_test["variant"] == variant) & settings.map(changed.__eq__)]
        if found.empty or (encoder, trained) not in costs.index:
            continue
        cost = costs.loc[(encoder, trained)]
        x = cost["minutes an epoch"] * found["recipe"].iloc[0].get("epochs", 0)
        y, seeds, shade = found["map"].mean(), len(found), SHADES[encoder]
        axes.vlines(x, found["map"].min(), found["map"].max(), color=shade, alpha=0.4)
        number = len(axes.texts) + 1
        told = f"{number}  {encoder}: {trained}\n    {y:.3f}"
        told += f" ({seeds} seeds)" if seeds > 1 else ""
        axes.plot(x, y, "o", color=shade, label=f"{told}, {cost['peak GiB']:.1f} GiB")
        side = 1 if number % 2 else -1  # alternate, so that neighbours do not overlap
        place: dict[str, Any] = {"xytext": (9 * side, 0), "textcoords": "offset points"}
        axes.annotate(f"{number}", (x, y), **place, ha="center", va="center", weight="bold")
    if len(axes.texts) < 2:
        return None
    axes.margins(x=0.1, y=0.1)
    figure.legend(loc="outside right center", handlelength=1, labelspacing=1)
    axes.set_xlim(left=-4)
    axes.set(xlabel="minutes of one CPU core to train", ylabel="MAP")
    axes.set_title(f"What is trained: quality and cost on {target_name(target)}")
    return figure


def _panel(axes: Axes, column: pd.DataFrame) -> list[str]:
    """Draw a panel, list its numbered systems below it, and return them in their order.

    Up to `NAMED` systems are all numbered. Of more, at most `FEWER` are: those that clearly beat
    the largest number of cheaper systems; ties go to the cheaper one.
    """
    table = worth_its_cost(column).assign(seconds=column["seconds"])
    beaten = table["beaten"]
    most = table[beaten > 0].sort_values(["beaten", "seconds"], ascending=[False, True])
    small = len(column) <= NAMED
    named = [s for s in column.index if small or s in most.index[:FEWER]]
    for system, cell in column.iterrows():
        x, y = cell["seconds"], cell["mean"]
        better = beaten.get(system, 0) > 0
        shade = BLUE if better else GREY
        number = named.index(system) + 1 if system in named else None
        ends = np.clip(interval(cell["by_seed"]) or (y, y), 0, 1)  # very wide with two seeds
        strength = 0.8 if number else 0.25
        bars: dict[str, Any] = {"color": shade, "linewidth": 1, "alpha": strength, "zorder": 1}
        axes.vlines(x, *ends, **bars)
        axes.hlines(y, *cell["range"], **bars)
        label = f"{number}  {system}" if number else None
        face = shade if better else "white"
        size = 7 if number else 4
        axes.plot(x, y, "o", color=shade, mfc=face, ms=size, markeredgewidth=1.2, label=label)
    axes.set_xscale("symlog", linthresh=LEAST_SECONDS)
    dear = max(column["seconds"].max(), LEAST_SECONDS)
    axes.set_xlim(-LEAST_SECONDS / 2, 2 * dear)
    # On a long axis, labels at every decade would run into each other.
    decades = 10.0 ** np.arange(0, np.ceil(np.log10(2 * dear)), 1 if dear < 1_000 else 2)
    axes.set_xticks([0, *decades], ["0", *(f"{x:,.0f}" for x in decades)])
    axes.minorticks_off()
    below: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.2), "ncols": 2}
    if named:
        axes.legend(**below, fontsize=8.5, handlelength=1, columnspacing=1)
    return named


def _number(axes: Axes, column: pd.DataFrame, named: list[str], points: float) -> None:
    """Number some dots, each on the one of eight sides with most room; a point is `points` dots."""
    dots = axes.transData.transform(column[["seconds", "mean"]].to_numpy(float))
    turns = np.arange(8) * np.pi / 4
    sides = 11 * np.column_stack([np.cos(turns), np.sin(turns)])  # in points
    taken = dots
    for number, system in enumerate(named, 1):
        spots = dots[column.index.get_loc(system)] + points * sides
        room = np.hypot(*(spots[:, None] - taken).T).min(0)  # to the nearest dot or number
        side = sides[room.argmax()]
        taken = np.vstack([taken, spots[room.argmax()]])
        axes.annotate(
            f"{number}", column.loc[system, ["seconds", "mean"]], side, textcoords="offset points",
            ha="center", va="center", fontsize=10, weight="bold",
        )  # fmt: skip


def questions(cells: pd.DataFrame, target: str, first: str, second: str) -> HouseFigure:
    """Plot two systems' values on each question of a target against each other."""
    measure = NAMES[cells["measure"].iloc[0]].removeprefix("M")
    a, b = (cells.loc[(target, system), "values"] for system in (first, second))
    return agreement(a, b, (first, second), measure, title=target_name(target))


@house_style
def agreement(
    across: Mapping[str, float],
    upwards: Mapping[str, float],
    names: tuple[str, str],
    measure: str,
    *,
    title: str = "",
) -> HouseFigure:
    """Plot two systems' values per question, in 0..1, one system per axis.

    Dots grow with the number of questions at their place. The second system is better above the
    diagonal, the first below it. Raises `QaselError` if the systems share no question.
    """
    both = pd.DataFrame({"x": across, "y": upwards}).dropna()
    if both.empty:
        raise QaselError("no question that both have")
    counts = both.round(3).value_counts(sort=False).rename("n").reset_index()
    better = np.sign(counts["y"] - counts["x"])
    size = min(SMALLEST, LARGEST / counts["n"].max())
    figure = new_figure(6.4, 6.4)
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], color=PALE, zorder=0)
    for sign, shade in ((1, ORANGE), (0, GREY), (-1, BLUE)):
        some = counts[better == sign]
        if len(some):
            look: dict[str, Any] = {"color": shade, "alpha": 0.55, "linewidths": 0}
            axes.scatter(some["x"], some["y"], size * some["n"], clip_on=False, **look)
    first, second = (counts.loc[better == sign, "n"].sum() for sign in (-1, 1))
    axes.set(title=title, xlim=(-0.04, 1.04), ylim=(-0.04, 1.04), aspect="equal")
    axes.set_xlabel(f"{measure}, {names[0]} (better on {first} of {len(both)})", color=BLUE)
    axes.set_ylabel(f"{measure}, {names[1]} (better on {second})", color=DARK_ORANGE)
    return figure


@house_style
def worth(frame: pd.DataFrame) -> HouseFigure:
    """Plot what ideas gain in MAP, from the frame of `results.matrix.worth`.

    Each row has a dot and a 95 % interval: blue if significant after correction, filled if the
    test covers seeds too. Rows are grouped by idea, in two columns if there are many.
    """
    if frame.empty:
        raise QaselError("no idea to draw: none of the pairs was run on the same questions")
    groups = [part for _, part in frame.groupby("idea", sort=False)]
    ends = np.cumsum([1 + len(part) for part in groups])
    half = np.abs(2 * ends[:-1] - ends[-1])
    cut = half.argmin() + 1 if len(frame) > SHORT and len(half) else len(groups)
    columns = [
        [row for part in column for row in (part["idea"].iloc[0], *part.to_dict("records"))]
        for column in (groups[:cut], groups[cut:])
        if column
    ]
    height = max(map(len, columns))
    figure = new_figure(9.0 if len(columns) == 1 else 13.0, 1.8 + 0.3 * height)
    panels = figure.subplots(1, len(columns), sharex=True, squeeze=False)[0]
    for axes, column in zip(panels, columns, strict=True):
        for y, row in enumerate(column):
            if isinstance(row, str):
                across = axes.get_yaxis_transform()
                axes.text(0, y, row, transform=across, va="center", weight="bold", zorder=5)
                continue
            shade = BLUE if row[ADJUSTED] < ALPHA else GREY
            axes.plot([row["low"], row["high"]], [y, y], color=shade, linewidth=2)
            face = shade if row[CLEAR] else "white"
            axes.plot(row["difference"], y, color=shade, mfc=face, **DOT)
        lines = {y: row for y, row in enumerate(column) if not isinstance(row, str)}
        name_rows(axes, {y: f"{r['data']}  {r['seeds']}" for y, r in lines.items()}, height)
        axes.axvline(0, color=GREY, linewidth=1)
        axes.locator_params(axis="x", nbins=8)
        axes.set_xlabel("difference in MAP")
    handles = [
        Line2D([], [], color=BLUE, **DOT, label="passes, with the seeds in the test"),
        Line2D([], [], color=BLUE, mfc="white", **DOT, label="passes, of one seed"),
        Line2D([], [], color=GREY, mfc="white", **DOT, label="does not pass"),
    ]
    note = "lines: 95 % interval, not corrected; numbers: seeds that both systems have"
    figure.legend(handles=handles, loc="outside lower center", ncols=3, title=note)
    return figure
