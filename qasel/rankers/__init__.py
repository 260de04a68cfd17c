"""What a ranker is, and the rankers that need no training."""

from qasel.rankers.base import History, Ranker
from qasel.rankers.baselines import (
    BASELINES,
    BM25,
    Constant,
    FileOrder,
    IdfOverlap,
    RandomRanker,
    SemEvalRandom,
    WordOverlap,
)

__all__ = [
    "BASELINES",
    "BM25",
    "Constant",
    "FileOrder",
    "History",
    "IdfOverlap",
    "RandomRanker",
    "Ranker",
    "SemEvalRandom",
    "WordOverlap",
]
