"""Tokenising: one function for every system, so that all see the same words."""

from functools import cache, lru_cache

from nltk.tokenize import NLTKWordTokenizer

_PENN = NLTKWordTokenizer()


@lru_cache(maxsize=200_000)
def tokenize(text: str) -> tuple[str, ...]:
    """Lower-cased Penn Treebank tokens of a sentence.

    Soft hyphens (U+00AD: WikiQA has them as thousands separators) are dropped.
    The rules are NLTK's Treebank ones, the splitting that GloVe's words follow.
    """
    return tuple(_PENN.tokenize(text.replace("\u00ad", "").lower()))


@lru_cache(maxsize=200_000)
def content_words(text: str) -> tuple[str, ...]:
    """The tokens that have a letter or digit and are not in scikit-learn's English stop list."""
    return tuple(
        word
        for word in tokenize(text)
        if word not in _stop_words() and any(character.isalnum() for character in word)
    )


@cache
def _stop_words() -> frozenset[str]:
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS  # slow to import

    return ENGLISH_STOP_WORDS
