"""What the notebook of paper 4 shows: distances one by one, ceilings, what the network holds."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import seaborn
import torch

from qasel.datasets import PairTask
from qasel.datasets.base import Question, Split
from qasel.evaluation import Run, evaluate
from qasel.figures.style import BLUE, GREY, VERMILLION, HouseFigure, house_style, new_figure
from qasel.papers import lesson as shared
from qasel.papers.question_relevancy.model import MAIN_TASK
from qasel.papers.question_relevancy.ranker import RelevancyRanker
from qasel.papers.question_relevancy.recipes import FOURTEEN, PAPER, RelevancyRecipe
from qasel.text import Vectors
from qasel.text.features.distances import COLUMNS, WORDS, distances_by_name
from qasel.widgets.base import cut

REPRESENTATIONS = {"MeanEmb": "mean embedding", "Unigrams": "unigrams", "Trigrams": "trigrams"}
RELEVANT = {"relevant": BLUE, "irrelevant": VERMILLION}

chosen_recipes = partial(shared.chosen_recipes, PAPER)


def found_list(question: Question, longest: int = 200) -> pd.DataFrame:
    """A question's candidates in the search engine's order, cut to be read."""
    placed = sorted(question.candidates, key=lambda candidate: candidate.place)
    rows = [(c.place + 1, "yes" if c.label else "", cut(c.text, longest)) for c in placed]
    return pd.DataFrame(rows, columns=["found", "relevant", "question"]).set_index("found")


def ceiling(split: Split) -> float:
    """The MAP of a perfect ranking: below 1 where lists have nothing relevant."""
    perfect = np.concatenate([question.labels for question in split])
    with np.errstate(all="ignore"):
        return evaluate(_run(split, perfect), split, "semeval").map


def _run(split: Split, scores: np.ndarray) -> Run:
    """The ranking by the scores of all pairs `[pairs]`."""
    ends = np.cumsum([len(question.candidates) for question in split])[:-1]
    return Run.from_scores(split, np.split(scores, ends), "scores")


def by_hand(left: str, right: str) -> pd.DataFrame:
    """The five distances of two texts' sets of words, each with the sum that it is."""
    x, y = set(left.split()), set(right.split())
    both, either = len(x & y), len(x | y)
    one = either - both
    root = (len(x) * len(y)) ** 0.5
    return pd.DataFrame(
        [
            ("cosine", f"1 − {both} / √({len(x)} · {len(y)})", 1 - both / root),
            ("Manhattan", f"{either} − {both}", one),
            ("Bhattacharyya", f"−ln {max(both, 0.5):g}", -np.log(max(both, 0.5))),
            ("Euclidean", f"√{one}", one**0.5),
            ("Jaccard", f"{both} / {either}", both / either),
        ],
        columns=["distance", "sum", "value"],
    ).set_index("distance")


def table_of(values: Sequence[float]) -> pd.DataFrame:
    """Fourteen numbers as a table: a line a distance, a column a representation."""
    frame = pd.DataFrame(
        {
            told: {FOURTEEN[column].split()[0]: values[column] for column in COLUMNS[name]}
            for name, told in REPRESENTATIONS.items()
        }
    )
    return frame.reindex(["cosine", "manhattan", "bhattacharyya", "euclidean", "jaccard"])


def trigram_weights(text: str, corpus: Iterable[str], words: str) -> pd.DataFrame:
    """The trigrams of a text, heaviest first: how often, in how many texts, idf and weight.

    As `tfidf` computes them, here one by one; `words` are those that count (see `Bags`).
    """

    def trigrams(text: str) -> list[str]:
        spaced = [f" {word} " for word in WORDS[words](text)]
        return [word[i : i + 3] for word in spaced for i in range(len(word) - 2)]

    counts, known = Counter(trigrams(text)), [set(trigrams(other)) for other in set(corpus)]
    frame = pd.DataFrame({"count": counts}).rename_axis("trigram")
    frame["texts"] = [sum(gram in grams for grams in known) for gram in frame.index]
    frame["idf"] = np.log((1 + len(known)) / (1 + frame["texts"])) + 1
    weight = frame["count"] * frame["idf"]
    frame["weight"] = weight / np.sqrt((weight**2).sum())
    frame.index = frame.index.str.replace(" ", "␣")  # else it cannot be seen
    return frame.sort_values(["weight", "trigram"], ascending=[False, True])


