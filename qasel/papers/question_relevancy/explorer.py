"""What systems that know a pair by its distances make of it (paper 4), and why: no drawing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from textwrap import wrap
from typing import Any, Protocol

import numpy as np
import torch
from scipy.special import expit
from torch import Tensor

from qasel.datasets.base import Candidate, Question, Split
from qasel.errors import QaselError
from qasel.papers.ms_ranker.explorer import PALE, number
from qasel.text import Vectors, tokenize
from qasel.text.features.distances import COLUMN, WORDS, distances_by_name, is_tfidf
from qasel.widgets import svg
from qasel.widgets.base import BLUE, GREY, INK, VERMILLION, CandidateExplorer, escape, shade, table

REPRESENTATIONS = {
    "embedding": "Mean of the word vectors",
    "unigram": "Set of words",
    "tf-idf unigram": "Words, weighted by tf-idf",
    "tf-idf trigram": "Trigrams, weighted by tf-idf",
    "trigram": "Set of trigrams",
}
"""What a distance compares, the end of its name → a title, in the order of showing."""


def representation(name: str) -> str:
    """What a distance compares."""
    return name.partition(" ")[2]


class KnowsDistances(Protocol):
    """A trained ranker whose network sees distances of two texts, and nothing else of them.

    `recipe` has the `features` (names of distances) that the network sees, the `words` and
    `trigrams` they are made of, and `lstm_layers`; the network has their `mean` and `deviation`.
    `corpus` are the texts that idf is counted in, if a distance needs it.
    """

    recipe: Any
    vectors: Vectors
    corpus: Sequence[str]
    network: Any


@dataclass(frozen=True)
class Known:
    """All that such a network reads of pairs: standardised distances `[pairs, features]`."""

    features: Tensor


@torch.inference_mode()
def log_odds(network: Any, features: Tensor) -> np.ndarray:
    """Log odds of "relevant" `[pairs]` by standardised distances `[pairs, features]`."""
    network.eval()
    log_p = network(Known(features))
    return (log_p[:, 1] - log_p[:, 0]).double().cpu().numpy()


def parts(network: Any, features: Tensor) -> np.ndarray:
    """What each standardised distance `[features]` of a pair does to its log odds, `[features]`.

    Log odds as they are, less those with this one distance at its mean in training, 0. The parts
    of a network that is not linear need not add up to anything.
    """
    changed = features.repeat(len(features), 1).fill_diagonal_(0)
    return log_odds(network, features[None]) - log_odds(network, changed)


@dataclass(frozen=True)
class Verdict:
    """What a system makes of a list: `odds` `[pairs]`, log odds; of one pair, `parts`.

    `parts` is distance → part, for the distances that the system sees.
    """

    odds: np.ndarray
    parts: Mapping[str, float]

    def probability(self, pair: int) -> float:
        """The probability that a pair of the list is relevant."""
        return float(expit(self.odds[pair]))

    def place(self, pair: int) -> int:
        """A pair's place in the list, from 1; ties stay in the list's order."""
        return int(np.argsort(-self.odds, kind="stable").tolist().index(pair)) + 1


@dataclass(frozen=True)
class Wording:
    """The different words of two texts that count: those shared, all, and those without vector."""

    shared: frozenset[str]
    all: frozenset[str]
    unknown: frozenset[str]


class Systems:
    """Rankers by name that read the same distances, or some of them.

    `names` are the distances that any of them sees. Raises `QaselError` when there is no ranker,
    when one is not trained or reads anything but distances, and when they read different ones.
    """

    def __init__(self, rankers: Mapping[str, KnowsDistances]) -> None:
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

    def distances(self, left: Sequence[str], right: Sequence[str]) -> np.ndarray:
        """The distances of pairs of texts, `[pairs, names]`."""
        return distances_by_name(
            self.names,
            (left, right),
            self.vectors,
            self.corpus,
            words=self.words,
            trigrams=self.trigrams,
        )

    def verdicts(self, table: np.ndarray, pair: int) -> dict[str, Verdict]:
        """System → verdict on a list with these distances, with parts of one pair."""
        column = {name: column for column, name in enumerate(self.names)}
        return {
            system: _verdict(
                ranker, table[:, [column[name] for name in ranker.recipe.features]], pair
            )
            for system, ranker in self.rankers.items()
        }

    def tokens(self, text: str) -> tuple[str, ...]:
        """The words of a text that count."""
        return WORDS[self.words](text)

    def wording(self, left: str, right: str) -> Wording:
        """The words of two texts."""
        one, other = frozenset(self.tokens(left)), frozenset(self.tokens(right))
        unknown = frozenset(word for word in one | other if word not in self.vectors)
        return Wording(one & other, one | other, unknown)


def _verdict(ranker: KnowsDistances, seen: np.ndarray, pair: int) -> Verdict:
    """Of a list by the distances that a ranker sees, `[pairs, features]`."""
    network = ranker.network
    features = torch.from_numpy(seen.astype(np.float32)).to(network.mean.device)
    features = (features - network.mean) / network.deviation
    found = parts(network, features[pair]).tolist()
    return Verdict(
        log_odds(network, features), dict(zip(ranker.recipe.features, found, strict=True))
    )


COLOURS = {1: BLUE, 0: VERMILLION}
BINS, OUTER = 30, 0.01
"""Bins of a strip, and the share of the pairs on either side that lie in its last bins."""
VALUE, LEFT, RIGHT, SYSTEMS, BAND, LEAST = 162, 218, 440, 492, 400, 136
"""Pixels across: end of the value, edges of a strip, start of the systems' columns, their width
together, and the least width of one."""
HEAD, TITLE, ROW, HALF, NUMBER = 118, 28, 34, 14, 46
"""Pixels down: the head, a group's title, a line, half a strip; and across, the part's number."""


@dataclass(frozen=True)
class Strip:
    """How one distance spreads over pairs: label → heights of bins from `low` to `high`."""

    low: float
    high: float
    heights: Mapping[int, np.ndarray]

    def across(self, value: float) -> float:
        """Where a value lies, from 0 at `low` to 1 at `high`; outside them if beyond."""
        return (value - self.low) / (self.high - self.low)


def strips(table: np.ndarray, labels: np.ndarray) -> list[Strip]:
    """A strip for each distance of labelled pairs `[pairs, distances]`; the highest bins are 1."""
    found = []
    for column in table.T:
        low, high = np.quantile(column, (OUTER, 1 - OUTER))
        if high - low < 1e-9:
            low, high = low - 0.5, high + 0.5
        within = column.clip(low, high)
        heights = {}
        for label in COLOURS:
            counts, _ = np.histogram(within[labels == label], BINS, (low, high))
            heights[label] = counts / max(counts.max(), 1)
        found.append(Strip(float(low), float(high), heights))
    return found


def drawing(
    names: Sequence[str],
    spread: Sequence[Strip],
    counts: Mapping[int, int],
    values: Sequence[float],
    verdicts: Mapping[str, Verdict],
    pair: int,
) -> str:
    """Strips, values and parts of one pair of a list, a line for each of the distances `names`.

    `counts` are the split's pairs by label.
    """
    wide = max(LEAST, BAND / len(verdicts))
    largest = max(abs(part) for verdict in verdicts.values() for part in verdict.parts.values())
    shapes, y = _legend(counts), float(HEAD)
    columns = [(name, v, SYSTEMS + i * wide) for i, (name, v) in enumerate(verdicts.items())]
    for name, verdict, x in columns:
        shapes += _heading(name, verdict, pair, x, wide)
    group, told = "", []
    for name, strip, value in zip(names, spread, values, strict=True):
        if representation(name) != group:
            group = representation(name)
            shapes.append(svg.line([(8, y), (SYSTEMS + wide * len(columns), y)], PALE, 1))
            shapes.append(
                svg.text((8, y + 18), REPRESENTATIONS[group], INK, 12, "start", bold=True)
            )
            y += TITLE
        middle = y + ROW / 2
        shapes.append(svg.text((16, middle + 4), name.split()[0], INK, 12, "start"))
        shapes.append(svg.text((VALUE, middle + 4), short(value), INK, 12, "end", bold=True))
        shapes += _strip(strip, value, middle)
        for _, verdict, x in columns:
            shapes += _bar(verdict.parts.get(name), largest, x, wide, middle)
        found = (f"{system} {_part(verdict.parts.get(name))}" for system, verdict, _ in columns)
        told.append(f"{name} {short(value)} ({', '.join(found)})")
        y += ROW
    for _, _, x in columns:
        axis = x + (wide - NUMBER) / 2
        shapes.insert(0, svg.line([(axis, HEAD - 14), (axis, y)], PALE, 1))
    label = "Distances of this pair, and their parts in each system: " + "; ".join(told)
    return svg.picture(shapes, SYSTEMS + wide * len(columns) + 4, y + 6, label)


def short(value: float) -> str:
    """Three digits, more only before the point, and a real minus sign."""
    told = f"{value:.0f}" if abs(value) >= 100 else f"{value + 0.0:.3g}"
    return told.replace("-", "−")


def _part(part: float | None) -> str:
    return "–" if part is None else number(part, "+")


def _legend(counts: Mapping[int, int]) -> list[str]:
    title = "Each distance among those of the split's pairs"
    shapes = [svg.text((8, 30), title, INK, 12, "start", bold=True)]
    lines = {1: f"above: {counts[1]} relevant pairs", 0: f"below: {counts[0]} irrelevant pairs"}
    for y, (label, told) in zip((50, 68), lines.items(), strict=True):
        shapes.append(svg.line([(20, y - 4), (34, y - 4)], COLOURS[label], 10))
        shapes.append(svg.text((42, y), told, INK, 11, "start"))
    shapes.append(svg.line([(27, 76), (27, 90)], INK, 2.5))
    return [*shapes, svg.text((42, 87), "this pair", INK, 11, "start")]


def _heading(name: str, verdict: Verdict, pair: int, x: float, wide: float) -> list[str]:
    """A system's name, and what it makes of the pair."""
    middle = x + (wide - NUMBER) / 2
    names = wrap(name, int(wide / 8), max_lines=2, placeholder="…")
    lines = [
        f"P(relevant) {number(verdict.probability(pair))}",
        f"place {verdict.place(pair)} of {len(verdict.odds)}",
        f"log odds {number(verdict.odds[pair], '+')}",
    ]
    shapes = [
        svg.text((middle, y), told, INK, 12, bold=True)
        for y, told in zip((30, 15), reversed(names), strict=False)
    ]
    for y, told in zip((50, 68, 87), lines, strict=True):
        shapes.append(svg.text((middle, y), told, INK, 11))
    shapes.append(svg.text((middle - 8, HEAD - 8), "against", GREY, 10, "end"))
    return [*shapes, svg.text((middle + 8, HEAD - 8), "for", GREY, 10, "start")]


