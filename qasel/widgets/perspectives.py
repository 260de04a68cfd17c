"""How AP-MPCNN tells a right candidate from a wrong one, part by part (paper 5)."""

from typing import Any

import ipywidgets as widgets
import numpy as np
from scipy.special import expit

from qasel.datasets.base import Candidate, Question, Split
from qasel.errors import QaselError
from qasel.widgets.base import GREY, QuestionExplorer, escape, shade, table
from qasel.widgets.candidates import MARKS
from qasel.widgets.evidence_drawing import number
from qasel.widgets.perspectives_drawing import comparison, switches
from qasel.widgets.perspectives_maps import NOTHING, maps
from qasel.widgets.perspectives_parts import (
    Differences,
    SeesPerspectives,
    check,
    differences,
    switched,
)

NUMBERED, LEAST = 5, 0.0005
"""Words of a sentence whose weights are written beside them, unless they are less than that; those
of all are in their titles."""
KINDS = {1: "right", 0: "wrong"}


class PerspectiveExplorer(QuestionExplorer):
    """A question with a right and a wrong candidate, all picked or typed: what the parts find.

    `ranker` is trained, and can be looked into as `qasel.papers.ap_mpcnn.APMPCNNRanker` can. A
    question opens with the right candidate and the wrong one that score highest.
    `first` is the id of the question shown at the start, else the first that has both kinds.
    Raises `QaselError` for a ranker that is not trained and a split without questions.
    """

    def __init__(self, ranker: SeesPerspectives, split: Split, first: str | None = None) -> None:
        check(ranker)
        self.ranker = ranker
        self._offered: Question | None = None
        self._offering = False
        wide = widgets.Layout(width="min(48rem, 100%)")
        self.picks = {
            label: widgets.Dropdown(options=[], description=kind.capitalize(), layout=wide)
            for label, kind in KINDS.items()
        }
        self.asked = widgets.Text(
            description="Ask instead",
            placeholder="another question for these two candidates",
            continuous_update=False,
            layout=wide,
        )
        rows = [*self.picks.values(), self.asked]
        if first is None:
            first = next((question.id for question in split if question.mixed), None)
        super().__init__(split, rows, rows, first)

    def refresh(self, _change: Any = None) -> None:
        """Draw the picture, but not while candidates are offered: that changes many controls."""
        if not self._offering:
            super().refresh()

    def view(self) -> str:
        """Both candidates with their words' weights, the maps, the differences, the switches."""
        question = self.question
        if question != self._offered:
            self._offer(question)
        for label, pick in self.picks.items():
            if pick.value is None:
                raise QaselError(_missing(KINDS[label], self.typed))
        text = self.asked.value.strip() or question.text
        asked = Question(question.id, text, question.candidates)
        right, wrong = (pick.value for pick in self.picks.values())
        seen = {c.label: self.ranker.inside(text, c.text) for c in (right, wrong)}
        found = differences(self.ranker, seen[1].compared, seen[0].compared)
        return (
            self._sides(asked, (right, wrong), seen)
            + _part("What the filters find", maps(seen[1], seen[0]), MAPS)
            + _part("What sets the comparison vectors apart", comparison(found), _told(found, seen))
            + _part(
                "The score with each part switched off",
                switches(switched(self.ranker, text, right.text, wrong.text)),
                SWITCHES,
            )
        )

    def _offer(self, question: Question) -> None:
        """Put the candidates of a question that was just chosen into the dropdowns."""
        scores = self._run(question).scores[question.id]
        in_order = sorted(question.candidates, key=lambda candidate: candidate.place)
        self._offering = True
        try:
            self.asked.value = ""
            for label, pick in self.picks.items():
                offered = [c for c in in_order if c.label == label]
                pick.set_trait("options", [(f"{MARKS[label]} {c.text}", c) for c in offered])
                pick.value = max(offered, key=lambda c: scores[c.id], default=None)
        finally:
            self._offering = False
        self._offered = question

    def _run(self, question: Question) -> Any:
        return self.ranker.rank(Split("picked", (question,)))

    def _sides(
        self, question: Question, shown: tuple[Candidate, ...], seen: dict[int | None, Any]
    ) -> str:
        """Both pairs side by side: score and place, and the words with their weights."""
        ranking = self._run(question).ranking(question.id)
        rows = [["<b>score</b>"], ["<b>question</b>"], ["<b>candidate</b>"]]
        for candidate in shown:
            pair = seen[candidate.label]
            place = f"place {ranking.index(candidate.id) + 1} of {len(ranking)}"
            odds = f"log odds {number(pair.log_odds, '+')}"
            rows[0].append(f"f = <b>{number(float(expit(pair.log_odds)))}</b>, {odds}, {place}")
            rows[1].append(sentence(pair.question))
            rows[2].append(sentence(pair.answer))
        heads = ["", *(f"{MARKS[label]}&nbsp;{kind} one" for label, kind in KINDS.items())]
        with_attention = bool(self.ranker.recipe.attention)
        told = WEIGHTS[with_attention].format(NUMBERED)
        return table(heads, rows) + f"<p><small>{told}</small></p>"


