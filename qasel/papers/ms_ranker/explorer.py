"""Scores, evidence and AP of one step of `EvidenceExplorer`, drawn as one picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import Protocol

import ipywidgets as widgets
import pandas as pd

from qasel.datasets.base import Question, Split
from qasel.widgets import svg
from qasel.widgets.base import (
    BLUE,
    GREEN,
    GREY,
    INK,
    MARKS,
    VERMILLION,
    QuestionExplorer,
    bar,
    escape,
    table,
)

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


KINDS = {1: "✓ right", 0: "✗ wrong", None: "? not known"}
LEAST, SAME = 0.005, 1e-9
"""Smaller shares of the evidence are counted only; APs closer than that are the same."""
PLACES, CUT, LONG = 12, 160, 600
"""Places of a long list L, and characters of a text in it and above it, that are shown at once."""


class Walk(Protocol):
    """Goes through a question's candidates, gathering evidence or with the first one throughout."""

    def __call__(self, question: Question, gather: bool, /) -> pd.DataFrame:
        """A row a step; `EvidenceExplorer` tells the columns."""
        ...


class EvidenceExplorer(QuestionExplorer):
    """A question's candidates enter one by one: what the evidence does to each, and each to it.

    `walk(question, gather)` gives a row a step, in the order in which candidates enter: `id`,
    `text`, `label` (1, 0 or None), `p` (P_post), `p_alone` (P_post from the question alone),
    `gate` (0: stayed out of the evidence, else the gate's mean), `ap` (of the list L after the
    step; NaN without labels) and `reward`. `first` is the id of the question shown at the start,
    at its last step, so that the picture that is saved has the whole walk; one picked later begins
    at step 1. Raises `QaselError` for a split without questions.
    """

    hint = "Run this notebook to go through the steps: this is the picture after the last one."

    def __init__(
        self, walk: Walk, split: Split, *, threshold: float = 0.5, first: str | None = None
    ) -> None:
        self.walk, self.threshold = walk, threshold
        self._known: dict[tuple[Question, bool], list[Step]] = {}
        self._shown: Question | None = None
        wide = widgets.Layout(width="min(27.5rem, 100%)")
        self.step = widgets.IntSlider(value=1, min=1, max=2, description="Step", layout=wide)
        self.gather = widgets.Checkbox(value=True, description="evidence on", indent=False)
        self.buttons = [
            self._button("First", "fast-backward", "to the first step", -(10**9)),
            self._button("Back", "step-backward", "one step back", -1),
            self._button("Forward", "step-forward", "one step on", 1),
            self._button("Last", "fast-forward", "to the last step", 10**9),
        ]
        wrap = widgets.Layout(flex_flow="row wrap", align_items="center")
        controls = [self.step, self.gather]
        rows = [widgets.Box(row, layout=wrap) for row in (self.buttons, controls)]
        super().__init__(split, rows, controls, first)

    def steps(self, gather: bool) -> list[Step]:
        """The walk through the present question, done once."""
        key = (self.question, gather)
        if key not in self._known:
            self._known[key] = _steps(self.walk(*key))
        return self._known[key]

    def move(self, by: int) -> None:
        """Go some steps on, or back, as far as there are any."""
        self.step.value = min(max(self.step.value + by, 1), self.step.max)

    def view(self) -> str:
        """The candidate that enters, the scores, the evidence, AP so far, and the list L."""
        question, on = self.question, self.gather.value
        steps, other = self.steps(on), self.steps(not on)
        if question != self._shown:
            start = 1 if self._shown else len(steps)
            self._shown = question
            self.step.max = len(steps)
            self.step.value = start
        so_far = steps[: self.step.value]
        told = _told(so_far, self.threshold, on)
        in_words = ". ".join(" ".join(line) for line in told)
        return (
            f"<p><b>{escape(question.text)}</b></p>"
            + _entering(so_far[-1], len(steps))
            + drawing(so_far, other, len(steps), self.threshold, on, in_words)
            + table(["", ""], ([f"<b>{head}</b>", escape(line)] for head, line in told))
            + _list(so_far)
        )

    def _button(self, name: str, icon: str, tip: str, by: int) -> widgets.Button:
        layout = widgets.Layout(width="6.5rem")
        button = widgets.Button(description=name, icon=icon, tooltip=tip, layout=layout)
        button.on_click(lambda _: self.move(by))
        return button


def _steps(frame: pd.DataFrame) -> list[Step]:
    """The steps of a walk; pandas may have turned a label that is not known into NaN."""
    columns = [frame[name].astype(float) for name in ("p", "p_alone", "gate", "ap", "reward")]
    labels = [None if pd.isna(label) else int(label) for label in frame["label"]]
    rows = zip(frame["text"].astype(str), labels, *columns, strict=True)
    return [Step(i, *row) for i, row in enumerate(rows, start=1)]


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length].rstrip()} …"


