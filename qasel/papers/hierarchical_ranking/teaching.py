"""Small helpers of the notebook: what is counted, shown or drawn there more than once."""

from collections.abc import Iterable, Mapping
from functools import partial

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from qasel.datasets.base import Dataset, Question, Split
from qasel.errors import QaselError
from qasel.evaluation import Scores, bootstrap_interval
from qasel.figures.style import GREY, INK, HouseFigure, house_style, new_figure
from qasel.layers.heads import LEVELS
from qasel.papers import teaching as shared
from qasel.papers.hierarchical_ranking.heads import SCHEMES
from qasel.papers.hierarchical_ranking.model import CompareAggregate
from qasel.papers.hierarchical_ranking.recipes import PAPER, HierarchicalRecipe
from qasel.text import tokenize
from qasel.training.losses import list_loss, pair_loss, point_loss

chosen_recipes = partial(shared.chosen_recipes, PAPER)
shapes, untrained = shared.shapes, shared.untrained


def shared_words(question: Question) -> pd.DataFrame:
    """The candidates of a question by the number of different words they share with it."""
    asked = set(tokenize(question.text))
    rows = [
        {
            "shared": len(asked.intersection(tokenize(c.text))),
            "words": " ".join(sorted(asked.intersection(tokenize(c.text)))),
            "right": "✓" if c.label == 1 else "",
            "candidate": c.text,
        }
        for c in sorted(question.candidates, key=lambda c: c.place)
    ]
    return pd.DataFrame(rows).sort_values("shared", ascending=False, kind="stable")


def misleading(split: Split) -> Question:
    """The question in which a wrong candidate shares the most words more than any right one.

    Raises `QaselError` when no question has both right and wrong candidates.
    """

    def gap(question: Question) -> int:
        shared = shared_words(question)
        right = shared["right"] == "✓"
        return int(shared.loc[~right, "shared"].max() - shared.loc[right, "shared"].max())

    mixed = [question for question in split if question.mixed]
    if not mixed:
        raise QaselError(f"{split.name}: no question has both right and wrong candidates")
    return max(mixed, key=gap)


def supervision(questions: Iterable[Question]) -> dict[str, int]:
    """How many units each level trains on: candidates, pairs (all, hardest negative), lists."""
    labels = [question.labels for question in questions]
    return {
        "lists": len(labels),
        "points": sum(len(row) for row in labels),
        "pairs, all": sum(int(row.sum() * (1 - row).sum()) for row in labels),
        "pairs, hardest": sum(int(row.sum()) for row in labels if (1 - row).any()),
    }


def scheme_table(
    settings: HierarchicalRecipe, names: Iterable[str] = tuple(SCHEMES)
) -> pd.DataFrame:
    """Each scheme: what each head's features are made of, their size, the parameters.

    Parameters are those of the network without its word vectors, which all schemes share.
    """
    rows = {}
    for name in names:
        scheme = SCHEMES[name]
        made = {head.name: " + ".join(scheme.sources(head.name)) for head in scheme.heads}
        made = {
            head.name: made[head.name] + (f" [{head.loss} loss]" if head.loss != head.name else "")
            for head in scheme.heads
        }
        wide = len(scheme.sources(scheme.ranks)) * 2 * len(settings.kernels) * settings.channels
        rows[name] = {f"r̂ {level}": made.get(level, "") for level in LEVELS} | {
            "ranks": scheme.ranks,
            "size of its r̂": wide,
            "parameters": _parameters(name, settings),
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def _parameters(variant: str, settings: HierarchicalRecipe, size: int = 300) -> int:
    """Parameters of the network but for its word vectors of this size."""
    with torch.device("meta"):
        network = CompareAggregate(
            torch.zeros(1, size),
            SCHEMES[variant],
            hidden=settings.hidden,
            channels=settings.channels,
            kernels=settings.kernels,
            wide=settings.wide,
            k_max=settings.k_max,
            dropout=settings.dropout,
            train_vectors=False,
        )
    return sum(p.numel() for name, p in network.named_parameters() if name != "vectors")


def pulls(scores: Tensor, labels: Tensor, margin: float) -> pd.DataFrame:
    """How each loss wants to move each score of one list `[1, candidates]`: −∂loss/∂score."""
    mask = torch.ones_like(labels, dtype=torch.bool)
    losses = {
        "point": lambda s: point_loss(s, labels, mask),
        "pair, all": lambda s: pair_loss(s, labels, mask, margin, "all"),
        "pair, hardest": lambda s: pair_loss(s, labels, mask, margin, "hardest"),
        "list": lambda s: list_loss(s, labels, mask),
    }
    found = {}
    for name, loss in losses.items():
        leaf = scores.clone().requires_grad_()
        (gradient,) = torch.autograd.grad(loss(leaf), leaf)
        found[name] = (0.0 - gradient[0]).numpy()
    return pd.DataFrame(found)


@house_style
def pull_figure(moves: pd.DataFrame, names: Iterable[str]) -> HouseFigure:
    """A panel a loss: up is where the loss wants a candidate's score to go."""
    names = list(names)
    figure = new_figure(11, 3.4)
    panels = figure.subplots(1, len(moves.columns), sharex=True)
    for axes, loss in zip(panels, moves, strict=True):
        heights = moves[loss].to_numpy()
        shades = [INK if name.endswith("✓") else GREY for name in names]
        axes.bar(names, heights, color=shades, width=0.65)
        axes.axhline(0, color=GREY, linewidth=0.8)
        axes.set_title(loss)
        axes.locator_params(axis="y", nbins=4)
        axes.grid(visible=False, axis="x")
    panels[0].set_ylabel("−∂loss/∂score")
    figure.supxlabel("candidates by score, ✓ = right; bars upwards: the score should rise")
    return figure


@house_style
def list_lengths(dataset: Dataset) -> HouseFigure:
    """Questions by the number of their candidates, a panel a split."""
    figure = new_figure(11, 3)
    panels = figure.subplots(1, len(dataset.splits), sharex=True)
    for axes, (name, split) in zip(np.atleast_1d(panels), dataset.splits.items(), strict=True):
        counts = [len(question.candidates) for question in split]
        axes.hist(counts, bins=np.arange(0.5, max(counts) + 1.5), color=GREY, rwidth=0.9)
        axes.set_title(f"{name}: {len(split)} questions")
        axes.set_xlabel("candidates of a question")
        axes.locator_params(axis="x", integer=True, nbins=8)
        axes.grid(visible=False, axis="x")
    np.atleast_1d(panels)[0].set_ylabel("questions")
    return figure


def score_table(scores: Mapping[str, Scores]) -> pd.DataFrame:
    """MAP with the 95 % bootstrap interval over questions, MRR and P@1 of each system."""
    rows = {}
    for name, found in scores.items():
        low, high = bootstrap_interval(found.per_question["map"])
        rows[name] = {
            "MAP": found.map,
            "95 % over questions": f"{low:.3f} to {high:.3f}",
            "MRR": found.mrr,
            "P@1": found.p1,
        }
    return pd.DataFrame.from_dict(rows, orient="index").round(3)
