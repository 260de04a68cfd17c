"""Helpers for the notebooks of all papers: recipes from parameters, and training on the spot."""

from collections.abc import Collection, Mapping
from typing import Any

import torch

from qasel.errors import QaselError
from qasel.evaluation import Run, evaluate
from qasel.papers import ROOMS
from qasel.results.measure import beside, timed_run, vectors_for
from qasel.results.runs import target_of
from qasel.training import Recipe
from qasel.training.recipe import settings as recipe_settings

Entry = dict[str, Any]
"""A row of `qasel.results.matrix.entries`."""


def chosen_recipes(
    paper: str,
    variants: str,
    dataset: str,
    *,
    scale: str,
    seed: int,
    epochs: int = 0,
    vectors: str = "",
    settings: str = "",
) -> dict[str, Recipe]:
    """Return the recipes of the comma-separated `variants`, by name.

    `epochs=0` and `vectors=""` keep the recipe's own values; `settings` changes other fields, by
    `key=value` separated by spaces. Raises `QaselError` for invalid arguments.
    """
    room = ROOMS[paper]
    names = _named(variants, room.variants)
    if not names or len(set(names)) < len(names):
        raise QaselError(f"variants {variants!r}: name at least one, and each once")
    others = recipe_settings(settings.split())
    if "scale" in others:
        raise QaselError(f"settings {settings!r}: the scale is a parameter of its own")
    changes = {"scale": scale} | ({"epochs": epochs} if epochs else {}) | others
    configured = (room.configured(name, dataset, changes, vectors) for name in names)
    return {name: own.change(seed=seed) for name, own in zip(names, configured, strict=True)}


def _named(variants: str, known: Collection[str]) -> list[str]:
    """Split comma-separated names; some `known` names contain a comma themselves."""
    parts = [part.strip() for part in variants.split(",") if part.strip()]
    names = []
    while parts:
        lengths = range(len(parts), 0, -1)
        length = next((n for n in lengths if ", ".join(parts[:n]) in known), 1)
        names.append(", ".join(parts[:length]))
        parts = parts[length:]
    return names


def chosen_systems(text: str, dataset: str, protocol: str, **settings: Any) -> dict[str, Recipe]:
    """Parse `paper: variant, variant; paper: variant` into recipes by variant, under one protocol.

    `settings` are passed to `chosen_recipes`. Raises `QaselError` for invalid arguments.
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


def compete(recipes: Mapping[str, Recipe], device: torch.device) -> dict[str, tuple[Run, Entry]]:
    """Train each recipe; return its run on the test split and its row of `entries`, by name."""
    found = {}
    for name, recipe in recipes.items():
        data = recipe.load()
        ranker = ROOMS[recipe.paper].ranker(recipe, vectors_for(recipe, data), device)
        history = ranker.fit(data.train, data.dev, **beside(data))
        # Count before ranking, which adds vectors to the network of words that training never saw.
        parameters = getattr(ranker, "parameter_count", None)
        run, speed = timed_run(ranker, data.test)
        entry = {
            "system": name,
            # A user's own data folder goes by its full path, as in the ledger.
            "target": target_of(recipe.dataset, recipe.protocol),
            "values": evaluate(run, data.test, data.scoring).per_question,
            "seconds": history.seconds,
            "parameters": parameters,
            "ranked_per_second": speed,
            "paper": recipe.paper,
            "vectors": recipe.vectors or getattr(recipe, "encoder", ""),
            "under": "",
            "scale": "paper",
            "seed": recipe.seed,
        }
        found[name] = run, entry
    return found
