"""The explorer of AP-MPCNN: what its parts see in a relevant and in a non-relevant candidate."""

from collections.abc import Sequence
from typing import ClassVar

import ipywidgets as widgets
import numpy as np
import pandas as pd
from matplotlib.container import BarContainer
from scipy.special import expit

from qasel.datasets.base import Candidate, Question, Split
from qasel.figures.style import (
    BLUE,
    GREY,
    VERMILLION,
    HouseFigure,
    embedded,
    house_style,
    new_figure,
)
from qasel.papers.ap_mpcnn.ranker import SWITCHES, APMPCNNRanker, Inside, Sentence
from qasel.widgets.base import CandidateExplorer, escape, number, shade, table

NAMES = {
    "": "all parts on",
    "attention": "attention off",
    "wide": "wide convolution off",
    "sparse": "sparse features off",
}
"""Part switched off → its name for the reader."""
FILTERS, NUMBERED = 3, 5
"""Number of filters shown per width, and of words per sentence with their weights beside them."""
WEIGHTS = {
    True: "Words are shaded by their attention weights (A₁ of the question, A₂ of the candidate), "
    "which add up to 1; the largest are written beside their words. The question's weights depend "
    "on the candidate.",
    False: "This recipe has no attention: words have no weights.",
}
WINDOWS = (
    "For each width, the filters whose largest values differ most between the two candidates: the "
    "window that max pooling keeps and its value, and below it what the same filter keeps of the "
    "question (∅: a place outside of the sentence)."
)
SWITCHED = (
    "Margins are log odds, right − wrong. The network was trained with all its parts, and here "
    "only ranks without one; trained without it, as in the ablations, it may do better. Attention "
    "off: all n words of a sentence have the weight 1/n. Wide convolution off: windows lie within "
    "the sentence. Sparse features off: all four are 0."
)


def switched(ranker: APMPCNNRanker, question: str, right: str, wrong: str) -> pd.DataFrame:
    """Return both candidates' log odds: a row with all parts on (""), one per part switched off."""
    parts = [off for off in ("", *SWITCHES) if not off or getattr(ranker.recipe, off)]
    odds = [[ranker.inside(question, a, off).log_odds for a in (right, wrong)] for off in parts]
    return pd.DataFrame(odds, index=parts, columns=["right", "wrong"])


@house_style
def switched_figure(log_odds: pd.DataFrame) -> HouseFigure:
    """Draw f(q, p) of both candidates as bars, with the margin, for each row of `switched`."""
    margins = log_odds["right"] - log_odds["wrong"]
    names = [f"{NAMES[part]}\nmargin {number(gap, '+')}" for part, gap in margins.items()]
    figure = new_figure(8, 1.2 + 0.7 * len(names))
    axes = figure.subplots()
    f = expit(log_odds).set_axis(names)[["wrong", "right"]][::-1]
    f.plot.barh(ax=axes, color={"right": BLUE, "wrong": VERMILLION}, width=0.7, legend=False)
    for bars, kind in zip(axes.containers, f, strict=True):
        assert isinstance(bars, BarContainer)
        axes.bar_label(bars, [f"{value:.3f} {kind}" for value in f[kind]], padding=3, fontsize=10)
    axes.set(xlim=(0, 1.15), xlabel="f(q, p)", xticks=np.linspace(0, 1, 6))
    axes.grid(visible=False, axis="y")
    return figure


def strongest(right: Sentence, wrong: Sentence, width: int) -> list[int]:
    """Return the `FILTERS` filters of a width, counted from 1, whose pooled values differ most."""
    gap = (right.maps[width - 1].max() - wrong.maps[width - 1].max()).abs()
    return gap.sort_values(ascending=False, kind="stable").index[:FILTERS].tolist()


