"""The explorer of AP-MPCNN: what its parts find in a right and in a wrong candidate."""

from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets as widgets
import numpy as np
import pandas as pd
from scipy.special import expit

from qasel.datasets.base import Candidate, Question, Split
from qasel.errors import QaselError
from qasel.evaluation import Run
from qasel.figures.style import BLUE, GREY, INK, PALE, VERMILLION
from qasel.papers.ap_mpcnn.inside import PARTS, Inside, Sentence
from qasel.papers.ap_mpcnn.ranker import APMPCNNRanker
from qasel.widgets import svg
from qasel.widgets.base import (
    MARKS,
    QuestionExplorer,
    bar,
    escape,
    number,
    shade,
    short,
    signed_bar,
    table,
)

KINDS = {1: "right", 0: "wrong"}
COLOURS = {1: BLUE, 0: VERMILLION}
NAMES = {
    "": "all parts on",
    "attention": "attention off",
    "wide": "wide convolution off",
    "sparse": "sparse features off",
}
NOTHING = "–"
"""Stands for a place outside of the sentence."""
FILTERS, ENTRIES = 3, 10
"""Filters of each width, and entries of the comparison vector, that are shown."""
STRIP, CELL, CELLS, LETTERS = 320, 22, 80, 46
"""Pixels of the longest strip and of the widest cell; the most cells of a strip (of a longer map,
neighbours share one); letters of the words of a window."""
NUMBERED, LEAST = 5, 0.0005
"""Words of a sentence whose weights are written beside them, unless they are less than that; those
of all are in their titles."""


def switched(
    ranker: APMPCNNRanker, question: str, right: str, wrong: str
) -> dict[str, tuple[float, float] | None]:
    """Part switched off → log odds of both candidates, None if the recipe lacks the part.

    First "": all parts are on.
    """
    found = {}
    for off in ("", *PARTS):
        has = not off or getattr(ranker.recipe, off)
        odds = [ranker.inside(question, text, off).log_odds for text in (right, wrong) if has]
        found[off] = (odds[0], odds[1]) if has else None
    return found


def strongest(right: Sentence, wrong: Sentence, width: int) -> list[int]:
    """The `FILTERS` filters of a width that find most in one candidate and least in the other."""
    gap = np.abs(right.pooled[width - 1] - wrong.pooled[width - 1])
    return np.argsort(-gap, kind="stable")[:FILTERS].tolist()


def exchanged(
    log_odds: Callable[[np.ndarray], np.ndarray],
    right: np.ndarray,
    wrong: np.ndarray,
    which: np.ndarray,
) -> np.ndarray:
    """What sets `[K, E]` of entries do to the difference of the log odds of two vectors, `[K]`.

    The entries of a set are exchanged: how much the right one's log odds fall when it gets the
    wrong one's values, and how much the wrong one's rise when it gets the right one's; the mean
    of both. (By one alone, an entry would seem to do nothing where tanh is saturated.) Where the
    network is linear, the effects of all entries add up to the difference; tanh keeps them from it.
    """
    given = np.where(which, wrong, right), np.where(which, right, wrong)
    odds = log_odds(np.concatenate([right[None], wrong[None], *given]).astype(np.float32))
    fall, rise = odds[0] - odds[2 : 2 + len(which)], odds[2 + len(which) :] - odds[1]
    return (fall + rise) / 2


