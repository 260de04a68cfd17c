"""Loss-augmented inference for AP: the most violating ranking of a list, and the hinge loss.

The objective of a ranking r of N candidates, P of them positive, with scores s and non-increasing
position weights v (v_1 ≥ … ≥ v_N ≥ 0), is

    sum_j v_j s[r_j]  +  C · (1 − AP(r))

Swapping two positives, or two negatives, does not change AP, so the best ranking has each kind in
order of score: it interleaves two sorted stacks. The p-th positive, at rank j, costs
(j − p) / (j P) of AP, wherever the others are. So the best interleaving is a longest path over
(positives placed, negatives placed): exact in O(P (N − P)) time, where Haponchyk and Moschitti
(2019, section 4.2) try all binomial(N, P) interleavings, or search greedily.

Of equally good rankings, the one with the positives lower is taken. A list of one kind has no AP to
lose: it is sorted by score.
"""

import math
from collections.abc import Sequence

import numpy as np
from numba import njit, prange

from qasel.errors import QaselError
from qasel.layers.convolution import take_torchs_threads


@njit(cache=True)
def harmonic(size):  # pragma: no cover
    """Position weights v_j = 1 / j (Haponchyk and Moschitti), `[size]`."""
    return 1.0 / np.arange(1, size + 1)


@njit(cache=True)
def stacks(scores, positive):  # pragma: no cover
    """Indices of the positives, then of the negatives, each by decreasing score, `[N]`; and P."""
    order = np.argsort(-scores, kind="mergesort")
    relevant = positive[order]
    return np.concatenate((order[relevant], order[~relevant])), relevant.sum()


@njit(cache=True)
def ap_loss_of(ranking, positive):  # pragma: no cover
    """1 − AP of a ranking; 0 without positives."""
    found, total = 0, 0.0
    for j in range(len(ranking)):
        if positive[ranking[j]]:
            found += 1
            total += (j + 1 - found) / (j + 1)
    return total / found if found else 0.0


# A search takes `scores` and `weights` (float `[N]`), `positive` (bool `[N]`) and `scale` (C ≥ 0).
# It returns the ranking (candidate indices, `[N]`, best first) and its objective.


@njit(cache=True)
def grid(scores, order, count, weights, scale):  # pragma: no cover
    """The dynamic programme: best objective of every state, `[P + 1, N − P + 1]`.

    State (p, n) has the p best positives and the n best negatives on the first p + n ranks. `order`
    and `count` are those of `stacks`. Also returns whether each state ends with a positive.
    """
    shape = (count + 1, len(order) - count + 1)
    best, ends_positive = np.zeros(shape), np.zeros(shape, np.bool_)
    for p in range(shape[0]):
        for n in range(shape[1]):
            rank = p + n
            if n > 0:
                best[p, n] = best[p, n - 1] + weights[rank - 1] * scores[order[count + n - 1]]
            if p > 0:
                loss = scale * n / (rank * count)
                value = best[p - 1, n] + weights[rank - 1] * scores[order[p - 1]] + loss
                if n == 0 or value >= best[p, n]:
                    best[p, n], ends_positive[p, n] = value, True
    return best, ends_positive


@njit(cache=True)
def exact_search(scores, positive, weights, scale):  # pragma: no cover
    """The most violating ranking, by dynamic programming."""
    order, count = stacks(scores, positive)
    best, ends_positive = grid(scores, order, count, weights, scale)
    ranking = np.empty_like(order)
    p, n = count, len(order) - count
    while p + n > 0:
        if ends_positive[p, n]:
            p -= 1
            ranking[p + n] = order[p]
        else:
            n -= 1
            ranking[p + n] = order[count + n]
    return ranking, best[-1, -1]


