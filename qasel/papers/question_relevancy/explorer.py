"""The explorer of paper 4: a pair's distances, and the effect of each on each system's score."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import pandas as pd
import seaborn
import torch
from matplotlib.axes import Axes
from scipy.special import expit
from torch import Tensor

from qasel.datasets.base import Candidate, Question, Split
from qasel.errors import QaselError
from qasel.figures.style import BLUE, INK, VERMILLION, embedded, house_style, new_figure
from qasel.papers.question_relevancy.model import Pairs
from qasel.papers.question_relevancy.ranker import RelevancyRanker, sides_of
from qasel.rankers import FileOrder
from qasel.text.features.distances import WORDS, is_tfidf
from qasel.widgets.base import CandidateExplorer, cut, escape, number, short, table, words
from qasel.widgets.ranking import rankings

KINDS = {1: "✓ relevant", 0: "✗ non-relevant", None: "? not known"}
COLOURS = {"relevant": BLUE, "non-relevant": VERMILLION}
WIDEST = 4.0  # standard deviations from the mean to which figures extend
LONG, LISTED = 2000, 40
"""Maximum numbers of characters shown of a text and of words in a list."""


class DistanceExplorer(CandidateExplorer):
    """A question and a related one, picked or typed: their distances, and each system's view.

    `rankers` are trained rankers by name; `first` is the id of the question shown at the start.
    Raises `QaselError` for a split without questions, for no ranker or an untrained one, and if
    rankers compute distances from different words, vectors or texts.
    """

    def __init__(
        self, rankers: Mapping[str, RelevancyRanker], split: Split, first: str | None = None
    ) -> None:
        if not rankers:
            raise QaselError("no ranker to explore; give one")
        for ranker in rankers.values():
            ranker.require_trained(hasattr(ranker, "network"))
        every = list(rankers.values())
        sources = {(r.recipe.words, r.recipe.trigrams, r.vectors.name) for r in every}
        corpora = {r.corpus for r in every if is_tfidf(r.recipe.features)}
        if len(sources) > 1 or len(corpora) > 1:
            read = "different distances (words, trigrams, idf or vectors)"
            raise QaselError(f"the systems read {read}; explore them apart")
        self.rankers = dict(rankers)
        self.words_of = WORDS[every[0].recipe.words]
        super().__init__(split, first=first)
        self.picks[0].description = self.lines.description = "Related"
        self.lines.placeholder = "one question a line; begin a line with + if it is relevant"

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """The distances of all pairs of the split, standardised as the systems read them."""
        return self._by_name(lambda ranker: ranker.encode(self.split).features)

    def _by_name(self, features: Callable[[RelevancyRanker], Tensor]) -> pd.DataFrame:
        """Return features `[pairs, features]` of all systems; shared ones are the first one's."""
        every = self.rankers.values()
        frames = [pd.DataFrame(features(r).cpu(), columns=r.recipe.features) for r in every]
        table = pd.concat(frames, axis=1)
        return table.loc[:, ~table.columns.duplicated()]

    def picture_of(self, question: Question, candidate: Candidate) -> str:
        """Return the texts, the distances with their effects in each system, and the rankings."""
        asked = Split(self.split.name, (question,))
        place = question.candidates.index(candidate)
        values = self._by_name(lambda ranker: ranker.features(sides_of(asked)))
        encoded = {ranker: ranker.encode(asked) for ranker in self.rankers.values()}
        at = self._by_name(lambda ranker: encoded[ranker].features)
        runs, views, effects = {"as found": FileOrder().rank(asked)}, {}, {}
        for name, ranker in self.rankers.items():
            pairs = encoded[ranker]
            odds = ranker.log_odds(pairs)[place]
            runs[name] = ranker.run_of(pairs, asked)
            rank = runs[name].ranking(question.id).index(candidate.id) + 1
            chance = f"P(relevant) {number(expit(odds))}, log odds {number(odds, '+')}"
            views[name] = f"{chance}, place {rank} of {len(question.candidates)}"
            effects[name] = parts(ranker, pairs.of(torch.tensor([place], device=ranker.device)))
        drawing = self._drawing(values.iloc[place], at.iloc[place], pd.DataFrame(effects))
        texts = self._texts(question, candidate, views)
        return texts + drawing + CAPTION + rankings(question, runs)

    def _texts(self, question: Question, candidate: Candidate, views: Mapping[str, str]) -> str:
        """Return both texts with their shared words marked, counts of words, and the scores."""
        one, other = (frozenset(self.words_of(t.text)) for t in (question, candidate))
        both, either = one & other, one | other
        shared, known = "no word that counts, in either text", "–"
        if either:
            shared = f"{len(both)} of {len(either)} different words that count"
            shared += f" (Jaccard {number(len(both) / len(either))})"
            shared += f": {_listed(both)}" if both else ""
            known = f"for all {len(either)} words"
        vectors = [ranker.vectors for ranker in self.rankers.values()]
        if unknown := {word for word in either if not any(word in v for v in vectors)}:
            known = f"none for {len(unknown)} of {len(either)} words, which count as zeros"
            known += f" in the mean: {_listed(unknown)}"
        marked = (
            words(cut(t.text, LONG), lambda word: not both.isdisjoint(self.words_of(word)))
            for t in (question, candidate)
        )
        heads = ("original", KINDS[candidate.label], "shared words", "word vectors", *views)
        cells = (*marked, *map(escape, (shared, known, *views.values())))
        return table(["", ""], zip((f"<b>{escape(h)}</b>" for h in heads), cells, strict=True))

    @house_style
    def _drawing(self, values: pd.Series, at: pd.Series, effects: pd.DataFrame) -> str:
        """Draw a pair's distances `at` their places among all, and each system's effects."""
        figure = new_figure(5.6 + 2.2 * len(effects.columns), 1.3 + 0.4 * len(at))
        widths = [2.2, *[1] * len(effects.columns)]
        left, *others = figure.subplots(1, len(widths), sharey=True, width_ratios=widths)
        labels = [candidate.label for question in self.split for candidate in question.candidates]
        violins(left, self.pairs, labels)
        y, names = np.arange(len(at)), [f"{name}  {short(v)}" for name, v in values.items()]
        left.plot(at.clip(-WIDEST, WIDEST), y, "|", color=INK, markersize=20, markeredgewidth=3)
        left.set_yticks(y, names)
        widest = 2 * max(effects.abs().max(axis=None), 1e-6)  # leaves room for the numbers
        for axes, (system, column) in zip(others, effects.reindex(at.index).items(), strict=True):
            colours = np.where(column > 0, BLUE, VERMILLION)
            bars = axes.barh(y, column.fillna(0), color=colours)
            numbers = ["–" if np.isnan(part) else number(part, "+") for part in column]
            axes.bar_label(bars, numbers, padding=3, fontsize=9)
            axes.axvline(0, color=INK, linewidth=1)
            axes.tick_params(axis="y", length=0)
            axes.spines["left"].set_visible(False)
            axes.set(xlabel="part in the log odds", xlim=(-widest, widest))
            axes.set_title(system.replace(", ", ",\n"), fontsize=11)
        return embedded(figure, f"distances of this pair: {', '.join(names)}")


