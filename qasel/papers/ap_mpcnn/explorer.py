"""Feature maps of a right and a wrong candidate, side by side: a strip for each filter."""

from collections.abc import Mapping, Sequence
from typing import Any

import ipywidgets as widgets
import numpy as np
from scipy.special import expit

from qasel.datasets.base import Candidate, Question, Split
from qasel.errors import QaselError
from qasel.papers.ap_mpcnn.inside import (
    Difference,
    Differences,
    Scores,
    SeesPerspectives,
    check,
    differences,
    strongest,
    switched,
)
from qasel.widgets.base import number, short
from qasel.figures.style import PALE
COLOURS = {1: "#0072B2", 0: "#D55E00"}
from qasel.widgets import svg
from qasel.widgets.base import (
    BLUE,
    GREY,
    INK,
    MARKS,
    VERMILLION,
    QuestionExplorer,
    escape,
    shade,
    table,
)

MAP_WIDTH, COLUMNS, STRIP, CELL, CELLS, SCALE = 880, {1: 100, 0: 496}, 320, 22, 80, 732
"""Pixels across: the picture, where the two columns begin, the longest strip, the widest cell;
the most cells of a strip (of a longer map, neighbours share one); where the colours' scale begins.
"""
HEAD, MAP_TITLE, MAP_ROW, HIGH, FITS = 40, 28, 58, 14, 46
"""Pixels down: the head, a width's title, a filter's row, a strip; and letters below a strip."""
NOTHING = "–"
"""Stands for a place outside of the sentence."""


def maps(right: Any, wrong: Any) -> str:
    """For each width, the filters that differ most between two candidates (`Inside` each)."""
    sides = {1: right, 0: wrong}
    rows = [
        (width, number)
        for width in range(1, len(right.answer.maps) + 1)
        for number in strongest(right.answer, wrong.answer, width)
    ]
    top = max(
        (np.abs(side.answer.maps[w - 1][:, f]).max() for side in sides.values() for w, f in rows),
        default=1.0,
    )
    shapes, y, told, last = _legend(top), float(HEAD), [], 0
    for width, filter_number in rows:
        if width != last:
            shapes.append(svg.line([(8, y), (MAP_WIDTH - 8, y)], PALE, 1))
            title = f"Windows of {width} word{'s' if width > 1 else ''}"
            shapes.append(svg.text((8, y + 18), title, INK, 12, "start", bold=True))
            y, last = y + MAP_TITLE, width
        shapes.append(svg.text((16, y + 12), f"filter {filter_number + 1}", INK, 12, "start"))
        for label, side in sides.items():
            shapes += _column(side, width, filter_number, COLUMNS[label], y, top)
        found = (_found(side.answer, width, filter_number, 400) for side in sides.values())
        told.append(f"width {width}, filter {filter_number + 1}: right {', wrong '.join(found)}")
        y += MAP_ROW
    words = "What the filters find that differ most: " + "; ".join(told)
    return svg.picture(shapes, MAP_WIDTH, y, words)


def cells(values: np.ndarray) -> np.ndarray:
    """The windows' values as cells: those of a long map are the largest of some neighbours."""
    return np.array([part.max() for part in np.array_split(values, min(len(values), CELLS))])


