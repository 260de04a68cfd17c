"""Rows that differ from a paper's recipe in a setting: learning curves, grids, sweeps."""

from collections.abc import Iterable
from itertools import chain
from typing import Any

from qasel.evaluation import mean_interval
from qasel.papers import paper as room
from qasel.results.grid import changed
from qasel.results.ledger import Row, read_ledger
from qasel.results.tables import markdown_table, pick


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
        unsaid = default.added  # an older recipe has none of the fields that came later
        whole = unsaid | recipe
        if unsaid | default.as_dict() | {setting: whole.get(setting)} == whole:
            values = found.setdefault(recipe["vectors"], {})
            values.setdefault(whole[setting], []).append(row)
    words = pick({name: [*chain(*values.values())] for name, values in found.items()})
    kept = found.get(words or "", {})
    for group in kept.values():
        group.sort(key=lambda row: row.recipe["seed"])
    return dict(sorted(kept.items()))


def by_settings(rows: Iterable[Row]) -> str:
    """Markdown: mean MAP of the runs that differ in nothing but their seed, in their order.

    That on dev comes first: it is what settings are chosen by. `std` is the standard deviation.
    """
    groups: dict[tuple[str, str, str, str], list[Row]] = {}
    for row in rows:
        recipe = row.recipe
        data = f"{recipe['dataset']} ({recipe['protocol']})"
        key = str(recipe["paper"]), str(recipe["variant"]), data, changed(recipe)
        groups.setdefault(key, []).append(row)
    header = ["paper", "row", "data", "settings", "runs"]
    splits = ("dev", "test")
    header += [name for split in splits for name in (f"{split} MAP", "std")]
    cells = []
    for key, group in groups.items():
        line = [*key, str(len(group))]
        for split in splits:
            mean, deviation, _ = mean_interval([row.scores[split]["map"] for row in group])
            line += [f"{mean:.4f}", "–" if deviation is None else f"{deviation:.4f}"]
        cells.append(line)
    return markdown_table(header, cells, set(range(4, len(header))))
