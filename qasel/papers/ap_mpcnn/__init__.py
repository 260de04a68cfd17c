"""Paper 5: AP-MPCNN (Mozafari, Nematbakhsh and Fatemi)."""

from pathlib import Path

from qasel.papers.ap_mpcnn.ranker import APMPCNNRanker
from qasel.papers.ap_mpcnn.recipes import MAIN, VARIANTS, APMPCNNRecipe, recipe
from qasel.results import Room

ranker = APMPCNNRanker
load = APMPCNNRanker.load

__all__ = ["MAIN", "ROOM", "VARIANTS", "APMPCNNRanker", "APMPCNNRecipe", "load", "ranker", "recipe"]


ROOM = Room(
    name="ap-mpcnn",
    title="Attention-based Pairwise Multi-Perspective Convolutional Neural Network for "
    "Answer Selection in Question Answering (Mozafari, Nematbakhsh and Fatemi)",
    variants=tuple(VARIANTS),
    main=MAIN,
    recipe=recipe,
    ranker=ranker,
    load=load,
    published=Path(__file__).with_name("published.csv"),
)
