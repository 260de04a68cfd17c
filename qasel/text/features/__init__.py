"""Similarities of a question and a candidate: fourteen numbers in [0, 1] a pair.

They are the features that Barrón-Cedeño et al. (2016) rank answers by: word overlap in bags,
sets and sequences (six measures, each of all words and of content words), the partial tree
kernel on dependency trees, and Explicit Semantic Analysis.

The fourteen distances of González-Garduño et al. (2018) are in `qasel.text.features.distances`,
eight more, of tf-idf vectors, in `qasel.text.features.distances`.
"""

from qasel.text.features.concepts import Concepts, documents
from qasel.text.features.pairs import NAMES, memory, pair_features
from qasel.text.features.sequences import (
    containment,
    cosine,
    greedy_string_tiling,
    jaccard,
    longest_common_subsequence,
    longest_common_substring,
)
from qasel.text.features.trees import Tree, find_parser, parse, partial_tree_kernel, ptk

__all__ = [
    "NAMES",
    "Concepts",
    "Tree",
    "containment",
    "cosine",
    "documents",
    "find_parser",
    "greedy_string_tiling",
    "jaccard",
    "longest_common_subsequence",
    "longest_common_substring",
    "memory",
    "pair_features",
    "parse",
    "partial_tree_kernel",
    "ptk",
]
