"""The learners of paper 2: structured perceptrons, large margins over rankings, a kernel SVM.

A learner's `search` finds the ranking of a list that it is corrected against:

=========  ========================================  ==================  ==============
search     ranking                                   `perceptron`        `large_margin`
=========  ========================================  ==================  ==============
"none"     the model's own                           LSP
"greedy"   most violating, by the paper's search     LSP-AP              LSSVM-AP
"exact"    most violating, by dynamic programming    LSP-AP*             LSSVM-AP*
"pairs"    most violating for features of pairs                          SVM^map
=========  ========================================  ==================  ==============
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import clarabel
import numpy as np
from numba import njit, prange
from scipy import sparse
from sklearn.svm import SVC

from qasel.datasets.base import Question, Split
from qasel.errors import QaselError
from qasel.layers.convolution import take_torchs_threads
from qasel.training.loss_augmented import (
    CORRECT,
    PAIRS,
    SEARCHES,
    ap_loss_of,
    harmonic,
    position_weights,
    ranking_of,
    stacks,
)


@dataclass(frozen=True)
class Lists:
    """Q lists with T candidates in all, one after the other.

    `features` `[T, d]`, bool `positive` `[T]`, `first` `[Q + 1]`; list q: `first[q]:first[q + 1]`.
    """

    features: np.ndarray
    positive: np.ndarray
    first: np.ndarray

    @classmethod
    def of(cls, split: Split, features: Sequence[np.ndarray]) -> "Lists":
        """Build from a labelled split and one array `[candidates, d]` per question."""
        return cls(
            np.ascontiguousarray(np.concatenate(features), dtype=np.float64),
            np.concatenate([question.labels == 1 for question in split]),
            np.cumsum([0, *map(len, features)]),
        )

    def __len__(self) -> int:
        return len(self.first) - 1

    @property
    def norm(self) -> float:
        """Root mean square norm of the candidates' features; 1 where all are 0."""
        return float(np.sqrt((self.features**2).sum(1).mean())) or 1.0

    def scores(self, weights: np.ndarray) -> list[np.ndarray]:
        """Scores under a linear model `[d]`, one array per list."""
        return np.split(self.features @ weights, self.first[1:-1])


def first_candidates(split: Split, count: int | None) -> Split:
    """Keep the first `count` candidates (None: all) of each list in file order; mixed lists only.

    The paper cuts lists to ten without saying how. The first ten of each TREC-QA training list
    leave 974 mixed lists, ten drawn at random 890; the paper has 970.
    """

    def cut(question: Question) -> Question:
        places = sorted(candidate.place for candidate in question.candidates)[:count]
        chosen = tuple(c for c in question.candidates if c.place in places)
        return replace(question, candidates=chosen)

    return Split(split.name, tuple(kept for kept in map(cut, split) if kept.mixed))


DevMap = Callable[[np.ndarray], float]
"""Weights `[d]` of a linear model → its MAP on dev."""


@dataclass(frozen=True)
class Learnt:
    """A trained linear model `[d]` and its history, one dict per epoch (or round of CCCP)."""

    weights: np.ndarray
    epochs: list[dict[str, float]]
    best_epoch: int
    dev_map: float


def perceptron(
    train: Lists, dev_map: DevMap, *, search: str, C: float, epochs: int, seed: int
) -> Learnt:
    """Algorithm 1; the weights are averaged over all steps up to the epoch with the best dev MAP.

    Lists are shuffled in each epoch, by `seed`; the paper does not give their order. Plain LSP
    (search "none") has no loss, so C has no effect on it.
    """
    weights, total = np.zeros((2, train.features.shape[1]))
    lists = train.features, train.positive, train.first
    rows: list[dict[str, float]] = []
    best = Learnt(total, rows, 0, -1.0)
    for number in range(1, epochs + 1):
        order = np.random.default_rng([seed, number]).permutation(len(train))
        updates = one_epoch(*lists, order, C, SEARCHES[search], weights, total)
        mean = total / (number * len(train))
        score = dev_map(mean)
        rows.append({"epoch": float(number), "updates": float(updates), "dev_map": score})
        if score > best.dev_map:
            best = Learnt(mean, rows, number, score)
    return best


