"""Paper 4: a strong baseline for question relevancy ranking (González-Garduño et al. 2018)."""

from pathlib import Path

from qasel.papers.question_relevancy.ranker import Reference, RelevancyRanker
from qasel.papers.question_relevancy.recipes import BASELINES, MAIN, VARIANTS, recipe
from qasel.results import Room

__all__ = ["MAIN", "ROOM", "VARIANTS", "Reference", "RelevancyRanker", "recipe"]

ROOM = Room(
    name="question-relevancy",
    title="A Strong Baseline for Question Relevancy Ranking "
    "(González-Garduño, Augenstein and Søgaard 2018)",
    variants=tuple(VARIANTS),
    main=MAIN,
    recipe=recipe,
    kind=lambda variant: Reference if variant in BASELINES else RelevancyRanker,
    published=Path(__file__).with_name("published.csv"),
)
