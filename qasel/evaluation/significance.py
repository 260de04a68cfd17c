"""Is one system better than another? Paired tests over questions, and intervals over seeds."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from qasel.errors import QaselError

Values = Mapping[str, float] | Sequence[float] | np.ndarray
"""One value per question: a dict, as in `scores.per_question["map"]`, or an array."""


@dataclass(frozen=True)
class Comparison:
    """Two systems compared over `n` questions: `difference` of means, and its two-sided `p`."""

    difference: float
    p: float
    n: int
    method: str

    def __str__(self) -> str:
        return f"difference {self.difference:+.4f}, p = {self.p:.4g} ({self.method}, n = {self.n})"


def paired_ttest(a: Values, b: Values) -> Comparison:
    """Student's t-test of paired values, two-sided (`scipy.stats.ttest_rel`).

    Raises `QaselError` for other questions on one side, or fewer than two.
    """
    x, y = _aligned({"a": a, "b": b})
    difference = x - y
    p = float(difference[0] == 0)  # without spread: scipy would divide by zero
    if np.ptp(difference):
        p = float(stats.ttest_rel(x, y).pvalue)
    return Comparison(float(difference.mean()), p, len(x), "paired t-test")


def randomisation_test(a: Values, b: Values, seed: int = 0, resamples: int = 9_999) -> Comparison:
    """Fisher's randomisation test, two-sided (`scipy.stats.permutation_test`).

    The two values of a question are swapped. Exact when the 2^questions swaps are no more than
    `resamples`, otherwise p is no less than 1/(resamples + 1).
    """
    x, y = _aligned({"a": a, "b": b})
    result = stats.permutation_test(
        (x, y),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=resamples,
        batch=1_000,
        random_state=np.random.default_rng(seed),
    )
    return Comparison(float((x - y).mean()), float(result.pvalue), len(x), "paired randomisation")


def bootstrap_interval(
    a: Values,
    b: Values | None = None,
    seed: int = 0,
    confidence: float = 0.95,
    resamples: int = 9_999,
) -> tuple[float, float]:
    """(low, high) of the mean of `a`, or of the mean of `a - b`, resampling questions.

    Bias-corrected and accelerated (`scipy.stats.bootstrap`). Raises `QaselError` as above.
    """
    x, *y = _aligned({"a": a} if b is None else {"a": a, "b": b})
    values = x - y[0] if y else x
    if np.ptp(values) == 0:
        return float(values[0]), float(values[0])
    interval = stats.bootstrap(
        (values,),
        np.mean,
        confidence_level=confidence,
        n_resamples=resamples,
        vectorized=True,
        batch=1_000,
        random_state=np.random.default_rng(seed),
    ).confidence_interval
    return float(interval.low), float(interval.high)


def tukey_hsd_randomised(
    systems: Mapping[str, Values], seed: int = 0, resamples: int = 9_999
) -> dict[tuple[str, str], Comparison]:
    """All pairs of two or more systems, p corrected for their number.

    Carterette (2012), "Multiple testing in statistical analysis of systems-based information
    retrieval experiments": permute each question's values among the systems; p of a pair is the
    share of permutations, with the observed one, whose range of means reaches its difference.
    """
    if len(systems) < 2:
        raise QaselError(f"Tukey's test compares two or more systems; {len(systems)} came")
    rows = _aligned(systems)
    values = rows.T.copy()  # [questions, systems]
    generator = np.random.default_rng(seed)
    chunk = max(1, 2_000_000 // values.size)
    ranges = []
    for start in range(0, resamples, chunk):
        shape = (min(chunk, resamples - start), *values.shape)
        means = generator.permuted(np.broadcast_to(values, shape), axis=2).mean(axis=1)
        ranges.append(np.ptp(means, axis=1))
    largest = np.concatenate(ranges)
    means = dict(zip(systems, rows.mean(axis=1), strict=True))
    result = {}
    for first, second in itertools.combinations(systems, 2):
        difference = float(means[first] - means[second])
        reached = np.count_nonzero(largest >= abs(difference) - 1e-12)
        p = float((reached + 1) / (resamples + 1))
        result[first, second] = Comparison(difference, p, len(values), "randomised Tukey HSD")
    return result


def mean_interval(
    values: Sequence[float] | np.ndarray, confidence: float = 0.95
) -> tuple[float, float | None, float | None]:
    """(mean, standard deviation, half-width of the t interval) of a few values, one a seed.

    The deviation has n − 1 in the denominator; with one value it and the half-width are None.
    Raises `QaselError` for no value or one that is not finite.
    """
    array = _array("values", values)
    mean = float(array.mean())
    if len(array) == 1:
        return mean, None, None
    deviation = float(array.std(ddof=1))
    quantile = stats.t.ppf((1 + confidence) / 2, len(array) - 1)
    return mean, deviation, float(quantile * deviation / np.sqrt(len(array)))


def _aligned(systems: Mapping[str, Any]) -> np.ndarray:
    """Values `[systems, questions]`, aligned by question."""
    (first, reference), *others = systems.items()
    by_question = isinstance(reference, Mapping)
    for name, values in others:
        if isinstance(values, Mapping) != by_question:
            raise QaselError(f"{first} and {name}: give dicts by question for both, or arrays")
        if by_question and (different := values.keys() ^ reference.keys()):
            raise QaselError(f"only one of {first} and {name} has question {min(different)!r}")
        if len(values) != len(reference):
            counts = f"{first} has {len(reference)} questions, {name} {len(values)}"
            raise QaselError(f"{counts}; compare systems on the same questions")
    array = np.stack(
        [
            _array(name, [values[question] for question in reference] if by_question else values)
            for name, values in systems.items()
        ]
    )
    if array.shape[1] < 2:
        raise QaselError("one question is too few to compare systems; give two or more")
    return array


def _array(name: str, values: Any) -> np.ndarray:
    """A finite float array `[values]` that is not empty."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or not array.size or not np.isfinite(array).all():
        raise QaselError(f"{name}: a list of finite numbers is needed, one or more")
    return array
