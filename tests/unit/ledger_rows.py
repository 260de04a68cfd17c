"""Made-up rows of a ledger, for tests of what is made from them."""

from typing import Any

from qasel.results.ledger import Row
from qasel.training import Recipe


def ledger_row(
    recipe: Recipe,
    dev: dict[str, float],
    test: dict[str, float],
    values: dict[str, float],
    **changes: Any,
) -> Row:
    """A row with these means; `values` are the questions' of test, the same for each measure."""
    settled = {
        "history": [],
        "best_epoch": 1,
        "seconds": 1.0,
        "device": "CPU",
        "vectors": {"name": recipe.vectors},
        "versions": {},
        "revision": "abc",
        "finished": "2026-01-01T00:00:00+00:00",
    }
    return Row(
        recipe=recipe.as_dict(),
        hash=recipe.hash,
        slug=recipe.slug,
        scores={"dev": dev, "test": test},
        questions={"dev": 1, "test": len(values)},
        per_question={"dev": {}, "test": dict.fromkeys(test, values)},
        **settled | changes,
    )
