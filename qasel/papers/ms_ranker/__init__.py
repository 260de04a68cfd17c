"""Paper 3: MS-Ranker (Zhang, Meng, Li, Jian and Zhou 2020)."""

from pathlib import Path

from qasel.papers.ms_ranker.ranker import MSRanker, PreRanking
from qasel.papers.ms_ranker.recipes import ALONE, MAIN, VARIANTS, recipe
from qasel.results import Room

__all__ = ["MAIN", "ROOM", "VARIANTS", "MSRanker", "PreRanking", "recipe"]

ROOM = Room(
    name="ms-ranker",
    title="MS-Ranker: Accumulating Evidence from Potentially Correct Candidates for Answer "
    "Selection (Zhang et al. 2020)",
    variants=tuple(VARIANTS),
    main=MAIN,
    recipe=recipe,
    kind=lambda variant: PreRanking if variant in ALONE else MSRanker,
    published=Path(__file__).with_name("published.csv"),
)
