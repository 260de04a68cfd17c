"""Paper 5: AP-MPCNN (Mozafari, Nematbakhsh and Fatemi)."""

from qasel.papers.ap_mpcnn.ranker import APMPCNNRanker
from qasel.papers.ap_mpcnn.recipes import MAIN, VARIANTS, APMPCNNRecipe, recipe

ranker = APMPCNNRanker
load = APMPCNNRanker.load

__all__ = ["MAIN", "VARIANTS", "APMPCNNRanker", "APMPCNNRecipe", "load", "ranker", "recipe"]
