"""What the words of a question and of a candidate look at in each other (paper 1, eq. 2 and 3)."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from qasel.datasets.base import Candidate, Question, Split
from qasel.errors import QaselError
from qasel.evaluation import Run
from qasel.widgets.base import BLUE, GREY, ORANGE, escape
from qasel.widgets.candidates import MARKS, CandidateExplorer

LONGEST = 60
"""Words of a sentence shown; a longer one is cut."""
FAINT = 0.005
"""Weights below are shown as a dot."""


class LooksAtWords(Protocol):
    """A ranker whose co-attention can be seen."""

    def attention(self, question: str, answer: str) -> Any:
        """Words of both sides, and `over_answer` `[n, m]` and `over_question` `[m, n]`."""
        ...

    def rank(self, split: Split) -> Run:
        """Score every candidate."""
        ...


class AttentionExplorer(CandidateExplorer):
    """Both directions of the co-attention for a question and a candidate, picked or typed."""

    def __init__(self, ranker: LooksAtWords, split: Split, first: str | None = None) -> None:
        self.ranker = ranker
        super().__init__(split, first=first)

    def picture_of(self, question: Question, candidate: Candidate) -> str:
        """Two tables of weights, words of the answer across; and the candidate's place."""
        found = self.ranker.attention(question.text, candidate.text)
        if not found.question or not found.answer:
            raise QaselError("There is no word here to look at: type a few more.")
        over_answer, over_question = found.over_answer, found.over_question.T
        return (
            self._told(question, candidate)
            + _weights(
                "What each question word reads in the answer: each row sums to 1",
                found.question,
                found.answer,
                over_answer,
                BLUE,
            )
            + _weights(
                "What each answer word reads in the question: each column sums to 1",
                found.question,
                found.answer,
                over_question,
                ORANGE,
            )
        )

    def _told(self, question: Question, candidate: Candidate) -> str:
        ranking = self.ranker.rank(Split("picked", (question,))).ranking(question.id)
        place = ranking.index(candidate.id) + 1
        of = f"{place} of {len(ranking)}"
        return (
            f"<p><b>{escape(question.text)}</b><br>{MARKS[candidate.label]} "
            f'{escape(candidate.text)} <span style="color:{GREY}">'
            f"(the model puts it in place {of})</span></p>"
        )


def _weights(
    told: str, rows: Sequence[str], columns: Sequence[str], weights: np.ndarray, colour: str
) -> str:
    """A table of weights with shaded cells, words of the answer across."""
    shown = list(columns[:LONGEST])
    if len(columns) > LONGEST:
        told += f" (the first {LONGEST} of {len(columns)} answer words are shown)"
    upright = "writing-mode:vertical-rl;transform:rotate(180deg);padding:2px 0;font-weight:normal"
    head = "".join(f'<th style="{upright};text-align:left">{escape(word)}</th>' for word in shown)
    top = max(float(weights.max(initial=0.0)), 1e-9)
    body = "".join(
        f'<tr><th style="text-align:right;padding:2px 6px">{escape(word)}</th>'
        + "".join(_cell(float(weight), float(weight) / top, colour) for weight in row[:LONGEST])
        + "</tr>"
        for word, row in zip(rows, weights, strict=True)
    )
    return (
        f'<div style="overflow-x:auto"><p style="margin:8px 0 2px 0">{escape(told)}</p>'
        f'<table style="border-collapse:collapse;font-size:11px">'
        f"<thead><tr><th></th>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(weight: float, share: float, colour: str) -> str:
    mixed = (round(255 + 0.85 * share * (int(colour[i : i + 2], 16) - 255)) for i in (1, 3, 5))
    ground = "#" + "".join(f"{part:02x}" for part in mixed)
    ink = "#ffffff" if share > 0.6 and colour == BLUE else "#222222"
    number = f"{weight:.2f}".removeprefix("0") if weight >= FAINT else "·"
    style = f"background-color:{ground};color:{ink};padding:2px 3px;text-align:center"
    return f'<td style="{style}">{number}</td>'
