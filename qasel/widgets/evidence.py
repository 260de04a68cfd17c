"""How evidence gathers while an agent goes through a list of candidates (paper 3, section 3)."""

from collections.abc import Sequence
from math import isnan
from typing import Protocol

import ipywidgets as widgets
import pandas as pd

from qasel.datasets.base import Question, Split
from qasel.widgets.base import BLUE, GREEN, GREY, QuestionExplorer, bar, escape, table
from qasel.widgets.evidence_drawing import Step, drawing, number, parts_of

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
