"""Systems from no paper: baselines as recipes, and cross-encoders with the papers' ideas.

A room like a paper's, but without published numbers.
"""

from qasel.papers.yardsticks.ranker import CrossEncoderRanker, ReadyRanker, Reference
from qasel.papers.yardsticks.recipes import BASELINES, MAIN, SCHEMES, VARIANTS, recipe
from qasel.results import Room

__all__ = ["MAIN", "ROOM", "VARIANTS", "recipe"]

KINDS = dict.fromkeys(BASELINES, Reference) | dict.fromkeys(SCHEMES, CrossEncoderRanker)

ROOM = Room(
    name="yardsticks",
    title="What needs no paper: baselines and fine-tuned cross-encoders",
    variants=tuple(VARIANTS),
    main=MAIN,
    recipe=recipe,
    kind=lambda variant: KINDS.get(variant, ReadyRanker),
)
