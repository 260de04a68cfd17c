"""Is a paper's system better than its strong baseline? The paper's own test, on our runs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from qasel.errors import QaselError
from qasel.evaluation import Comparison, paired_ttest, randomisation_test
from qasel.papers import paper as room
from qasel.results.ledger import Row, are_folds
from qasel.results.tables import counted, pick


@dataclass(frozen=True)
class Significance:
    """Two systems compared on the test questions of a data set.

    Both tests are paired over questions, on the `values` of each system by question, averaged
    over `seeds` (those that both have; `folds`: each is a fold with questions of its own); `t` is
    Student's test and `randomisation` Fisher's.
    """

    dataset: str
    split: str
    measure: str
    first: str
    second: str
    vectors: str
    seeds: tuple[int, ...]
    folds: bool
    means: tuple[float, float]
    t: Comparison
    randomisation: Comparison
    values: tuple[Mapping[str, float], Mapping[str, float]] = field(repr=False)

    def __str__(self) -> str:
        unit = "fold" if self.folds else "seed"
        return (
            f"{self.first} {self.means[0]:.4f} against {self.second} {self.means[1]:.4f} "
            f"({self.data} {self.measure.upper()}, {self.vectors or 'no word vectors'}, "
            f"{len(self.seeds)} {unit}{'s' if len(self.seeds) > 1 else ''}, "
            f"{self.t.n} questions): difference {self.t.difference:+.4f}, "
            f"t-test p = {self.t.p:.3g}, randomisation p = {self.randomisation.p:.3g}"
        )

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
    (first, second), rows = systems, systems.values()
    by_seed = [{row.recipe["seed"]: row for row in system} for system in rows]
    seeds = sorted(by_seed[0].keys() & by_seed[1].keys())
    if not seeds:
        return None
    common = [[system[seed] for seed in seeds] for system in by_seed]
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


def _over_seeds(rows: list[Row], measure: str, split: str) -> dict[str, float]:
    """Each question's value, averaged over the rows that have it (one, where rows are folds)."""
    found: dict[str, list[float]] = {}
    for row in rows:
        for question, value in row.per_question[split][measure].items():
            found.setdefault(question, []).append(value)
    return {question: float(np.mean(values)) for question, values in found.items()}
