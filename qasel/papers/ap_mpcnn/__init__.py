"""Paper 5: AP-MPCNN (Mozafari, Nematbakhsh and Fatemi)."""

from pathlib import Path

from qasel.papers.ap_mpcnn.ranker import APMPCNNRanker
from qasel.papers.ap_mpcnn.recipes import MAIN, VARIANTS, APMPCNNRecipe, recipe
from qasel.results import Room

__all__ = ["MAIN", "ROOM", "VARIANTS", "APMPCNNRanker", "APMPCNNRecipe", "recipe"]

ROOM = Room(
    name="ap-mpcnn",
    title="Attention-based Pairwise Multi-Perspective Convolutional Neural Network for "
    "Answer Selection in Question Answering (Mozafari, Nematbakhsh and Fatemi)",
    variants=tuple(VARIANTS),
    main=MAIN,
    recipe=recipe,
    kind=lambda _: APMPCNNRanker,
    published=Path(__file__).with_name("published.csv"),
)
