"""Two systems compared by a test, over questions and seeds."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import pandas as pd

from qasel.evaluation import Estimate, hierarchical_bootstrap
from qasel.results import Room
from qasel.results.runs import shown

ALPHA = 0.05
"""A difference is significant if p is below this."""
INTERVAL = "95 % interval"
EVERY = "every seed"
"""The seed of a line that stands for all seeds, in a table of seeds × questions."""


@dataclass(frozen=True)
class Significance:
    """Two systems compared on the questions of a split by a hierarchical bootstrap.

    `runs` are each system's values, `[seeds, questions]`, for the seeds that both have; the one
    run of a system without randomness serves for all (`seeded`: at least one of the two is random).
    """

    data: str
    measure: str
    first: str
    second: str
    seeded: bool
    means: tuple[float, float]
    estimate: Estimate
    runs: tuple[pd.DataFrame, pd.DataFrame] = field(repr=False)

    @property
    def clear(self) -> bool:
        """Whether the interval excludes zero and includes the variance over seeds.

        So one seed is never clear, unless neither system is random.
        """
        return self.estimate.p < ALPHA and (self.estimate.seeds > 1 or not self.seeded)


def significance(
    room: Room,
    dataset: str,
    measure: str,
    first: str,
    second: str,
    runs: pd.DataFrame | None = None,
    split: str = "test",
) -> Significance | None:
    """Compare `first` with `second` on a split, in runs with the same vectors (if they read any).

    Returns None where `between` does. `runs` defaults to the ledger.
    """
    return between(shown(room, dataset, first, second, runs=runs, split=split), measure)


def between(systems: Mapping[str, pd.DataFrame], measure: str = "map") -> Significance | None:
    """Compare two systems, given as name → the lines of its runs on one split.

    Returns None if one has no run, they ran on different questions, or both are random and have
    no seed in common.
    """
    if len(systems) < 2 or any(lines.empty for lines in systems.values()):
        return None
    first, second = systems
    lines = [lines.drop_duplicates("seed", keep="last") for lines in systems.values()]
    runs = paired(*(by_seed(part, measure) for part in lines))
    if runs is None:
        return None
    line = lines[0].iloc[0]
    return Significance(
        data=line["dataset"] if line["split"] == "test" else f"{line['dataset']} {line['split']}",
        measure=measure,
        first=first,
        second=second,
        seeded=any(bool(part["seeded"].iloc[0]) for part in lines),
        means=(runs[0].to_numpy().mean(), runs[1].to_numpy().mean()),
        estimate=hierarchical_bootstrap(*(side.to_numpy() for side in runs)),
        runs=runs,
    )


def by_seed(lines: pd.DataFrame, measure: str) -> pd.DataFrame:
    """The table of seeds × questions of a system's runs.

    It has one line, `EVERY`, with their mean, if the system is not random, a seed is not known, or
    the runs differ in their questions (folds).
    """
    table = pd.DataFrame([values[measure] for values in lines["values"]], lines["seed"])
    draws = "seeded" not in lines or bool(lines["seeded"].iloc[0])
    if draws and table.index.notna().all() and table.notna().all(axis=None):
        return table
    return table.mean().to_frame(EVERY).T


def paired(a: pd.DataFrame, b: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame] | None:
    """Two tables of `by_seed` at their common seeds; None without any, or if questions differ."""
    seeds = common(a, b)
    if not seeds or set(a) != set(b):
        return None
    return at(a, seeds), at(b, seeds)[a.columns]


def common(a: pd.DataFrame, b: pd.DataFrame) -> tuple[int | str, ...]:
    """The seeds that two tables of `by_seed` have in common."""
    if EVERY in a.index:
        return tuple(b.index)
    return tuple(a.index if EVERY in b.index else sorted(a.index.intersection(b.index)))


def at(table: pd.DataFrame, seeds: tuple[int | str, ...]) -> pd.DataFrame:
    """A table of `by_seed` at these seeds."""
    return table.loc[[EVERY] * len(seeds) if EVERY in table.index else list(seeds)]


def compared(found: Iterable[Significance | None]) -> pd.DataFrame:
    """Tests of pairs of systems as a table, one line each; pairs that were not run are left out.

    `difference` of means, with 95 % interval and p, over questions and, with two or more, seeds.
    """
    columns = ["systems", "data", "measure", "first", "second", "difference", "low", "high", "p",
               "questions", "seeds"]  # fmt: skip
    lines = [
        [f"{test.first} over {test.second}", test.data, test.measure.upper(), *test.means,
         *vars(test.estimate).values()]
        for test in found if test
    ]  # fmt: skip
    return pd.DataFrame(lines, columns=columns).round(3)
