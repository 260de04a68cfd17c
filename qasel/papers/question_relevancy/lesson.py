"""What the notebook of paper 4 shows: ceilings, distances one by one, what the network uses."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from qasel.datasets.base import Split
from qasel.evaluation import Run, evaluate
from qasel.figures.style import BLUE, GREY, VERMILLION, HouseFigure, house_style, new_figure
from qasel.papers import lesson as shared
from qasel.papers.question_relevancy.explorer import violins
from qasel.papers.question_relevancy.ranker import RelevancyRanker, sides_of
from qasel.papers.question_relevancy.recipes import FOURTEEN, PAPER, RelevancyRecipe
from qasel.text import Vectors
from qasel.text.features.distances import distances_by_name

chosen_recipes = partial(shared.chosen_recipes, PAPER)


def ceiling(split: Split) -> float:
    """The MAP of a perfect ranking: below 1 where lists have nothing relevant."""
    perfect = Run.from_scores(split, [question.labels for question in split])
    with np.errstate(all="ignore"):
        return evaluate(perfect, split, "semeval").map


def distances_of(
    split: Split, train: Split, vectors: Vectors, recipe: RelevancyRecipe
) -> pd.DataFrame:
    """The fourteen distances, a line per pair of a split, with the idf of `train`."""
    made_of = {"words": recipe.words, "trigrams": recipe.trigrams}
    table = distances_by_name(FOURTEEN, sides_of(split), vectors, tuple(train.texts), **made_of)
    return pd.DataFrame(table, columns=FOURTEEN)


@house_style
def seen_by_each(split: Split, distances: pd.DataFrame) -> HouseFigure:
    """How each distance, standardised, is spread over relevant and over irrelevant pairs."""
    figure = new_figure(8.0, 6.6)
    labels = [candidate.label for question in split for candidate in question.candidates]
    violins(figure.subplots(), (distances - distances.mean()) / distances.std(), labels)
    figure.suptitle("Fourteen ways to see a pair")
    return figure


def alone(split: Split, distances: pd.DataFrame) -> pd.Series:
    """MAP of each distance as a ranker of its own: near is relevant (Jaccard: large is)."""
    ends = np.cumsum([len(question.candidates) for question in split])[:-1]
    scores = {}
    for name, column in distances.items():
        near = column if name.startswith("jaccard") else -column
        run = Run.from_scores(split, np.split(near.to_numpy(), ends), name)
        scores[name] = evaluate(run, split).map
    return pd.Series(scores)


@house_style
def map_of_each(scores: pd.Series, lines: Mapping[str, float]) -> HouseFigure:
    """MAP of each distance alone, and dashed lines at the MAP of other rankings."""
    figure = new_figure(8.0, 5.2)
    axes = figure.subplots()
    shades = {"embedding": BLUE, "unigram": VERMILLION, "trigram": GREY}
    scores = scores.sort_values()
    axes.barh(scores.index, scores, color=[shades[name.split()[-1]] for name in scores.index])
    for name, score in lines.items():
        axes.axvline(score, color=GREY, linestyle="--", linewidth=1.2)
        axes.text(score, len(scores) - 0.4, name, color=GREY, fontsize=10, rotation=30)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("MAP")
    return figure


def decomposed(ranker: RelevancyRanker, split: Split) -> pd.Series:
    """MAP lost on a split when one distance is held at its mean, by distance."""
    pairs = ranker.encode(split)
    whole, lost = evaluate(ranker.run_of(pairs, split), split).map, {}
    for column, name in enumerate(ranker.recipe.features):
        held = pairs.features.clone()
        held[:, column] = 0
        run = ranker.run_of(replace(pairs, features=held), split)
        lost[name] = whole - evaluate(run, split).map
    return pd.Series(lost).sort_values(ascending=False)
