"""What the notebook of paper 4 shows: distances one by one, ceilings, what the network holds."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch

from qasel.datasets import PairTask
from qasel.datasets.base import Question, Split
from qasel.evaluation import Run, evaluate
from qasel.figures.style import BLUE, GREY, VERMILLION, HouseFigure, house_style, new_figure
from qasel.papers import lesson as shared
from qasel.papers.question_relevancy.ranker import RelevancyRanker
from qasel.papers.question_relevancy.recipes import FOURTEEN, PAPER, RelevancyRecipe
from qasel.papers.question_relevancy.tasks import MAIN_TASK
from qasel.text import Vectors, load_vectors
from qasel.text.features.distances import COLUMNS, WORDS, distances_by_name
from qasel.training.recipe import Recipe

REPRESENTATIONS = {"MeanEmb": "mean embedding", "Unigrams": "unigrams", "Trigrams": "trigrams"}
HIT, MISS = BLUE, VERMILLION


def chosen_recipes(systems: str, dataset: str, **settings: Any) -> dict[str, Recipe]:
    """The recipes of the systems named (with commas between); see `teaching.chosen_recipes`."""
    return shared.chosen_recipes(PAPER, systems, dataset, **settings)


def found_list(question: Question, longest: int = 200) -> pd.DataFrame:
    """A question's candidates in the search engine's order, cut to be read."""
    placed = sorted(question.candidates, key=lambda candidate: candidate.place)
    return pd.DataFrame(
        {
            "found": [candidate.place + 1 for candidate in placed],
            "relevant": ["yes" if candidate.label else "" for candidate in placed],
            "question": [cut(candidate.text, longest) for candidate in placed],
        }
    ).set_index("found")


def cut(text: str, longest: int) -> str:
    """The beginning of a text."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def ceiling(split: Split) -> float:
    """The MAP of a perfect ranking: below 1 where lists have nothing relevant."""
    scores = [[float(candidate.label or 0) for candidate in q.candidates] for q in split]
    with np.errstate(all="ignore"):
        return evaluate(Run.from_scores(split, scores, "perfect"), split, "semeval").map


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


def known_vectors(recipe: RelevancyRecipe) -> Vectors:
    """All vectors of the recipe's set, for texts that a reader types."""
    return load_vectors(recipe.vectors)


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
    return distances_by_name(
        FOURTEEN,
        (left, right),
        vectors,
        tuple(train.texts),
        words=recipe.words,
        trigrams=recipe.trigrams,
    )


def alone(split: Split, table: np.ndarray) -> pd.Series:
    """MAP of each distance as a ranker of its own: near is relevant (Jaccard: large is)."""
    ends = np.cumsum([len(question.candidates) for question in split])[:-1]
    found = {}
    for column, name in enumerate(FOURTEEN):
        sign = 1 if name.startswith("jaccard") else -1
        run = Run.from_scores(split, np.split(sign * table[:, column], ends), name)
        found[name] = evaluate(run, split).map
    return pd.Series(found)


@house_style
def seen_by_each(split: Split, table: np.ndarray) -> HouseFigure:
    """A panel for each distance: how it is spread over relevant and over other pairs."""
    labels = np.array([candidate.label for q in split for candidate in q.candidates])
    figure = new_figure(12.5, 6.6)
    grid = figure.subplots(3, 5)
    for line, name in zip(grid, REPRESENTATIONS, strict=True):
        for axes in line:
            axes.set_axis_off()
        for axes, column in zip(line, COLUMNS[name], strict=False):
            axes.set_axis_on()
            low, high = np.percentile(table[:, column], [1, 99])
            bins = np.linspace(low, high if high > low else low + 1, 16)
            for label, shade in ((0, MISS), (1, HIT)):
                chosen = np.clip(table[labels == label, column], low, high)
                axes.hist(chosen, bins, density=True, histtype="stepfilled", color=shade, alpha=0.3)
                axes.hist(chosen, bins, density=True, histtype="step", color=shade)
            axes.set_title(FOURTEEN[column].replace(" ", "\n", 1), fontsize=10)
            axes.set_yticks([])
            axes.grid(visible=False)
            axes.set_ylabel("share of pairs" if axes is line[0] else "", fontsize=10)
            axes.locator_params(axis="x", nbins=4)
    axes = grid[0][0]
    for shade, told in ((HIT, "relevant"), (MISS, "irrelevant")):
        axes.plot([], [], color=shade, label=told)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2)
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
    axes.barh(range(len(order)), order, color=colours, height=0.7)
    axes.set_yticks(range(len(order)), order.index)
    axes.grid(visible=False, axis="y")
    for name, score in found["lines"].items():
        axes.axvline(score, color=GREY, linestyle="--", linewidth=1.2)
        axes.annotate(
            f" {name}", (score, len(order) - 0.4), color=GREY, fontsize=10, rotation=30, va="bottom"
        )
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
    named = dict(ranker.network.named_parameters())
    return shared.shapes(**named)


@torch.inference_mode()
def decomposed(ranker: RelevancyRanker, split: Split) -> pd.Series:
    """MAP lost on a split when one distance is held at its mean, by distance."""
    pairs = ranker.encode(split)
    ends = np.cumsum([len(question.candidates) for question in split])[:-1]

    def score(features: torch.Tensor) -> float:
        log_p = ranker.network.own[MAIN_TASK](ranker.network.shared(features)).log_softmax(-1)
        odds = (log_p[:, 1] - log_p[:, 0]).double().cpu().numpy()
        return evaluate(Run.from_scores(split, np.split(odds, ends), "held"), split).map

    whole = score(pairs.features)
    lost = {}
    for column, name in enumerate(ranker.recipe.features):
        held = pairs.features.clone()
        held[:, column] = 0
        lost[name] = whole - score(held)
    return pd.Series(lost).sort_values(ascending=False)
