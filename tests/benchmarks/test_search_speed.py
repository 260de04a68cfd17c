"""Speed of the searches for the most violating ranking, as ratios: `make bench`."""

import time
import timeit

import numpy as np
from numba import njit

from qasel.papers.latent_structured import most_violating
from qasel.papers.latent_structured.learners import one_epoch
from qasel.training.loss_augmented import EXACT, exact_search, harmonic


def seconds(size, positives):
    """Seconds the exact search takes on a random list, the fastest of 20 tries."""
    labels = np.arange(size) < positives
    case = np.random.default_rng(0).normal(size=size), labels, harmonic(size), 1.0
    return min(timeit.repeat(lambda: exact_search(*case), number=1, repeat=20))


@njit
def best_of_all(right, wrong, p=0, n=0):
    """The recursion of the exact search without its table, so over every interleaving; C = 1."""
    rank, best = p + n + 1, -np.inf
    if rank > len(right) + len(wrong):
        return 0.0
    if p < len(right):
        best = (right[p] + n / len(right)) / rank + best_of_all(right, wrong, p + 1, n)
    if n < len(wrong):
        best = max(best, wrong[n] / rank + best_of_all(right, wrong, p, n + 1))
    return best


def test_exact_against_enumeration(capsys):
    scores = np.sort(np.random.default_rng(0).normal(size=(40)))[::-1]
    lists = scores[::7].copy(), np.delete(scores, range(0, 40, 7))
    value = best_of_all(*lists)
    started = time.perf_counter()
    best_of_all(*lists)
    all_, exact = time.perf_counter() - started, seconds(40, 6)
    assert np.isclose(value, most_violating(scores, np.arange(40) % 7 == 0, C=1.0)[1])
    growth = {size: seconds(size, size // 10) for size in (30, 100, 300, 1000)}
    with capsys.disabled():
        print(
            f"\n40 candidates, 6 positives: exact {exact * 1e6:.1f} µs, all interleavings "
            f"{all_ * 1e3:.0f} ms: {all_ / exact:,.0f} times as fast; exact by size: "
            + ", ".join(f"{size}: {spent * 1e6:.1f} µs" for size, spent in growth.items())
        )
    assert all_ > 1000 * exact


def test_an_epoch_of_the_perceptron(capsys):
    # Lists as many and as long as WikiQA's 857 training lists are on average.
    rng = np.random.default_rng(0)
    first = np.concatenate([[0], np.cumsum(rng.integers(2, 19, 857))])
    features = rng.random((first[-1], 8))
    positive = rng.random(first[-1]) < 0.12
    weights, total = np.zeros(8), np.zeros(8)
    arguments = (features, positive, first, rng.permutation(857), 10.0, EXACT)
    one_epoch(*arguments, weights, total)
    started = time.perf_counter()
    one_epoch(*arguments, weights, total)
    spent = time.perf_counter() - started
    with capsys.disabled():
        print(f"\nan epoch of LSP-AP* over {len(first) - 1} lists: {spent * 1e3:.1f} ms")
