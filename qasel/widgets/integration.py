"""How the heads of several variants order the same candidates (paper 1, equations 11-15)."""

import warnings
from collections.abc import Mapping
from typing import Any, Protocol

from qasel.datasets.base import Candidate, Question, Split
from qasel.errors import QaselError
from qasel.evaluation import Run, TieWarning, evaluate
from qasel.widgets import svg
from qasel.widgets.base import BLUE, GREEN, GREY, INK, escape, shade, table
from qasel.widgets.candidates import MARKS, CandidateExplorer

COLUMN, ROW, GAP, LEFT, TOP = 62, 19, 44, 40, 46
"""Pixels of the slope chart: between columns, places and panels, and the margins."""
PALE = "#C8C8C8"


class RanksByHeads(Protocol):
    """A ranker with heads; its recipe's scheme says which one ranks."""

    recipe: Any

    def rank_heads(self, split: Split) -> dict[str, Run]:
        """One run a head."""
        ...


Column = tuple[str, str]
"""A variant and one of its heads."""


class IntegrationExplorer(CandidateExplorer):
    """The candidates' places by every head of every variant, and the way of one candidate."""

    def __init__(
        self, rankers: Mapping[str, RanksByHeads], split: Split, first: str | None = None
    ) -> None:
        if not rankers:
            raise QaselError("give at least one trained ranker to explore")
        self.rankers = dict(rankers)
        self._known: dict[Question, dict[Column, Run]] = {}
        super().__init__(split, first=first)

    def runs(self, question: Question) -> dict[Column, Run]:
        """The run of each head of each variant for one question, computed once."""
        if question not in self._known:
            one = Split("picked", (question,))
            self._known[question] = {
                (name, head): run
                for name, ranker in self.rankers.items()
                for head, run in ranker.rank_heads(one).items()
            }
        return self._known[question]

    def picture_of(self, question: Question, candidate: Candidate) -> str:
        """The slope chart, and under it a table of all places with the average precisions."""
        runs = self.runs(question)
        places = {
            column: {cid: i for i, cid in enumerate(run.ranking(question.id), start=1)}
            for column, run in runs.items()
        }
        precision = {column: _precision(run, question) for column, run in runs.items()}
        return (
            f"<p><b>{escape(question.text)}</b><br>{MARKS[candidate.label]} "
            f"{escape(candidate.text)}</p>"
            + self._slopes(question, candidate, places, precision)
            + self._table(question, candidate, places, precision)
        )

    def _ranks(self, name: str) -> str:
        """The head that ranks in a variant."""
        return self.rankers[name].recipe.scheme.ranks

    def _panels(self, columns: list[Column]) -> dict[str, list[tuple[str, Column]]]:
        """Panel → its columns with their labels: the variants' heads, then the heads that rank."""
        panels = {
            name: [(head, (variant, head)) for variant, head in columns if variant == name]
            for name in self.rankers
        }
        panels = {name: found for name, found in panels.items() if len(found) > 1}
        last = [(name, (name, self._ranks(name))) for name in self.rankers]
        return {**panels, "the head that ranks": last}

    def _slopes(
        self,
        question: Question,
        candidate: Candidate,
        places: Mapping[Column, Mapping[str, int]],
        precision: Mapping[Column, str],
    ) -> str:
        panels = self._panels(list(places))
        count = len(question.candidates)
        bottom = TOP + ROW * (count - 1)
        # The picked candidate is drawn last, over the others; right ones over wrong ones.
        order = sorted(question.candidates, key=lambda c: (c is candidate, c.label == 1))
        shapes = [
            svg.text((LEFT - 14, TOP + 4 + ROW * i), str(i + 1), GREY, 10) for i in range(count)
        ]
        x = float(LEFT)
        for title, columns in panels.items():
            step = COLUMN * (1.5 if title not in self.rankers else 1.0)
            xs = [x + step * i + step / 2 for i in range(len(columns))]
            shapes.append(svg.text(((xs[0] + xs[-1]) / 2, 16), title, INK, 12, bold=True))
            for at, (label, column) in zip(xs, columns, strict=True):
                shapes.append(svg.text((at, 32), label, INK if _leads(self, column) else GREY, 11))
                shapes.append(svg.text((at, bottom + 24), precision[column], INK, 11))
            for one in order:
                points = [
                    (at, TOP + ROW * (places[column][one.id] - 1.0))
                    for at, (_, column) in zip(xs, columns, strict=True)
                ]
                shapes += _way(points, one, one.id == candidate.id)
            x = xs[-1] + step / 2 + GAP
        shapes.append(svg.text((LEFT - 14, bottom + 24), "AP", GREY, 11))
        told = "Places of the candidates by each head: the table below has them as numbers"
        return svg.picture(shapes, x - GAP + 10, bottom + 36, told) + _legend()

    def _table(
        self,
        question: Question,
        candidate: Candidate,
        places: Mapping[Column, Mapping[str, int]],
        precision: Mapping[Column, str],
    ) -> str:
        columns = list(places)
        main = (list(self.rankers)[-1], self._ranks(list(self.rankers)[-1]))
        head = ["", "candidate"]
        head += [
            f"{escape(name)}<br>{escape(level)}{' ★' if _leads(self, (name, level)) else ''}"
            for name, level in columns
        ]
        rows = []
        for one in sorted(question.candidates, key=lambda c: places[main][c.id]):
            text = escape(one.text)
            text = f"<b>{text}</b>" if one.id == candidate.id else text
            cells = [_place(places[column][one.id]) for column in columns]
            rows.append([MARKS[one.label], text, *cells])
        rows.append(["", "average precision", *(precision[column] for column in columns)])
        return table(head, rows, "Places by each head; ★ marks the head that ranks")


def _leads(explorer: IntegrationExplorer, column: Column) -> bool:
    return explorer._ranks(column[0]) == column[1]


def _way(points: list[svg.Point], candidate: Candidate, picked: bool) -> list[str]:
    """A candidate's way through the columns of a panel."""
    right = candidate.label == 1
    colour = BLUE if picked else GREEN if right else PALE
    drawn = [svg.line(points, colour, 3.5 if picked else 2 if right else 1.2)]
    radius = 6 if picked else 4 if right else 2.5
    return drawn + [svg.dot(point, colour, radius, hollow=not right) for point in points]


def _legend() -> str:
    return (
        f'<p><small><span style="color:{BLUE}">▬ the candidate picked</span> &nbsp; '
        f'<span style="color:{GREEN}">● other right answers</span> &nbsp; '
        f'<span style="color:{GREY}">○ wrong ones</span> &nbsp; first place on top, '
        "the average precision (AP) of the question below</small></p>"
    )


def _place(place: int) -> str:
    """A place, the darker the better."""
    return shade(str(place), 1 / place)


def _precision(run: Run, question: Question) -> str:
    """The average precision of one question, or a dash where no right answer is known."""
    if not question.answered or any(c.label is None for c in question.candidates):
        return "–"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TieWarning)
        return f"{evaluate(run, Split('picked', (question,))).map:.2f}"
