"""Feature maps of a right and a wrong candidate, side by side: a strip for each filter."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from qasel.widgets import svg
from qasel.widgets.base import BLUE, GREY, INK, VERMILLION
from qasel.widgets.candidates import MARKS
from qasel.widgets.distances_drawing import short
from qasel.widgets.evidence_drawing import PALE
from qasel.widgets.perspectives_parts import strongest

WIDTH, COLUMNS, STRIP, CELL, CELLS, SCALE = 880, {1: 100, 0: 496}, 320, 22, 80, 732
"""Pixels across: the picture, where the two columns begin, the longest strip, the widest cell;
the most cells of a strip (of a longer map, neighbours share one); where the colours' scale begins.
"""
HEAD, TITLE, ROW, HIGH, FITS = 40, 28, 58, 14, 46
"""Pixels down: the head, a width's title, a filter's row, a strip; and letters below a strip."""
NOTHING = "–"
"""Stands for a place outside of the sentence."""


def maps(right: Any, wrong: Any) -> str:
    """For each width, the filters that differ most between two candidates (`Inside` each)."""
    sides = {1: right, 0: wrong}
    rows = [
        (width, number)
        for width in range(1, len(right.answer.maps) + 1)
        for number in strongest(right.answer, wrong.answer, width)
    ]
    top = max(
        (np.abs(side.answer.maps[w - 1][:, f]).max() for side in sides.values() for w, f in rows),
        default=1.0,
    )
    shapes, y, told, last = _legend(top), float(HEAD), [], 0
    for width, number in rows:
        if width != last:
            shapes.append(svg.line([(8, y), (WIDTH - 8, y)], PALE, 1))
            title = f"Windows of {width} word{'s' if width > 1 else ''}"
            shapes.append(svg.text((8, y + 18), title, INK, 12, "start", bold=True))
            y, last = y + TITLE, width
        shapes.append(svg.text((16, y + 12), f"filter {number + 1}", INK, 12, "start"))
        for label, side in sides.items():
            shapes += _column(side, width, number, COLUMNS[label], y, top)
        found = (_found(side.answer, width, number, 400) for side in sides.values())
        told.append(f"width {width}, filter {number + 1}: right {', wrong '.join(found)}")
        y += ROW
    words = "What the filters find that differ most: " + "; ".join(told)
    return svg.picture(shapes, WIDTH, y, words)


def cells(values: np.ndarray) -> np.ndarray:
    """The windows' values as cells: those of a long map are the largest of some neighbours."""
    return np.array([part.max() for part in np.array_split(values, min(len(values), CELLS))])


def window(words: Sequence[str], letters: int) -> str:
    """The words of a window, each cut so that all fit into so many letters.

    What no picture can have (control characters) is replaced.
    """
    each = max((letters + 1) // len(words) - 1, 2)
    printable = ("".join(c if c.isprintable() else "\ufffd" for c in word) for word in words)
    shown = (word if len(word) <= each else word[: each - 1] + "…" for word in printable)
    return " ".join(word or NOTHING for word in shown)


def _found(sentence: Any, width: int, number: int, letters: int) -> str:
    """What max pooling leaves of a filter: the words and the value."""
    _, words = sentence.winner(width, number)
    return f"“{window(words, letters)}” {short(sentence.pooled[width - 1, number])}"


def _column(side: Any, width: int, number: int, x: float, y: float, top: float) -> list[str]:
    """The strip of a candidate, its winner marked and named; below it the question's winner."""
    values = cells(side.answer.maps[width - 1][:, number])
    wide = min(STRIP / len(values), CELL)
    shapes = [_cell(x + i * wide, y, wide, value / top) for i, value in enumerate(values)]
    edge = x + int(values.argmax()) * wide
    corners = [(edge, y), (edge + wide, y), (edge + wide, y + HIGH), (edge, y + HIGH)]
    shapes.append(svg.line([*corners, corners[0], corners[1]], INK, 2))
    found = _found(side.answer, width, number, FITS)
    asked = f"question: {_found(side.question, width, number, FITS - 10)}"
    shapes.append(svg.text((x, y + HIGH + 15), found, INK, 11, "start"))
    return [*shapes, svg.text((x, y + HIGH + 29), asked, GREY, 10, "start")]


def _cell(x: float, y: float, wide: float, share: float) -> str:
    """A cell, the stronger coloured the further `share` (−1 to 1) is from 0."""
    colour, weight = (BLUE if share > 0 else VERMILLION), abs(share)
    return (
        f"<rect x='{x:.1f}' y='{y:.1f}' width='{wide:.1f}' height='{HIGH}' fill='{colour}' "
        f"fill-opacity='{weight:.2f}' stroke='{PALE}' stroke-width='0.5'/>"
    )


def _legend(top: float) -> list[str]:
    """Whose column is where, and what the colours mean."""
    heads = {1: f"{MARKS[1]} right one", 0: f"{MARKS[0]} wrong one"}
    shapes = [
        svg.text((COLUMNS[label], 18), told, INK, 12, "start", bold=True)
        for label, told in heads.items()
    ]
    shapes.append(svg.text((SCALE - 4, 18), short(-top), INK, 11, "end"))
    shares = (-1.0, -0.5, 0.0, 0.5, 1.0)
    shapes += [_cell(SCALE + 16 * i, 8, 16, share) for i, share in enumerate(shares)]
    return [*shapes, svg.text((SCALE + 84, 18), short(top), INK, 11, "start")]
