"""The ranking of a list that violates AP most, exactly: an interleaving of two sorted stacks.

Objective of a ranking r of N candidates, P of them positive, with scores s and
position weights v that do not increase (v_1 ≥ … ≥ v_N ≥ 0):

    sum_j v_j s[r_j]  +  C · (1 − AP(r))

Swapping two positives, or two negatives, leaves AP as it is, so the best
ranking has either kind in order of score: it is an interleaving of two sorted
stacks. The p-th positive, at rank j, costs (j − p) / (j P) of AP (one minus
the precision there, over P), whatever stands elsewhere. So the best
interleaving is a longest path over (positives placed, negatives placed):
exact in O(P (N − P)) time, where trying all takes binomial(N, P) steps.

Among equally good rankings the one with positives as low as possible is taken.
A list without positives or without negatives has no AP to lose: it is sorted
by score. Scores must be finite.
"""

import numpy as np
from numba import njit, prange


@njit(cache=True)
def stacks(scores, positive):  # pragma: no cover
    """Numbers of the positives, then of the negatives, each by falling score, `[N]`; and P."""
    order = np.argsort(-scores, kind="mergesort")
    sorted_ = np.empty(len(scores), np.int64)
    count = 0
    for i in order:
        if positive[i]:
            sorted_[count] = i
            count += 1
    k = count
    for i in order:
        if not positive[i]:
            sorted_[k] = i
            k += 1
    return sorted_, count


@njit(cache=True)
def grid(scores, sorted_, count, weights, scale):  # pragma: no cover
    """The dynamic programme: best objective of every state, `[P + 1, N − P + 1]`.

    State (p, n) has the p best positives and the n best negatives on the first p + n ranks.
    """
    others = len(sorted_) - count
    best = np.empty((count + 1, others + 1))
    best[0, 0] = 0.0
    for p in range(count + 1):
        for n in range(others + 1):
            if p + n == 0:
                continue
            rank = p + n
            value = -np.inf
            if p > 0:
                gain = scale * n / (rank * count)
                value = best[p - 1, n] + weights[rank - 1] * scores[sorted_[p - 1]] + gain
            if n > 0:
                other = best[p, n - 1] + weights[rank - 1] * scores[sorted_[count + n - 1]]
                value = max(value, other)
            best[p, n] = value
    return best


@njit(cache=True)
def best_ranking(scores, positive, weights, scale):  # pragma: no cover
    """The most violating ranking (numbers of the candidates, `[N]`, best first) and its objective.

    `scores` and `weights` are float `[N]`, `positive` is bool `[N]`, `scale` is C ≥ 0.
    """
    sorted_, count = stacks(scores, positive)
    others = len(scores) - count
    best = grid(scores, sorted_, count, weights, scale)
    ranking = np.empty(len(scores), np.int64)
    p, n = count, others
    while p + n > 0:
        rank = p + n
        positive_last = n == 0
        if p > 0 and n > 0:
            # The same sums as in `grid`, so that equal means equal.
            gain = scale * n / (rank * count)
            value = best[p - 1, n] + weights[rank - 1] * scores[sorted_[p - 1]] + gain
            positive_last = value == best[p, n]
        if positive_last:
            p -= 1
            ranking[rank - 1] = sorted_[p]
        else:
            n -= 1
            ranking[rank - 1] = sorted_[count + n]
    return ranking, best[count, others]


@njit(cache=True)
def ap_loss_of(ranking, positive):  # pragma: no cover
    """1 − AP of a ranking; 0 without positives."""
    found, total = 0, 0.0
    for j in range(len(ranking)):
        if positive[ranking[j]]:
            found += 1
            total += (j + 1 - found) / (j + 1)
    return total / found if found else 0.0


@njit(cache=True, parallel=True)
def best_rankings(scores, positive, first, weights, scale):  # pragma: no cover
    """`best_ranking` of Q lists that lie one after the other.

    `scores` and `positive` are `[T]`, `first` `[Q + 1]` says where lists begin (and the last
    ends), `weights` has at least as many entries as the longest list. Returns the rankings
    `[T]` (numbers within each list) and the objectives `[Q]`.
    """
    rankings = np.empty(len(scores), np.int64)
    objectives = np.empty(len(first) - 1)
    for q in prange(len(first) - 1):
        a, b = first[q], first[q + 1]
        ranking, objective = best_ranking(scores[a:b], positive[a:b], weights[: b - a], scale)
        rankings[a:b] = ranking
        objectives[q] = objective
    return rankings, objectives


@njit(cache=True, parallel=True)
def structured_hinge(scores, positive, first, weights, scale):  # pragma: no cover
    """Objective of the most violating ranking less that of the best correct one, a list.

    The structured hinge loss that bounds C (1 − AP) from above. Arguments as in
    `best_rankings`. Returns its values `[Q]` and its gradient by the scores `[T]`: what a
    candidate's position weighs in the one ranking less what it weighs in the other.
    """
    values = np.empty(len(first) - 1)
    gradient = np.zeros(len(scores))
    for q in prange(len(first) - 1):
        a, b = first[q], first[q + 1]
        s = scores[a:b]
        ranking, objective = best_ranking(s, positive[a:b], weights[: b - a], scale)
        correct, _ = stacks(s, positive[a:b])
        for j in range(b - a):
            gradient[a + ranking[j]] += weights[j]
            gradient[a + correct[j]] -= weights[j]
            objective -= weights[j] * s[correct[j]]
        values[q] = objective
    return values, gradient


def harmonic(size: int) -> np.ndarray:
    """Position weights v_j = 1 / j (Haponchyk and Moschitti), `[size]`."""
    return 1.0 / np.arange(1, size + 1)
