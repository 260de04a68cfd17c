"""The latent structured perceptron (algorithm 1): LSP, LSP-AP and LSP-AP*."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import njit

from qasel.papers.latent_structured.inference import greedy_ranking
from qasel.papers.latent_structured.lists import Lists
from qasel.training.loss_augmented import ap_loss_of, best_ranking, harmonic, stacks

NONE, GREEDY, EXACT = 0, 1, 2
"""What is searched for in line 5: the model's own ranking, or the most violating one."""
SEARCHES = {"none": NONE, "greedy": GREEDY, "exact": EXACT}


@dataclass(frozen=True)
class Learnt:
    """A linear model `[d]` and how it was reached, one dict an epoch (or round)."""

    weights: np.ndarray
    epochs: list[dict[str, float]]
    best_epoch: int
    dev_map: float


def learn(
    train: Lists,
    dev_map: Callable[[np.ndarray], float],
    *,
    search: str,
    C: float,
    epochs: int,
    seed: int,
) -> Learnt:
    """Weights averaged over all steps up to the epoch T_best of the highest dev MAP.

    `search` is "none" (LSP), "greedy" (LSP-AP) or "exact" (LSP-AP*). The order of the lists is
    drawn anew for each epoch from the seed; the paper does not name one.
    """
    size = train.features.shape[1]
    weights, total = np.zeros(size), np.zeros(size)
    rows: list[dict[str, float]] = []
    best = Learnt(total, rows, 0, -1.0)
    positions = harmonic(train.longest)
    for number in range(1, epochs + 1):
        order = np.random.default_rng([seed, number]).permutation(len(train))
        updates = one_epoch(
            train.features, train.positive, train.first, order,
            positions, C, SEARCHES[search], weights, total,
        )  # fmt: skip
        mean = total / (number * len(train))
        score = dev_map(mean)
        rows.append({"epoch": float(number), "updates": float(updates), "dev_map": score})
        if score > best.dev_map:
            best = Learnt(mean, rows, number, score)
    return best


@njit(cache=True)
def one_epoch(
    features, positive, first, order, positions, scale, search, weights, total
):  # pragma: no cover
    """A pass over the lists in this order; returns the number of updates.

    `weights` `[d]` are the model's, `total` `[d]` their sum over all steps so far, both changed
    in place.
    """
    updates = 0
    for q in order:
        a, b = first[q], first[q + 1]
        scores = features[a:b] @ weights
        relevant = positive[a:b]
        v = positions[: b - a]
        if search == GREEDY:
            ranking = greedy_ranking(scores, relevant, v, scale)
        elif search == EXACT:
            ranking, _ = best_ranking(scores, relevant, v, scale)
        else:
            ranking, _ = best_ranking(scores, relevant, v, 0.0)
        if ap_loss_of(ranking, relevant) > 0:
            correct, _ = stacks(scores, relevant)
            for j in range(b - a):
                weights += v[j] * (features[a + correct[j]] - features[a + ranking[j]])
            updates += 1
        total += weights
    return updates
