"""Systems × data sets: means, intervals over seeds and questions, and corrected tests."""

import difflib
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from qasel.errors import QaselError
from qasel.evaluation import Comparison, bootstrap_interval, mean_interval, tukey_hsd_randomised
from qasel.results.outcomes import Outcome, Target
from qasel.results.tables import DATASETS

ALPHA = 0.05
"""One system beats another if p is below this, corrected for all pairs of the data set."""


class Tally(NamedTuple):
    """How a system does against each of the others on a data set."""

    wins: int
    ties: int
    losses: int

    def __str__(self) -> str:
        return f"{self.wins} / {self.ties} / {self.losses}"


@dataclass(frozen=True)
class Cell:
    """A system on a target. `values` are question → value, the mean of the runs that have it.

    `means` are those of the runs, one a seed, or empty where runs have different questions
    (folds); `by_seed` has them by the seeds that are known. `seconds` to train, `parameters` and
    `ranked_per_second` are means over runs; None where no run tells. `under` and `scale` as in
    an `Outcome`.
    """

    values: Mapping[str, float]
    means: tuple[float, ...]
    by_seed: Mapping[int, float]
    runs: int
    seconds: float
    parameters: float | None
    ranked_per_second: float | None
    paper: str
    vectors: str
    under: str
    scale: str

    @classmethod
    def of(cls, outcomes: Sequence[Outcome], measure: str) -> "Cell":
        """The cell of one or more runs; raises `QaselError` for a measure that one lacks."""
        runs = [_values(outcome, measure) for outcome in outcomes]
        found: dict[str, list[float]] = {}
        for values in runs:
            for question, value in values.items():
                found.setdefault(question, []).append(value)
        same = all(values.keys() == found.keys() for values in runs)
        means = tuple(statistics.fmean(values.values()) for values in runs) if same else ()
        seeds = (outcome.seed for outcome in outcomes)
        return cls(
            values={question: statistics.fmean(values) for question, values in found.items()},
            means=means,
            by_seed={s: x for s, x in zip(seeds, means, strict=False) if s is not None},
            runs=len(runs),
            seconds=statistics.fmean(outcome.seconds for outcome in outcomes),
            parameters=_mean(outcome.parameters for outcome in outcomes),
            ranked_per_second=_mean(outcome.ranked_per_second for outcome in outcomes),
            paper=outcomes[0].paper,
            vectors=outcomes[0].vectors,
            under=outcomes[0].under,
            scale=outcomes[0].scale,
        )

    @cached_property
    def mean(self) -> float:
        """Over all questions."""
        return statistics.fmean(self.values.values())

    @property
    def over_seeds(self) -> tuple[float | None, float | None]:
        """Standard deviation over seeds, half-width of the 95 % t interval; None for one seed."""
        return mean_interval(self.means)[1:] if self.means else (None, None)

    @cached_property
    def over_questions(self) -> tuple[float, float] | None:
        """95 % bootstrap interval over questions, of their means over runs; None for one."""
        return bootstrap_interval(list(self.values.values())) if len(self.values) > 1 else None


def _values(outcome: Outcome, measure: str) -> Mapping[str, float]:
    if measure not in outcome.scores:
        known = ", ".join(outcome.scores)
        raise QaselError(f"unknown measure {measure!r}; of single questions there are: {known}")
    return outcome.scores[measure]


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None


