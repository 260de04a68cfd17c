"""Structured learners over lists of candidates: LSP, LSP-AP, SVM^map, LSSVM-AP, a kernel SVM."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import clarabel
import numpy as np
from numba import njit, prange
from scipy import sparse
from sklearn.svm import SVC

from qasel.datasets.base import Split
from qasel.errors import QaselError
from qasel.papers.latent_structured.inference import greedy_ranking
from qasel.training.loss_augmented import ap_loss_of, best_ranking, harmonic, stacks


@dataclass(frozen=True)
class Lists:
    """Q lists with T candidates in all, one after the other.

    `features` `[T, d]`, `positive` bool `[T]`, `first` `[Q + 1]`: list q is rows
    `first[q] : first[q + 1]`.
    """

    features: np.ndarray
    positive: np.ndarray
    first: np.ndarray

    @classmethod
    def of(cls, split: Split, features: Sequence[np.ndarray]) -> "Lists":
        """From a labelled split and one array `[candidates, d]` a question.

        Raises `QaselError`, naming the question, for a feature that is not finite.
        """
        for question, rows in zip(split, features, strict=True):
            if not np.isfinite(rows).all():
                at, column = np.argwhere(~np.isfinite(rows))[0]
                raise QaselError(
                    f"{split.name}: question {question.id!r}, candidate "
                    f"{question.candidates[at].id!r}: feature {column} is {rows[at, column]}"
                )
        counts = [len(rows) for rows in features]
        return cls(
            np.ascontiguousarray(np.concatenate(features), dtype=np.float64),
            np.concatenate([question.labels == 1 for question in split]),
            np.concatenate([[0], np.cumsum(counts)]),
        )

    def __len__(self) -> int:
        return len(self.first) - 1

    @property
    def longest(self) -> int:
        """Candidates of the longest list."""
        return int(np.diff(self.first).max())

    @property
    def norm(self) -> float:
        """Root mean square norm of the candidates' features; 1 where all are 0."""
        return float(np.sqrt((self.features**2).sum(1).mean())) or 1.0

    def split(self, values: np.ndarray) -> list[np.ndarray]:
        """Values of all candidates `[T, …]`, one array a list."""
        return np.split(values, self.first[1:-1])


def first_candidates(split: Split, count: int | None) -> Split:
    """The first candidates (None: all) of each question in the source file; mixed lists only.

    The paper cuts lists to ten without saying how. The first ten of each TREC-QA training list
    leave 974 mixed lists where the paper counts 970; ten drawn at random leave 890.
    """
    kept = []
    for question in split:
        places = sorted(candidate.place for candidate in question.candidates)[:count]
        chosen = tuple(c for c in question.candidates if c.place in places)
        kept.append(replace(question, candidates=chosen))
    return Split(split.name, tuple(question for question in kept if question.mixed))


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


CUTS = 1000
"""Cuts after which a solution is taken as it is, with a warning."""
IDLE = 30
"""Solutions in a row to which a cut adds nothing before it is dropped (as in SVM-struct)."""
RIDGE = 1e-12
"""Of the largest diagonal entry, added to the quadratic form: cuts may be linearly dependent."""


@dataclass
class Cuts:
    """The rankings found so far, as sums over lists divided by n.

    `features` has Psi(r̂) `[d]` a cut, `losses` the loss. A ranking makes a valid cut whatever
    the correct rankings are, so they are kept when those change.
    """

    features: list[np.ndarray] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    idle: list[int] = field(default_factory=list)

    def add(self, features: np.ndarray, loss: float) -> None:
        """One more cut."""
        self.features.append(features)
        self.losses.append(loss)
        self.idle.append(0)

    def solve(self, correct: np.ndarray, scale: float) -> tuple[np.ndarray, float]:
        """Weights `[d]` and slack that minimise `|w|²/2 + scale · slack` under the cuts.

        `correct` `[d]` is Psi of the correct rankings. Solved in the dual, scaled so that the
        multipliers sum to at most 1.
        """
        gaps = correct - np.array(self.features)
        losses = np.array(self.losses)
        form = scale * (gaps @ gaps.T)
        form += RIDGE * form.diagonal().max() * np.eye(len(form))
        count = len(losses)
        constraints = sparse.csc_matrix(np.vstack([-np.eye(count), np.ones((1, count))]))
        bounds = np.concatenate([np.zeros(count), [1.0]])
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        solver = clarabel.DefaultSolver(
            sparse.triu(form, format="csc"),
            -losses,
            constraints,
            bounds,
            [clarabel.NonnegativeConeT(count + 1)],
            settings,
        )
        solution = np.clip(np.array(solver.solve().x), 0.0, None)
        weights = scale * (solution @ gaps)
        slack = max(0.0, float((losses - gaps @ weights).max()))
        self._drop_idle(solution > 1e-8)
        return weights, slack

    def _drop_idle(self, used: np.ndarray) -> None:
        """Forget cuts that no solution has used for long: the programme stays small."""
        idle = [0 if now else n + 1 for n, now in zip(self.idle, used, strict=True)]
        kept = [i for i, n in enumerate(idle) if n <= IDLE]
        self.features = [self.features[i] for i in kept]
        self.losses = [self.losses[i] for i in kept]
        self.idle = [idle[i] for i in kept]


