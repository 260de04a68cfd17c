"""The distances of a pair and what they do in each system, a line each: the explorer's picture."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap

import numpy as np

from qasel.widgets import svg
from qasel.widgets.base import BLUE, GREY, INK, VERMILLION
from qasel.widgets.distances_parts import REPRESENTATIONS, Verdict, representation
from qasel.widgets.evidence_drawing import PALE, number

COLOURS = {1: BLUE, 0: VERMILLION}
BINS, OUTER = 30, 0.01
"""Bins of a strip, and the share of the pairs on either side that lie in its last bins."""
VALUE, LEFT, RIGHT, SYSTEMS, COLUMN, LEAST = 162, 218, 440, 492, 400, 136
"""Pixels across: end of the value, edges of a strip, start of the systems' columns, their width
together, and the least width of one."""
HEAD, TITLE, ROW, HALF, NUMBER = 118, 28, 34, 14, 46
"""Pixels down: the head, a group's title, a line, half a strip; and across, the part's number."""


@dataclass(frozen=True)
class Strip:
    """How one distance spreads over pairs: label → heights of bins from `low` to `high`."""

    low: float
    high: float
    heights: Mapping[int, np.ndarray]

    def across(self, value: float) -> float:
        """Where a value lies, from 0 at `low` to 1 at `high`; outside them if beyond."""
        return (value - self.low) / (self.high - self.low)


def strips(table: np.ndarray, labels: np.ndarray) -> list[Strip]:
    """A strip for each distance of labelled pairs `[pairs, distances]`; the highest bins are 1."""
    found = []
    for column in table.T:
        low, high = np.quantile(column, (OUTER, 1 - OUTER))
        if high - low < 1e-9:
            low, high = low - 0.5, high + 0.5
        within = column.clip(low, high)
        heights = {}
        for label in COLOURS:
            counts, _ = np.histogram(within[labels == label], BINS, (low, high))
            heights[label] = counts / max(counts.max(), 1)
        found.append(Strip(float(low), float(high), heights))
    return found


def drawing(
    names: Sequence[str],
    spread: Sequence[Strip],
    counts: Mapping[int, int],
    values: Sequence[float],
    verdicts: Mapping[str, Verdict],
    pair: int,
) -> str:
    """Strips, values and parts of one pair of a list, a line for each of the distances `names`.

    `counts` are the split's pairs by label.
    """
    wide = max(LEAST, COLUMN / len(verdicts))
    largest = max(abs(part) for verdict in verdicts.values() for part in verdict.parts.values())
    shapes, y = _legend(counts), float(HEAD)
    columns = [(name, v, SYSTEMS + i * wide) for i, (name, v) in enumerate(verdicts.items())]
    for name, verdict, x in columns:
        shapes += _heading(name, verdict, pair, x, wide)
    group, told = "", []
    for name, strip, value in zip(names, spread, values, strict=True):
        if representation(name) != group:
            group = representation(name)
            shapes.append(svg.line([(8, y), (SYSTEMS + wide * len(columns), y)], PALE, 1))
            shapes.append(
                svg.text((8, y + 18), REPRESENTATIONS[group], INK, 12, "start", bold=True)
            )
            y += TITLE
        middle = y + ROW / 2
        shapes.append(svg.text((16, middle + 4), name.split()[0], INK, 12, "start"))
        shapes.append(svg.text((VALUE, middle + 4), short(value), INK, 12, "end", bold=True))
        shapes += _strip(strip, value, middle)
        for _, verdict, x in columns:
            shapes += _bar(verdict.parts.get(name), largest, x, wide, middle)
        found = (f"{system} {_part(verdict.parts.get(name))}" for system, verdict, _ in columns)
        told.append(f"{name} {short(value)} ({', '.join(found)})")
        y += ROW
    for _, _, x in columns:
        axis = x + (wide - NUMBER) / 2
        shapes.insert(0, svg.line([(axis, HEAD - 14), (axis, y)], PALE, 1))
    label = "Distances of this pair, and their parts in each system: " + "; ".join(told)
    return svg.picture(shapes, SYSTEMS + wide * len(columns) + 4, y + 6, label)


def short(value: float) -> str:
    """Three digits, more only before the point, and a real minus sign."""
    told = f"{value:.0f}" if abs(value) >= 100 else f"{value + 0.0:.3g}"
    return told.replace("-", "−")


def _part(part: float | None) -> str:
    return "–" if part is None else number(part, "+")


def _legend(counts: Mapping[int, int]) -> list[str]:
    title = "Each distance among those of the split's pairs"
    shapes = [svg.text((8, 30), title, INK, 12, "start", bold=True)]
    lines = {1: f"above: {counts[1]} relevant pairs", 0: f"below: {counts[0]} irrelevant pairs"}
    for y, (label, told) in zip((50, 68), lines.items(), strict=True):
        shapes.append(svg.line([(20, y - 4), (34, y - 4)], COLOURS[label], 10))
        shapes.append(svg.text((42, y), told, INK, 11, "start"))
    shapes.append(svg.line([(27, 76), (27, 90)], INK, 2.5))
    return [*shapes, svg.text((42, 87), "this pair", INK, 11, "start")]


def _heading(name: str, verdict: Verdict, pair: int, x: float, wide: float) -> list[str]:
    """A system's name, and what it makes of the pair."""
    middle = x + (wide - NUMBER) / 2
    names = wrap(name, int(wide / 8), max_lines=2, placeholder="…")
    lines = [
        f"P(relevant) {number(verdict.probability(pair))}",
        f"place {verdict.place(pair)} of {len(verdict.odds)}",
        f"log odds {number(verdict.odds[pair], '+')}",
    ]
    shapes = [
        svg.text((middle, y), told, INK, 12, bold=True)
        for y, told in zip((30, 15), reversed(names), strict=False)
    ]
    for y, told in zip((50, 68, 87), lines, strict=True):
        shapes.append(svg.text((middle, y), told, INK, 11))
    shapes.append(svg.text((middle - 8, HEAD - 8), "against", GREY, 10, "end"))
    return [*shapes, svg.text((middle + 8, HEAD - 8), "for", GREY, 10, "start")]