@njit(cache=True)
def greedy_search(scores, positive, weights, scale):  # pragma: no cover
    """The paper's search (equations 6 and 7), from the last rank up.

    At each rank j, of the lowest positive and the lowest negative left, the one worth less is
    placed. It is worth v_j times its score; a negative also C times the loss of positives below it.
    """
    order, count = stacks(scores, positive)
    ranking = np.empty_like(order)
    p, n = count, len(order) - count
    below = 0.0  # sum of 1 / k over the positives at ranks k below this one
    while p + n > 0:
        rank = p + n
        worth = weights[rank - 1] * scores[order[p - 1]] if p else np.inf
        other = np.inf
        if n > 0:
            other = weights[rank - 1] * scores[order[count + n - 1]] + scale * below / max(count, 1)
        if worth <= other:
            p -= 1
            ranking[p + n] = order[p]
            below += 1.0 / rank
        else:
            n -= 1
            ranking[p + n] = order[count + n]
    return ranking, (weights * scores[ranking]).sum() + scale * ap_loss_of(ranking, positive)


METHODS = {"exact": exact_search, "greedy": greedy_search}


def most_violating(
    scores: Sequence[float] | np.ndarray,
    labels: Sequence[int] | np.ndarray,
    *,
    C: float,
    weights: Sequence[float] | np.ndarray | None = None,
    method: str = "exact",
) -> tuple[np.ndarray, float]:
    """The ranking of a list that maximises `sum_j v_j s[r_j] + C (1 − AP(r))`, and that maximum.

    `scores` and `labels` (1: relevant) are `[N]`; `weights` are the position weights v, `[N]`, at
    least 0 and not increasing, by default 1 / j. The ranking has candidate indices, best first.
    `exact` is a dynamic programme, O(P (N − P)); `greedy` is the paper's bottom-up search,
    O(N log N), which may miss the maximum.

    Raises `QaselError` for scores that are not finite, labels that are not 0 or 1, lengths that
    differ, weights that increase or are negative, a negative C or an unknown method.
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
    if method not in METHODS:
        raise QaselError(f"unknown method {method!r}; known: {', '.join(METHODS)}")
    ranking, objective = METHODS[method](s, positive, v, float(C))
    return ranking, float(objective)


# Many lists at once

NONE, GREEDY, EXACT, PAIRS, CORRECT = range(5)
SEARCHES = {"none": NONE, "greedy": GREEDY, "exact": EXACT, "pairs": PAIRS}
"""Name of what a learner searches for → its number in compiled code."""


@njit(cache=True)
def ranking_of(scores, positive, scale, search):  # pragma: no cover
    """The ranking `[N]` of a list that a search finds, with harmonic weights.

    NONE gives the model's own ranking; CORRECT the correct one that it scores best (equation 3).
    """
    if search == CORRECT:
        return stacks(scores, positive)[0]
    weights = harmonic(len(scores))
    if search == GREEDY:
        return greedy_search(scores, positive, weights, scale)[0]
    return exact_search(scores, positive, weights, scale if search == EXACT else 0.0)[0]


@njit(cache=True, parallel=True)
def position_weights(scores, positive, first, search, top):  # pragma: no cover
    """Position weights of the candidates in the rankings that a search (C = 1) finds, and 1 − AP.

    The weights are `[T]`, the 1 − AP of the rankings `[Q]`. Q lists with T candidates lie one after
    the other: `scores` and `positive` are `[T]`, `first` `[Q + 1]` is where lists begin (and the
    last ends). With `top`, only the first P positions have a weight (P: positives of the list), to
    keep both kinds in balance (section 4.1).
    """
    weights = np.zeros(len(scores))
    losses = np.zeros(len(first) - 1)
    for q in prange(len(first) - 1):
        a, b = first[q], first[q + 1]
        relevant = positive[a:b]
        ranking = ranking_of(scores[a:b], relevant, 1.0, search)
        v = harmonic(b - a)
        for j in range(relevant.sum() if top else b - a):
            weights[a + ranking[j]] = v[j]
        losses[q] = ap_loss_of(ranking, relevant)
    return weights, losses


def structured_hinge(
    scores: np.ndarray, positive: np.ndarray, first: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Structured hinge loss of each list, `[Q]`, and its gradient with respect to scores, `[T]`.

    The loss is the objective of the most violating ranking minus that of the best correct one, with
    C = 1 and harmonic weights; it bounds 1 − AP from above. Arguments as in `position_weights`.
    """
    take_torchs_threads()
    violating, losses = position_weights(scores, positive, first, EXACT, False)
    correct, _ = position_weights(scores, positive, first, CORRECT, False)
    gradient = violating - correct
    return losses + np.add.reduceat(gradient * scores, first[:-1]), gradient
