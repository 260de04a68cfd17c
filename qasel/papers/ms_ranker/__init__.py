"""Paper 3: MS-Ranker (Zhang, Meng, Li, Jian and Zhou 2020)."""

from pathlib import Path

import torch

from qasel.papers.ms_ranker.ranker import MSRanker, PreRanking
from qasel.papers.ms_ranker.recipes import MAIN, VARIANTS, MSRankerRecipe, recipe
from qasel.results import Room
from qasel.text import Vectors
from qasel.training.recipe import read_recipe, recipe_from

__all__ = ["MAIN", "ROOM", "VARIANTS", "MSRanker", "PreRanking", "load", "ranker", "recipe"]


def ranker(
    settings: MSRankerRecipe, vectors: Vectors, device: torch.device
) -> MSRanker | PreRanking:
    """The ranker of a variant, untrained."""
    kind = PreRanking if settings.alone else MSRanker
    return kind(settings, vectors, device)


def load(folder: Path, vectors: Vectors, device: torch.device) -> MSRanker | PreRanking:
    """A ranker that was saved in a folder."""
    kind = PreRanking if recipe_from(read_recipe(folder), MSRankerRecipe).alone else MSRanker
    return kind.load(folder, vectors, device)


def figures() -> dict:
    """The paper's figures by name, from the ledger."""
    from qasel.papers.ms_ranker import report  # drawing is imported only here

    return report.figures()


ROOM = Room(
    name="ms-ranker",
    title="MS-Ranker: Accumulating Evidence from Potentially Correct Candidates for Answer "
    "Selection (Zhang et al. 2020)",
    variants=tuple(VARIANTS),
    main=MAIN,
    recipe=recipe,
    ranker=ranker,
    load=load,
    published=Path(__file__).with_name("published.csv"),
    figures=figures,
)