Find = Callable[[np.ndarray], tuple[np.ndarray, float]]
"""Weights → Psi of the most violating rankings `[d]` and their loss, both means over lists."""


def structural_svm(
    cuts: Cuts, correct: np.ndarray, find: Find, scale: float, epsilon: float
) -> tuple[np.ndarray, float]:
    """The convex problem: add the worst cut until none is violated by more than epsilon.

    Returns the weights `[d]` and the objective. `scale` multiplies the slack (a mean over
    lists); `epsilon` is in units of the loss, 0..1.
    """
    weights, slack = np.zeros_like(correct), 0.0
    if cuts.losses:
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


def cccp(
    size: int,
    correct: Callable[[np.ndarray], np.ndarray],
    find: Find,
    scale: float,
    *,
    epsilon: float,
    rounds: int,
    on_round: Callable[[int, np.ndarray, float, int], None] | None = None,
) -> np.ndarray:
    """The non-convex problem; `correct` gives Psi of the best correct rankings under weights.

    Ends when a round lowers the objective by less than `scale · epsilon`, or after `rounds`.
    `on_round` is told the round, its weights, objective and number of cuts.
    """
    cuts = Cuts()
    weights = np.zeros(size)
    before = np.inf
    for number in range(1, rounds + 1):
        weights, objective = structural_svm(cuts, correct(weights), find, scale, epsilon)
        if on_round:
            on_round(number, weights, objective, len(cuts.losses))
        if before - objective < scale * epsilon:
            break
        before = objective
    return weights


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


BLOCK = 4096
"""Candidates scored at a time."""


@dataclass(frozen=True)
class KernelSvm:
    """What scoring needs: support vectors `[S, d]`, their coefficients `[S]`, and the kernel.

    Kept as arrays, because a saved scikit-learn model would have to be unpickled.
    """

    support: np.ndarray
    coefficients: np.ndarray
    degree: int

    @classmethod
    def fit(cls, train: Lists, degree: int) -> "KernelSvm":
        """Pairs as instances, kernel K(x, y) = (x · y + 1)^degree, C = 1 / mean of K(x, x).

        The paper names no C. This one is the default of SVM-light, in which the authors' group
        writes its kernels; with 1, the dev MAP of WikiQA is lower (.514 → .537, on the vectors of
        the CNN .619 → .659). Raises `QaselError` for a degree of which the kernel is too large.
        """
        with np.errstate(over="ignore"):  # told below
            own = ((train.features**2).sum(1) + 1.0) ** degree
        model = SVC(
            C=1.0 / own.mean(), kernel="poly", degree=degree, gamma=1.0, coef0=1.0, cache_size=1000
        )
        try:
            model.fit(train.features, train.positive)
        except ValueError as error:  # C is 0, or a coefficient is not finite
            told = f"setting degree: the kernel of degree {degree} is too large for these features"
            raise QaselError(f"{told}; try a smaller one") from error
        return cls(model.support_vectors_, model.dual_coef_[0], degree)

    def scores(self, features: np.ndarray) -> np.ndarray:
        """Decision values up to a constant, `[T]`."""
        blocks = np.array_split(features, max(1, -(-len(features) // BLOCK)))
        return np.concatenate(
            [((x @ self.support.T + 1.0) ** self.degree) @ self.coefficients for x in blocks]
        )
