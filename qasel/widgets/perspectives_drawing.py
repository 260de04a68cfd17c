"""Bars of the perspectives' explorer: entries of the comparison vector, and parts switched off."""

from collections.abc import Mapping, Sequence

from qasel.widgets import svg
from qasel.widgets.base import GREY, INK
from qasel.widgets.candidates import MARKS
from qasel.widgets.distances_drawing import COLOURS, short
from qasel.widgets.evidence_drawing import PALE, number
from qasel.widgets.perspectives_parts import Difference, Differences, Scores

NAMES = {
    "": "all parts on",
    "attention": "attention off",
    "wide": "wide convolution off",
    "sparse": "sparse features off",
}
WIDTH, NAMED, AXIS, HALF, EFFECT = 880, 216, 585, 185, 866
"""Pixels across: the picture, the end of the first column of numbers, the middle and half the
width of the bars, and the end of their numbers."""
ROW, TITLE = 24, 30
"""Pixels down: a line, and a title with the room above it."""
ZERO, ONE, MARGINS = 230, 530, (700, 850)
"""Pixels across: bars of f = 0 and of f = 1, and the ends of the two margins."""


def comparison(found: Differences) -> str:
    """Kinds of entries and single ones: values of both candidates, and the effect on the score."""
    shapes = [
        svg.text((NAMED + 56, 18), f"{MARKS[1]} right", INK, 12, "end", bold=True),
        svg.text((NAMED + 136, 18), f"{MARKS[0]} wrong", INK, 12, "end", bold=True),
        svg.text((AXIS - 10, 18), "for the wrong one", COLOURS[0], 12, "end", bold=True),
        svg.text((AXIS + 10, 18), "for the right one", COLOURS[1], 12, "start", bold=True),
    ]
    y = TITLE
    blocks = {"All entries of a kind together": found.kinds, "Single entries": found.entries}
    for title, rows in blocks.items():
        shapes.append(svg.text((8, y + 16), title, INK, 12, "start", bold=True))
        y += TITLE
        shapes.append(svg.line([(AXIS, y - 4), (AXIS, y + ROW * len(rows) - 4)], PALE, 1))
        shapes += _entries(rows, y)
        y += ROW * len(rows)
    lines = (
        f"{row.name} {_values(row)}{number(row.effect, '+')}"
        for row in (*found.kinds, *found.entries)
    )
    told = f"Effects on the difference of the two log odds: {'; '.join(lines)}"
    return svg.picture(shapes, WIDTH, y + 4, told)


def _values(row: Difference) -> str:
    if row.right is None or row.wrong is None:
        return ""
    return f"({short(row.right)}, {short(row.wrong)}) "


def _entries(rows: Sequence[Difference], y: float) -> list[str]:
    shapes: list[str] = []
    largest = max((abs(row.effect) for row in rows), default=0.0) or 1.0
    for i, row in enumerate(rows):
        middle = y + ROW * i + 8
        shapes.append(svg.text((16, middle + 4), row.name, INK, 12, "start"))
        if row.right is None:
            counted = f"{row.count} entries"
            shapes.append(svg.text((NAMED + 136, middle + 4), counted, GREY, 11, "end"))
        for x, value in ((NAMED + 56, row.right), (NAMED + 136, row.wrong)):
            if value is not None:
                shapes.append(svg.text((x, middle + 4), short(value), INK, 12, "end"))
        end = AXIS + row.effect / largest * HALF
        shapes.append(svg.line([(AXIS, middle), (end, middle)], COLOURS[int(row.effect > 0)], 12))
        shapes.append(svg.text((EFFECT, middle + 4), number(row.effect, "+"), INK, 12, "end"))
    return shapes


def switches(found: Mapping[str, Scores | None]) -> str:
    """f of both candidates with all parts on and with each one off, and the margins."""
    head = ["f(q, p)", "margin of f", "of log odds"]
    shapes = [
        svg.text((x, 18), told, INK, 12, anchor, bold=True)
        for x, told, anchor in zip((ZERO, *MARGINS), head, ("start", "end", "end"), strict=True)
    ]
    y, told = TITLE + 14, []
    for part, scores in found.items():
        bold = not part
        shapes.append(svg.text((8, y + 4), NAMES[part], INK, 12, "start", bold=bold))
        if scores is None:
            shapes.append(svg.text((ZERO, y + 4), "not in this recipe", GREY, 12, "start"))
            told.append(f"{NAMES[part]}: not in this recipe")
        else:
            shapes += _pair(scores, y, bold)
            told.append(f"{NAMES[part]}: {_told(scores)}")
        y += 2 * ROW
    return svg.picture(shapes, WIDTH, y - 10, "Scores of both candidates. " + "; ".join(told))


def _margins(scores: Scores) -> tuple[str, str]:
    right, wrong = scores.f
    return number(right - wrong, "+"), number(scores.right - scores.wrong, "+")


def _told(scores: Scores) -> str:
    right, wrong = map(number, scores.f)
    return f"right {right}, wrong {wrong}, margin {_margins(scores)[0]}"


def _pair(scores: Scores, y: float, bold: bool) -> list[str]:
    shapes = []
    for label, value, middle in zip((1, 0), scores.f, (y - 8, y + 8), strict=True):
        end = ZERO + value * (ONE - ZERO)
        shapes.append(svg.text((ZERO - 8, middle + 4), MARKS[label], INK, 12, "end"))
        shapes.append(svg.line([(ZERO, middle), (ONE, middle)], PALE, 12))
        shapes.append(svg.line([(ZERO, middle), (end, middle)], COLOURS[label], 12))
        shapes.append(svg.text((ONE + 8, middle + 4), number(value), INK, 12, "start"))
    for x, told in zip(MARGINS, _margins(scores), strict=True):
        shapes.append(svg.text((x, y + 4), told, INK, 12, "end", bold=bold))
    return shapes