def _strip(strip: Strip, value: float, middle: float) -> list[str]:
    """Relevant pairs above the line and irrelevant ones below it; the pair's own value."""
    shapes = []
    for label, side in ((1, -1), (0, 1)):
        shapes.append(_area(strip.heights[label], middle, side * HALF, COLOURS[label]))
    shapes.append(svg.line([(LEFT, middle), (RIGHT, middle)], GREY, 1))
    shapes.append(svg.text((LEFT - 6, middle + 4), short(strip.low), GREY, 10, "end"))
    shapes.append(svg.text((RIGHT + 6, middle + 4), short(strip.high), GREY, 10, "start"))
    across = strip.across(value)
    x = LEFT + min(max(across, 0), 1) * (RIGHT - LEFT)
    shapes.append(svg.line([(x, middle - HALF - 1), (x, middle + HALF + 1)], INK, 2.5))
    if not 0 <= across <= 1:  # further out than the strip goes: an arrow
        back = x + (5 if across < 0 else -5)
        shapes.append(svg.line([(back, middle - 5), (x, middle), (back, middle + 5)], INK, 2))
    return shapes


def _area(heights: np.ndarray, floor: float, height: float, colour: str) -> str:
    """A histogram between the edges of the strip, filled."""
    edges = np.linspace(LEFT, RIGHT, len(heights) + 1).repeat(2)
    ends = floor + height * np.concatenate([[0], heights.repeat(2), [0]])
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(edges, ends, strict=True))
    return f"<polygon points='{path}' fill='{colour}'/>"


