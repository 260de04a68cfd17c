"""What notebook 02 needs: lists taken apart, searches compared, the hinge measured and drawn."""

import itertools
import time
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd

from qasel.datasets.base import Question, Split
from qasel.evaluation import Run, evaluate
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
from qasel.papers import lesson as shared
from qasel.papers.latent_structured.inference import (
    Method,
    all_interleavings,
    greedy_ranking,
    most_violating,
)
from qasel.papers.latent_structured.learners import Lists
from qasel.papers.latent_structured.recipes import PAPER
from qasel.training.loss_augmented import (
    ap_loss_of,
    best_ranking,
    grid,
    harmonic,
    stacks,
    structured_hinge,
)

chosen_recipes = partial(shared.chosen_recipes, PAPER)


def pair_table(question: Question, features: np.ndarray, names: Sequence[str]) -> pd.DataFrame:
    """The candidates of a question with their features, in the order of the source file."""
    table = pd.DataFrame(features, columns=[name.replace("_", " ") for name in names])
    table.insert(0, "right", ["✓" if label else "" for label in question.labels])
    table.insert(0, "candidate", [c.text for c in question.candidates])
    order = np.argsort([c.place for c in question.candidates])
    return table.iloc[order].reset_index(drop=True)


def alone(split: Split, features: Sequence[np.ndarray], names: Sequence[str]) -> pd.Series:
    """MAP of ranking by each feature alone, ties against it."""
    found = {
        name.replace("_", " "): evaluate(
            Run.from_scores(split, [rows[:, i] for rows in features], name), split
        ).map
        for i, name in enumerate(names)
    }
    return pd.Series(found, name="MAP").sort_values(ascending=False)


def names_of(labels: Sequence[int]) -> list[str]:
    """A ✓, B, C …: a letter a candidate, ticked if it is right."""
    return [f"{chr(ord('A') + i)}{' ✓' if label else ''}" for i, label in enumerate(labels)]


def places(
    ranking: Sequence[int], scores: Sequence[float], labels: Sequence[int], C: float
) -> pd.DataFrame:
    """A ranking place by place: what each adds to the objective of the search.

    The loss of the p-th positive at rank j is (j − p) / (j P); `prize` is C times that.
    """
    names, v, count = names_of(labels), harmonic(len(labels)), max(sum(labels), 1)
    rows, found = [], 0
    for j, i in enumerate(ranking, 1):
        found += labels[i]
        loss = (j - found) / (j * count) if labels[i] else 0.0
        rows.append((j, names[i], scores[i], v[j - 1] * scores[i], loss, C * loss))
    columns = ["rank", "candidate", "score", "v · score", "loss of the place", "prize"]
    return pd.DataFrame(rows, columns=columns).set_index("rank")


def greedy_steps(scores: Sequence[float], labels: Sequence[int], C: float) -> pd.DataFrame:
    """What the paper's search weighs at each place, from the last one up."""
    names, v, count = names_of(labels), harmonic(len(labels)), max(sum(labels), 1)
    order = sorted(range(len(scores)), key=lambda i: -scores[i])
    right = [i for i in order if labels[i]]
    wrong = [i for i in order if not labels[i]]
    below, rows = 0.0, []
    for j in range(len(scores), 0, -1):
        worth = [
            v[j - 1] * scores[right[-1]] if right else np.nan,
            v[j - 1] * scores[wrong[-1]] + C * below / count if wrong else np.nan,
        ]
        positive = bool(right) and (not wrong or worth[0] <= worth[1])
        taken = (right if positive else wrong).pop()
        below += positive / j
        rows.append((j, *worth, names[taken]))
    columns = ["rank", "lowest right one is worth", "lowest wrong one is worth", "taken"]
    return pd.DataFrame(rows, columns=columns).set_index("rank")


def best_permutation(
    scores: Sequence[float], labels: Sequence[int], C: float
) -> tuple[tuple[int, ...], float, int]:
    """The best of all N! rankings, its objective, and how many there are."""
    v, s, y = harmonic(len(scores)), np.asarray(scores), np.asarray(labels, bool)
    best: tuple[int, ...] = ()
    highest, tried = -np.inf, 0
    for ranking in itertools.permutations(range(len(scores))):
        value = float(v @ s[list(ranking)] + C * ap_loss_of(np.array(ranking), y))
        tried += 1
        if value > highest + 1e-12:
            best, highest = ranking, value
    return best, highest, tried


def misses(lists: Lists, weights: np.ndarray, C: float) -> dict[str, float]:
    """How the greedy search does on lists under a model: against the exact one.

    `missed` is the share of lists on which its objective is lower; `gap` by how much of the
    prize C on average over those; `greedy loss` and `exact loss` are the mean 1 − AP found.
    """
    scores = lists.features @ weights
    v = lists.positions
    missed, gaps, losses = 0, [], []
    for a, b in itertools.pairwise(lists.first):
        s, y, w = scores[a:b], lists.positive[a:b], v[: b - a]
        exact, highest = best_ranking(s, y, w, C)
        greedy = greedy_ranking(s, y, w, C)
        gap = highest - float(w @ s[greedy]) - C * ap_loss_of(greedy, y)
        if gap > 1e-9 * max(1.0, abs(highest)):
            missed += 1
            gaps.append(gap / C)
        losses.append((ap_loss_of(greedy, y), ap_loss_of(exact, y)))
    found = np.mean(losses, axis=0)
    return {
        "lists": len(lists),
        "missed": missed / len(lists),
        "gap": float(np.mean(gaps)) if gaps else 0.0,
        "greedy loss": float(found[0]),
        "exact loss": float(found[1]),
    }


def seconds(size: int, positives: int, method: str, repeats: int = 20) -> float:
    """Seconds a search takes on a random list, compiled, the fastest of some tries."""
    generator = np.random.default_rng(0)
    scores = generator.normal(size=size)
    labels = np.zeros(size, np.bool_)
    labels[generator.choice(size, positives, replace=False)] = True
    searches = {
        "exact": best_ranking,
        "greedy": greedy_ranking,
        "enumerate": all_interleavings,
    }
    arguments = (scores, labels, harmonic(size), 1.0)
    searches[method](scores[:2], np.array([True, False]), harmonic(2), 1.0)  # compile
    spent = []
    for _ in range(repeats):
        started = time.perf_counter()
        searches[method](*arguments)
        spent.append(time.perf_counter() - started)
    return min(spent)


def mean_hinge(w: np.ndarray, lists: Lists) -> float:
    """Mean over lists of the structured hinge: exact search, C = 1, all positions counted."""
    arguments = (lists.positive, lists.first, lists.positions, 1.0)
    return float(structured_hinge(lists.features @ w, *arguments)[0].mean())


def sizes(weights: Mapping[str, np.ndarray], lists: Lists) -> pd.DataFrame:
    """Length of large-margin weights, and `mean_hinge` there, at 0, and at other lengths.

    The last columns are for weights of other lengths in the same direction.
    """
    rows = {}
    for name, w in weights.items():
        length = float(np.linalg.norm(w))
        rows[name] = {
            "length of w": length,
            "hinge at w": mean_hinge(w, lists),
            "hinge at 0": mean_hinge(0 * w, lists),
        }
        for other in (1.0, 10.0):
            rows[name][f"at length {other:g}"] = mean_hinge(w * other / length, lists)
    return pd.DataFrame.from_dict(rows, orient="index").round(3)


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
