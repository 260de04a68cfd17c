"""The explorer of MS-Ranker: candidates enter one by one, and the evidence grows."""

from collections.abc import Callable, Sequence
from functools import partial
from math import isnan
from typing import NamedTuple

import ipywidgets as widgets
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from qasel.datasets.base import Question, Split
from qasel.figures.style import (
    BLUE,
    GREEN,
    GREY,
    PALE,
    VERMILLION,
    HouseFigure,
    embedded,
    house_style,
)
from qasel.widgets.base import MARKS, QuestionExplorer, bar, cut, escape, number, table

TINTS = {1: "#BFE6DA", 0: "#F7D6BF", None: "#D3EAF7"}
KINDS = {1: "✓ right", 0: "✗ wrong", None: "? not known"}
LEAST = 0.005
"""The smallest share of the evidence that is named."""
CUT = 160
"""Maximum number of characters of a text in the list."""
SCROLLED = "max-height:{}rem;overflow:auto;overflow-wrap:anywhere"
BUTTONS = {
    "First": ("fast-backward", -(10**9)),
    "Back": ("step-backward", -1),
    "Forward": ("step-forward", 1),
    "Last": ("fast-forward", 10**9),
}
"""Name of a button → (its icon, number of steps forward)."""


class Step(NamedTuple):
    """A candidate that enters; `number` counts from 1, the rest are columns of `lesson.walk`."""

    number: int
    text: str
    label: int | None
    p: float
    p_alone: float
    gate: float
    ap: float
    reward: float

    @property
    def name(self) -> str:
        """The candidate's mark and number."""
        return f"{MARKS[self.label]} {self.number}"


class EvidenceExplorer(QuestionExplorer):
    """A question's candidates entering one by one: how evidence changes scores and grows.

    `walk(question, gather)` returns the columns of `lesson.walk`, with None or NaN for unknown
    labels; without `gather`, the first evidence is kept throughout. `first` is the id of the
    question shown at the start: at its last step, so that a saved picture has the whole walk.
    Questions picked later begin at step 1. Raises `QaselError` for a split without questions.
    """

    hint = "Run this notebook to go through the steps: this is the picture after the last one."

    def __init__(
        self,
        walk: Callable[[Question, bool], pd.DataFrame],
        split: Split,
        *,
        threshold: float = 0.5,
        first: str | None = None,
    ) -> None:
        self.walk, self.threshold = walk, threshold
        self._known: dict[tuple[Question, bool], list[Step]] = {}
        self._shown: Question | None = None
        wide = widgets.Layout(width="min(27.5rem, 100%)")
        self.step = widgets.IntSlider(value=1, min=1, max=2, description="Step", layout=wide)
        self.gather = widgets.Checkbox(value=True, description="evidence on", indent=False)
        self.buttons = []
        for name, (icon, by) in BUTTONS.items():
            layout = widgets.Layout(width="6.5rem")
            self.buttons.append(widgets.Button(description=name, icon=icon, layout=layout))
            self.buttons[-1].on_click(partial(self._move, by))
        wrap = widgets.Layout(flex_flow="row wrap", align_items="center")
        controls = [self.step, self.gather]
        rows = [widgets.Box(row, layout=wrap) for row in (self.buttons, controls)]
        super().__init__(split, rows, controls, first)

    def _move(self, by: int, _button: widgets.Button) -> None:
        self.step.value = min(max(self.step.value + by, 1), self.step.max)

    def steps(self, gather: bool) -> list[Step]:
        """Return the walk through the current question, which is done once."""
        key = (self.question, gather)
        if key not in self._known:
            frame = self.walk(*key)
            labels = [None if pd.isna(label) else int(label) for label in frame["label"]]
            others = frame[list(Step._fields[3:])].itertuples(index=False)
            rows = zip(frame["text"], labels, others, strict=True)
            self._known[key] = [
                Step(i, text, label, *values) for i, (text, label, values) in enumerate(rows, 1)
            ]
        return self._known[key]

    def view(self) -> str:
        """Return the candidate that enters, the scores, the evidence, AP so far, and the list L."""
        question, on = self.question, self.gather.value
        steps, other = self.steps(on), self.steps(not on)
        if question != self._shown:
            start = 1 if self._shown else len(steps)
            self._shown = question
            self.step.max = len(steps)
            self.step.value = start
        so_far = steps[: self.step.value]
        lines = _in_words(so_far, self.threshold, on)
        alternative = ". ".join(" ".join(line) for line in lines)
        return (
            f"<p><b>{escape(question.text)}</b></p>"
            + _entering(so_far[-1], len(steps))
            + _drawing(so_far, other, self.threshold, on, alternative)
            + table(["", ""], ([f"<b>{head}</b>", escape(line)] for head, line in lines))
            + _list(so_far)
        )


