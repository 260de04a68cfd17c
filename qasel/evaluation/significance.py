"""Is one system better than another? Questions and seeds both count as random samples."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from qasel.errors import QaselError

Values = Mapping[str, float] | Sequence[float] | np.ndarray
"""One value per question: a dict, as in `scores.per_question["map"]`, or an array."""
RESAMPLES = 9_999
CHUNK = 5_000
"""Number of resamples held in memory at a time."""
ESTIMABLE = 3
"""Fewest seeds with which the variance over seeds is told apart from that of single values."""


@dataclass(frozen=True)
class Comparison:
    """Two systems compared over `n` questions: `difference` of means, and its two-sided `p`."""

    difference: float
    p: float
    n: int
    method: str

    def __str__(self) -> str:
        return f"difference {self.difference:+.4f}, p = {self.p:.4g} ({self.method}, n = {self.n})"


@dataclass(frozen=True)
class Estimate:
    """A mean, or a difference of two, with its interval `low` to `high` and two-sided `p`.

    With one seed, interval and p leave out the variance over seeds: another seed may differ.
    """

    difference: float
    low: float
    high: float
    p: float
    questions: int
    seeds: int

    def __str__(self) -> str:
        number = f"{self.seeds} seeds" if self.seeds > 1 else "one seed, whose variance is not in"
        return (
            f"difference {self.difference:+.4f} ({self.low:+.4f} to {self.high:+.4f}), "
            f"p = {self.p:.4g}, {self.questions} questions, {number}"
        )


def hierarchical_bootstrap(
    a: Values | Sequence[Values],
    b: Values | Sequence[Values] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Estimate:
    """The mean of `a`, or of `a - b`, paired by question and by seed; both levels are resampled.

    `a` and `b` are values by question, or several such: one per seed, in the same order. A single
    run is paired with all seeds of the other side; it has no variance over seeds.

    The value of seed s and question q is modelled as μ + α_s + β_q + ε_sq. A resample moves the
    mean by two deviations, one of questions drawn with replacement, one of seeds with normal
    weights, as three seeds have too few resamples of their own. Each is divided by an independent
    √(χ²/df) of its level, which gives it the tails of Student's t. From `ESTIMABLE` seeds on, only
    the part of the seeds' deviation that ε does not explain counts; with two, all of it does, which
    is conservative. The interval is symmetric: p < 0.05 exactly if it excludes zero.

    Raises `QaselError` if the sides differ in questions, for fewer than two questions, and for
    numbers of runs that do not pair.
    """
    first, *second = _paired(a=a) if b is None else _paired(a=a, b=b)
    values = first - second[0] if second else first
    mean, kept = float(values.mean()), _kept(values)
    by_question, by_seed = values.mean(axis=0), values.mean(axis=1)
    deviations = np.concatenate(
        [
            np.abs(questions @ by_question + kept * (seeds @ by_seed))
            for questions, seeds in _kept_weights(*values.shape, seed, resamples)
        ]
    )
    # As in p, our own difference counts as one of the resamples.
    half = float(np.quantile(np.append(deviations, np.inf), 0.95, method="higher"))
    reached = np.count_nonzero(deviations >= abs(mean) - 1e-12)
    p = float((reached + 1) / (resamples + 1))
    return Estimate(mean, mean - half, mean + half, p, values.shape[1], values.shape[0])


def all_pairs(
    systems: Mapping[Any, np.ndarray],
    pairs: Sequence[tuple[Any, Any]],
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> np.ndarray:
    """p values of `hierarchical_bootstrap`, `[pairs]`, for many pairs of systems with equal seeds.

    `systems` has an array `[seeds, questions]` for each name in `pairs`. The resamples are shared,
    so that thousands of pairs take seconds.
    """
    place = {name: n for n, name in enumerate(systems)}
    stacked = np.stack(list(systems.values()))  # [systems, seeds, questions]
    first, second = np.array([[place[a], place[b]] for a, b in pairs]).T
    kept = np.array([_kept(stacked[i] - stacked[j]) for i, j in zip(first, second, strict=True)])
    means = stacked.mean(axis=(1, 2))
    observed = np.abs(means[first] - means[second]) - 1e-12
    reached = np.zeros(len(pairs))
    for questions, seeds in _weights(stacked.shape[1], stacked.shape[2], seed, resamples):
        by_question = stacked.mean(axis=1) @ questions.T  # [systems, resamples]
        by_seed = stacked.mean(axis=2) @ seeds.T
        deviations = by_seed[first] - by_seed[second]
        deviations *= kept[:, None]
        deviations += by_question[first] - by_question[second]
        reached += np.count_nonzero(np.abs(deviations) >= observed[:, None], axis=1)
    return (reached + 1) / (resamples + 1)


@lru_cache(maxsize=4)
def _kept_weights(
    seeds: int, questions: int, seed: int, resamples: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """`_weights`, cached for the many means of a data set."""
    return list(_weights(seeds, questions, seed, resamples))


def _weights(
    seeds: int, questions: int, seed: int, resamples: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Per chunk of resamples, the weights of the questions and of the seeds, each summing to 0."""
    generator = np.random.default_rng(seed)
    for start in range(0, resamples, CHUNK):
        count = min(CHUNK, resamples - start)
        drawn = generator.integers(questions, size=(count, questions))
        drawn += questions * np.arange(count)[:, None]
        times = np.bincount(drawn.ravel(), minlength=count * questions).reshape(count, questions)
        by_question = (times - 1) / np.sqrt(questions * (questions - 1))
        by_seed = np.zeros((count, seeds))
        if seeds > 1:
            normal = generator.standard_normal((count, seeds))
            by_seed = normal - normal.mean(axis=1, keepdims=True)
            by_seed /= np.sqrt(seeds * (seeds - 1))
        for weights, size in ((by_question, questions), (by_seed, seeds)):
            if size > 1:
                square = generator.chisquare(size - 1, count) / (size - 1)
                weights /= np.sqrt(square)[:, None]
        yield by_question, by_seed


