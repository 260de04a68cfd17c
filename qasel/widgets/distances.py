"""What systems make of two questions that they know by their distances (paper 4)."""

from collections.abc import Mapping

import numpy as np

from qasel.datasets.base import Candidate, Question, Split
from qasel.text import tokenize
from qasel.text.features.by_name import is_tfidf
from qasel.widgets.base import escape, shade, table
from qasel.widgets.candidates import CandidateExplorer
from qasel.widgets.distances_drawing import drawing, strips
from qasel.widgets.distances_parts import KnowsDistances, Systems, Verdict, Wording
from qasel.widgets.evidence_drawing import number

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
