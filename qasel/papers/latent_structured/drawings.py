"""Pictures of the notebook: the table of the exact search, and the hinge taken apart."""

import itertools
from collections.abc import Mapping, Sequence

import numpy as np

from qasel.figures.style import (
    BLUE,
    GREEN,
    GREY,
    INK,
    VERMILLION,
    HouseFigure,
    colour,
    house_style,
    new_figure,
)
from qasel.interleaving import ap_loss_of, grid, harmonic, stacks
from qasel.papers.latent_structured.inference import Method, most_violating
from qasel.papers.latent_structured.lists import Lists
from qasel.papers.latent_structured.teaching import mean_hinge, names_of


@house_style
def grid_figure(scores: Sequence[float], labels: Sequence[int], C: float) -> HouseFigure:
    """The states of the dynamic programme with their values, the exact path and the greedy one."""
    s, y, v = np.asarray(scores, float), np.asarray(labels, bool), harmonic(len(scores))
    order, count = stacks(s, y)
    best = grid(s, order, count, v, C)
    names = names_of(labels)
    figure = new_figure(2.0 + 1.6 * best.shape[0], 1.6 + 1.0 * best.shape[1])
    axes = figure.subplots()
    drawn: tuple[tuple[Method, str, str, float], ...] = (
        ("greedy", VERMILLION, "--", 0.05),
        ("exact", BLUE, "-", 0),
    )
    for method, shade, style, shift in drawn:
        ranking, objective = most_violating(scores, labels, C=C, method=method)
        steps = np.cumsum([[y[i], not y[i]] for i in ranking], axis=0)
        path = np.vstack([[0, 0], steps]) + shift
        told = f"{method}: {' '.join(names[i] for i in ranking)}   = {objective:.3f}"
        axes.plot(path[:, 0], path[:, 1], style, color=shade, linewidth=4, alpha=0.8, label=told)
    for (p, n), value in np.ndenumerate(best):
        box = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": GREY}
        axes.text(p, n, f"{value:.2f}", ha="center", va="center", bbox=box, color=INK)
    wrong = [names[i] for i in order[count:]]
    right = [names[i] for i in order[:count]]
    axes.set_xticks(range(best.shape[0]), ["none", *(f"+ {name}" for name in right)])
    axes.set_yticks(range(best.shape[1]), ["none", *(f"+ {name}" for name in wrong)])
    axes.set_xlabel("right candidates placed")
    axes.set_ylabel("wrong candidates placed")
    axes.set_xlim(-0.5, best.shape[0] - 0.5)
    axes.set_ylim(best.shape[1] - 0.5, -0.5)
    axes.grid(visible=False)
    figure.legend(loc="outside lower center", ncols=1)
    return figure


@house_style
def hinge_figure(features: Sequence[float], labels: Sequence[int], at: float) -> HouseFigure:
    """The structured hinge (C = 1) of one list with one feature, along its weight w.

    On the left a line a ranking and the two maxima of equation 4, on the right their difference,
    and the convex bound on it that CCCP minimises when it stands at the weight `at`.
    """
    psi, y, v = np.asarray(features, float), np.asarray(labels) == 1, harmonic(len(labels))
    rankings = [np.array(r) for r in itertools.permutations(range(len(psi)))]
    slopes = np.array([v @ psi[r] for r in rankings])
    losses = np.array([ap_loss_of(r, y) for r in rankings])
    weights = np.linspace(-2.0, 4.0, 601)
    lines = losses[:, None] + slopes[:, None] * weights
    right = losses == 0
    violating, correct = lines.max(0), lines[right].max(0)
    fixed = slopes[right].max() if at > 0 else slopes[right].min()
    figure = new_figure(10, 4.2)
    left, other = figure.subplots(1, 2)
    left.plot(weights, lines.T, color=GREY, linewidth=0.6, alpha=0.5)
    left.plot(weights, violating, color=BLUE, linewidth=3, label="most violating")
    left.plot(weights, correct, color=GREEN, linewidth=3, label="best correct")
    left.set_ylabel(r"$\Delta(r) + w\,\Psi(r)$")
    left.set_title("a line a ranking")
    other.plot(weights, violating - correct, color=INK, linewidth=3, label="the hinge")
    bound = violating - fixed * weights
    other.plot(weights, bound, "--", color=VERMILLION, label=f"CCCP's bound at w = {at:g}")
    other.plot([at], np.interp([at], weights, bound), "o", color=VERMILLION, markersize=7)
    other.set_title("the difference of the two")
    other.set_ylim(0.0, 1.1 * float((violating - correct).max()))
    for axes, place in ((left, "upper left"), (other, "lower right")):
        axes.set_xlabel("weight w of the one feature")
        axes.legend(loc=place, fontsize=10)
    return figure


@house_style
def lengths_figure(weights: Mapping[str, np.ndarray], lists: Lists) -> HouseFigure:
    """`mean_hinge` against the length of w, in the direction of each learner's weights."""
    figure = new_figure(8, 4)
    axes = figure.subplots()
    lengths = np.linspace(0.0, 10.0, 61)
    for name, w in weights.items():
        own = float(np.linalg.norm(w))
        hinges = [mean_hinge(w * length / own, lists) for length in lengths]
        axes.plot(lengths, hinges, color=colour(name), label=f"in the direction of {name}")
        axes.plot([own], [mean_hinge(w, lists)], "o", color=colour(name), markersize=8, zorder=5)
    axes.axhline(mean_hinge(0 * w, lists), color=GREY, linewidth=1, label="at w = 0")
    axes.set_xlabel("length of w; the dot is where the learner ends")
    axes.set_ylabel("mean exact hinge (training)")
    axes.legend(fontsize=10)
    return figure
