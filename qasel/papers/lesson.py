"""What the notebooks of all papers need: recipes from parameters, and training on the spot."""

from collections.abc import Collection, Mapping
from typing import Any

import torch

from qasel.datasets import Dataset
from qasel.errors import QaselError
from qasel.evaluation import Run, evaluate
from qasel.papers import ROOMS
from qasel.rankers import History, Ranker
from qasel.results.measure import beside, timed_run, vectors_for
from qasel.results.runs import target_of
from qasel.training import Recipe
from qasel.training.recipe import settings as recipe_settings

Entry = dict[str, Any]
"""A line of `qasel.results.compare.entries`."""


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
    """The recipes of the variants named (with commas between), by name.

    `epochs` 0 and `vectors` "" keep the recipe's own; `settings` are others of its fields, as
    `key=value` with blanks between. Raises `QaselError` for what is not valid.
    """
    room = ROOMS[paper]
    names = _named(variants, room.variants)
    if not names or len(set(names)) < len(names):
        raise QaselError(f"variants {variants!r}: name at least one, and each once")
    if not isinstance(epochs, int) or epochs < 0:
        raise QaselError(f"epochs {epochs!r}: give a number of epochs, or 0 for the recipe's")
    others = recipe_settings(settings.split())
    if "scale" in others:
        raise QaselError(f"settings {settings!r}: the scale is a parameter of its own")
    changes = {"scale": scale} | ({"epochs": epochs} if epochs else {}) | others
    configured = (room.configured(name, dataset, changes, vectors) for name in names)
    return {name: own.change(seed=seed) for name, own in zip(names, configured, strict=True)}


def _named(variants: str, known: Collection[str]) -> list[str]:
    """Names with commas between; some of the known ones have a comma themselves."""
    parts = [part.strip() for part in variants.split(",") if part.strip()]
    names = []
    while parts:
        lengths = range(len(parts), 0, -1)
        length = next((n for n in lengths if ", ".join(parts[:n]) in known), 1)
        names.append(", ".join(parts[:length]))
        parts = parts[length:]
    return names


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


def compete(recipes: Mapping[str, Recipe], device: torch.device) -> dict[str, tuple[Run, Entry]]:
    """Train each system as its recipe says: its run of the test split, and its line of a matrix."""
    found = {}
    for name, recipe in recipes.items():
        data = recipe.load()
        ranker = ROOMS[recipe.paper].ranker(recipe, vectors_for(recipe, data), device)
        history = ranker.fit(data.train, data.dev, **beside(data))
        run, line = just_measured(name, ranker, history, data)
        # A folder of one's own by its whole path, as the ledger has it.
        line["target"] = target_of(recipe.dataset, recipe.protocol)
        known = {key: getattr(recipe, key) for key in ("paper", "vectors", "seed")}
        found[name] = run, line | known
    return found


def just_measured(
    system: str, ranker: Ranker, history: History, data: Dataset
) -> tuple[Run, Entry]:
    """Rank the test split with a ranker that was fitted: the run, and a line of `entries`."""
    # Before ranking, which adds the vectors of new words to a network that training never saw.
    parameters = getattr(ranker, "parameter_count", None)
    run, speed = timed_run(ranker, data.test)
    return run, {
        "system": system,
        "target": target_of(data.name, data.protocol),
        "values": evaluate(run, data.test, data.scoring).per_question,
        "seconds": history.seconds,
        "parameters": parameters,
        "ranked_per_second": speed,
        "paper": "",
        "vectors": "",
        "under": "",
        "scale": "paper",
        "seed": None,
    }