def parts_of(steps: Sequence[Step]) -> list[tuple[Step | None, float]]:
    """Return the parts of the evidence after some steps, and their shares; None is the question."""
    parts: list[tuple[Step | None, float]] = [(None, 1.0)]
    for step in steps:
        if step.gate > 0:
            parts = [(part, share * (1 - step.gate)) for part, share in parts]
            parts.append((step, step.gate))
    return parts


@house_style
def _drawing(
    so_far: Sequence[Step], other: Sequence[Step], threshold: float, on: bool, alternative: str
) -> str:
    """Draw the last step's scores, the evidence before and after it, and AP up to it.

    `other` is the whole walk with evidence off if it is `on`, and the other way round.
    """
    figure = HouseFigure(figsize=(12.2, 3.1))
    edges = {"left": 0.1, "right": 0.99, "top": 0.91, "bottom": 0.19, "wspace": 0.26, "hspace": 0.8}
    axes = figure.subplot_mosaic([["scores", "curve"], ["evidence", "curve"]], gridspec_kw=edges)
    step, scores, evidence = so_far[-1], axes["scores"], axes["evidence"]

    _two_bars(scores, "Score P_post of the candidate that enters")
    scores.set_yticks([0, 1], ["question alone", "with evidence" if on else "evidence off"])
    scores.barh([0, 1], 1, 0.6, color=PALE)
    values = [step.p_alone, step.p]
    scores.barh([0, 1], values, 0.6, color=[GREY, BLUE])
    for y, value in enumerate(values):
        scores.text(1.02, y, number(value), va="center")
    scores.axvline(threshold, color=VERMILLION, linestyle="--", clip_on=False)
    scores.set_xticks([threshold], [f"threshold {threshold:g}"], color=VERMILLION)

    _two_bars(evidence, "What the evidence consists of (by the mean gates)")
    evidence.set_yticks([0, 1], ["before", "after"])
    for y, steps in enumerate((so_far[:-1], so_far)):
        left = 0.0
        for part, share in parts_of(steps):
            tint = TINTS[part.label] if part else PALE
            patch = evidence.barh(y, share, 0.8, left, color=tint, edgecolor="white", linewidth=1.5)
            name = part.name if part else "question" if share > 0.2 else "Q"
            if share > 0.025 * len(name):
                evidence.bar_label(patch, [name], label_type="center", fontsize=11)
            left += share

    _curve(axes["curve"], so_far, other, on)
    return embedded(figure, alternative)


def _two_bars(axes: Axes, title: str) -> None:
    """Set up axes for two horizontal bars from 0 to 1, the first above the second."""
    axes.set_title(title, fontsize=12)
    axes.set(xlim=(0, 1), ylim=(1.6, -0.6), xticks=[])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.grid(visible=False)


def _curve(axes: Axes, so_far: Sequence[Step], other: Sequence[Step], on: bool) -> None:
    now, count = so_far[-1], len(other)
    known = not isnan(now.ap)
    shown = number(now.ap) if known else "not known, for want of labels"
    axes.set_title(f"AP of L so far: {shown}", fontsize=12)
    axes.set(xlim=(0.5, count + 0.5), ylim=(-0.05, 1.05), yticks=[0, 0.5, 1])
    ends = [end for end in (1, count) if abs(end - now.number) > count / 20]  # not to overlap
    axes.set_xticks([*ends, now.number])
    axes.set_xlabel("step", labelpad=-12)
    if not known:
        return
    x, ap = np.arange(1, now.number + 1), np.array([step.ap for step in so_far])
    without = [step.ap for step in other[: now.number]]
    for side, values, colour, dash in ((on, ap, BLUE, "-"), (not on, without, GREY, "--")):
        label = f"evidence {'on' if side else 'off'}"
        axes.plot(x, values, color=colour, linestyle=dash, label=label)
    right = np.array([step.label == 1 for step in so_far])
    size = 6 if count <= 30 else 3
    for kind, which, face in (("right", right, BLUE), ("wrong", ~right, "white")):
        axes.plot(x[which], ap[which], "o", color=BLUE, mfc=face, markersize=size, label=kind)
    axes.legend(loc="upper right", bbox_to_anchor=(1, -0.1), ncols=4, columnspacing=1)


