"""The most violating ranking with respect to AP (section 4.2): exact, greedy or by enumeration.

Every method returns an interleaving of the positives by falling score and the
negatives by falling score; see `qasel.training.loss_augmented` for why, and for the exact
search, which the paper does not have.
"""

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numba import njit

from qasel.errors import QaselError
from qasel.training.loss_augmented import ap_loss_of, best_ranking, harmonic, stacks

Method = Literal["exact", "greedy", "enumerate"]
MOST = 20_000_000
"""Interleavings that `enumerate` is willing to try."""


def most_violating(
    scores: Sequence[float] | np.ndarray,
    labels: Sequence[int] | np.ndarray,
    *,
    C: float,
    weights: Sequence[float] | np.ndarray | None = None,
    method: Method = "exact",
) -> tuple[np.ndarray, float]:
    """The ranking of a list that maximises `sum_j v_j s[r_j] + C (1 − AP(r))`, and that maximum.

    `scores` and `labels` (1: relevant) are `[N]`; `weights` are the v, `[N]`, at least 0 and
    not increasing, 1 / j by default. The ranking holds the candidates' numbers, best first.
    `exact` is a dynamic programme, O(P (N − P)); `greedy` is the paper's bottom-up search,
    O(N log N), which may miss the maximum; `enumerate` tries all binomial(N, P) interleavings.
    Of equally good rankings the one with the positives lower is taken. A list without
    positives, or without negatives, is sorted by score: its loss is always 0.

    Raises `QaselError` for scores that are not finite, labels that are not 0 or 1, lengths
    that differ, weights that rise or are negative, a negative C, an unknown method, or more
    than twenty million interleavings to try.
    """
    s, y = np.asarray(scores, dtype=np.float64), np.asarray(labels)
    if s.ndim != 1 or y.shape != s.shape:
        raise QaselError(f"scores {s.shape} and labels {y.shape}: expected equal lists")
    if not np.isfinite(s).all():
        raise QaselError("scores must be finite; a feature or a weight is not a number")
    if not np.isin(y, (0, 1)).all():
        raise QaselError("labels must be 0 or 1")
    positive = y.astype(np.bool_)
    v = harmonic(len(s)) if weights is None else np.asarray(weights, dtype=np.float64)
    if v.shape != s.shape or not np.isfinite(v).all() or (v < 0).any() or (np.diff(v) > 0).any():
        raise QaselError("weights: expected one a position, at least 0 and not increasing")
    if not (math.isfinite(C) and C >= 0):
        raise QaselError(f"C must be at least 0, got {C}")
    if method not in SEARCHES:
        raise QaselError(f"unknown method {method!r}; known: {', '.join(SEARCHES)}")
    count = math.comb(len(s), int(positive.sum()))
    if method == "enumerate" and count > MOST:
        raise QaselError(f"{count:,} interleavings are too many to try; use method='exact'")
    ranking, objective = SEARCHES[method](s, positive, v, float(C))
    return ranking, float(objective)


@njit(cache=True)
def objective_of(ranking, scores, positive, weights, scale):  # pragma: no cover
    """`sum_j v_j s[r_j] + C (1 − AP(r))` of a given ranking."""
    total = scale * ap_loss_of(ranking, positive)
    for j in range(len(ranking)):
        total += weights[j] * scores[ranking[j]]
    return total


@njit(cache=True)
def greedy_ranking(scores, positive, weights, scale):  # pragma: no cover
    """The paper's search (equations 6 and 7), from the last rank up, `[N]`.

    At each rank the lowest positive and the lowest negative left compete, and the one that is
    worth less there takes the place: v_j times the score, for a negative plus C times the loss
    that it causes to the positives already below it.
    """
    sorted_, count = stacks(scores, positive)
    ranking = np.empty(len(scores), np.int64)
    p, n = count, len(scores) - count
    below = 0.0  # sum of 1 / k over the positives at ranks k below this one
    for j in range(len(scores), 0, -1):
        take_positive = n == 0
        if p > 0 and n > 0:
            worth = weights[j - 1] * scores[sorted_[p - 1]]
            other = weights[j - 1] * scores[sorted_[count + n - 1]] + scale * below / count
            take_positive = worth <= other
        if take_positive:
            p -= 1
            ranking[j - 1] = sorted_[p]
            below += 1.0 / j
        else:
            n -= 1
            ranking[j - 1] = sorted_[count + n]
    return ranking


@njit(cache=True)
def greedy_search(scores, positive, weights, scale):  # pragma: no cover
    """`greedy_ranking` and its objective."""
    ranking = greedy_ranking(scores, positive, weights, scale)
    return ranking, objective_of(ranking, scores, positive, weights, scale)


@njit(cache=True)
def all_interleavings(scores, positive, weights, scale):  # pragma: no cover
    """The best of all interleavings and its objective: the paper's starred searches."""
    sorted_, count = stacks(scores, positive)
    size = len(scores)
    # Ranks of the positives, from all at the top to all at the bottom, as an odometer.
    places = np.arange(count)
    best = np.empty(count, np.int64)
    highest = -np.inf
    while True:
        total, p = 0.0, 0
        for j in range(size):
            if p < count and places[p] == j:
                total += weights[j] * scores[sorted_[p]]
                total += scale * (j - p) / ((j + 1) * count)
                p += 1
            else:
                total += weights[j] * scores[sorted_[count + j - p]]
        if total >= highest:
            highest = total
            best[:] = places
        i = count - 1
        while i >= 0 and places[i] == size - count + i:
            i -= 1
        if i < 0:
            break
        places[i] += 1
        for k in range(i + 1, count):
            places[k] = places[k - 1] + 1
    ranking = np.empty(size, np.int64)
    p = 0
    for j in range(size):
        if p < count and best[p] == j:
            ranking[j] = sorted_[p]
            p += 1
        else:
            ranking[j] = sorted_[count + j - p]
    return ranking, highest


SEARCHES = {"exact": best_ranking, "greedy": greedy_search, "enumerate": all_interleavings}
"""Name of a method → the compiled search: scores, positive, weights, C → ranking, objective."""