def window(words: Sequence[str], letters: int) -> str:
    """The words of a window, each cut so that all fit into so many letters.

    What no picture can have (control characters) is replaced.
    """
    each = max((letters + 1) // len(words) - 1, 2)
    printable = ("".join(c if c.isprintable() else "\ufffd" for c in word) for word in words)
    shown = (word if len(word) <= each else word[: each - 1] + "…" for word in printable)
    return " ".join(word or NOTHING for word in shown)


def _found(sentence: Any, width: int, number: int, letters: int) -> str:
    """What max pooling leaves of a filter: the words and the value."""
    _, words = sentence.winner(width, number)
    return f"“{window(words, letters)}” {short(sentence.pooled[width - 1, number])}"


def _column(side: Any, width: int, number: int, x: float, y: float, top: float) -> list[str]:
    """The strip of a candidate, its winner marked and named; below it the question's winner."""
    values = cells(side.answer.maps[width - 1][:, number])
    wide = min(STRIP / len(values), CELL)
    shapes = [_cell(x + i * wide, y, wide, value / top) for i, value in enumerate(values)]
    edge = x + int(values.argmax()) * wide
    corners = [(edge, y), (edge + wide, y), (edge + wide, y + HIGH), (edge, y + HIGH)]
    shapes.append(svg.line([*corners, corners[0], corners[1]], INK, 2))
    found = _found(side.answer, width, number, FITS)
    asked = f"question: {_found(side.question, width, number, FITS - 10)}"
    shapes.append(svg.text((x, y + HIGH + 15), found, INK, 11, "start"))
    return [*shapes, svg.text((x, y + HIGH + 29), asked, GREY, 10, "start")]


def _cell(x: float, y: float, wide: float, share: float) -> str:
    """A cell, the stronger coloured the further `share` (−1 to 1) is from 0."""
    colour, weight = (BLUE if share > 0 else VERMILLION), abs(share)
    return (
        f"<rect x='{x:.1f}' y='{y:.1f}' width='{wide:.1f}' height='{HIGH}' fill='{colour}' "
        f"fill-opacity='{weight:.2f}' stroke='{PALE}' stroke-width='0.5'/>"
    )


def _legend(top: float) -> list[str]:
    """Whose column is where, and what the colours mean."""
    heads = {1: f"{MARKS[1]} right one", 0: f"{MARKS[0]} wrong one"}
    shapes = [
        svg.text((COLUMNS[label], 18), told, INK, 12, "start", bold=True)
        for label, told in heads.items()
    ]
    shapes.append(svg.text((SCALE - 4, 18), short(-top), INK, 11, "end"))
    shares = (-1.0, -0.5, 0.0, 0.5, 1.0)
    shapes += [_cell(SCALE + 16 * i, 8, 16, share) for i, share in enumerate(shares)]
    return [*shapes, svg.text((SCALE + 84, 18), short(top), INK, 11, "start")]


NAMES = {
    "": "all parts on",
    "attention": "attention off",
    "wide": "wide convolution off",
    "sparse": "sparse features off",
}
WIDTH, NAMED, AXIS, HALF, EFFECT = 880, 216, 585, 185, 866
"""Pixels across: the picture, the end of the first column of numbers, the middle and half the
width of the bars, and the end of their numbers."""
ROW, TITLE = 24, 30
"""Pixels down: a line, and a title with the room above it."""
ZERO, ONE, MARGINS = 230, 530, (700, 850)
"""Pixels across: bars of f = 0 and of f = 1, and the ends of the two margins."""


def comparison(found: Differences) -> str:
    """Kinds of entries and single ones: values of both candidates, and the effect on the score."""
    shapes = [
        svg.text((NAMED + 56, 18), f"{MARKS[1]} right", INK, 12, "end", bold=True),
        svg.text((NAMED + 136, 18), f"{MARKS[0]} wrong", INK, 12, "end", bold=True),
        svg.text((AXIS - 10, 18), "for the wrong one", COLOURS[0], 12, "end", bold=True),
        svg.text((AXIS + 10, 18), "for the right one", COLOURS[1], 12, "start", bold=True),
    ]
    y = TITLE
    blocks = {"All entries of a kind together": found.kinds, "Single entries": found.entries}
    for title, rows in blocks.items():
        shapes.append(svg.text((8, y + 16), title, INK, 12, "start", bold=True))
        y += TITLE
        shapes.append(svg.line([(AXIS, y - 4), (AXIS, y + ROW * len(rows) - 4)], PALE, 1))
        shapes += _entries(rows, y)
        y += ROW * len(rows)
    lines = (
        f"{row.name} {_values(row)}{number(row.effect, '+')}"
        for row in (*found.kinds, *found.entries)
    )
    told = f"Effects on the difference of the two log odds: {'; '.join(lines)}"
    return svg.picture(shapes, WIDTH, y + 4, told)


def _values(row: Difference) -> str:
    if row.right is None or row.wrong is None:
        return ""
    return f"({short(row.right)}, {short(row.wrong)}) "


def _entries(rows: Sequence[Difference], y: float) -> list[str]:
    shapes: list[str] = []
    largest = max((abs(row.effect) for row in rows), default=0.0) or 1.0
    for i, row in enumerate(rows):
        middle = y + ROW * i + 8
        shapes.append(svg.text((16, middle + 4), row.name, INK, 12, "start"))
        if row.right is None:
            counted = f"{row.count} entries"
            shapes.append(svg.text((NAMED + 136, middle + 4), counted, GREY, 11, "end"))
        for x, value in ((NAMED + 56, row.right), (NAMED + 136, row.wrong)):
            if value is not None:
                shapes.append(svg.text((x, middle + 4), short(value), INK, 12, "end"))
        end = AXIS + row.effect / largest * HALF
        shapes.append(svg.line([(AXIS, middle), (end, middle)], COLOURS[int(row.effect > 0)], 12))
        shapes.append(svg.text((EFFECT, middle + 4), number(row.effect, "+"), INK, 12, "end"))
    return shapes


def switches(found: Mapping[str, Scores | None]) -> str:
    """f of both candidates with all parts on and with each one off, and the margins."""
    head = ["f(q, p)", "margin of f", "of log odds"]
    shapes = [
        svg.text((x, 18), told, INK, 12, anchor, bold=True)
        for x, told, anchor in zip((ZERO, *MARGINS), head, ("start", "end", "end"), strict=True)
    ]
    y, told = TITLE + 14, []
    for part, scores in found.items():
        bold = not part
        shapes.append(svg.text((8, y + 4), NAMES[part], INK, 12, "start", bold=bold))
        if scores is None:
            shapes.append(svg.text((ZERO, y + 4), "not in this recipe", GREY, 12, "start"))
            told.append(f"{NAMES[part]}: not in this recipe")
        else:
            shapes += _pair(scores, y, bold)
            told.append(f"{NAMES[part]}: {_told(scores)}")
        y += 2 * ROW
    return svg.picture(shapes, WIDTH, y - 10, "Scores of both candidates. " + "; ".join(told))


def _margins(scores: Scores) -> tuple[str, str]:
    right, wrong = scores.f
    return number(right - wrong, "+"), number(scores.right - scores.wrong, "+")


def _told(scores: Scores) -> str:
    right, wrong = map(number, scores.f)
    return f"right {right}, wrong {wrong}, margin {_margins(scores)[0]}"


def _pair(scores: Scores, y: float, bold: bool) -> list[str]:
    shapes = []
    for label, value, middle in zip((1, 0), scores.f, (y - 8, y + 8), strict=True):
        end = ZERO + value * (ONE - ZERO)
        shapes.append(svg.text((ZERO - 8, middle + 4), MARKS[label], INK, 12, "end"))
        shapes.append(svg.line([(ZERO, middle), (ONE, middle)], PALE, 12))
        shapes.append(svg.line([(ZERO, middle), (end, middle)], COLOURS[label], 12))
        shapes.append(svg.text((ONE + 8, middle + 4), number(value), INK, 12, "start"))
    for x, told in zip(MARGINS, _margins(scores), strict=True):
        shapes.append(svg.text((x, y + 4), told, INK, 12, "end", bold=bold))
    return shapes


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
            + _part(
                "What sets the comparison vectors apart",
                comparison(found),
                _differences_in_words(found, seen),
            )
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


def _differences_in_words(found: Differences, seen: dict[int | None, Any]) -> str:
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
