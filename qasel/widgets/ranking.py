"""Explorers of the task itself: rankers side by side, and the measures of a ranked list."""

import warnings
from collections.abc import Iterable, Mapping

import ipywidgets as widgets

from qasel.datasets.base import Question, Split
from qasel.errors import QaselError
from qasel.evaluation import Run, Scores, TieWarning, evaluate
from qasel.rankers import Ranker
from qasel.text import tokenize
from qasel.widgets.base import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    Explorer,
    QuestionExplorer,
    bar,
    escape,
    notice,
    short,
    table,
    words,
)

RIGHT, WRONG = "✓ right", "✗ wrong"
TICK = f'<b style="color:{GREEN}">✓</b> '
SHOWN = 12
"""Ranks that `RankingExplorer` shows of a long list, before those with right answers only."""


class RankingExplorer(QuestionExplorer):
    """Rankers side by side on a question of the split, or on one that the reader types.

    The rankers must have been fitted. `first` is the id of the question shown at the start.
    Words that a sentence shares with the question stand out; a right answer has a ✓. Tied
    scores stand as `evaluate` counts them: wrong answers first.
    """

    def __init__(
        self, rankers: Mapping[str, Ranker], split: Split, first: str | None = None
    ) -> None:
        if not rankers:
            raise QaselError("no ranker to explore; give one or more by name")
        self.rankers = dict(rankers)
        # Ranked once, as a whole: what a search engine knows of the collection enters a score.
        self.runs = {name: ranker.rank(split) for name, ranker in rankers.items()}
        super().__init__(split, first=first)

    def view(self) -> str:
        """One column a ranker, one line a rank."""
        split = Split(self.split.name, (self.question,))
        runs = {
            name: ranker.rank(split) if self.typed else self.runs[name].only(split)
            for name, ranker in self.rankers.items()
        }
        return rankings(self.question, runs)


def rankings(question: Question, runs: Mapping[str, Run]) -> str:
    """A question and how some runs rank its candidates: one column a run, one line a rank."""
    columns = [_column(question, run) for run in runs.values()]
    head = ["", *(_heading(name, run, question) for name, run in runs.items())]
    rows = [[str(rank), *cells] for rank, cells in enumerate(zip(*columns, strict=True), 1)]
    further = [row for row in rows[SHOWN:] if any(TICK in cell for cell in row)]
    left = len(rows[SHOWN:]) - len(further)
    more = f"<p><small>{left} ranks of wrong answers left out.</small></p>" if left else ""
    return f"<p><b>{escape(question.text)}</b></p>" + table(head, rows[:SHOWN] + further) + more


def scores_of(run: Run, truth: Split | Mapping[str, Mapping[str, int]]) -> Scores:
    """The scores of a run, without a word on ties."""
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
    """The cells of a ranker: its candidates, best first."""
    scores = run.scores[question.id]
    asked = set(tokenize(question.text))
    low, high = min(0.0, *scores.values()), max(scores.values())
    cells = []
    for candidate in sorted(question.candidates, key=lambda c: (-scores[c.id], c.label or 0)):
        score, right = scores[candidate.id], candidate.label == 1
        shared = words(candidate.text, lambda word: not asked.isdisjoint(tokenize(word)))
        track = bar((score - low) / (high - low or 1), GREEN if right else GREY)
        cells.append(f"{TICK if right else ''}{shared}<br>{track} <small>{short(score)}</small>")
    return cells


class MeasureExplorer(Explorer):
    """A ranked list whose answers the reader flips and moves, and its measures, term by term.

    `relevant` says for each rank, from the top, whether its answer is right.
    """

    def __init__(self, relevant: Iterable[bool | int] = (0, 1, 0, 0, 1, 0)) -> None:
        flags = [bool(flag) for flag in relevant]
        if not 1 <= len(flags) <= 26:
            raise QaselError(f"a list of 1 to 26 answers is needed, not {len(flags)}")
        self.answers = [chr(ord("A") + place) for place in range(len(flags))]
        self.toggles = [
            widgets.ToggleButton(value=flag, layout=widgets.Layout(width="9rem")) for flag in flags
        ]
        rows = [self._row(rank) for rank in range(len(flags))]
        super().__init__([widgets.VBox(rows)], self.toggles)

    @property
    def relevant(self) -> list[bool]:
        """Whether the answer is right, by rank."""
        return [toggle.value for toggle in self.toggles]

    def move(self, rank: int, by: int) -> None:
        """Let the answer at `rank` (from 0) change places with the one `by` ranks below it."""
        other = rank + by
        if not 0 <= other < len(self.answers):
            return
        answers, toggles = self.answers, self.toggles
        answers[rank], answers[other] = answers[other], answers[rank]
        toggles[rank].value, toggles[other].value = toggles[other].value, toggles[rank].value
        self.refresh()  # also where both were right or both wrong

    def _row(self, rank: int) -> widgets.HBox:
        buttons = []
        for icon, by, tip in (("arrow-up", -1, "one rank up"), ("arrow-down", 1, "one rank down")):
            button = widgets.Button(icon=icon, tooltip=tip, layout=widgets.Layout(width="2.5rem"))
            button.on_click(lambda _button, by=by: self.move(rank, by))
            button.disabled = not 0 <= rank + by < len(self.answers)
            buttons.append(button)
        return widgets.HBox([widgets.Label(f"rank {rank + 1}"), self.toggles[rank], *buttons])

    def view(self) -> str:
        """The list, the precision where an answer is right, and the sums."""
        for answer, toggle in zip(self.answers, self.toggles, strict=True):
            toggle.description = f"{answer}  {RIGHT if toggle.value else WRONG}"
            toggle.button_style = "success" if toggle.value else ""
        flags = self.relevant
        rows, found = [], 0
        for rank, (answer, flag) in enumerate(zip(self.answers, flags, strict=True), 1):
            found += flag
            mark = f'<b style="color:{GREEN}">{RIGHT}</b>' if flag else WRONG
            precision = f"{found}/{rank} = {found / rank:.2f}"
            share = bar(found / rank, GREEN if flag else GREY)
            counts = f"<b>{precision}</b>" if flag else precision
            rows.append([str(rank), answer, mark, counts, share])
        head = ["rank", "answer", "", "precision up to here", ""]
        return table(head, rows) + self._sums(flags)

    def _sums(self, flags: list[bool]) -> str:
        """AP, RR and P@1 with their terms, the values by `qasel.evaluate`."""
        if not any(flags):
            return notice("No answer is right, so AP, RR and P@1 are 0 whatever the order.")
        labels = {str(rank): int(flag) for rank, flag in enumerate(flags, 1)}
        run = Run({"q": {str(rank): float(-rank) for rank in range(1, len(flags) + 1)}})
        scores = scores_of(run, {"q": labels})
        ranks = [rank for rank, flag in enumerate(flags, 1) if flag]
        terms = " + ".join(f"{count}/{rank}" for count, rank in enumerate(ranks, 1))
        lines = [
            ("AP", BLUE, f"1/{len(ranks)} · ({terms})", scores.map),
            ("RR", ORANGE, f"1/{ranks[0]}", scores.mrr),
            ("P@1", GREY, f"{int(flags[0])}/1", scores.p1),
        ]
        rows = [
            [f"<b>{name}</b>", terms, f"= <b>{value:.4f}</b>", bar(value, colour, 160)]
            for name, colour, terms, value in lines
        ]
        return f'<div style="color:{INK}">' + table(["", "", "", ""], rows) + "</div>"
