"""What the notebook of paper 4 draws: distances one by one, and what the network uses."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import pandas as pd

from qasel.datasets.base import Split
from qasel.evaluation import evaluate
from qasel.figures.style import BLUE, GREY, VERMILLION, HouseFigure, house_style, new_figure
from qasel.papers import lesson as shared
from qasel.papers.question_relevancy.explorer import violins
from qasel.papers.question_relevancy.ranker import RelevancyRanker
from qasel.papers.question_relevancy.recipes import PAPER

chosen_recipes = partial(shared.chosen_recipes, PAPER)


@house_style
def seen_by_each(split: Split, distances: pd.DataFrame) -> HouseFigure:
    """How each distance, standardised, is spread over relevant and over irrelevant pairs."""
    figure = new_figure(8.0, 6.6)
    labels = [candidate.label for question in split for candidate in question.candidates]
    violins(figure.subplots(), (distances - distances.mean()) / distances.std(), labels)
    figure.suptitle("Fourteen ways to see a pair")
    return figure


@house_style
def map_of_each(scores: pd.Series, lines: Mapping[str, float]) -> HouseFigure:
    """MAP of each distance alone, and dashed lines at the MAP of other rankings."""
    figure, scores = new_figure(8.0, 5.2), scores.sort_values()
    axes = figure.subplots()
    axes.set_xlabel("MAP")
    axes.grid(visible=False, axis="y")
    shades = {"embedding": BLUE, "unigram": VERMILLION, "trigram": GREY}
    axes.barh(scores.index, scores, color=[shades[name.split()[-1]] for name in scores.index])
    for name, score in lines.items():
        axes.axvline(score, color=GREY, linestyle="--", linewidth=1.2)
        axes.text(score, len(scores) - 0.4, name, color=GREY, fontsize=10, rotation=30)
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
