"""Explorers of the task itself: rankers side by side, and the measures of a ranked list."""

import warnings
from collections.abc import Iterable, Mapping
from string import ascii_uppercase

import ipywidgets as widgets

from qasel.datasets.base import Question, Split
from qasel.errors import QaselError
from qasel.evaluation import Run, Scores, TieWarning, evaluate
from qasel.figures.style import BLUE, GREEN, GREY, ORANGE
from qasel.rankers import Ranker
from qasel.text import tokenize
from qasel.widgets.base import Explorer, QuestionExplorer, bar, escape, notice, short, table, words

TICK = f'<b style="color:{GREEN}">✓</b> '
SHOWN = 12
"""Ranks of a long list that are shown in full; below them, only those with a relevant answer."""


class RankingExplorer(QuestionExplorer):
    """Rankers side by side on a question, picked from the split or typed by the reader.

    The rankers must be fitted. `first` is the id of the question shown at the start. Words that
    a sentence shares with the question are highlighted, and relevant answers have a ✓. Ties are
    ordered as in `evaluate`: non-relevant answers first.
    """

    def __init__(
        self, rankers: Mapping[str, Ranker], split: Split, first: str | None = None
    ) -> None:
        if not rankers:
            raise QaselError("no ranker to explore; give one or more by name")
        self.rankers = dict(rankers)
        # Rank the whole split once: scores may depend on the whole collection, as in BM25.
        self.runs = {name: ranker.rank(split) for name, ranker in rankers.items()}
        super().__init__(split, first=first)

    def view(self) -> str:
        """Return a table with one column per ranker and one row per rank."""
        split = Split(self.split.name, (self.question,))
        runs = {
            name: ranker.rank(split) if self.typed else self.runs[name].only(split)
            for name, ranker in self.rankers.items()
        }
        return rankings(self.question, runs)


def rankings(question: Question, runs: Mapping[str, Run]) -> str:
    """Return a question and its ranked candidates: one column per run, one row per rank."""
    columns = [_column(question, run) for run in runs.values()]
    head = ["", *(_heading(name, run, question) for name, run in runs.items())]
    rows = [[str(rank), *cells] for rank, cells in enumerate(zip(*columns, strict=True), 1)]
    further = [row for row in rows[SHOWN:] if any(TICK in cell for cell in row)]
    left = len(rows[SHOWN:]) - len(further)
    more = f"<p><small>{left} ranks of wrong answers left out.</small></p>" if left else ""
    return f"<p><b>{escape(question.text)}</b></p>" + table(head, rows[:SHOWN] + further) + more


def scores_of(run: Run, truth: Split | Mapping[str, Mapping[str, int]]) -> Scores:
    """Evaluate a run without the warning about ties."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TieWarning)  # the list shows the ties
        return evaluate(run, truth)


def _heading(name: str, run: Run, question: Question) -> str:
    if any(candidate.label is None for candidate in question.candidates):
        return escape(name)
    split = Split("asked", (question,))
    scores = scores_of(run.only(split), split)
    return f"{escape(name)}<br><small>AP {scores.map:.2f}, RR {scores.mrr:.2f}</small>"


def _column(question: Question, run: Run) -> list[str]:
    """Return the cells of a run's column: the candidates, best first."""
    scores = run.scores[question.id]
    asked = set(tokenize(question.text))
    low, high = min(0.0, *scores.values()), max(scores.values())
    cells = []
    for candidate in sorted(question.candidates, key=lambda c: (-scores[c.id], c.label or 0)):
        tick, colour = (TICK, GREEN) if candidate.label == 1 else ("", GREY)
        text = words(candidate.text, lambda word: not asked.isdisjoint(tokenize(word)))
        score = scores[candidate.id]
        track = bar((score - low) / (high - low or 1), colour)
        cells.append(f"{tick}{text}<br>{track} <small>{short(score)}</small>")
    return cells


class MeasureExplorer(Explorer):
    """A ranked list whose answers the reader flips and moves, and its measures, term by term.

    `relevant` says for each rank, from the top, whether its answer is relevant (1 to 26 ranks).
    """

    def __init__(self, relevant: Iterable[bool | int] = (0, 1, 0, 0, 1, 0)) -> None:
        flags = [bool(flag) for flag in relevant]
        if not 1 <= len(flags) <= 26:
            raise QaselError(f"a list of 1 to 26 answers is needed, not {len(flags)}")
        self.answers = list(ascii_uppercase[: len(flags)])
        self.toggles = [
            widgets.ToggleButton(value=flag, layout={"width": "9rem"}) for flag in flags
        ]
        super().__init__(map(self._row, range(len(flags))), self.toggles)

    def _row(self, rank: int) -> widgets.HBox:
        row = [widgets.Label(f"rank {rank + 1}"), self.toggles[rank]]
        ends = {"up": (rank - 1, rank == 0), "down": (rank, rank == len(self.answers) - 1)}
        for way, (upper, off) in ends.items():
            look = {"icon": f"arrow-{way}", "tooltip": f"one rank {way}", "disabled": off}
            row.append(widgets.Button(**look, layout={"width": "2.5rem"}))
            row[-1].on_click(lambda _button, upper=upper: self.swap(upper))
        return widgets.HBox(row)

    def swap(self, rank: int) -> None:
        """Swap the answer at `rank` (from 0) with the one below it."""
        self.answers[rank : rank + 2] = self.answers[rank + 1], self.answers[rank]
        upper, lower = self.toggles[rank : rank + 2]
        upper.value, lower.value = lower.value, upper.value
        self.refresh()  # also if both have the same label

    def view(self) -> str:
        """Return the list with its precision at each rank, and AP, RR and P@1 with their terms."""
        flags = [toggle.value for toggle in self.toggles]
        rows, terms = [], []
        for rank, (answer, toggle) in enumerate(zip(self.answers, self.toggles, strict=True), 1):
            right, count = toggle.value, sum(flags[:rank])
            toggle.description = f"{answer}  {'✓ right' if right else '✗ wrong'}"
            toggle.button_style = "success" if right else ""
            cells = [str(rank), toggle.description, f"{count}/{rank} = {count / rank:.2f}"]
            if right:
                terms.append(f"{count}/{rank}")
                cells = [f"<b>{cell}</b>" for cell in cells]
            rows.append([*cells, bar(count / rank, GREEN if right else GREY)])
        ranked = table(["rank", "answer", "precision up to here", ""], rows)
        if not terms:
            return ranked + notice("No answer is right: AP, RR and P@1 are 0 whatever the order.")
        labels = {str(rank): int(flag) for rank, flag in enumerate(flags)}
        scores = evaluate(Run({"q": {rank: -float(rank) for rank in labels}}), {"q": labels})
        measures = (
            ("AP", BLUE, f"1/{len(terms)} · ({' + '.join(terms)})", scores.map),
            ("RR", ORANGE, f"1/{flags.index(True) + 1}", scores.mrr),
            ("P@1", GREY, f"{int(flags[0])}/1", scores.p1),
        )
        cells = [
            [f"<b>{name}</b>", sums, f"= <b>{value:.4f}</b>", bar(value, colour, 160)]
            for name, colour, sums, value in measures
        ]
        return ranked + table([], cells)