def _entering(step: Step, count: int) -> str:
    """The candidate that enters; a long one unfolds."""
    told = f"<div>{escape(_cut(step.text, LONG))}</div>"
    if len(step.text) > LONG:
        rest = step.text[LONG:]
        told += f"<details><summary>{len(rest)} more characters</summary>{escape(rest)}</details>"
    style = f"border-left:4px solid {BLUE};padding:2px 12px;margin:0 0 12px 0"
    head = f"Step {step.number} of {count}: candidate {step.number} enters, {KINDS[step.label]}"
    return f'<div style="{style};overflow-wrap:anywhere"><b>{head}</b>{told}</div>'


def _told(so_far: Sequence[Step], threshold: float, on: bool) -> list[tuple[str, str]]:
    """The step in words."""
    step, gathered = so_far[-1], len(parts_of(so_far[:-1])) > 1
    score = f"{number(step.alone)} from the question alone"
    if gathered:
        score += f", {number(step.p)} with the evidence ({number(step.p - step.alone, '+')})"
    else:
        score += ", which is all the evidence so far" if on else "; evidence is off"
    above, enters = step.p > threshold, step.gate > 0
    gate = f"{number(step.p)} {'>' if above else '≤'} {threshold:g}: "
    gate += "yet " if on and above != enters else ""  # as some ablations have it
    if enters:
        gate += f"it becomes evidence and replaces {step.gate:.0%} of the old (mean of the gate)"
    else:
        gate += "it stays out of the evidence" + ("" if on else ", which is off")
    place = sum(other.p >= step.p for other in so_far)
    rows = [
        ("Score", score),
        ("Gate", gate),
        ("Evidence", f"by now {_listed(so_far)}"),
        ("List L", f"it enters at place {place} of {step.number}"),
    ]
    if isnan(step.ap):
        return [*rows, ("Reward", "none, nor an AP: it is not known which candidates are right")]
    last = so_far[-2].ap if len(so_far) > 1 else 0.0
    stays = abs(step.ap - last) < SAME
    ap = f"AP stays at {number(last)}" if stays else f"AP {number(last)} → {number(step.ap)}"
    return [*rows, ("Reward", f"{ap}, which earns {number(step.reward, '+')}")]


def _listed(steps: Sequence[Step]) -> str:
    """The parts of the evidence in words; those too small to show are counted."""
    parts = parts_of(steps)
    shown = [(part, share) for part, share in parts if share >= LEAST]
    told = [f"{part.name if part else 'the question'} ({share:.0%})" for part, share in shown]
    if len(shown) < len(parts):
        told.append(f"{len(parts) - len(shown)} more with less than {LEAST:.1%} each")
    return " · ".join(part.replace(" ", "\N{NO-BREAK SPACE}") for part in told)


def _list(so_far: Sequence[Step]) -> str:
    """L, best first; of a long one the top, the right ones and the one that entered."""
    now = so_far[-1]
    shares = {part.number: share for part, share in parts_of(so_far) if part}
    # Sorting is stable: one that ties goes below those already there.
    ranked = list(enumerate(sorted(so_far, key=lambda step: -step.p), start=1))
    rows = [
        _place(place, step, step is now, shares.get(step.number))
        for place, step in ranked
        if place <= PLACES or step.label == 1 or step is now
    ]
    left = len(ranked) - len(rows)
    more = f"<p><small>{left} places of others left out.</small></p>" if left else ""
    head = ["place", "", "step", "P<sub>post</sub>", "in&nbsp;evidence", "candidate"]
    style = "text-align:left;font-weight:bold;padding-top:8px"
    caption = f'<div style="{style}">The list L after this step, best first</div>'
    return table(head, rows, caption) + more


def _place(place: int, step: Step, now: bool, share: float | None) -> list[str]:
    """The cells of a candidate in L; `share` is its share of the evidence, if it is in there."""
    colour = GREEN if step.label == 1 else GREY
    kind = KINDS[step.label].replace(" ", "&nbsp;")
    kind = f'<b style="color:{GREEN}">{kind}</b>' if step.label == 1 else kind
    track = f'<span style="display:inline-block;width:60px">{bar(step.p, colour, 60)}</span>'
    score = f"{number(step.p)}&nbsp;{track}"
    part = "–" if share is None else f"{share:.0%}" if share >= LEAST else "&lt;1%"
    text = ("<b>▶ enters now:</b> " if now else "") + escape(_cut(step.text, CUT))
    text = f'<div style="min-width:14em;overflow-wrap:anywhere">{text}</div>'
    return [f"{place}", kind, f"{step.number}", score, part, text]
