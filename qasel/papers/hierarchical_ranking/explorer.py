"""The two explorers of notebook 01: what words attend to, and candidates' ranks by head."""

from collections.abc import Mapping

import pandas as pd

from qasel.datasets.base import Candidate, Question, Split
from qasel.errors import QaselError
from qasel.figures.charts import heatmaps
from qasel.figures.style import BLUE, GREEN, GREY, HouseFigure, embedded, house_style, new_figure
from qasel.papers.hierarchical_ranking.ranker import HierarchicalRanker
from qasel.widgets.base import MARKS, CandidateExplorer, escape, shade, table
from qasel.widgets.ranking import scores_of

ASKED, LONGEST = 30, 60
"""Maximum numbers of words shown of a question and of an answer; longer ones are cut."""
PRECISION = "average precision"
"""The last row of `IntegrationExplorer.places`."""


def _heading(question: Question, candidate: Candidate, more: str = "") -> str:
    return (
        f"<p><b>{escape(question.text)}</b><br>{MARKS[candidate.label]} "
        f'{escape(candidate.text)} <span style="color:{GREY}">{more}</span></p>'
    )


class AttentionExplorer(CandidateExplorer):
    """Both directions of the co-attention between a question and a candidate, picked or typed."""

    def __init__(self, ranker: HierarchicalRanker, split: Split, first: str | None = None) -> None:
        self.ranker = ranker
        super().__init__(split, first=first)

    def picture_of(self, question: Question, candidate: Candidate) -> str:
        """Return the candidate's rank and two heat maps of weights, the answer's words across."""
        over_answer, over_question = self.ranker.attention(question.text, candidate.text)
        ranking = self.ranker.rank(Split("picked", (question,))).ranking(question.id)
        place = f"(the model puts it in place {ranking.index(candidate.id) + 1} of {len(ranking)})"
        return (
            _heading(question, candidate, place)
            + _weights(over_answer, "What each question word reads in the answer: rows sum to 1")
            + _weights(
                over_question.T, "What each answer word reads in the question: columns sum to 1"
            )
        )


def _weights(weights: pd.DataFrame, title: str) -> str:
    """Return a heat map of weights, the question's words down and the answer's words across."""
    limits = zip(("question", "answer"), weights.shape, (ASKED, LONGEST), strict=True)
    cut = [f"the first {most} of {n} {side} words" for side, n, most in limits if n > most]
    if cut:
        title += f" ({', '.join(cut)})"
    shown = weights.iloc[:ASKED, :LONGEST].rename_axis(index="question", columns="answer")
    return embedded(heatmaps({title: shown}), title)


class IntegrationExplorer(CandidateExplorer):
    """The candidates' ranks by every head of every variant, with one candidate highlighted."""

    def __init__(
        self, rankers: Mapping[str, HierarchicalRanker], split: Split, first: str | None = None
    ) -> None:
        if not rankers:
            raise QaselError("give at least one trained ranker to explore")
        self.rankers = dict(rankers)
        super().__init__(split, first=first)

    def places(self, question: Question) -> pd.DataFrame:
        """Return the rank of each candidate (by id) by each head; ★ marks the head that ranks.

        The last row, `PRECISION`, has average precisions as text, or dashes where AP is undefined.
        """
        one = Split("picked", (question,))
        judged = question.answered and all(c.label is not None for c in question.candidates)
        columns = {}
        for name, ranker in self.rankers.items():
            for head, run in ranker.rank_heads(one).items():
                star = " ★" if head == ranker.recipe.scheme.ranks else ""
                places = {c: place for place, c in enumerate(run.ranking(question.id), start=1)}
                precision = f"{scores_of(run, one).map:.2f}" if judged else "–"
                columns[f"{name}\n{head}{star}"] = {**places, PRECISION: precision}
        return pd.DataFrame(columns)

    def picture_of(self, question: Question, candidate: Candidate) -> str:
        """Return the slope chart, above a table of all ranks and average precisions."""
        places = self.places(question)
        rows = []
        for one in sorted(question.candidates, key=lambda c: places.loc[c.id].iloc[-1]):
            text = escape(one.text)
            text = f"<b>{text}</b>" if one.id == candidate.id else text
            cells = [shade(str(place), 1 / place) for place in places.loc[one.id]]
            rows.append([MARKS[one.label], text, *cells])
        rows.append(["", PRECISION, *places.loc[PRECISION]])
        head = ["", "candidate", *(escape(name).replace("\n", "<br>") for name in places)]
        chart = embedded(
            _slopes(question, candidate, places),
            "Places of the candidates by each head: the table below has them as numbers",
        )
        caption = "Places by each head; ★ marks the head that ranks"
        return _heading(question, candidate) + chart + table(head, rows, caption)


@house_style
def _slopes(question: Question, candidate: Candidate, places: pd.DataFrame) -> HouseFigure:
    """Draw a line per candidate from head to head, the picked one on top of the others."""
    count = len(question.candidates)
    figure = new_figure(max(6.0, 1.4 * len(places.columns)), 1.8 + 0.25 * count)
    axes = figure.subplots()
    pale = "#C8C8C8", 1.2
    looks = {1: ("right", GREEN, 2.0), 0: ("wrong", *pale), None: ("not judged", *pale)}
    lines = {}
    for one in sorted(question.candidates, key=lambda c: (c.id == candidate.id, c.label == 1)):
        picked = one.id == candidate.id
        kind, tint, width = ("picked", BLUE, 3.5) if picked else looks[one.label]
        (lines[kind],) = axes.plot(
            places.columns, places.loc[one.id], "o-", color=tint, linewidth=width,
            markersize=3 + 2 * width, mfc=tint if one.label == 1 else "white",
        )  # fmt: skip
    axes.set(ylim=(count + 0.5, 0.5), yticks=range(1, count + 1), ylabel="place")
    figure.legend(lines.values(), lines, loc="outside lower center", ncols=3)
    return figure
