"""Helpers of notebook 02: rankings rank by rank, the searches compared, the hinge drawn."""

import itertools
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
import seaborn as sns

from qasel.figures import style
from qasel.figures.style import HouseFigure, house_style, new_figure
from qasel.papers.latent_structured.learners import Lists
from qasel.training.loss_augmented import (
    ap_loss_of,
    grid,
    harmonic,
    most_violating,
    stacks,
)


def names_of(labels: Sequence[int]) -> list[str]:
    """Return a letter per candidate, ticked if it is relevant: A ✓, B, C …"""
    return [f"{chr(ord('A') + i)}{' ✓' if label else ''}" for i, label in enumerate(labels)]


def places(
    ranking: Iterable[int], scores: Sequence[float], labels: Sequence[int], C: float
) -> pd.DataFrame:
    """Return what each rank of a ranking adds to the objective of the search.

    The loss of the p-th of P positives at rank j is (j − p) / (j P); `prize` is C times that.
    """
    order, rank = list(ranking), np.arange(1, len(labels) + 1)
    s, y = np.array(scores, float)[order], np.array(labels, bool)[order]
    loss = np.where(y, (rank - y.cumsum()) / (rank * max(y.sum(), 1)), 0.0)
    columns = {"candidate": np.array(names_of(labels))[order], "score": s, "v · score": s / rank}
    columns |= {"loss of the place": loss, "prize": C * loss}
    return pd.DataFrame(columns, index=pd.Index(rank, name="rank"))


def greedy_steps(scores: Sequence[float], labels: Sequence[int], C: float) -> pd.DataFrame:
    """Return what the paper's greedy search compares at each rank, from the last one up."""
    order, count = stacks(np.array(scores, float), np.array(labels, bool))
    names, right, wrong = names_of(labels), list(order[:count]), list(order[count:])
    below, rows = 0.0, []
    for j in range(len(scores), 0, -1):
        worth = [
            scores[right[-1]] / j if right else np.nan,
            scores[wrong[-1]] / j + C * below / max(count, 1) if wrong else np.nan,
        ]
        positive = bool(right) and (not wrong or worth[0] <= worth[1])
        taken = (right if positive else wrong).pop()
        below += positive / j
        rows.append((j, *worth, names[taken]))
    columns = ["rank", "lowest right one is worth", "lowest wrong one is worth", "taken"]
    return pd.DataFrame(rows, columns=columns).set_index("rank")


def misses(lists: Lists, weights: np.ndarray, C: float) -> dict[str, float]:
    """Compare the greedy search with the exact one, on lists under a linear model.

    `missed` is the share of lists on which greedy has the lower objective, `gap` the mean
    difference on these divided by C; `greedy loss` and `exact loss` are the mean 1 − AP found.
    """
    rows = []
    for s, y in zip(
        lists.scores(weights), np.split(lists.positive, lists.first[1:-1]), strict=True
    ):
        exact, highest = most_violating(s, y, C=C)
        greedy, objective = most_violating(s, y, C=C, method="greedy")
        missed = highest - objective > 1e-9 * max(1.0, abs(highest))
        gap = (highest - objective) / C if missed else np.nan
        rows.append((missed, gap, ap_loss_of(greedy, y), ap_loss_of(exact, y)))
    frame = pd.DataFrame(rows, columns=["missed", "gap", "greedy loss", "exact loss"])
    return {"lists": len(lists), **frame.mean().fillna(0.0)}


@house_style
def grid_figure(
    scores: Sequence[float], labels: Sequence[int], C: float, step: int | None = None
) -> HouseFigure:
    """Draw the states of the dynamic programme with their values, and the paths of both searches.

    `step` shows the paths after that many ranks: the exact one grows from the top, the greedy one
    from the bottom.
    """
    s, y, size = np.asarray(scores, float), np.asarray(labels, bool), len(scores)
    order, count = stacks(s, y)
    best, _ = grid(s, order, count, harmonic(size), C)
    names = names_of(labels)
    added = [f"+ {names[i]}\n({s[i]:.1f})" for i in order]
    values = pd.DataFrame(best.T, ["none", *added[count:]], ["none", *added[:count]])
    figure = new_figure(2.0 + 1.6 * best.shape[0], 1.6 + 1.0 * best.shape[1])
    axes = figure.subplots()
    box = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": style.GREY}
    look = {"cmap": ["white"], "cbar": False, "annot": True, "fmt": ".2f"}
    sns.heatmap(values, ax=axes, annot_kws={"bbox": box, "color": style.INK}, **look)
    step = size if step is None else step
    for method, shade, dashes, shift in (
        ("greedy", style.VERMILLION, "--", 0.55),
        ("exact", style.BLUE, "-", 0.5),
    ):
        ranking, objective = most_violating(scores, labels, C=C, method=method)
        path = np.vstack([[0, 0], np.cumsum([[y[i], not y[i]] for i in ranking], axis=0)]) + shift
        drawn = slice(step) if method == "exact" else slice(size - step, size)
        label = f"{method}: {' '.join(names[i] for i in ranking[drawn]) or 'no rank yet'}"
        label += f"   = {objective:.3f}" if step == size else ""
        path = path[drawn.start or 0 : drawn.stop + 1]
        axes.plot(*path.T, dashes, color=shade, linewidth=4, alpha=0.8, label=label)
    axes.set(xlabel="right candidates placed (score)", ylabel="wrong candidates placed (score)")
    axes.tick_params(axis="y", rotation=0)
    figure.legend(loc="outside lower center", ncols=1)
    return figure


@house_style
def hinge_figure(features: Sequence[float], labels: Sequence[int], at: float) -> HouseFigure:
    """Plot the structured hinge (C = 1) of a list with one feature against its weight w.

    On the left are a line per ranking and the two maxima of equation 4; on the right their
    difference, and the convex bound on it that CCCP minimises from the weight `at`.
    """
    y, v = np.asarray(labels) == 1, harmonic(len(labels))
    rankings = np.array(list(itertools.permutations(range(len(y)))))
    slopes = np.asarray(features, float)[rankings] @ v
    losses = np.array([ap_loss_of(ranking, y) for ranking in rankings])
    weights = np.linspace(-2.0, 4.0, 601)
    lines = losses[:, None] + slopes[:, None] * weights
    right = losses == 0
    violating, correct = lines.max(0), lines[right].max(0)
    bound = violating - weights * (slopes[right].max() if at > 0 else slopes[right].min())
    figure = new_figure(10, 4.2)
    left, other = figure.subplots(1, 2)
    left.plot(weights, lines.T, color=style.GREY, linewidth=0.6, alpha=0.5)
    left.plot(weights, violating, color=style.BLUE, linewidth=3, label="most violating")
    left.plot(weights, correct, color=style.GREEN, linewidth=3, label="best correct")
    left.set(title="a line per ranking", ylabel=r"$\Delta(r) + w\,\Psi(r)$")
    other.plot(weights, violating - correct, color=style.INK, linewidth=3, label="the hinge")
    other.plot(weights, bound, "--", color=style.VERMILLION, label=f"CCCP's bound at w = {at:g}")
    other.plot([at], np.interp([at], weights, bound), "o", color=style.VERMILLION, markersize=7)
    other.set(title="the difference of the two", ylim=(0.0, 1.1 * (violating - correct).max()))
    for axes, place in ((left, "upper left"), (other, "lower right")):
        axes.set_xlabel("weight w of the one feature")
        axes.legend(loc=place, fontsize=10)
    return figure
