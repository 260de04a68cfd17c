"""Paper 1: Hierarchical Ranking for Answer Selection (Gao, Hu, Cheng and Gao 2020)."""

from pathlib import Path

from qasel.papers.hierarchical_ranking.ranker import HierarchicalRanker
from qasel.papers.hierarchical_ranking.recipes import (
    BEYOND,
    MAIN,
    SCHEMES,
    HierarchicalRecipe,
    recipe,
)
from qasel.results import Room

VARIANTS = tuple(SCHEMES | BEYOND)
ranker = HierarchicalRanker
load = HierarchicalRanker.load

__all__ = [
    "MAIN",
    "ROOM",
    "SCHEMES",
    "VARIANTS",
    "HierarchicalRanker",
    "HierarchicalRecipe",
    "recipe",
]


ROOM = Room(
    name="hierarchical-ranking",
    title="Hierarchical Ranking for Answer Selection (Gao et al. 2020)",
    variants=VARIANTS,
    main=MAIN,
    recipe=recipe,
    ranker=ranker,
    load=load,
    published=Path(__file__).with_name("published.csv"),
)
