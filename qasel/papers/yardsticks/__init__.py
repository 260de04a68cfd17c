"""Systems from no paper: baselines as recipes, and cross-encoders with the papers' ideas.

A room like a paper's, but without published numbers.
"""

from qasel.papers.yardsticks.ranker import CrossEncoderRanker, ReadyRanker, Reference
from qasel.papers.yardsticks.recipes import (
    BASELINES,
    COSINE,
    MAIN,
    READY,
    SCHEMES,
    VARIANTS,
    recipe,
)
from qasel.results import Room
from qasel.training.neural import by_variant

__all__ = [
    "MAIN", "ROOM", "VARIANTS", "CrossEncoderRanker", "Reference", "load", "ranker", "recipe",
]  # fmt: skip

KINDS = (
    dict.fromkeys(BASELINES, Reference)
    | dict.fromkeys(SCHEMES, CrossEncoderRanker)
    | dict.fromkeys((READY, COSINE), ReadyRanker)
)
ranker, load = by_variant(KINDS.__getitem__)

ROOM = Room(
    name="yardsticks",
    title="What needs no paper: baselines and fine-tuned cross-encoders",
    variants=tuple(VARIANTS),
    main=MAIN,
    recipe=recipe,
    ranker=ranker,
    load=load,
)
