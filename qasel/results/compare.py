"""Is a paper's system better than its strong baseline? The paper's own test, on our runs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import fmean

import numpy as np

from qasel.errors import QaselError
from qasel.evaluation import Comparison, mean_interval, paired_ttest, randomisation_test
from qasel.papers import paper as room
from qasel.results.ledger import Row, are_folds
from qasel.results.tables import counted, pick


@dataclass(frozen=True)
class Significance:
    """Two systems compared on the test questions of a data set.

    Both tests are paired over questions, on the `values` of each system by question, averaged
    over `seeds`: those that both have, where one run of a system that draws nothing serves all of
    the other's (`seeded`: one of the two does draw; `folds`: each is a fold with questions of its
    own). `t` is Student's test and `randomisation` Fisher's. They take the trained systems as
    given; how much runs differ is in `by_seed`, the difference of the two means in each seed.
    """

    dataset: str
    split: str
    measure: str
    first: str
    second: str
    vectors: str
    seeds: tuple[int, ...]
    folds: bool
    seeded: bool
    by_seed: tuple[float, ...]
    means: tuple[float, float]
    t: Comparison
    randomisation: Comparison
    values: tuple[Mapping[str, float], Mapping[str, float]] = field(repr=False)

    def __str__(self) -> str:
        unit = "fold" if self.folds else "seed"
        spread = "" if self.over_seeds is None else f" ± {self.over_seeds:.4f} over {unit}s"
        return (
            f"{self.first} {self.means[0]:.4f} against {self.second} {self.means[1]:.4f} "
            f"({self.data} {self.measure.upper()}, {self.vectors or 'no word vectors'}, "
            f"{len(self.seeds)} {unit}{'s' if len(self.seeds) > 1 else ''}, "
            f"{self.t.n} questions): difference {self.t.difference:+.4f}{spread}, "
            f"t-test p = {self.t.p:.3g}, randomisation p = {self.randomisation.p:.3g}"
        )

    @property
    def over_seeds(self) -> float | None:
        """Half of the 95 % interval (t) of the mean of `by_seed`; None with one seed."""
        return mean_interval(self.by_seed)[2]

    @property
    def data(self) -> str:
        """Data set, and split where that is not test."""
        return self.dataset if self.split == "test" else f"{self.dataset} {self.split}"


def significance(
    paper: str,
    dataset: str,
    measure: str = "map",
    first: str | None = None,
    second: str = "DCA",
    rows: Iterable[Row] | None = None,
    split: str = "test",
) -> Significance | None:
    """Compare `first` (the paper's own system by default) with `second` on a split.

    None when the ledger has no runs of both with the same vectors and a common seed.
    """
    first = first or room(paper).MAIN
    runs = counted(paper, rows)
    systems = [runs.get((name, dataset), {}) for name in (first, second)]
    vectors = pick(*systems)
    if vectors is None:
        return None
    found = {name: system[vectors] for name, system in zip((first, second), systems, strict=True)}
    return between(found, measure, split)


def between(
    systems: Mapping[str, Iterable[Row]], measure: str = "map", split: str = "test"
) -> Significance | None:
    """Compare two systems by name, each with its rows of one data set; None without a common seed.

    `vectors` and `dataset` are told of the first.
    """
    first, second = systems
    rows = [{row.recipe["seed"]: row for row in system} for system in systems.values()]
    if not all(rows):
        return None
    drawn = [_seeded(next(iter(runs.values()))) for runs in rows]
    for i, other in ((0, 1), (1, 0)):
        if not drawn[i]:  # one run serves all seeds
            rows[i] = dict.fromkeys(rows[other], next(iter(rows[i].values())))
    seeds = sorted(rows[0].keys() & rows[1].keys())
    if not seeds:
        return None
    common = [[runs[seed] for seed in seeds] for runs in rows]
    a, b = (_over_seeds(system, measure, split) for system in common)
    recipe = common[0][0].recipe
    return Significance(
        dataset=recipe["dataset"],
        split=split,
        measure=measure,
        first=first,
        second=second,
        vectors=recipe["vectors"] or recipe.get("encoder", ""),
        seeds=tuple(seeds),
        folds=are_folds(common[0], split),
        seeded=any(drawn),
        by_seed=tuple(
            fmean(one.per_question[split][measure].values())
            - fmean(other.per_question[split][measure].values())
            for one, other in zip(*common, strict=True)
        ),
        means=(float(np.mean(list(a.values()))), float(np.mean(list(b.values())))),
        t=paired_ttest(a, b),
        randomisation=randomisation_test(a, b),
        values=(a, b),
    )


def pooled(found: Iterable[Significance]) -> Comparison:
    """Several comparisons on the same questions as one: each question's mean over them, tested.

    Fisher's randomisation test. Comparisons may share systems, which is then part of the mean.
    Raises `QaselError` for values of different questions.
    """
    firsts, seconds = zip(*(one.values for one in found), strict=True)
    return randomisation_test(_mean(firsts), _mean(seconds))


def _mean(systems: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Each question's mean over systems that all have it."""
    first, *others = systems
    if any(other.keys() != first.keys() for other in others):
        raise QaselError("comparisons on different questions cannot be pooled")
    return {q: float(np.mean([first[q], *(other[q] for other in others)])) for q in first}


def _seeded(row: Row) -> bool:
    """Whether another seed would have given another run."""
    recipe = row.recipe
    words = recipe["vectors"] or recipe.get("encoder") or None
    known = room(recipe["paper"]).recipe(recipe["variant"], recipe["dataset"], vectors=words)
    return known.seeded


def _over_seeds(rows: list[Row], measure: str, split: str) -> dict[str, float]:
    """Each question's value, averaged over the rows that have it (one, where rows are folds)."""
    found: dict[str, list[float]] = {}
    for row in rows:
        for question, value in row.per_question[split][measure].items():
            found.setdefault(question, []).append(value)
    return {question: float(np.mean(values)) for question, values in found.items()}
