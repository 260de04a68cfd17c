"""Diagrams of boxes and arrows: architectures and wirings, drawn from what the code declares."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from qasel.figures.style import GREY, INK, VERMILLION, HouseFigure, house_style, new_figure


class Box(NamedTuple):
    """A box centred on (x, y), in diagram units; `strong` gives it a dashed red edge.

    `shape` is written below the text in small type.
    """

    text: str
    x: float
    y: float
    shape: str = ""
    fill: str = "white"
    width: float = 1.0
    height: float = 0.5
    strong: bool = False


class Arrow(NamedTuple):
    """An arrow between two boxes, by name; `bend` curves it around what lies between."""

    start: str
    end: str
    bend: float = 0.0


def chain(*names: str) -> list[Arrow]:
    """Return an arrow from each box to the next."""
    return [Arrow(start, end) for start, end in pairwise(names)]


class Diagram(NamedTuple):
    """Boxes by name, and the arrows between them."""

    boxes: Mapping[str, Box]
    arrows: Sequence[Arrow] = ()


@house_style
def diagrams(
    panels: Mapping[str, Diagram],
    *,
    columns: int = 1,
    unit: float = 1.2,
    title: str = "",
    note: str = "",
    fontsize: float = 11,
) -> HouseFigure:
    """Draw one panel per diagram, all at the same scale: `unit` inches per diagram unit.

    A diagram without boxes leaves its panel blank.
    """
    lines = -(-len(panels) // columns)
    boxes = [list(diagram.boxes.values()) for diagram in panels.values()]
    across = [
        _extent((box.x, box.width) for column in boxes[i::columns] for box in column)
        for i in range(columns)
    ]
    low, high = _extent((box.y, box.height) for panel in boxes for box in panel)
    widths = [right - left for left, right in across]
    named = any(map(str.strip, panels))
    figure = new_figure(
        unit * sum(widths) + 0.3 * columns,
        (unit * (high - low) + 0.3 + 0.3 * named) * lines + 0.5 * bool(title) + 0.4 * bool(note),
    )
    grid = figure.subplots(lines, columns, squeeze=False, width_ratios=widths)
    for axes, ends in zip(grid.flat, across * lines, strict=True):
        axes.set_axis_off()
        axes.set(xlim=ends, ylim=(low, high), aspect="equal")
    for axes, (name, diagram) in zip(grid.flat, panels.items(), strict=False):
        _draw(axes, diagram, fontsize)
        axes.set_title(name.strip(), loc="center")
    figure.suptitle(title)
    figure.supxlabel(note, fontsize=fontsize, color=GREY)
    return figure


def _extent(places: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """Return the range that boxes, given by centre and size, cover on one axis, plus a margin."""
    ends = [end for centre, size in places for end in (centre - size / 2, centre + size / 2)]
    return min(ends, default=-0.5) - 0.1, max(ends, default=0.5) + 0.1


def _draw(axes: Axes, diagram: Diagram, fontsize: float) -> None:
    patches = {name: _box(axes, box, fontsize) for name, box in diagram.boxes.items()}
    look: dict[str, Any] = {"arrowstyle": "-|>", "mutation_scale": 12, "linewidth": 1.4}
    look |= {"color": INK, "shrinkA": 1, "shrinkB": 1, "zorder": 1, "clip_on": False}
    for arrow in diagram.arrows:
        start, end = diagram.boxes[arrow.start], diagram.boxes[arrow.end]
        look |= {"patchA": patches[arrow.start], "patchB": patches[arrow.end]}
        way = f"arc3,rad={arrow.bend}"
        axes.add_patch(
            FancyArrowPatch((start.x, start.y), (end.x, end.y), connectionstyle=way, **look)
        )


def _box(axes: Axes, box: Box, fontsize: float) -> FancyBboxPatch:
    corner = box.x - box.width / 2, box.y - box.height / 2
    look: dict[str, Any] = {"ec": GREY, "lw": 1, "boxstyle": "round,pad=0,rounding_size=0.08"}
    if box.strong:
        look |= {"ec": VERMILLION, "ls": "--", "lw": 2}
    patch = FancyBboxPatch(corner, box.width, box.height, fc=box.fill, **look)
    axes.add_patch(patch).set_clip_on(False)
    centred: dict[str, Any] = {"ha": "center", "va": "center"}
    axes.text(box.x, box.y + 0.09 * bool(box.shape), box.text, fontsize=fontsize, **centred)
    if box.shape:
        axes.text(box.x, box.y - 0.13, box.shape, fontsize=fontsize - 2, color=GREY, **centred)
    return patch
