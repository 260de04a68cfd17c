"""The pictures of the notebook: windows, attention, feature maps, comparison, mined negatives."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from qasel.figures.style import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    PALE,
    VERMILLION,
    HouseFigure,
    house_style,
    new_figure,
)
from qasel.papers.ap_mpcnn.inside import Inside, Sentence

NARROW, WIDE = ORANGE, BLUE
SHADES, FAR = "RdBu_r", "Greys"
"""Of numbers from −1 to 1, 0 is white; and of distances, the darker the further."""
OUTSIDE = "∅"
"""A place before or after the sentence, where wide convolution puts zeros."""


@house_style
def touched_figure(counts: pd.DataFrame, words: Sequence[str]) -> HouseFigure:
    """A panel a width: in how many windows each word stands, narrow and wide."""
    widths = list(dict.fromkeys(counts.index.get_level_values("width")))
    figure = new_figure(3.9 * len(widths), 3.7)
    grid = np.atleast_1d(figure.subplots(1, len(widths), sharey=True))
    place = np.arange(len(words))
    for axes, width in zip(grid, widths, strict=True):
        for kind, shade, aside in (("narrow", NARROW, -0.2), ("wide", WIDE, 0.2)):
            axes.bar(place + aside, counts.loc[kind, width], 0.36, color=shade, label=kind)
        axes.set_title(f"windows of {width}")
        axes.set_xticks(place, words, rotation=55, ha="right", rotation_mode="anchor")
        axes.set_yticks(range(1 + int(counts.to_numpy().max())))
        axes.grid(visible=False, axis="x")
    grid[0].set_ylabel("windows with the word")
    figure.legend(*grid[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


@house_style
def attention_figure(
    cosines: Any, question: Sequence[str], answer: Sequence[str], weights: Sequence[Any]
) -> HouseFigure:
    """D with its numbers, and beside each word of both sentences its weight (A₁, A₂)."""
    table = np.asarray(cosines, dtype=float)
    figure = new_figure(2.8 + 0.62 * len(answer), 2.8 + 0.42 * len(question))
    grid = figure.subplots(
        2,
        2,
        width_ratios=[0.62 * len(answer), 1.5],
        height_ratios=[1.1, 0.42 * len(question)],
        sharex="col",
        sharey="row",
    )
    (top, corner), (middle, side) = grid
    corner.set_axis_off()
    _cells(middle, table, top=1.0)
    middle.set_xticks(range(len(answer)), answer, rotation=55, ha="right", rotation_mode="anchor")
    middle.set_yticks(range(len(question)), question)
    of_question, of_answer = (np.asarray(part, dtype=float) for part in weights)
    side.barh(range(len(question)), of_question, color=ORANGE, height=0.7)
    top.bar(range(len(answer)), of_answer, color=ORANGE, width=0.7)
    side.set_title("$A_1$")
    top.set_title("$A_2$")
    for axes in (top, side):
        axes.locator_params(nbins=3, axis="x" if axes is side else "y")
        axes.tick_params(length=0)
        axes.grid(visible=False, axis="y" if axes is side else "x")
    for axes, limit in ((top, of_answer), (side, of_question)):
        (axes.set_ylim if axes is top else axes.set_xlim)(0, 1.15 * limit.max())
    return figure


def _cells(axes: Axes, table: np.ndarray, top: float, shades: str = SHADES) -> None:
    """A table as shaded cells with their numbers; `top` is the darkest, and so is −`top`."""
    low = 0.0 if shades == FAR else -top
    axes.imshow(table, cmap=shades, vmin=low, vmax=top, aspect="auto")
    for (i, j), value in np.ndenumerate(table):
        shade = "white" if abs(value) > 0.6 * top else "black"
        axes.text(j, i, f"{value:.2f}", ha="center", va="center", color=shade, fontsize=9)
    axes.grid(visible=False)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


@house_style
def map_figure(sentence: Sentence, width: int, title: str) -> HouseFigure:
    """The feature maps of all filters of a width: a row a filter, its largest window framed."""
    maps = sentence.maps[width - 1].T  # [F, windows]
    figure = new_figure(1.6 + 0.62 * maps.shape[1], 2.4 + 0.42 * len(maps))
    axes = figure.subplots()
    _cells(axes, maps, top=max(float(np.abs(maps).max()), 1e-9))
    for number in range(len(maps)):
        window, _ = sentence.winner(width, number)
        frame: dict[str, Any] = {"fill": False, "edgecolor": INK, "linewidth": 2.2}
        axes.add_patch(Rectangle((window - 0.5, number - 0.5), 1, 1, **frame))
    first = sentence.first[width - 1]
    told = [_window(sentence.words, first + i, width) for i in range(maps.shape[1])]
    axes.set_xticks(range(len(told)), told, rotation=55, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(maps)), [f"filter {i + 1}" for i in range(len(maps))])
    axes.set_title(title)
    return figure


def _window(words: Sequence[str], begin: int, width: int) -> str:
    inside = range(len(words))
    return " ".join(words[i] if i in inside else OUTSIDE for i in range(begin, begin + width))


@house_style
def compared_figure(inside: Inside) -> HouseFigure:
    """regM₁ and regM₂, and what both comparisons make of them: every number of fea_H and fea_V.

    Cosines are red where the two are alike, distances dark where they are far apart.
    """
    left, right = inside.question.pooled.T, inside.answer.pooled.T  # [F, M]
    filters, widths = left.shape
    across = inside.compared[: 2 * filters].reshape(filters, 2)
    down = inside.compared[2 * filters :][: 3 * widths**2].reshape(widths, widths, 3)
    figure = new_figure(13, 1.6 + 0.5 * max(filters, widths))
    sizes = [widths, widths, 1.15, 1.15, widths, widths, widths]
    grid = figure.subplots(1, len(sizes), width_ratios=sizes)
    every = [f"width {width}" for width in range(1, widths + 1)]
    highest = float(max(np.abs(left).max(), np.abs(right).max()))
    panels = (
        ("regM$_1$", left, highest),
        ("regM$_2$", right, highest),
        ("horizontal:\ncosine", across[:, :1], 1.0),
        ("\nEuclid", across[:, 1:], None),
        ("vertical:\ncosine", down[..., 0], 1.0),
        ("\nEuclid", down[..., 1], None),
        ("\n|x − y|", down[..., 2], None),
    )
    for axes, (title, table, top) in zip(grid, panels, strict=True):
        _cells(axes, table, top or float(table.max()), SHADES if top else FAR)
        axes.set_title(title)
        columns = every if table.shape[1] == widths else []
        axes.set_xticks(range(len(columns)), columns, rotation=35, ha="right")
        axes.set_yticks([])
    for axes in (grid[0], grid[2]):
        axes.set_yticks(range(filters), [f"filter {i + 1}" for i in range(filters)])
    grid[4].set_yticks(range(widths), every)
    grid[4].set_ylabel("question")
    for axes in grid[4:]:
        axes.set_xlabel("answer")
    return figure


@house_style
def mined_figure(lists: Mapping[str, pd.DataFrame]) -> HouseFigure:
    """A panel a ranker: its list by f(q, p), and which wrong answers the miner takes.

    The axis of f is as long as the lists need, the same in all panels.
    """
    longest = max(map(len, lists.values()))
    figure = new_figure(5.2 * len(lists), 1.6 + 0.26 * longest)
    grid = np.atleast_1d(figure.subplots(1, len(lists), sharex=True, sharey=True))
    for axes, (name, frame) in zip(grid, lists.items(), strict=True):
        place = np.arange(1, len(frame) + 1)
        for kind, marker, shade, face in KINDS:
            chosen = _of(frame, kind).to_numpy()
            style = {"s": 60, "marker": marker, "edgecolors": shade, "zorder": 3}
            axes.scatter(frame["f"][chosen], place[chosen], c=face, linewidths=2, **style)
        axes.hlines(place, 0, 1, color=PALE, zorder=1, transform=axes.get_yaxis_transform())
        axes.set_title(name)
        axes.margins(x=0.06)
        axes.locator_params(axis="x", nbins=6)
        axes.set_xlabel("f(q, p)")
        axes.grid(visible=False, axis="y")
    grid[0].set_ylabel("place in the ranking")
    grid[0].set_ylim(longest + 0.6, 0.4)
    handles = [
        Line2D([], [], marker=marker, linestyle="", color=shade, mfc=face, ms=8, mew=2, label=kind)
        for kind, marker, shade, face in KINDS
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(KINDS))
    return figure


KINDS = (
    ("right", "D", BLUE, BLUE),
    ("wrong, taken", "o", VERMILLION, VERMILLION),
    ("wrong, left out", "o", GREY, "white"),
)
"""How a candidate is drawn, by its kind."""


def _of(frame: pd.DataFrame, kind: str) -> pd.Series:
    taken = frame["taken"] if kind == "wrong, taken" else ~frame["taken"]
    return frame["right"] if kind == "right" else ~frame["right"] & taken
