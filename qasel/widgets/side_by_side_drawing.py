"""The scatter of `SideBySideExplorer`: its axes, and in saved pages its points."""

from collections.abc import Sequence
from dataclasses import dataclass

from qasel.widgets import svg
from qasel.widgets.base import BLUE, GREY, INK, VERMILLION

CELLS, CELL, EDGE = 21, 26, 44
"""Places from 0 to 1 either way; pixels of a place, and of the edge with the axes' numbers."""
PALE = "#E4E4E4"
_SIZE = CELLS * CELL


@dataclass(frozen=True)
class Dot:
    """Questions at the same place of the scatter; `x` and `y` count places from 0."""

    x: int
    y: int
    questions: tuple[str, ...]


def place_of(value: float) -> int:
    """The place of a value in 0..1, the nearest."""
    return round(value * (CELLS - 1))


def colour_of(dot: Dot) -> str:
    """The colour of the system that does better there."""
    return GREY if dot.x == dot.y else BLUE if dot.x > dot.y else VERMILLION


def _at(x: float, y: float) -> svg.Point:
    """The pixel of a place."""
    return EDGE + (x + 0.5) * CELL, (CELLS - 0.5 - y) * CELL


def drawing(
    pair: tuple[str, str], told: str, dots: Sequence[Dot] = (), chosen: str | None = None
) -> str:
    """Axes, diagonal, and the dots with the numbers of their questions; `told` in words."""
    top = CELLS - 1
    shapes = [svg.line([_at(0, 0), _at(top, top)], PALE, 2)]
    shapes += [svg.line([(EDGE, 0), (EDGE, _SIZE), (EDGE + _SIZE, _SIZE)], GREY, 1)]
    for place in range(0, CELLS, 4):
        x, y = _at(place, place)
        number = f"{place / top:g}"
        shapes.append(svg.text((x, _SIZE + 15), number, GREY, 11))
        shapes.append(svg.text((EDGE - 6, y + 4), number, GREY, 11, "end"))
    across, upwards = (f"AP of {name}" for name in pair)
    shapes.append(svg.text((EDGE + _SIZE, _SIZE + 34), f"{across} →", BLUE, 12, "end", bold=True))
    shapes.append(svg.text((EDGE + 8, 16), f"↑ {upwards}", VERMILLION, 12, "start", bold=True))
    for dot in dots:
        x, y = _at(dot.x, dot.y)
        shapes.append(svg.dot((x, y), colour_of(dot), CELL / 2 - 2))
        shapes.append(svg.text((x, y + 4), str(len(dot.questions)), "white", 11))
        if chosen in dot.questions:
            box = CELL / 2
            corners = [
                (x - box, y - box),
                (x + box, y - box),
                (x + box, y + box),
                (x - box, y + box),
            ]
            shapes.append(svg.line([*corners, corners[0]], INK, 2.5))
    return svg.picture(shapes, EDGE + _SIZE, _SIZE + EDGE, told)