def differences(
    ranker: APMPCNNRanker, right: np.ndarray, wrong: np.ndarray
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """What two comparison vectors `[E]` differ in, by the `effect` on the difference of log odds.

    All entries of a kind at once (`name`, how many `entries`), and single entries (`name`, and
    the values `right` and `wrong`), those with the largest effect first.
    """
    entries = pd.DataFrame(ranker.entries, columns=["kind", "name"])
    counts = entries["kind"].value_counts(sort=False)
    of_kind = counts.index.to_numpy()[:, None] == entries["kind"].to_numpy()
    which = np.concatenate([of_kind, np.eye(len(entries), dtype=bool)])
    together, single = np.split(exchanged(ranker.log_odds, right, wrong, which), [len(counts)])
    kinds = pd.DataFrame({"name": counts.index, "effect": together, "entries": counts.to_numpy()})
    singles = entries.assign(effect=single, right=right, wrong=wrong)
    return kinds, singles.sort_values("effect", key=lambda e: -e.abs(), kind="stable")


class PerspectiveExplorer(QuestionExplorer):
    """A question with a right and a wrong candidate, all picked or typed: what the parts find.

    A question opens with the right candidate and the wrong one that score highest. `first` is the
    id of the question shown at the start, else the first that has both kinds. Raises `QaselError`
    for a ranker that is not trained and a split without questions.
    """

    def __init__(self, ranker: APMPCNNRanker, split: Split, first: str | None = None) -> None:
        if getattr(ranker, "network", None) is None:
            raise QaselError("the ranker has no trained network to explore: fit or load it first")
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
                found = f"This question has no {KINDS[label]} candidate: pick another one."
                if self.typed:
                    found = f"There is no {KINDS[label]} candidate: paste some of both kinds, and "
                    found += "begin the lines of the right ones with +."
                raise QaselError(found)
        text = self.asked.value.strip() or question.text
        asked = Question(question.id, text, question.candidates)
        right, wrong = shown = [pick.value for pick in self.picks.values()]
        seen = [self.ranker.inside(text, candidate.text) for candidate in shown]
        kinds, entries = differences(self.ranker, seen[0].compared, seen[1].compared)
        margin = number(seen[0].log_odds - seen[1].log_odds, "+")
        told = DIFFERENCES.format(number(entries["effect"].sum(), "+"), margin)
        parts = switched(self.ranker, text, right.text, wrong.text)
        return (
            self._sides(asked, shown, seen)
            + _part("What the filters find", maps(*seen), MAPS)
            + _part("What sets the comparison vectors apart", _comparison(kinds, entries), told)
            + _part("The score with each part switched off", _switches(parts), SWITCHES)
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

    def _run(self, question: Question) -> Run:
        return self.ranker.rank(Split("picked", (question,)))

    def _sides(self, question: Question, shown: Sequence[Candidate], seen: Sequence[Inside]) -> str:
        """Both pairs side by side: score and place, and the words with their weights."""
        ranking = self._run(question).ranking(question.id)
        rows = [["<b>score</b>"], ["<b>question</b>"], ["<b>candidate</b>"]]
        for candidate, pair in zip(shown, seen, strict=True):
            place = f"place {ranking.index(candidate.id) + 1} of {len(ranking)}"
            odds = f"log odds {number(pair.log_odds, '+')}"
            rows[0].append(f"f = <b>{number(float(expit(pair.log_odds)))}</b>, {odds}, {place}")
            rows[1].append(sentence(pair.question))
            rows[2].append(sentence(pair.answer))
        told = WEIGHTS[bool(self.ranker.recipe.attention)].format(NUMBERED)
        return table(["", *_HEADS], rows) + f"<p><small>{told}</small></p>"


_HEADS = [f"{MARKS[label]}&nbsp;{kind} one" for label, kind in KINDS.items()]


def _part(title: str, picture: str, caption: str) -> str:
    style = "font-weight:bold;padding-top:12px"
    return f'<div style="{style}">{title}</div>{picture}<p><small>{caption}</small></p>'


def sentence(found: Sentence) -> str:
    """The words of a sentence shaded by their weights, which are also written on or beside them.

    A word has an element of its own: no dollar sign meets another, to be taken for mathematics.
    """
    if found.words == ("",):
        return f'<span style="color:{GREY}">(no word)</span>'
    if found.weights is None:
        words = [f"<span>{escape(word)}</span>" for word in found.words]
    else:
        words, top = [], float(found.weights.max())
        numbered = set(np.argsort(-found.weights, kind="stable")[:NUMBERED].tolist())
        for i, (word, weight) in enumerate(zip(found.words, found.weights, strict=True)):
            told = number(weight) if weight >= LEAST else f"{weight:.1e}".replace("-", "−")
            beside = f'<small style="color:{GREY}">&nbsp;{told}</small>'
            shown = shade(word, weight / top)
            shown += beside if i in numbered and weight >= LEAST else ""
            words.append(f'<span title="{told}">{shown}</span>')
    style = "max-height:11em;overflow:auto;overflow-wrap:anywhere;min-width:18em"
    return f'<div style="{style}">{" ".join(words)}</div>'


def maps(right: Inside, wrong: Inside) -> str:
    """For each width, the filters that differ most between two candidates."""
    widths = range(1, len(right.answer.maps) + 1)
    shown = {width: strongest(right.answer, wrong.answer, width) for width in widths}
    top = max(
        np.abs(side.answer.maps[width - 1][:, filters]).max()
        for side in (right, wrong)
        for width, filters in shown.items()
    )
    scale = [_cell(16 * i, 16, share) for i, share in enumerate((-1.0, -0.5, 0.0, 0.5, 1.0))]
    ends = f"from {short(-top)} (vermillion) to {short(top)} (blue)"
    rows = []
    for width, filters in shown.items():
        rows.append([f"<b>Windows of {width} word{'s' if width > 1 else ''}</b>", "", ""])
        for filter_number in filters:
            cells = [_found(side, width, filter_number, top) for side in (right, wrong)]
            rows.append([f"filter&nbsp;{filter_number + 1}", *cells])
    legend = f"{short(-top)} {svg.picture(scale, 80, 14, f'colours {ends}')} {short(top)}"
    return f"<div>{legend}</div>" + table(["", *_HEADS], rows)


def _found(side: Inside, width: int, filter_number: int, top: float) -> str:
    """A filter's map over a candidate, what pooling keeps of it, and of the question's."""
    values = cells(side.answer.maps[width - 1][:, filter_number])
    wide = min(STRIP / len(values), CELL)
    shapes = [_cell(i * wide, wide, value / top) for i, value in enumerate(values)]
    edge, end = int(values.argmax()) * wide + 1, (int(values.argmax()) + 1) * wide - 1
    corners = [(edge, 1.0), (end, 1.0), (end, 13.0), (edge, 13.0)]
    shapes.append(svg.line([*corners, corners[0], corners[1]], INK, 2))
    kept = []
    for found in (side.answer, side.question):
        words = window(found.winner(width, filter_number)[1], LETTERS).split()
        quoted = " ".join(f"<span>{escape(word)}</span>" for word in words)  # as in `sentence`
        kept.append(f"“{quoted}” {short(found.pooled[width - 1, filter_number])}")
    told = f"{len(values)} cells, the largest is number {values.argmax() + 1}"
    strip = svg.picture(shapes, wide * len(values), 14, told)
    return f'{strip}<br>{kept[0]}<br><small style="color:{GREY}">question: {kept[1]}</small>'


def cells(values: np.ndarray) -> np.ndarray:
    """The windows' values as cells: those of a long map are the largest of some neighbours."""
    return np.array([part.max() for part in np.array_split(values, min(len(values), CELLS))])


def _cell(x: float, wide: float, share: float) -> str:
    """A cell, the stronger coloured the further `share` (−1 to 1) is from 0."""
    return (
        f"<rect x='{x:.1f}' width='{wide:.1f}' height='14' stroke='{PALE}' stroke-width='0.5' "
        f"fill='{COLOURS[int(share > 0)]}' fill-opacity='{abs(share):.2f}'/>"
    )


def window(words: Sequence[str], letters: int) -> str:
    """The words of a window, each cut so that all fit into so many letters.

    What no page can have (control characters) is replaced.
    """
    each = max((letters + 1) // len(words) - 1, 2)
    printable = ("".join(c if c.isprintable() else "\ufffd" for c in word) for word in words)
    shown = (word if len(word) <= each else word[: each - 1] + "…" for word in printable)
    return " ".join(word or NOTHING for word in shown)


def _comparison(kinds: pd.DataFrame, entries: pd.DataFrame) -> str:
    """Kinds of entries and single ones: values of both candidates, and the effect on the score."""
    rows = []
    for title, found in (
        ("All entries of a kind together", kinds),
        ("Single entries", entries[:ENTRIES]),
    ):
        rows.append([f"<b>{title}</b>", "", "", "", ""])
        largest = found["effect"].abs().max() or 1.0
        for row in found.itertuples():
            single = "right" in found
            values = (
                (short(row.right), short(row.wrong)) if single else ("", f"{row.entries} entries")
            )
            effect = signed_bar(row.effect / largest, 185)
            rows.append([row.name, *values, effect, number(row.effect, "+")])
    sides = [
        f'<b style="color:{COLOURS[label]}">for the {KINDS[label]} one</b>' for label in (0, 1)
    ]
    return table(["", f"{MARKS[1]} right", f"{MARKS[0]} wrong", " | ".join(sides), "effect"], rows)


def _switches(found: dict[str, tuple[float, float] | None]) -> str:
    """f of both candidates with all parts on and with each one off, and the margins."""
    rows = []
    for part, odds in found.items():
        if odds is None:
            rows.append([NAMES[part], "not in this recipe", "", ""])
            continue
        f, scores = expit(odds), []
        style = f"display:inline-block;width:300px;border-right:1px solid {GREY}"
        for label, value in zip(KINDS, f, strict=True):
            track = bar(value, COLOURS[label], 300)
            track = f'<span style="{style}">{track}</span>'
            scores.append(f"{MARKS[label]} {track} {number(value)}")
        margins = number(f[0] - f[1], "+"), number(odds[0] - odds[1], "+")
        rows.append([NAMES[part], "<br>".join(scores), *margins])
    rows[0] = [f"<b>{cell}</b>" for cell in rows[0]]
    return table(["", "f(q, p)", "margin of f", "of log odds"], rows)


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
DIFFERENCES = (
    "The entries with the largest effect on the difference of the two log odds. That of an entry "
    "is found by exchanging it, and nothing else: by how much the right one's log odds fall with "
    "the wrong one's value, and the wrong one's rise with the right one's; the mean of both. "
    "Entries of a kind are exchanged all at once. Effects need not add up, because of the hidden "
    "layer's tanh: those of all single entries come to {}, the difference is {}. Each of the two "
    "blocks has a scale of its own. Filters count from 1, and each is compared over its numbers of "
    "all widths; of two widths the first is the question's."
)
SWITCHES = (
    "Margins are right − wrong. The network was trained with its parts on, and here only ranks "
    "without them; one trained without a part, as in the ablations, may do better. Attention off: "
    "the copy of each of a sentence's n words has the weight 1/n. Wide convolution off: "
    "windows lie within the sentence. Sparse features off: all four are 0."
)
