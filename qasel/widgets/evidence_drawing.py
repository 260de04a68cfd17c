"""Scores, evidence and AP of one step of `EvidenceExplorer`, drawn as one picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

from qasel.widgets import svg
from qasel.widgets.base import BLUE, GREY, INK, VERMILLION
from qasel.widgets.candidates import MARKS

TINTS = {1: "#BFE6DA", 0: "#F7D6BF", None: "#D3EAF7"}
PALE = "#E4E4E4"
WIDTH, HEIGHT, ZERO, ONE, LEFT, RIGHT, TOP, FLOOR = 880, 206, 112, 388, 512, 868, 34, 160
"""Pixels: the picture; where the bars of 0 and of 1 end; the edges of the curve."""


@dataclass(frozen=True)
class Step:
    """A candidate as it entered; `number` counts from 1, the rest is as in the walk's columns."""

    number: int
    text: str
    label: int | None
    p: float
    alone: float
    gate: float
    ap: float
    reward: float

    @property
    def name(self) -> str:
        """Its mark and number."""
        return f"{MARKS[self.label]} {self.number}"


Parts = list[tuple[Step | None, float]]
"""What the evidence is made of, with shares; None is the question."""


def parts_of(steps: Sequence[Step]) -> Parts:
    """The evidence after some steps."""
    parts: Parts = [(None, 1.0)]
    for step in steps:
        if step.gate > 0:
            parts = [(part, share * (1 - step.gate)) for part, share in parts]
            parts.append((step, step.gate))
    return parts


def number(value: float, sign: str = "") -> str:
    """Three digits, and a real minus sign."""
    return f"{round(value, 3) + 0.0:{sign}.3f}".replace("-", "−")


def drawing(
    so_far: Sequence[Step], other: Sequence[Step], count: int, threshold: float, on: bool, told: str
) -> str:
    """The picture after the steps `so_far` of `count`.

    `other` is the walk with the evidence switched the other way than `on`.
    """
    shapes = [
        *_scores(so_far[-1], threshold, on),
        *_evidence(so_far),
        *_curve(so_far, other[: len(so_far)], count, on),
    ]
    return svg.picture(shapes, WIDTH, HEIGHT, told)


def _scores(step: Step, threshold: float, on: bool) -> list[str]:
    """Two bars on a scale with the threshold."""
    title = "Score P_post of the candidate that enters"
    shapes = [svg.text((8, 16), title, INK, 12, "start", bold=True)]
    wide, second = ONE - ZERO, "with evidence" if on else "evidence off"
    rows = (("question alone", step.alone, GREY), (second, step.p, BLUE))
    for y, (name, p, colour) in zip((44, 68), rows, strict=True):
        shapes.append(svg.text((ZERO - 8, y + 4), name, INK, 12, "end"))
        shapes.append(svg.line([(ZERO, y), (ONE, y)], PALE, 14))
        shapes.append(svg.line([(ZERO, y), (ZERO + p * wide, y)], colour, 14))
        shapes.append(svg.text((ONE + 8, y + 4), number(p), INK, 12, "start", colour == BLUE))
    x = ZERO + threshold * wide
    shapes.append(svg.line([(x, 32), (x, 82)], VERMILLION, 2, "4 3"))
    shapes.append(svg.text((x, 96), f"threshold {threshold:g}", VERMILLION, 11))
    return shapes


def _evidence(so_far: Sequence[Step]) -> list[str]:
    """What the evidence consisted of when the candidate came, and when it had gone by."""
    title = "What the evidence consists of (by the mean gates)"
    shapes = [svg.text((8, 126), title, INK, 12, "start", bold=True)]
    for y, name, steps in ((148, "before", so_far[:-1]), (178, "after", so_far)):
        shapes.append(svg.text((ZERO - 8, y + 4), name, INK, 12, "end"))
        x = float(ZERO)
        for part, share in parts_of(steps):
            end, told = x + share * (ONE - ZERO), part.name if part else "question"
            shapes.append(svg.line([(x, y), (end, y)], TINTS[part.label] if part else PALE, 22))
            shapes.append(svg.line([(end, y - 11), (end, y + 11)], "white", 2))
            told = told if part or end - x > 56 else "Q"
            if end - x > 8 * len(told):
                shapes.append(svg.text(((x + end) / 2, y + 4), told, INK, 11))
            x = end
    return shapes


def _curve(so_far: Sequence[Step], other: Sequence[Step], count: int, on: bool) -> list[str]:
    """AP of L up to this step, and that of the other walk."""
    now = so_far[-1]
    known = not isnan(now.ap)
    title = f"AP of L so far: {number(now.ap) if known else 'not known, for want of labels'}"
    shapes = [svg.text((LEFT, 16), title, INK, 12, "start", bold=True)]
    for value in (0, 0.5, 1):
        y = FLOOR - value * (FLOOR - TOP)
        shapes.append(svg.line([(LEFT, y), (RIGHT, y)], PALE, 1))
        shapes.append(svg.text((LEFT - 8, y + 4), f"{value:g}", GREY, 11, "end"))

    def at(step: Step) -> svg.Point:
        across = (step.number - 1) / max(count - 1, 1)
        return LEFT + 12 + across * (RIGHT - LEFT - 24), FLOOR - step.ap * (FLOOR - TOP)

    for i in sorted({1, now.number, count}):
        here = i == now.number
        if here or abs(i - now.number) > count / 20:  # else the numbers would touch
            x = LEFT + 12 + (i - 1) / max(count - 1, 1) * (RIGHT - LEFT - 24)
            shapes.append(svg.text((x, FLOOR + 15), f"{i}", INK if here else GREY, 11, bold=here))
    if not known:
        return shapes
    shapes.append(svg.line([at(step) for step in other], GREY, 2, "5 4"))
    shapes.append(svg.line([at(step) for step in so_far], BLUE, 2.5))
    radius = 4.5 if count <= 30 else 2.5
    shapes += [svg.dot(at(step), BLUE, radius, hollow=step.label != 1) for step in so_far]
    y, sides = FLOOR + 36, ("on", "off") if on else ("off", "on")
    for x, side, look in ((LEFT, sides[0], (BLUE, 2.5)), (LEFT + 116, sides[1], (GREY, 2, "5 4"))):
        shapes.append(svg.line([(x, y - 4), (x + 22, y - 4)], *look))
        shapes.append(svg.text((x + 27, y), f"evidence {side}", INK, 11, "start"))
    for x, hollow, what in ((LEFT + 240, False, "right"), (LEFT + 298, True, "wrong")):
        shapes.append(svg.dot((x, y - 4), BLUE, 4.5, hollow))
        shapes.append(svg.text((x + 9, y), what, INK, 11, "start"))
    return shapes
