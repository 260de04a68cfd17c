"""Tokenising: one function for every system, so that all see the same words."""

from functools import lru_cache

from nltk.tokenize import NLTKWordTokenizer

_PENN = NLTKWordTokenizer()


@lru_cache(maxsize=200_000)
def tokenize(text: str) -> tuple[str, ...]:
    """Lower-cased Penn Treebank tokens of a sentence.

    Soft hyphens (U+00AD: WikiQA has them as thousands separators) are dropped.
    The rules are NLTK's Treebank ones, the splitting that GloVe's words follow.
    """
    return tuple(_PENN.tokenize(text.replace("\u00ad", "").lower()))
