"""Boxes and arrows: architectures and wirings, drawn from what the code declares."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from qasel.figures.style import GREY, INK, VERMILLION, HouseFigure, house_style, new_figure


@dataclass(frozen=True)
class Box:
    """A box around (x, y), in units of the diagram; `strong` boxes have a red dashed edge.

    `shape` is set small under the text. A box without a `fill` is text alone.
    """

    text: str
    x: float
    y: float
    shape: str = ""
    fill: str = "white"
    width: float = 1.0
    height: float = 0.5
    strong: bool = False


@dataclass(frozen=True)
class Arrow:
    """An arrow between two boxes, by name; `bend` curves it around what lies between."""

    start: str
    end: str
    bend: float = 0.0


@dataclass(frozen=True)
class Diagram:
    """Boxes by name, and the arrows between them."""

    boxes: Mapping[str, Box]
    arrows: Sequence[Arrow] = field(default_factory=tuple)


@house_style
def diagrams(
    panels: Mapping[str, Diagram],
    *,
    columns: int = 1,
    unit: float = 1.2,
    title: str | None = None,
    note: str = "",
    fontsize: float = 11,
) -> HouseFigure:
    """A diagram a panel, all on one scale: `unit` inches for 1. Names that start with a space
    are not shown; a diagram without boxes leaves its place blank.
    """
    names, drawn = list(panels), list(panels.values())
    lines = -(-len(panels) // columns)
    across = [_extent(drawn[i::columns], 0) for i in range(columns)]
    low, high = _extent(drawn, 1)
    widths = [right - left for left, right in across]
    titled = any(not name.startswith(" ") for name in names)
    figure = new_figure(
        unit * sum(widths) + 0.3 * columns,
        (unit * (high - low) + 0.3 + 0.3 * titled) * lines + 0.5 * bool(title) + 0.4 * bool(note),
    )
    grid = figure.subplots(lines, columns, squeeze=False, width_ratios=widths)
    for i, axes in enumerate(grid.flat):
        axes.set_axis_off()
        axes.set_xlim(across[i % columns])
        axes.set_ylim(low, high)
        axes.set_aspect("equal")
        if i < len(panels):
            _draw(axes, drawn[i], fontsize)
            if not names[i].startswith(" "):
                axes.set_title(names[i], loc="center")
    if title:
        figure.suptitle(title)
    if note:
        figure.supxlabel(note, fontsize=fontsize, color=GREY)
    return figure


def _extent(diagrams: Sequence[Diagram], axis: int) -> tuple[float, float]:
    """Least and greatest coordinate of all boxes, with a margin."""
    ends = [
        (box.x, box.width / 2) if axis == 0 else (box.y, box.height / 2)
        for diagram in diagrams
        for box in diagram.boxes.values()
    ]
    low = min((centre - half for centre, half in ends), default=-0.5)
    high = max((centre + half for centre, half in ends), default=0.5)
    return low - 0.1, high + 0.1


def _draw(axes: Axes, diagram: Diagram, fontsize: float) -> None:
    patches = {name: _box(axes, box, fontsize) for name, box in diagram.boxes.items()}
    for arrow in diagram.arrows:
        start, end = diagram.boxes[arrow.start], diagram.boxes[arrow.end]
        axes.add_patch(
            FancyArrowPatch(
                (start.x, start.y),
                (end.x, end.y),
                patchA=patches[arrow.start],
                patchB=patches[arrow.end],
                shrinkA=1,
                shrinkB=1,
                connectionstyle=f"arc3,rad={arrow.bend}",
                arrowstyle="-|>",
                mutation_scale=12,
                linewidth=1.4,
                color=INK,
                clip_on=False,
                zorder=1,
            )
        )


def _box(axes: Axes, box: Box, fontsize: float) -> FancyBboxPatch | None:
    patch = FancyBboxPatch(
        (box.x - box.width / 2, box.y - box.height / 2),
        box.width,
        box.height,
        boxstyle="round,pad=0,rounding_size=0.08",
        facecolor=box.fill or "white",
        edgecolor=(VERMILLION if box.strong else GREY) if box.fill else "white",
        linestyle="--" if box.strong else "-",
        linewidth=2 if box.strong else 1,
        clip_on=False,
        zorder=2,
    )
    axes.add_patch(patch)
    lift = 0.09 if box.shape else 0
    centred: dict[str, Any] = {"ha": "center", "va": "center", "zorder": 3}
    axes.text(box.x, box.y + lift, box.text, fontsize=fontsize, **centred)
    if box.shape:
        axes.text(box.x, box.y - 0.13, box.shape, fontsize=fontsize - 2, color=GREY, **centred)
    return patch
