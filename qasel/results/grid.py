"""A grid of runs: papers × variants × data sets × values of any setting × seeds, as recipes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from qasel.errors import QaselError
from qasel.papers import configured
from qasel.papers import paper as room
from qasel.training.recipe import Recipe

ALL = "all"
"""The variant that stands for every row of a paper."""


@dataclass(frozen=True)
class Grid:
    """Which runs to make.

    No variant means each paper's own system, `all` every row it has. `set` holds for all runs;
    `over` gives a setting several values, of which each is run with each of the other settings'.
    """

    paper: Sequence[str]
    variant: Sequence[str] = ()
    dataset: Sequence[str] = ("sample",)
    seeds: Sequence[int] = (0,)
    set: Mapping[str, Any] = field(default_factory=dict)
    over: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def recipes(self) -> list[Recipe]:
        """The recipes, each once, the seeds of one after another.

        Raises `QaselError` for a name that is not known and a setting that a paper does not have
        or cannot take.
        """
        if twice := sorted(self.set.keys() & self.over.keys()):
            raise QaselError(f"setting {twice[0]!r} is in `set` and in `over`; name it in one")
        found = []
        for name, dataset in product(self.paper, self.dataset):
            for variant, *values in product(rows_of(name, self.variant), *self.over.values()):
                settings = {**self.set, **dict(zip(self.over, values, strict=True))}
                chosen = configured(name, variant, dataset, settings)
                found += [chosen.change(seed=seed) for seed in self.seeds]
        return each_once(found)


def rows_of(paper: str, asked: Sequence[str]) -> Sequence[str]:
    """The variants asked for: none means a paper's own system, `all` every row it has.

    Raises `QaselError` for `all` beside others.
    """
    home = room(paper)
    if ALL not in asked:
        return asked or (home.MAIN,)
    if len(asked) > 1:
        raise QaselError(f"variant {ALL!r} is all there are; leave the others out, or leave it out")
    return home.VARIANTS


def each_once(recipes: Iterable[Recipe]) -> list[Recipe]:
    """The recipes in their order, those with the same hash once."""
    return list({recipe.hash: recipe for recipe in recipes}.values())


def gathered(assignments: Iterable[tuple[str, Any]]) -> dict[str, list[Any]]:
    """Key → all the values it is given: (k, 1), (k, 2) → {k: [1, 2]}."""
    values: dict[str, list[Any]] = {}
    for key, value in assignments:
        values.setdefault(key, []).append(value)
    return values


def told(recipe: Recipe) -> str:
    """A recipe in a line: paper, row, data, seed, and the settings that are not the row's own."""
    parts = (
        recipe.paper,
        recipe.variant,
        f"{recipe.dataset} ({recipe.protocol})",
        f"seed {recipe.seed}",
        changed(recipe.as_dict()),
    )
    return "  ".join(part for part in parts if part)


def changed(recipe: Mapping[str, Any]) -> str:
    """The settings of a recipe that are not its row's own: `scale=quick, margin=0.5`.

    Raises `QaselError` for a paper or a variant that this version of the code does not know.
    """
    own = room(recipe["paper"]).recipe(
        recipe["variant"], recipe["dataset"], scale=recipe["scale"], seed=recipe["seed"]
    )
    unsaid = own.added  # not written down where they are as they were
    plain, whole = unsaid | own.as_dict() | {"scale": "paper"}, unsaid | dict(recipe)
    return ", ".join(f"{key}={value}" for key, value in whole.items() if plain.get(key) != value)
