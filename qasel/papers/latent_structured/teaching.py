"""Small helpers of the notebook: lists taken apart, searches compared, the hinge measured."""

import itertools
import time
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd

from qasel.datasets.base import Question, Split
from qasel.evaluation import Run, evaluate
from qasel.interleaving import ap_loss_of, best_ranking, harmonic, structured_hinge
from qasel.papers import teaching as shared
from qasel.papers.latent_structured.inference import all_interleavings, greedy_ranking
from qasel.papers.latent_structured.lists import Lists
from qasel.papers.latent_structured.recipes import PAPER

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
    v = harmonic(lists.longest)
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
    arguments = (lists.positive, lists.first, harmonic(lists.longest), 1.0)
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