def sentence(found: Any) -> str:
    """The words of a sentence shaded by their weights, which are also written on or beside them.

    A word has an element of its own: no dollar sign meets another, to be taken for mathematics.
    """
    if found.words == ("",):
        return f'<span style="color:{GREY}">(no word)</span>'
    if found.weights is None:
        told = " ".join(f"<span>{escape(word)}</span>" for word in found.words)
    else:
        top = float(found.weights.max())
        numbered = set(np.argsort(-found.weights, kind="stable")[:NUMBERED].tolist())
        told = " ".join(
            _word(word, float(weight), top, i in numbered and weight >= LEAST)
            for i, (word, weight) in enumerate(zip(found.words, found.weights, strict=True))
        )
    style = "max-height:11em;overflow:auto;overflow-wrap:anywhere;min-width:18em"
    return f'<div style="{style}">{told}</div>'


def _word(word: str, weight: float, top: float, numbered: bool) -> str:
    told = number(weight) if weight >= LEAST else f"{weight:.1e}".replace("-", "−")
    beside = f'<small style="color:{GREY}">&nbsp;{told}</small>' if numbered else ""
    return f'<span title="{told}">{shade(word, weight / top)}{beside}</span>'


def _part(title: str, picture: str, caption: str) -> str:
    style = "font-weight:bold;padding-top:12px"
    return f'<div style="{style}">{title}</div>{picture}<p><small>{caption}</small></p>'


def _missing(kind: str, typed: bool) -> str:
    if not typed:
        return f"This question has no {kind} candidate: pick another one."
    return (
        f"There is no {kind} candidate: paste some of both kinds, and begin the lines of the "
        "right ones with +."
    )


def _told(found: Differences, seen: dict[int | None, Any]) -> str:
    """The caption of the comparison vector, with what the effects add up to."""
    margin = number(seen[1].log_odds - seen[0].log_odds, "+")
    return (
        "The entries with the largest effect on the difference of the two log odds. That of an "
        "entry is found by exchanging it, and nothing else: by how much the right one's log odds "
        "fall with the wrong one's value, and the wrong one's rise with the right one's; the mean "
        "of both. Entries of a kind are exchanged all at once. Effects need not add up, because "
        "of the hidden layer's tanh: those of all single entries come to "
        f"{number(found.total, '+')}, the difference is {margin}. Each of the two blocks has a "
        "scale of its own. Filters count from 1, and each is compared over its numbers of all "
        "widths; of two widths the first is the question's."
    )


WEIGHTS = {
    True: (
        "Words are shaded by their attention weights, A₁ of the question and A₂ of the candidate, "
        "which add up to 1; the {} largest are written beside their words, the others appear "
        "when you point at a word. The question's weights depend on the candidate."
    ),
    False: "This recipe has no attention: words have no weights.",
}
MAPS = (
    "For each width, the filters whose largest values differ most between the two candidates. A "
    "strip is a filter's map over the candidate, a cell a window from first to last (of long "
    "candidates the largest of some neighbours). The frame marks the window that max pooling "
    f"keeps; its words and value stand below ({NOTHING}: a place outside of the sentence), and "
    "under them what the same filter finds in the question."
)
SWITCHES = (
    "Margins are right − wrong. The network was trained with its parts on, and here only ranks "
    "without them; one trained without a part, as in the ablations, may do better. Attention off: "
    "the copy of each of a sentence's n words has the weight 1/n. Wide convolution off: "
    "windows lie within the sentence. Sparse features off: all four are 0."
)
