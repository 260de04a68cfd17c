"""Large-margin learning by cutting planes: LSSVM-AP, LSSVM-AP* and SVM^map.

With lists i = 1..n, a joint feature vector Psi of a list and a ranking, the loss 1 − AP and
the model's most violating ranking r̂_i, the objective is (equation 4, see `margin` for the 1/n)

    1/2 |w|² + C/n sum_i [ loss(r̂_i) + w · Psi(r̂_i) ] − C/n sum_i max over correct r of w · Psi(r)

The last term makes it non-convex. CCCP (Yu and Joachims 2009) fixes the best correct rankings
under the present w, solves what is left, and repeats. What is left is a structural SVM, solved
in its one-slack form (Joachims, Finley and Yu 2009): all lists' most violating rankings make
one cut `w · d ≥ l − slack`, and a small quadratic programme over the cuts gives the next w.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

import clarabel
import numpy as np
from scipy import sparse

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