def _strip(strip: Strip, value: float, middle: float) -> list[str]:
    """Relevant pairs above the line and irrelevant ones below it; the pair's own value."""
    shapes = []
    for label, side in ((1, -1), (0, 1)):
        shapes.append(_area(strip.heights[label], middle, side * HALF, COLOURS[label]))
    shapes.append(svg.line([(LEFT, middle), (RIGHT, middle)], GREY, 1))
    shapes.append(svg.text((LEFT - 6, middle + 4), short(strip.low), GREY, 10, "end"))
    shapes.append(svg.text((RIGHT + 6, middle + 4), short(strip.high), GREY, 10, "start"))
    across = strip.across(value)
    x = LEFT + min(max(across, 0), 1) * (RIGHT - LEFT)
    shapes.append(svg.line([(x, middle - HALF - 1), (x, middle + HALF + 1)], INK, 2.5))
    if not 0 <= across <= 1:  # further out than the strip goes: an arrow
        back = x + (5 if across < 0 else -5)
        shapes.append(svg.line([(back, middle - 5), (x, middle), (back, middle + 5)], INK, 2))
    return shapes


def _area(heights: np.ndarray, floor: float, height: float, colour: str) -> str:
    """A histogram between the edges of the strip, filled."""
    edges = np.linspace(LEFT, RIGHT, len(heights) + 1).repeat(2)
    ends = floor + height * np.concatenate([[0], heights.repeat(2), [0]])
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(edges, ends, strict=True))
    return f"<polygon points='{path}' fill='{colour}'/>"


def _bar(part: float | None, largest: float, x: float, wide: float, middle: float) -> list[str]:
    """A part from the axis to the left (against) or to the right (for), and its number."""
    half = (wide - NUMBER) / 2
    shapes = [svg.text((x + wide - 8, middle + 4), _part(part), INK if part else GREY, 11, "end")]
    if part:
        end = x + half + part / largest * (half - 8)
        shapes.append(svg.line([(x + half, middle), (end, middle)], COLOURS[int(part > 0)], 12))
    return shapes