class PerspectiveExplorer(CandidateExplorer):
    """What the network's parts find in a relevant and a non-relevant candidate, picked or typed.

    Candidates are offered by falling score. `first` is the id of the question shown at the start,
    by default the first with both kinds of candidates. Raises `QaselError` for an untrained ranker
    and a split without questions.
    """

    kinds: ClassVar = {"Right": (1,), "Wrong": (0,)}

    def __init__(self, ranker: APMPCNNRanker, split: Split, first: str | None = None) -> None:
        ranker.require_trained(hasattr(ranker, "network"))
        self.ranker = ranker
        self.asked = widgets.Text(
            description="Ask instead",
            placeholder="another question for these two candidates",
            continuous_update=False,
            layout={"width": "min(48rem, 100%)"},
        )
        first = first or next((question.id for question in split if question.mixed), None)
        super().__init__(split, [self.asked], [self.asked], first)

    def offer(self, question: Question) -> None:
        """Offer the candidates of a question, and clear the field "Ask instead"."""
        self.asked.value = ""
        super().offer(question)

    def ordered(self, question: Question) -> list[Candidate]:
        """Return the candidates, the highest score first."""
        ranking = self.ranker.rank(Split("picked", (question,))).ranking(question.id)
        return sorted(question.candidates, key=lambda candidate: ranking.index(candidate.id))

    def picture_of(self, question: Question, *shown: Candidate) -> str:
        """Return both candidates' word weights, strongest windows, and scores by part off."""
        text = self.asked.value.strip() or question.text
        ranked = self.ordered(Question(question.id, text, question.candidates))
        places = [f"place {ranked.index(c) + 1} of {len(ranked)}" for c in shown]
        right, wrong = seen = [self.ranker.inside(text, candidate.text) for candidate in shown]
        bars = switched_figure(switched(self.ranker, text, *(c.text for c in shown)))
        drawn = embedded(bars, "f of both candidates, with all parts and without each")
        parts = (
            ("What the words weigh", _sides(seen, places), WEIGHTS[self.ranker.recipe.attention]),
            ("The strongest windows", _windows(right, wrong), WINDOWS),
            ("The score with each part switched off", drawn, SWITCHED),
        )
        return "".join(
            f'<div style="font-weight:bold;padding-top:12px">{title}</div>{picture}'
            f"<p><small>{caption}</small></p>"
            for title, picture, caption in parts
        )


_HEADS = ["", "✓&nbsp;right one", "✗&nbsp;wrong one"]


def _sides(seen: Sequence[Inside], places: Sequence[str]) -> str:
    """Return both pairs side by side: score, rank, and words with their weights."""
    scores = [
        f"f = <b>{number(float(expit(pair.log_odds)))}</b>, "
        f"log odds {number(pair.log_odds, '+')}, {place}"
        for pair, place in zip(seen, places, strict=True)
    ]
    rows = [
        ["<b>score</b>", *scores],
        ["<b>question</b>", *(weighted(pair.question) for pair in seen)],
        ["<b>candidate</b>", *(weighted(pair.answer) for pair in seen)],
    ]
    return table(_HEADS, rows)


def weighted(sentence: Sentence) -> str:
    """Return the words of a sentence shaded by their weights, with the largest beside the words."""
    if sentence.words == ("",):
        return f'<span style="color:{GREY}">(no word)</span>'
    if sentence.weights is None:
        return _words(sentence.words)
    words, shares = [], sentence.weights / sentence.weights.max()
    largest = set(np.argsort(-sentence.weights, kind="stable")[:NUMBERED].tolist())
    for i, word in enumerate(sentence.words):
        beside = f"&nbsp;<small>{number(sentence.weights[i])}</small>" if i in largest else ""
        words.append(shade(word, shares[i]) + beside)
    style = "max-height:11em;overflow:auto;overflow-wrap:anywhere;min-width:18em"
    return f'<div style="{style}">{" ".join(words)}</div>'


def _words(words: Sequence[str]) -> str:
    # Each word in its own element, so that two dollar signs are not taken for mathematics.
    return " ".join(f"<span>{escape(word)}</span>" for word in words)


def _windows(right: Inside, wrong: Inside) -> str:
    """Return the windows kept by the filters of each width that differ most between candidates."""
    rows = []
    for width in range(1, len(right.answer.maps) + 1):
        rows.append([f"<b>Windows of {width} word{'s' if width > 1 else ''}</b>", "", ""])
        for i in strongest(right.answer, wrong.answer, width):
            cells = []
            for side in (right, wrong):
                kept = (found.maps[width - 1][i] for found in (side.answer, side.question))
                of, asked = (f"“{_words(v.idxmax().split())}” {number(v.max())}" for v in kept)
                cells.append(f'{of}<br><small style="color:{GREY}">question: {asked}</small>')
            rows.append([f"filter&nbsp;{i}", *cells])
    return table(_HEADS, rows)