def _kept(values: np.ndarray) -> float:
    """The share of the seeds' deviations to keep: √(1 - MS(rest) / MS(seeds)), at least 0.

    MS: mean squares of a two-way analysis of variance of `[seeds, questions]`. 1 for few seeds.
    """
    seeds, questions = values.shape
    if seeds < ESTIMABLE:
        return 1.0
    of_seeds = values.mean(axis=1, keepdims=True)
    rest = values - of_seeds - values.mean(axis=0) + values.mean()
    square = float((rest**2).sum()) / ((seeds - 1) * (questions - 1))
    between = questions * float(of_seeds.var(ddof=1))
    return float(np.sqrt(1 - square / between)) if between > square else 0.0


def randomisation_test(a: Values, b: Values, seed: int = 0, resamples: int = 9_999) -> Comparison:
    """Fisher's randomisation test of two runs, two-sided (`scipy.stats.permutation_test`).

    The two values of each question are swapped at random. The test is exact if the 2^questions
    swaps are at most `resamples`; otherwise p is at least 1/(resamples + 1). The runs are taken as
    given: the result is about them, not about the systems.
    """
    (x,), (y,) = _paired(a=a, b=b)
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


def bootstrap_interval(a: Values, b: Values | None = None, seed: int = 0) -> tuple[float, float]:
    """(low, high) of the mean of a run, or of the mean difference of two, over questions.

    Computed by `hierarchical_bootstrap`, which raises `QaselError` for the same reasons.
    """
    found = hierarchical_bootstrap(a, b, seed=seed)
    return found.low, found.high


def holm(p: Sequence[float] | np.ndarray) -> np.ndarray:
    """p values adjusted by Holm's (1979) method, which controls the family-wise error rate."""
    ordered = pd.Series(p, dtype=np.float64).sort_values()
    stepped = ordered * np.arange(len(ordered), 0, -1)
    return stepped.cummax().clip(upper=1.0).sort_index().to_numpy()


def mean_interval(values: Sequence[float] | np.ndarray) -> tuple[float, float | None, float | None]:
    """(mean, standard deviation, half-width of the 95 % t interval) of a few values, one per seed.

    The deviation has n − 1 in the denominator; for one value, it and the half-width are None.
    Raises `QaselError` for no values, or a value that is not finite.
    """
    (array,) = _by_seed("values", values).to_numpy()
    mean = float(array.mean())
    if len(array) == 1:
        return mean, None, None
    deviation = float(array.std(ddof=1))
    quantile = stats.t.ppf(0.975, len(array) - 1)
    return mean, deviation, float(quantile * deviation / np.sqrt(len(array)))


def _paired(**sides: Any) -> list[np.ndarray]:
    """Each side's values `[seeds, questions]`; a single run is repeated for the other's seeds."""
    tables = {name: _by_seed(name, side) for name, side in sides.items()}
    (first, reference), *others = tables.items()
    for name, table in others:
        if different := {*table} ^ {*reference}:
            question = min(different, key=str)
            raise QaselError(f"only one of {first} and {name} has question {question!r}")
    if len(reference.columns) < 2:
        raise QaselError("one question is too few to compare systems; give two or more")
    counts = [len(table) for table in tables.values()]
    if len({*counts} - {1}) > 1:
        raise QaselError(f"runs pair by seed: give as many on both sides, or one; not {counts}")
    return [*np.broadcast_arrays(*(table[reference.columns] for table in tables.values()))]


def _by_seed(name: str, values: Any) -> pd.DataFrame:
    """The table of seeds × questions of one run, or of several; all must be finite numbers."""
    several = not isinstance(values, Mapping) and any(
        isinstance(run, Mapping) or np.ndim(run) for run in values
    )
    table = pd.DataFrame(values if several else [values], dtype=np.float64)
    if table.empty or not np.isfinite(table).all(axis=None):
        wanted = "a list of finite numbers is needed, one or more, on the same questions per run"
        raise QaselError(f"{name}: {wanted}")
    return table
