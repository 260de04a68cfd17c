"""An explorer about one candidate of a question: both are picked, or typed."""

from collections.abc import Iterable

import ipywidgets as widgets

from qasel.datasets.base import Candidate, Question, Split
from qasel.widgets.base import QuestionExplorer

MARKS = {1: "✓", 0: "✗", None: "?"}
"""How a label is shown: right, wrong, not known."""


class CandidateExplorer(QuestionExplorer):
    """`self.question` and `self.candidate` are those that the reader chose.

    A question opens with its first right answer, if it has one. A subclass has a method
    `picture_of(question, candidate)` in place of `view`.
    """

    def __init__(
        self,
        split: Split,
        rows: Iterable[widgets.Widget] = (),
        watched: Iterable[widgets.Widget] = (),
        first: str | None = None,
    ) -> None:
        self._offered: Question | None = None
        self.pick = widgets.Dropdown(
            options=[("", 0)],
            description="Candidate",
            layout=widgets.Layout(width="min(48rem, 100%)"),
        )
        super().__init__(split, [self.pick, *rows], [self.pick, *watched], first)

    @property
    def candidate(self) -> Candidate:
        """The candidate chosen."""
        return self._in_order(self.question)[self.pick.value]

    def view(self) -> str:
        """Offer the candidates of a question that was just chosen, then draw."""
        question = self.question
        if question != self._offered:
            self._offered = question
            offered = self._in_order(question)
            options = [(f"{MARKS[c.label]} {c.text}", i) for i, c in enumerate(offered)]
            first = next((i for i, c in enumerate(offered) if c.label == 1), 0)
            self.pick.set_trait("options", options)
            self.pick.value = first
        return self.picture_of(question, self.candidate)

    def picture_of(self, question: Question, candidate: Candidate) -> str:
        """The picture for this question and candidate, as HTML."""
        raise NotImplementedError

    @staticmethod
    def _in_order(question: Question) -> list[Candidate]:
        """The candidates in the order of their file, in which a text reads best."""
        return sorted(question.candidates, key=lambda candidate: candidate.place)