@dataclass(frozen=True, eq=False)
class Matrix:
    """Cells by (system, target); a pair that was not run has none.

    On each target those systems are compared that have the questions that most have; the others
    are in `left_out`.
    """

    cells: Mapping[tuple[str, Target], Cell]
    measure: str = "map"
    _tests: dict[Target, dict[tuple[str, str], Comparison]] = field(
        default_factory=dict, init=False, repr=False
    )

    @classmethod
    def of(cls, outcomes: Iterable[Outcome], measure: str = "map") -> "Matrix":
        """The matrix of some runs; raises `QaselError` for a measure that one of them lacks."""
        groups: dict[tuple[str, Target], list[Outcome]] = {}
        for outcome in outcomes:
            groups.setdefault((outcome.system, outcome.target), []).append(outcome)
        return cls({key: Cell.of(group, measure) for key, group in groups.items()}, measure)

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """The systems, in the order in which they came."""
        return tuple(dict.fromkeys(system for system, _ in self.cells))

    @cached_property
    def targets(self) -> tuple[Target, ...]:
        """The targets: known data sets first, by protocol."""
        order = list(DATASETS)
        return tuple(
            sorted(
                {target for _, target in self.cells},
                key=lambda t: (order.index(t.dataset) if t.dataset in order else len(order), t),
            )
        )

    def column(self, target: Target) -> dict[str, Cell]:
        """The systems that were run on a target, best first."""
        cells = {s: self.cells[s, target] for s in self.systems if (s, target) in self.cells}
        return dict(sorted(cells.items(), key=lambda item: -item[1].mean))

    def questions(self, target: Target) -> frozenset[str]:
        """The questions that most systems have there (the larger set, where two have as many)."""
        counts = Counter(frozenset(cell.values) for cell in self.column(target).values())
        return max(counts, key=lambda questions: (counts[questions], len(questions)))

    def left_out(self, target: Target) -> dict[str, int]:
        """Systems that were run on other questions, and on how many; they are not compared."""
        asked = self.questions(target)
        column = self.column(target).items()
        return {name: len(cell.values) for name, cell in column if cell.values.keys() != asked}

    def compared(self, target: Target) -> list[str]:
        """The systems that are compared on a target, best first."""
        others = self.left_out(target)
        return [system for system in self.column(target) if system not in others]

    def tests(self, target: Target) -> dict[tuple[str, str], Comparison]:
        """Each pair of the systems compared, better one first, by the randomised Tukey HSD.

        p is corrected for the number of systems. Empty for one system, or one question.
        """
        if target not in self._tests:
            systems = self.compared(target)
            enough = len(systems) > 1 and len(self.questions(target)) > 1
            values = {system: self.cells[system, target].values for system in systems}
            self._tests[target] = tukey_hsd_randomised(values) if enough else {}
        return self._tests[target]

    def beaten(self, system: str, target: Target) -> list[str]:
        """The systems that this one beats significantly, best first."""
        found = self.tests(target)
        return [b for (a, b), test in found.items() if a == system and test.p < ALPHA]

    def tally(self, system: str, target: Target) -> Tally | None:
        """Significant wins, ties and significant losses; None where it is not compared."""
        found = self.tests(target)
        if not any(system in pair for pair in found):
            return None
        wins = len(self.beaten(system, target))
        losses = sum(b == system and test.p < ALPHA for (_, b), test in found.items())
        return Tally(wins, len(self.compared(target)) - 1 - wins - losses, losses)

    def leaders(self, count: int) -> list[str]:
        """The systems that are among the `count` best on some target, in the matrix's order."""
        best = {system for target in self.targets for system in list(self.column(target))[:count]}
        return [system for system in self.systems if system in best]

    def only(self, systems: Sequence[str] = (), data: Sequence[str] = ()) -> "Matrix":
        """The part with these systems and data sets (`wikiqa`, or `wikiqa/mixed`); none: all.

        Tests are then corrected for the systems that are left. Raises `QaselError` for a name
        that the matrix does not have.
        """
        known = {name: name for name in self.systems}
        chosen = {known[_known(name, known, "system")] for name in systems or self.systems}
        sets: dict[str, list[Target]] = {}
        for target in self.targets:
            for name in dict.fromkeys((target.dataset, target.key)):
                sets.setdefault(name, []).append(target)
        kept = {t for name in data for t in sets[_known(name, sets, "data set")]}
        cells = {
            (system, target): cell
            for (system, target), cell in self.cells.items()
            if system in chosen and (target in kept or not data)
        }
        return Matrix(cells, self.measure)


def _known(name: str, known: Mapping[str, object], what: str) -> str:
    """`name`, if it is known; raises `QaselError` with the nearest ones if not."""
    if name in known:
        return name
    folded = {key.casefold(): key for key in known}
    close = difflib.get_close_matches(name.casefold(), folded, n=3)
    near = "did you mean " + " or ".join(repr(folded[key]) for key in close) + "?"
    hint = near if close else f"there are: {', '.join(known)}"
    raise QaselError(f"no run of the {what} {name!r} in the ledger; {hint}")