@njit(cache=True)
def one_epoch(features, positive, first, order, scale, search, weights, total):  # pragma: no cover
    """Pass over the lists in the given order; returns the number of updates.

    Changes `weights` `[d]` and `total` `[d]`, their sum over all steps so far, in place.
    """
    updates = 0
    for q in order:
        a, b = first[q], first[q + 1]
        scores = features[a:b] @ weights
        relevant = positive[a:b]
        ranking = ranking_of(scores, relevant, scale, search)
        if ap_loss_of(ranking, relevant) > 0:
            correct = ranking_of(scores, relevant, scale, CORRECT)
            v = harmonic(b - a)
            for j in range(b - a):
                weights += v[j] * (features[a + correct[j]] - features[a + ranking[j]])
            updates += 1
        total += weights
    return updates


CUTS = 1000  # maximum number of cuts; the solution is then taken with a warning
IDLE = 30  # a cut is dropped after this many solutions that did not need it (as in SVM-struct)
RIDGE = 1e-12
"""Share of the largest diagonal entry added to the diagonal, as cuts may be linearly dependent."""
EPSILON = 1e-3  # precision of the cutting planes, in units of the loss (1 − AP)
ROUNDS = 50  # maximum number of rounds of CCCP, which converges long before
FAR = 1e9  # a score that no loss outweighs


class Cuts:
    """The rankings found so far, as means over lists: features Psi(r̂) `[cuts, d]` and losses.

    Cuts stay valid when the correct rankings change. `idle` counts the solutions since each cut
    was last needed.
    """

    def __init__(self, size: int) -> None:
        self.features = np.empty((0, size))
        self.losses = np.empty(0)
        self.idle = np.empty(0, dtype=np.int64)

    def add(self, features: np.ndarray, loss: float) -> None:
        """Add a cut."""
        self.features = np.vstack([self.features, features])
        self.losses, self.idle = np.append(self.losses, loss), np.append(self.idle, 0)

    def solve(self, correct: np.ndarray, scale: float) -> tuple[np.ndarray, float]:
        """Return the weights `[d]` and slack that minimise `|w|²/2 + scale · slack` under the cuts.

        `correct` `[d]` is Psi of the correct rankings. The dual is solved, scaled so that its
        multipliers sum to at most 1.
        """
        gaps, losses, count = correct - self.features, self.losses, len(self.losses)
        form = scale * (gaps @ gaps.T)
        form += RIDGE * form.diagonal().max() * np.eye(count)
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        solver = clarabel.DefaultSolver(
            sparse.triu(form, format="csc"),
            -losses,
            sparse.csc_matrix(np.vstack([-np.eye(count), np.ones((1, count))])),
            np.append(np.zeros(count), 1.0),
            [clarabel.NonnegativeConeT(count + 1)],
            settings,
        )
        solution = np.clip(np.array(solver.solve().x), 0.0, None)
        weights = scale * (solution @ gaps)
        slack = max(0.0, float((losses - gaps @ weights).max()))
        # Keep the problem small: drop cuts that no recent solution has used.
        self.idle = np.where(solution > 1e-8, 0, self.idle + 1)
        kept = self.idle <= IDLE
        self.features, self.losses, self.idle = self.features[kept], losses[kept], self.idle[kept]
        return weights, slack


def structural_svm(
    cuts: Cuts,
    correct: np.ndarray,
    find: Callable[[np.ndarray], tuple[np.ndarray, float]],
    scale: float,
    epsilon: float = EPSILON,
) -> tuple[np.ndarray, float]:
    """Solve the convex problem: add the worst cut until none is violated by more than epsilon.

    `find` maps weights to Psi of the most violating rankings `[d]` and their loss, both means over
    lists; `scale` multiplies the slack. Returns the weights `[d]` and the objective.
    """
    weights, slack = np.zeros_like(correct), 0.0
    if len(cuts.losses):
        weights, slack = cuts.solve(correct, scale)
    for _ in range(CUTS):
        features, loss = find(weights)
        violation = loss - float(weights @ (correct - features))
        if violation <= slack + epsilon:
            break
        cuts.add(features, loss)
        weights, slack = cuts.solve(correct, scale)
    else:
        warnings.warn(f"{CUTS} cuts and no solution within {epsilon}", stacklevel=2)
    return weights, 0.5 * float(weights @ weights) + scale * slack


