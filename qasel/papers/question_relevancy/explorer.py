"""The explorer of paper 4: a pair's distances, and what each does to the score of each system."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
import torch
from scipy.special import expit
from torch import Tensor

from qasel.datasets.base import Candidate, Question, Split
from qasel.errors import QaselError
from qasel.figures.style import BLUE, GREY, INK, VERMILLION
from qasel.papers.question_relevancy.model import MultiTask, Pairs
from qasel.papers.question_relevancy.ranker import RelevancyRanker
from qasel.text import tokenize
from qasel.text.features.distances import COLUMN, WORDS, distances_by_name, is_tfidf
from qasel.widgets import svg
from qasel.widgets.base import (
    CandidateExplorer,
    cut,
    escape,
    number,
    shade,
    short,
    signed_bar,
    table,
)

REPRESENTATIONS = {
    "embedding": "Mean of the word vectors",
    "unigram": "Set of words",
    "tf-idf unigram": "Words, weighted by tf-idf",
    "tf-idf trigram": "Trigrams, weighted by tf-idf",
    "trigram": "Set of trigrams",
}
"""What a distance compares, the end of its name → a title, in the order of showing."""
KINDS = {1: "✓ relevant", 0: "✗ irrelevant", None: "? not known"}
COLOURS = {1: BLUE, 0: VERMILLION}
BINS, OUTER = 30, 0.01
"""Bins of a strip, and the share of the pairs on either side that lie in its last bins."""
PLACES, CUT, LISTED = 12, 160, 40
"""Places of a long list, characters of a text in it, and words in a row that are shown."""


def representation(name: str) -> str:
    """What a distance compares."""
    return name.partition(" ")[2]


@torch.inference_mode()
def log_odds(network: MultiTask, features: Tensor) -> np.ndarray:
    """Log odds of "relevant" `[pairs]` by standardised distances `[pairs, features]`."""
    network.eval()
    log_p = network(Pairs(features))
    return (log_p[:, 1] - log_p[:, 0]).double().cpu().numpy()


def parts(network: MultiTask, features: Tensor) -> np.ndarray:
    """What each standardised distance `[features]` of a pair does to its log odds, `[features]`.

    Log odds as they are, less those with this one distance at its mean in training, 0. The parts
    of a network that is not linear need not add up to anything.
    """
    changed = features.repeat(len(features), 1).fill_diagonal_(0)
    return log_odds(network, features[None]) - log_odds(network, changed)


@dataclass(frozen=True)
class Verdict:
    """What a system makes of a list: log `odds` `[pairs]`; and of one pair, distance → part."""

    odds: np.ndarray
    parts: Mapping[str, float]

    def probability(self, pair: int) -> float:
        """The probability that a pair of the list is relevant."""
        return float(expit(self.odds[pair]))

    def place(self, pair: int) -> int:
        """A pair's place in the list, from 1; ties stay in the list's order."""
        return int(np.argsort(-self.odds, kind="stable").tolist().index(pair)) + 1


class Strip(NamedTuple):
    """How one distance spreads over pairs: label → heights of bins from `low` to `high`."""

    low: float
    high: float
    heights: Mapping[int, np.ndarray]


def strips(table: np.ndarray, labels: np.ndarray) -> list[Strip]:
    """A strip for each distance of labelled pairs `[pairs, distances]`; the highest bins are 1."""
    found = []
    for column in table.T:
        low, high = np.quantile(column, (OUTER, 1 - OUTER))
        if high - low < 1e-9:
            low, high = low - 0.5, high + 0.5
        heights = {}
        for label in COLOURS:
            counts, _ = np.histogram(column.clip(low, high)[labels == label], BINS, (low, high))
            heights[label] = counts / max(counts.max(), 1)
        found.append(Strip(float(low), float(high), heights))
    return found


class DistanceExplorer(CandidateExplorer):
    """A question and a related one, picked or typed: their distances, and each system's view.

    `rankers` are trained, by name, and know a pair by its distances alone (they have no BiLSTM).
    The distances of the pair, `names`, are shown among those of all pairs of `split`. `first` is
    the id of the question shown at the start. Raises `QaselError` for a split without questions,
    and when there is no ranker, one is not trained, reads anything but distances, or has its
    distances from other words, vectors or texts than the others.
    """

    def __init__(
        self, rankers: Mapping[str, RelevancyRanker], split: Split, first: str | None = None
    ) -> None:
        for name, ranker in rankers.items():
            if getattr(ranker, "network", None) is None:
                raise QaselError(f"{name} has no trained network to explore")
            if ranker.recipe.lstm_layers:
                raise QaselError(f"{name} also reads the texts; give systems on distances alone")
        sources = {(r.recipe.words, r.recipe.trigrams, r.vectors.name) for r in rankers.values()}
        corpora = {tuple(r.corpus) for r in rankers.values() if is_tfidf(r.recipe.features)}
        if len(sources) != 1 or len(corpora) > 1:
            what = "read different distances (words, trigrams, idf or vectors); explore them apart"
            raise QaselError(f"the systems {what}" if rankers else "no ranker to explore; give one")
        self.rankers = dict(rankers)
        ((self.words, self.trigrams, _),) = sources
        self.corpus = next(iter(corpora), ())
        order = list(REPRESENTATIONS)
        self.names = sorted(
            set(chain.from_iterable(r.recipe.features for r in rankers.values())),
            key=lambda name: (order.index(representation(name)), COLUMN[name]),
        )
        # The same vectors may have been cut to the words of different tasks. With the widest cut
        # for all, a pair has one set of distances.
        self.vectors = max((r.vectors for r in rankers.values()), key=lambda v: len(v.rows))
        pairs = [(q.text, c.text, c.label) for q in split for c in q.candidates]
        if pairs:  # else the base has something to say
            left, right, labels = zip(*pairs, strict=True)
            self.strips = strips(self.distances(left, right), np.array(labels, dtype=object))
            self.counts = {label: labels.count(label) for label in COLOURS}
        super().__init__(split, first=first)
        self.pick.description = self.lines.description = "Related"
        self.lines.placeholder = "one question a line; begin a line with + if it is relevant"

    def distances(self, left: Sequence[str], right: Sequence[str]) -> np.ndarray:
        """The distances of pairs of texts, `[pairs, names]`."""
        made_of = {"words": self.words, "trigrams": self.trigrams}
        return distances_by_name(self.names, (left, right), self.vectors, self.corpus, **made_of)

    def verdicts(self, table: np.ndarray, pair: int) -> dict[str, Verdict]:
        """System → verdict on a list with these distances, with parts of one pair."""
        found = {}
        for system, ranker in self.rankers.items():
            network, names = ranker.network, ranker.recipe.features
            seen = table[:, [self.names.index(name) for name in names]].astype(np.float32)
            features = torch.from_numpy(seen).to(network.mean.device)
            features = (features - network.mean) / network.deviation
            of_pair = parts(network, features[pair]).tolist()
            by_name = dict(zip(names, of_pair, strict=True))
            found[system] = Verdict(log_odds(network, features), by_name)
        return found

    def picture_of(self, question: Question, candidate: Candidate) -> str:
        """The texts, the distances with what they do in each system, and the list."""
        listed = self._in_order(question)
        pair = listed.index(candidate)
        found = self.distances([question.text] * len(listed), [c.text for c in listed])
        verdicts = self.verdicts(found, pair)
        return (
            self._texts(question, candidate)
            + self._distances(found[pair], verdicts, pair)
            + self._caption()
            + _list(listed, pair, verdicts)
        )

    def _texts(self, question: Question, candidate: Candidate) -> str:
        """Both texts with their shared words marked, and how many words there are."""
        one, other = (frozenset(WORDS[self.words](t)) for t in (question.text, candidate.text))
        both, either = one & other, one | other
        shared, known = "no word that counts, in either text", "–"
        if either:
            shared = f"{len(both)} of {len(either)} different words that count"
            shared += f" (Jaccard {number(len(both) / len(either))})"
            shared += f": {_words(both)}" if both else ""
            known = f"for all {len(either)} words"
        if unknown := frozenset(word for word in either if word not in self.vectors):
            known = f"none for {len(unknown)} of {len(either)} words, which count as zeros"
            known += f" in the mean: {_words(unknown)}"
        style = "max-height:11em;overflow:auto;overflow-wrap:anywhere"
        marks = (
            f'<div style="{style}">{marked(t.text, both)}</div>' for t in (question, candidate)
        )
        heads = ("original", KINDS[candidate.label], "shared words", "word vectors")
        cells = (*marks, escape(shared), escape(known))
        rows = zip((f"<b>{h.replace(' ', '&nbsp;')}</b>" for h in heads), cells, strict=True)
        return table(["", ""], rows)

    def _distances(self, values: np.ndarray, verdicts: Mapping[str, Verdict], pair: int) -> str:
        """A line for each distance: where the pair's is among all, and its part in each system."""
        above, below = (f'<b style="color:{COLOURS[label]}">■</b>' for label in (1, 0))
        among = (
            "Each distance among those of the split's pairs"
            f"<br><small>{above} above: {self.counts[1]} relevant pairs"
            f"<br>{below} below: {self.counts[0]} irrelevant pairs<br>┃ this pair</small>"
        )
        head = ["", "", "", among, ""]
        for name, verdict in verdicts.items():
            place = f"place {verdict.place(pair)} of {len(verdict.odds)}"
            told = f"P(relevant) {number(verdict.probability(pair))}<br>{place}"
            told += f"<br>log odds {number(verdict.odds[pair], '+')}<br>against | for"
            head.append(f"{escape(name)}<br><small>{told}</small>")
        largest = max(abs(part) for v in verdicts.values() for part in v.parts.values()) or 1.0
        rows, group = [], ""
        for name, strip, value in zip(self.names, self.strips, values, strict=True):
            if representation(name) != group:
                group = representation(name)
                rows.append([f"<b>{REPRESENTATIONS[group]}</b>", *[""] * (4 + len(verdicts))])
            low, high = (f'<span style="color:{GREY}">{short(end)}</span>' for end in strip[:2])
            cells = [name.split()[0], f"<b>{short(value)}</b>", low, _strip(strip, value), high]
            for verdict in verdicts.values():
                shown = "–"
                if (part := verdict.parts.get(name)) is not None:
                    shown = f"{signed_bar(part / largest)} {number(part, '+')}"
                cells.append(f'<span style="white-space:nowrap">{shown}</span>')
            rows.append(cells)
        return table(head, rows)

    def _caption(self) -> str:
        made = {"all": "all words", "content": "words other than stop words"}
        grams = {"characters": "three characters of one", "words": "three words"}
        idf = "; idf is that of the training pairs" if is_tfidf(self.names) else ""
        return (
            "<p><small>On the left, the distances of this pair (┃, with an arrow where it lies "
            "beyond the strip) among those of the split's relevant pairs (above the line) and "
            "irrelevant ones (below). Each side is as high as its own peak; the last bins hold the "
            f"outermost hundredth. Of words count {made[self.words]}, trigrams are "
            f"{grams[self.trigrams]} in a row{idf}. Jaccard is a similarity: the more, "
            "the closer.<br>On the right, what each distance does to a system's log odds: how much "
            "higher they are than with this one alone set to its mean in training (–: the system "
            "does not see it). These parts need not add up, because the network is not linear."
            "</small></p>"
        )


