"""Systems trained on the spot, for a matrix of their own."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch

from qasel.errors import QaselError
from qasel.evaluation import Run
from qasel.papers import paper as room
from qasel.papers.lesson import chosen_recipes
from qasel.results.measure import vectors_for
from qasel.results.outcomes import Outcome, Target, just_measured
from qasel.training import Recipe


def chosen_systems(text: str, dataset: str, protocol: str, **settings: Any) -> dict[str, Recipe]:
    """`paper: variant, variant; paper: variant` → recipes by variant, all under one protocol.

    `settings` are those of `chosen_recipes`. Raises `QaselError` for what is not valid.
    """
    found: dict[str, Recipe] = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        paper, colon, variants = part.partition(":")
        if not colon:
            raise QaselError(f"systems {part!r}: write `paper: variant`, with `;` between papers")
        chosen = chosen_recipes(paper.strip(), variants, dataset, **settings)
        if twice := found.keys() & chosen.keys():
            raise QaselError(f"systems: {min(twice)!r} is named twice")
        found |= {name: recipe.change(protocol=protocol) for name, recipe in chosen.items()}
    if len(found) < 2:
        raise QaselError(f"systems {text!r}: name two or more to set side by side")
    return found


def compete(recipes: Mapping[str, Recipe], device: torch.device) -> dict[str, tuple[Run, Outcome]]:
    """Train each system as its recipe says: its run of the test split, and its outcome."""
    found = {}
    for name, recipe in recipes.items():
        data = recipe.load()
        ranker = room(recipe.paper).ranker(recipe, vectors_for(recipe, data), device)
        tasks = {"tasks": data.tasks} if data.tasks else {}
        history = ranker.fit(data.train, data.dev, **tasks)
        run, outcome = just_measured(name, ranker, history, data)
        # A folder of one's own by its whole path, as the ledger has it.
        target = Target.of(recipe.dataset, recipe.protocol)
        outcome = replace(outcome, target=target, paper=recipe.paper, seed=recipe.seed)
        found[name] = run, replace(outcome, vectors=recipe.vectors)
    return found