def distances_of(
    split: Split, train: Split, vectors: Vectors, recipe: RelevancyRecipe
) -> np.ndarray:
    """The fourteen distances of all pairs of a split, `[pairs, 14]`, with the idf of `train`."""
    left = [q.text for q in split for _ in q.candidates]
    right = [c.text for q in split for c in q.candidates]
    made_of = {"words": recipe.words, "trigrams": recipe.trigrams}
    return distances_by_name(FOURTEEN, (left, right), vectors, tuple(train.texts), **made_of)


def alone(split: Split, table: np.ndarray) -> pd.Series:
    """MAP of each distance as a ranker of its own: near is relevant (Jaccard: large is)."""
    found = {}
    for name, column in zip(FOURTEEN, table.T, strict=True):
        run = _run(split, column if name.startswith("jaccard") else -column)
        found[name] = evaluate(run, split).map
    return pd.Series(found)


@house_style
def seen_by_each(split: Split, table: np.ndarray) -> HouseFigure:
    """A panel for each distance: how it is spread over relevant and over other pairs."""
    labels = np.concatenate([question.labels for question in split])
    pairs = np.where(labels > 0, "relevant", "irrelevant")
    figure = new_figure(12.5, 6.6)
    grid = figure.subplots(3, 5)
    for axes in grid.flat:
        axes.set_axis_off()
    for line, name in zip(grid, REPRESENTATIONS, strict=True):
        for axes, column in zip(line, COLUMNS[name], strict=False):
            axes.set_axis_on()
            values = table[:, column].clip(*np.percentile(table[:, column], [1, 99]))
            style = {
                "hue": pairs,
                "hue_order": RELEVANT,
                "palette": RELEVANT,
                "element": "step",
                "alpha": 0.3,
            }
            shares = {"stat": "density", "common_norm": False, "bins": 15}
            seaborn.histplot(x=values, ax=axes, legend=column == 0, **style, **shares)
            axes.set_title(FOURTEEN[column].replace(" ", "\n", 1), fontsize=10)
            axes.set_yticks([])
            axes.grid(visible=False)
            axes.set_ylabel("share of pairs" if axes is line[0] else "", fontsize=10)
            axes.locator_params(axis="x", nbins=4)
    legend = grid[0][0].get_legend()
    figure.legend(legend.legend_handles, RELEVANT, loc="outside lower center", ncols=2)
    legend.remove()
    figure.suptitle("Fourteen ways to see a pair")
    return figure


@house_style
def map_of_each(found: Mapping[str, pd.Series]) -> HouseFigure:
    """MAP of each distance alone; lines for what the whole ranking is compared with."""
    order = found["distances"].sort_values()
    figure = new_figure(8.0, 5.2)
    axes = figure.subplots()
    shades = {"embedding": BLUE, "unigram": VERMILLION, "trigram": GREY}
    colours = [shades[name.split()[-1]] for name in order.index]
    axes.barh(order.index, order, color=colours, height=0.7)
    axes.grid(visible=False, axis="y")
    for name, score in found["lines"].items():
        axes.axvline(score, color=GREY, linestyle="--", linewidth=1.2)
        text: dict[str, Any] = {"color": GREY, "fontsize": 10, "rotation": 30, "va": "bottom"}
        axes.annotate(f" {name}", (score, len(order) - 0.4), **text)
    axes.set_xlabel("MAP")
    return figure


def task_examples(task: PairTask, each: int = 1, longest: int = 90) -> pd.DataFrame:
    """The first pairs of each class of a task, cut to be read."""
    lines = []
    for number, label in enumerate(task.labels):
        chosen = [pair for pair in task.pairs if pair.label == number][:each]
        lines += [(label, cut(pair.left, longest), cut(pair.right, longest)) for pair in chosen]
    return pd.DataFrame(lines, columns=["label", "left", "right"]).set_index("label")


def shapes(ranker: RelevancyRanker) -> pd.DataFrame:
    """The weights of a network, one a line."""
    return shared.shapes(**dict(ranker.network.named_parameters()))


@torch.inference_mode()
def decomposed(ranker: RelevancyRanker, split: Split) -> pd.Series:
    """MAP lost on a split when one distance is held at its mean, by distance."""
    pairs = ranker.encode(split)

    def score(features: torch.Tensor) -> float:
        log_p = ranker.network.own[MAIN_TASK](ranker.network.shared(features)).log_softmax(-1)
        odds = (log_p[:, 1] - log_p[:, 0]).double().cpu().numpy()
        return evaluate(_run(split, odds), split).map

    whole, lost = score(pairs.features), {}
    for column, name in enumerate(ranker.recipe.features):
        held = pairs.features.clone()
        held[:, column] = 0
        lost[name] = whole - score(held)
    return pd.Series(lost).sort_values(ascending=False)