def _strip(strip: Strip, value: float) -> str:
    """The histograms of relevant pairs (above) and others (below), and where this pair is."""
    width, half = 220, 12
    edges = np.linspace(0, width, BINS + 1).repeat(2)
    shapes = []
    for label, side in ((1, -1), (0, 1)):
        tops = half + side * half * np.concatenate([[0], strip.heights[label].repeat(2), [0]])
        path = " ".join(f"{x:.0f},{y:.1f}" for x, y in zip(edges, tops, strict=True))
        shapes.append(f"<polygon points='{path}' fill='{COLOURS[label]}'/>")
    across = (value - strip.low) / (strip.high - strip.low)
    x = min(max(across, 0), 1) * (width - 2) + 1
    shapes.append(svg.line([(0, half), (width, half)], GREY, 1))
    shapes.append(svg.line([(x, 0), (x, 2 * half)], INK, 2.5))
    if not 0 <= across <= 1:  # further out than the strip goes: an arrow
        back = x + (5 if across < 0 else -5)
        shapes.append(svg.line([(back, half - 5), (x, half), (back, half + 5)], INK, 2))
    told = (
        f"this pair's {short(value)}, where most are from {short(strip.low)} to {short(strip.high)}"
    )
    return svg.picture(shapes, width, 2 * half, told)


