"""Rows that differ from a paper's recipe in one setting: learning curves and grids."""

from collections.abc import Iterable
from itertools import chain
from typing import Any

from qasel.papers import paper as room
from qasel.results.ledger import Row, read_ledger
from qasel.results.tables import pick
from qasel.training.recipe import before


def varied(
    paper: str, variant: str, dataset: str, setting: str, rows: Iterable[Row] | None = None
) -> dict[Any, list[Row]]:
    """Value of a setting → the rows that are a variant's recipe but for it and the seed.

    In the order of the values, seeds in order; the recipe's own value is among them. Rows of the
    vectors that tables show (`pick`). `rows` default to the ledger.
    """
    found: dict[str, dict[Any, list[Row]]] = {}
    for row in read_ledger(paper) if rows is None else rows:
        recipe = row.recipe
        if (recipe["paper"], recipe["variant"], recipe["dataset"]) != (paper, variant, dataset):
            continue
        default = room(paper).recipe(
            variant, dataset, vectors=recipe["vectors"], seed=recipe["seed"]
        )
        unsaid = before(type(default))  # an older recipe has none of the fields that came later
        whole = unsaid | recipe
        if unsaid | default.as_dict() | {setting: whole.get(setting)} == whole:
            values = found.setdefault(recipe["vectors"], {})
            values.setdefault(whole[setting], []).append(row)
    words = pick({name: [*chain(*values.values())] for name, values in found.items()})
    kept = found.get(words or "", {})
    for group in kept.values():
        group.sort(key=lambda row: row.recipe["seed"])
    return dict(sorted(kept.items()))