def _entering(step: Step, count: int) -> str:
    """Return the candidate that enters."""
    style = f"border-left:4px solid {BLUE};padding:2px 12px;margin:0 0 12px 0"
    head = f"Step {step.number} of {count}: candidate {step.number} enters, {KINDS[step.label]}"
    text = f'<div style="{SCROLLED.format(10)}">{escape(step.text)}</div>'
    return f'<div style="{style}"><b>{head}</b>{text}</div>'


def _in_words(so_far: Sequence[Step], threshold: float, on: bool) -> list[tuple[str, str]]:
    """Describe the last step in words, as pairs of heading and text."""
    step = so_far[-1]
    score = f"{number(step.p_alone)} from the question alone"
    if len(parts_of(so_far[:-1])) > 1:
        score += f", {number(step.p)} with the evidence ({number(step.p - step.p_alone, '+')})"
    else:
        score += ", which is all the evidence so far" if on else "; evidence is off"

    above, enters = step.p > threshold, step.gate > 0
    gate = f"{number(step.p)} {'>' if above else '≤'} {threshold:g}: "
    gate += "yet " if on and above != enters else ""  # in some ablations
    if enters:
        gate += f"it becomes evidence and replaces {step.gate:.0%} of the old (mean of the gate)"
    else:
        gate += "it stays out of the evidence" + ("" if on else ", which is off")

    large = [(part, share) for part, share in parts_of(so_far) if share >= LEAST]
    evidence = " · ".join(
        f"{part.name if part else 'the question'} ({share:.0%})" for part, share in large
    )

    place = sum(other.p >= step.p for other in so_far)
    if isnan(step.ap):
        reward = "none, nor an AP: it is not known which candidates are right"
    else:
        last, ap = (number(ap) for ap in ((0.0, *(s.ap for s in so_far))[-2], step.ap))
        change = f"AP stays at {last}" if last == ap else f"AP {last} → {ap}"
        reward = f"{change}, which earns {number(step.reward, '+')}"
    return [
        ("Score", score),
        ("Gate", gate),
        ("Evidence", f"by now {evidence}"),
        ("List L", f"it enters at place {place} of {step.number}"),
        ("Reward", reward),
    ]


def _list(so_far: Sequence[Step]) -> str:
    """Return the list L as a table, best first."""
    now = so_far[-1]
    shares = {part.number: share for part, share in parts_of(so_far) if part}
    rows = []
    # Sorting is stable: a tied candidate goes below those already there.
    for place, step in enumerate(sorted(so_far, key=lambda step: -step.p), start=1):
        tint = GREEN if step.label == 1 else GREY
        kind = f'<b style="color:{tint};white-space:nowrap">{KINDS[step.label]}</b>'
        track = f'<span style="display:inline-block;width:60px">{bar(step.p, tint, 60)}</span>'
        share = shares.get(step.number)
        part = "–" if share is None else f"{share:.0%}" if share >= LEAST else "&lt;1%"
        text = ("<b>▶ enters now:</b> " if step is now else "") + escape(cut(step.text, CUT))
        score = f"{number(step.p)}&nbsp;{track}"
        rows.append([f"{place}", kind, f"{step.number}", score, part, text])
    head = ["place", "", "step", "P<sub>post</sub>", "in&nbsp;evidence", "candidate"]
    style = "text-align:left;font-weight:bold;padding-top:8px"
    caption = f'<div style="{style}">The list L after this step, best first</div>'
    return f'<div style="{SCROLLED.format(30)}">{table(head, rows, caption)}</div>'
