"""What the large-margin learners put into the cutting planes: rankings as feature vectors.

A joint feature vector is a weighted sum of the list's candidates, so each search returns the
coefficients of all candidates `[T]` and each list's loss `[Q]`.

C multiplies the mean slack over the lists. Equation 4 has the sum; but the mean is what the
software that the paper names minimises (latentssvm, SVM^map), and what its values of C, from 1 to
5000, are made for: as a factor of the sum, on the vectors of the CNN, the smallest of them is
already too large (LSSVM-AP: dev MAP of WikiQA .589, with the mean .63 and more).
"""

from collections.abc import Callable

import numpy as np
from numba import njit, prange

from qasel.papers.latent_structured.cutting_plane import Find, cccp
from qasel.papers.latent_structured.inference import greedy_ranking
from qasel.papers.latent_structured.lists import Lists
from qasel.papers.latent_structured.perceptron import EXACT, SEARCHES, Learnt
from qasel.training.loss_augmented import ap_loss_of, best_ranking, harmonic, stacks

EPSILON = 1e-3
"""Precision of the cutting planes, in units of the loss (1 − AP)."""
FAR = 1e9
"""A score that no loss outweighs."""
ROUNDS = 50
"""CCCP rounds at most; it ends by itself long before."""


def lssvm(train: Lists, dev_map: Callable[[np.ndarray], float], *, search: str, C: float) -> Learnt:
    """LSSVM-AP (search "greedy") and LSSVM-AP* ("exact"), section 4.1; C over the mean slack.

    Rankings are searched for over all positions, but only the first P of them (P: positives of
    the list) enter the feature vectors.
    """
    positions = harmonic(train.longest)

    def correct(weights: np.ndarray) -> np.ndarray:
        coefficients = correct_tops(
            train.features @ weights, train.positive, train.first, positions
        )
        return coefficients @ train.features / len(train)

    def find(weights: np.ndarray) -> tuple[np.ndarray, float]:
        coefficients, losses = violating_tops(
            train.features @ weights, train.positive, train.first, positions, SEARCHES[search]
        )
        return coefficients @ train.features / len(train), float(losses.mean())

    return _learn(train, dev_map, correct, find, C)


def svm_map(train: Lists, dev_map: Callable[[np.ndarray], float], *, C: float) -> Learnt:
    """SVM^map (Yue et al. 2007): pairwise features, exact search; C over the mean slack."""
    # With scores far apart nothing is worth violating: these are the correct rankings.
    apart = np.where(train.positive, FAR, -FAR)
    features = yue_rankings(apart, train.positive, train.first)[0] @ train.features / len(train)

    def find(weights: np.ndarray) -> tuple[np.ndarray, float]:
        coefficients, losses = yue_rankings(train.features @ weights, train.positive, train.first)
        return coefficients @ train.features / len(train), float(losses.mean())

    return _learn(train, dev_map, lambda _weights: features, find, C)


def _learn(
    train: Lists,
    dev_map: Callable[[np.ndarray], float],
    correct: Callable[[np.ndarray], np.ndarray],
    find: Find,
    C: float,
) -> Learnt:
    rows: list[dict[str, float]] = []

    def on_round(number: int, weights: np.ndarray, objective: float, cuts: int) -> None:
        rows.append(
            {
                "epoch": float(number),
                "objective": objective / C,
                "cuts": float(cuts),
                "dev_map": dev_map(weights),
            }
        )

    weights = cccp(
        train.features.shape[1], correct, find, C,
        epsilon=EPSILON, rounds=ROUNDS, on_round=on_round,
    )  # fmt: skip
    return Learnt(weights, rows, len(rows), rows[-1]["dev_map"])


@njit(cache=True)
def correct_tops(scores, positive, first, positions):  # pragma: no cover
    """Coefficients `[T]` of the best correct rankings: v_p for the p-th positive."""
    coefficients = np.zeros(len(scores))
    for q in range(len(first) - 1):
        a, b = first[q], first[q + 1]
        order, count = stacks(scores[a:b], positive[a:b])
        for j in range(count):
            coefficients[a + order[j]] = positions[j]
    return coefficients


@njit(cache=True, parallel=True)
def violating_tops(scores, positive, first, positions, search):  # pragma: no cover
    """Coefficients `[T]` of the top P of the most violating rankings, and losses `[Q]`."""
    coefficients = np.zeros(len(scores))
    losses = np.zeros(len(first) - 1)
    for q in prange(len(first) - 1):
        a, b = first[q], first[q + 1]
        relevant = positive[a:b]
        v = positions[: b - a]
        if search == EXACT:
            ranking, _ = best_ranking(scores[a:b], relevant, v, 1.0)
        else:
            ranking = greedy_ranking(scores[a:b], relevant, v, 1.0)
        for j in range(relevant.sum()):
            coefficients[a + ranking[j]] = v[j]
        losses[q] = ap_loss_of(ranking, relevant)
    return coefficients, losses


@njit(cache=True, parallel=True)
def yue_rankings(scores, positive, first):  # pragma: no cover
    """The exact search of Yue et al. (2007, section 3.3): coefficients `[T]` and losses `[Q]`.

    The feature vector is the sum of f_i − f_j over pairs of a positive i and a negative j, with
    a minus where j stands above i, over their number P · N. By falling score the negatives find,
    one after the other and independently, the positive above which they do most harm. A list
    without positives or without negatives has no pairs.
    """
    coefficients = np.zeros(len(scores))
    losses = np.zeros(len(first) - 1)
    for q in prange(len(first) - 1):
        a, b = first[q], first[q + 1]
        s = scores[a:b]
        order, count = stacks(s, positive[a:b])
        others = b - a - count
        pairs = count * others
        before = np.zeros(count + 1, np.int64)  # negatives above each positive
        for n in range(1, others + 1 if count else 1):
            candidate = order[count + n - 1]
            # What changes when this negative moves above positive i, summed from the last up.
            total, best, place = 0.0, 0.0, count
            for i in range(count, 0, -1):
                loss = (n / (n + i) - (n - 1) / (n - 1 + i)) / count
                total += loss - 2.0 * (s[order[i - 1]] - s[candidate]) / pairs
                if total >= best:
                    best, place = total, i - 1
            coefficients[a + candidate] = (count - 2 * place) / pairs
            before[place:count] += 1
        for i in range(count if others else 0):
            coefficients[a + order[i]] = (others - 2 * before[i]) / pairs
            losses[q] += before[i] / (before[i] + i + 1) / count
    return coefficients, losses