CAPTION = (
    "<p><small>Left: the distances of this pair (black marks) among those of the split's relevant "
    "and non-relevant pairs, in standard deviations from the mean in training, cut at "
    f"{WIDEST:g}. Jaccard is a similarity: the larger, the closer. Right: how much higher a "
    "system's log odds are than with this one distance at its mean (–: the system does not see "
    "it). These parts need not add up, because the network is not linear.</small></p>"
)


def parts(ranker: RelevancyRanker, pair: Pairs) -> pd.Series:
    """Return the effect of each distance of a pair on its log odds, by name.

    This is the log odds less those with this one distance at its mean in training, 0.
    """
    names = ranker.recipe.features
    copies = pair.of(torch.zeros(len(names), dtype=torch.long, device=ranker.device))
    held = replace(copies, features=copies.features.fill_diagonal_(0))
    return pd.Series(ranker.log_odds(pair) - ranker.log_odds(held), names)


def violins(axes: Axes, distances: pd.DataFrame, labels: Sequence[int | None]) -> None:
    """Draw how each distance is distributed over relevant (above) and non-relevant pairs (below).

    `distances` are standardised, one row per pair and one column per distance.
    """
    kinds = ["relevant" if label else "non-relevant" for label in labels]
    known = [label is not None for label in labels]
    lines = distances.assign(pair=kinds)[known].melt("pair", var_name="distance")
    seaborn.violinplot(
        lines, x="value", y="distance", hue="pair", hue_order=COLOURS, palette=COLOURS,
        split=True, inner=None, density_norm="width", cut=0, linewidth=0, saturation=1, ax=axes,
    )  # fmt: skip
    axes.set(xlim=(-WIDEST, WIDEST), xlabel="standard deviations from the mean", ylabel="")
    if any(known):
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)


def _listed(found: set[str] | frozenset[str]) -> str:
    left = len(found) - LISTED
    return ", ".join(sorted(found)[:LISTED]) + (f" and {left} more" if left > 0 else "")