def _bar(part: float | None, largest: float, x: float, wide: float, middle: float) -> list[str]:
    """A part from the axis to the left (against) or to the right (for), and its number."""
    half = (wide - NUMBER) / 2
    shapes = [svg.text((x + wide - 8, middle + 4), _part(part), INK if part else GREY, 11, "end")]
    if part:
        end = x + half + part / largest * (half - 8)
        shapes.append(svg.line([(x + half, middle), (end, middle)], COLOURS[int(part > 0)], 12))
    return shapes


KINDS = {1: "✓ relevant", 0: "✗ irrelevant", None: "? not known"}
PLACES, CUT, LISTED = 12, 160, 40
"""Places of a long list, characters of a text in it, and words in a row that are shown."""


class DistanceExplorer(CandidateExplorer):
    """A question and a related one, picked or typed: their distances, and each system's view.

    `rankers` are trained, by name, and know a pair by its distances alone
    (`qasel.papers.question_relevancy.RelevancyRanker` without a BiLSTM). The distances of the
    pair are shown among those of all pairs of `split`. `first` is the id of the question shown
    at the start. Raises `QaselError` for rankers that do not fit and a split without questions.
    """

    def __init__(
        self, rankers: Mapping[str, KnowsDistances], split: Split, first: str | None = None
    ) -> None:
        self.systems = Systems(rankers)
        pairs = [
            (question.text, c.text, c.label) for question in split for c in question.candidates
        ]
        if pairs:  # else the base has something to say
            left, right, labels = zip(*pairs, strict=True)
            self.strips = strips(
                self.systems.distances(left, right), np.array(labels, dtype=object)
            )
            self.counts = {label: labels.count(label) for label in (0, 1)}
        super().__init__(split, first=first)
        self.pick.description = self.lines.description = "Related"
        self.lines.placeholder = "one question a line; begin a line with + if it is relevant"

    def picture_of(self, question: Question, candidate: Candidate) -> str:
        """The texts, the distances with what they do in each system, and the list."""
        listed = self._in_order(question)
        pair = listed.index(candidate)
        found = self.systems.distances([question.text] * len(listed), [c.text for c in listed])
        verdicts = self.systems.verdicts(found, pair)
        return (
            self._texts(question, candidate)
            + drawing(self.systems.names, self.strips, self.counts, found[pair], verdicts, pair)
            + self._caption()
            + _list(listed, pair, verdicts)
        )

    def _texts(self, question: Question, candidate: Candidate) -> str:
        """Both texts with their shared words marked, and how many words there are."""
        wording = self.systems.wording(question.text, candidate.text)
        texts = [marked(text, wording.shared) for text in (question.text, candidate.text)]
        style = "max-height:11em;overflow:auto;overflow-wrap:anywhere"
        heads = ["original", KINDS[candidate.label].replace(" ", "&nbsp;")]
        rows = [
            [f"<b>{head}</b>", f'<div style="{style}">{text}</div>']
            for head, text in zip(heads, texts, strict=True)
        ]
        told = [
            ("shared&nbsp;words", _shared(wording)),
            ("word&nbsp;vectors", _vectors(wording)),
        ]
        rows += [[f"<b>{head}</b>", escape(line)] for head, line in told]
        return table(["", ""], rows)

    def _caption(self) -> str:
        made = {"all": "all words", "content": "words other than stop words"}
        grams = {"characters": "three characters of one", "words": "three words"}
        idf = "; idf is that of the training pairs" if is_tfidf(self.systems.names) else ""
        return (
            "<p><small>On the left, the distances of this pair (┃, with an arrow where it lies "
            "beyond the strip) among those of the split's relevant pairs (above the line) and "
            "irrelevant ones (below). Each side is as high as its own peak; the last bins hold the "
            f"outermost hundredth. Of words count {made[self.systems.words]}, trigrams are "
            f"{grams[self.systems.trigrams]} in a row{idf}. Jaccard is a similarity: the more, "
            "the closer.<br>On the right, what each distance does to a system's log odds: how much "
            "higher they are than with this one alone set to its mean in training (–: the system "
            "does not see it). These parts need not add up, because the network is not linear."
            "</small></p>"
        )


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