def marked(text: str, shared: frozenset[str]) -> str:
    """Escaped text in which the tokens that are `shared` stand out."""
    text = text.replace("\u00ad", "")  # as `tokenize` does
    lower, pieces, done = text.lower(), [], 0
    if len(lower) != len(text):  # some capitals have more than one small letter
        text = lower
    for token in tokenize(text):
        start = lower.find(token, done)
        # Tokens of quotation marks are written otherwise than in the text.
        if start >= 0:
            end = start + len(token)
            pieces.append(escape(text[done:start]))
            word = text[start:end]
            pieces.append(f"<b>{shade(word, 0.45)}</b>" if token in shared else escape(word))
            done = end
    return "".join(pieces) + escape(text[done:])


def _words(found: frozenset[str]) -> str:
    left = len(found) - LISTED
    return ", ".join(sorted(found)[:LISTED]) + (f" and {left} more" if left > 0 else "")


def _list(listed: list[Candidate], pair: int, verdicts: Mapping[str, Verdict]) -> str:
    """The list as it was found: each one's label, and its place and probability by each system."""
    rows = []
    for i, candidate in enumerate(listed):
        if i >= PLACES and candidate.label != 1 and i != pair:
            continue
        cells = []
        for verdict in verdicts.values():
            place, p = verdict.place(i), number(verdict.probability(i))
            shown = f"{shade(str(place), 1 / place)} <small>{p}</small>"
            cells.append(f'<span style="white-space:nowrap">{shown}</span>')
        text = escape(cut(candidate.text, CUT))
        text = f"<b>▶ {text}</b>" if i == pair else text
        text = f'<div style="min-width:14em;overflow-wrap:anywhere">{text}</div>'
        rows.append([f"{i + 1}", KINDS[candidate.label].replace(" ", "&nbsp;"), *cells, text])
    left = len(listed) - len(rows)
    more = f"<p><small>{left} irrelevant ones left out.</small></p>" if left else ""
    head = ["found", "", *(escape(name) for name in verdicts), "question"]
    style = "text-align:left;font-weight:bold;padding-top:8px"
    told = "The list as it was found, with place and P(relevant) by each system"
    return table(head, rows, f'<div style="{style}">{told}</div>') + more