def large_margin(train: Lists, dev_map: DevMap, *, search: str, C: float) -> Learnt:
    """Minimise the regularised structured hinge (equation 4) by CCCP (Yu and Joachims 2009).

    C weighs the mean slack. Each round fixes the correct rankings that are best under the current
    weights, which leaves a structural SVM; rounds end when one lowers the objective by less than
    `EPSILON · C`. The correct rankings of "pairs" (SVM^map, Yue et al. 2007) never change.
    """

    def psi(scores: np.ndarray, kind: int) -> tuple[np.ndarray, float]:
        """Return features `[d]` and loss of the rankings that a search finds, means over lists."""
        take_torchs_threads()
        if kind == PAIRS:
            found, losses = yue_rankings(scores, train.positive, train.first)
        else:
            found, losses = position_weights(scores, train.positive, train.first, kind, True)
        return found @ train.features / len(train), float(losses.mean())

    def correct(weights: np.ndarray) -> np.ndarray:
        if search == "pairs":  # scores this far apart leave nothing worth violating
            return psi(np.where(train.positive, FAR, -FAR), PAIRS)[0]
        return psi(train.features @ weights, CORRECT)[0]

    def find(weights: np.ndarray) -> tuple[np.ndarray, float]:
        return psi(train.features @ weights, SEARCHES[search])

    size = train.features.shape[1]
    cuts, weights, before = Cuts(size), np.zeros(size), np.inf
    rows: list[dict[str, float]] = []
    for number in range(1, ROUNDS + 1):
        weights, objective = structural_svm(cuts, correct(weights), find, C)
        row = {"epoch": float(number), "objective": objective / C, "cuts": float(len(cuts.losses))}
        rows.append(row | {"dev_map": dev_map(weights)})
        if before - objective < C * EPSILON:
            break
        before = objective
    return Learnt(weights, rows, len(rows), rows[-1]["dev_map"])


@njit(cache=True, parallel=True)
def yue_rankings(scores, positive, first):  # pragma: no cover
    """The exact search of Yue et al. (2007, section 3.3): coefficients `[T]` and losses `[Q]`.

    The feature vector is the mean of f_i − f_j over pairs of a positive i and a negative j, with
    a minus where j ranks above i. In order of falling scores, each negative independently finds
    the positive above which it does most harm. A list with only one kind of label has no pairs.
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
            # The gain when this negative moves above positive i, summed from the last one up.
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


@dataclass(frozen=True)
class KernelSvm:
    """A trained kernel SVM: support vectors `[S, d]`, their coefficients `[S]` and the degree.

    These are arrays, because loading a scikit-learn model would mean unpickling it.
    """

    support: np.ndarray
    coefficients: np.ndarray
    degree: int

    @classmethod
    def fit(cls, train: Lists, degree: int) -> "KernelSvm":
        """Fit to single pairs, with the kernel K(x, y) = (x · y + 1)^degree.

        The paper names no C; ours is SVM-light's default, 1 / (mean distance of the pairs from the
        origin in the kernel's space)², or 1 if all features are 0. Raises `QaselError` for features
        that are not finite, and for a degree whose kernel values are too large.
        """
        if not np.isfinite(train.features).all():
            raise QaselError("features are not finite: the CNN that they come from has diverged")
        with np.errstate(over="ignore"):  # refused below
            away = np.sqrt(((train.features**2).sum(1) + 1.0) ** degree - 1.0).mean() or 1.0
        model = SVC(C=away**-2, kernel="poly", degree=degree, gamma=1.0, coef0=1.0, cache_size=1000)
        try:
            model.fit(train.features, train.positive)
        except ValueError as error:  # C is 0, or a coefficient is not finite
            told = f"the kernel of degree {degree} is too large for these features"
            raise QaselError(f"setting degree: {told}; try a smaller one") from error
        return cls(model.support_vectors_, model.dual_coef_[0], degree)

    def scores(self, features: np.ndarray) -> np.ndarray:
        """Decision values of `features` `[T, d]` up to a constant, `[T]`."""
        return ((features @ self.support.T + 1.0) ** self.degree) @ self.coefficients