def _shared(wording: Wording) -> str:
    """The words that both texts have: what the Jaccard index of words counts."""
    if not wording.all:
        return "no word that counts, in either text"
    told = f"{len(wording.shared)} of {len(wording.all)} different words that count"
    told += f" (Jaccard {number(len(wording.shared) / len(wording.all))})"
    return told + (f": {_words(wording.shared)}" if wording.shared else "")


def _vectors(wording: Wording) -> str:
    """How many words the mean of word vectors knows nothing of."""
    if not wording.unknown:
        return f"for all {len(wording.all)} words" if wording.all else "–"
    told = f"none for {len(wording.unknown)} of {len(wording.all)} words, which count as zeros"
    return f"{told} in the mean: {_words(wording.unknown)}"


def _words(found: frozenset[str]) -> str:
    left = len(found) - LISTED
    return ", ".join(sorted(found)[:LISTED]) + (f" and {left} more" if left > 0 else "")


def _list(listed: list[Candidate], pair: int, verdicts: Mapping[str, Verdict]) -> str:
    """The list as it was found: each one's label, and its place and probability by each system."""
    head = ["found", "", *(escape(name) for name in verdicts), "question"]
    rows = []
    for i, candidate in enumerate(listed):
        if i >= PLACES and candidate.label != 1 and i != pair:
            continue
        cells = [_cell(verdict, i) for verdict in verdicts.values()]
        text = candidate.text if len(candidate.text) <= CUT else f"{candidate.text[:CUT]} …"
        text = f"<b>▶ {escape(text)}</b>" if i == pair else escape(text)
        text = f'<div style="min-width:14em;overflow-wrap:anywhere">{text}</div>'
        rows.append([f"{i + 1}", KINDS[candidate.label].replace(" ", "&nbsp;"), *cells, text])
    left = len(listed) - len(rows)
    more = f"<p><small>{left} irrelevant ones left out.</small></p>" if left else ""
    style = "text-align:left;font-weight:bold;padding-top:8px"
    told = "The list as it was found, with place and P(relevant) by each system"
    return table(head, rows, f'<div style="{style}">{told}</div>') + more


def _cell(verdict: Verdict, pair: int) -> str:
    place = verdict.place(pair)
    told = f"{shade(str(place), 1 / place)} <small>{number(verdict.probability(pair))}</small>"
    return f'<span style="white-space:nowrap">{told}</span>'
