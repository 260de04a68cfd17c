"""Similarities of a question and a candidate: fourteen numbers in [0, 1] per pair.

They are the features by which Barrón-Cedeño et al. (2016) rank answers: word overlap in bags, sets
and sequences (six measures, each over all words and over content words), the partial tree kernel on
dependency trees, and Explicit Semantic Analysis. The distances of paper 4 are in `distances`, the
overlap features of paper 5 in `overlap`.
"""

from qasel.text.features.pairs import NAMES, documents, memory, pair_features

__all__ = ["NAMES", "documents", "memory", "pair_features"]
