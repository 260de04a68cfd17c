"""Paper 1: Hierarchical Ranking for Answer Selection (Gao, Hu, Cheng and Gao 2020)."""

from pathlib import Path

from qasel.papers.hierarchical_ranking.ranker import HierarchicalRanker
from qasel.papers.hierarchical_ranking.recipes import MAIN, SCHEMES, VARIANTS, recipe
from qasel.results import Room

__all__ = ["MAIN", "ROOM", "SCHEMES", "VARIANTS", "HierarchicalRanker", "recipe"]

ROOM = Room(
    name="hierarchical-ranking",
    title="Hierarchical Ranking for Answer Selection (Gao et al. 2020)",
    variants=tuple(VARIANTS),
    main=MAIN,
    recipe=recipe,
    kind=lambda _: HierarchicalRanker,
    published=Path(__file__).with_name("published.csv"),
)
