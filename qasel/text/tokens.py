"""Tokenising: one function for every system, so that all see the same words."""

from collections.abc import Iterable, Sequence
from functools import lru_cache

from nltk.tokenize import NLTKWordTokenizer
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

_PENN = NLTKWordTokenizer()


@lru_cache(maxsize=200_000)
def tokenize(text: str) -> tuple[str, ...]:
    """Lower-cased Penn Treebank tokens of a sentence.

    Soft hyphens (U+00AD: WikiQA has them as thousands separators) are dropped. The rules are those
    of NLTK's Treebank tokenizer, which GloVe's words follow too.
    """
    return tuple(_PENN.tokenize(text.replace("\u00ad", "").lower()))


@lru_cache(maxsize=200_000)
def content_words(text: str) -> tuple[str, ...]:
    """The tokens that have a letter or digit and are not in scikit-learn's English stop list."""
    return tuple(
        word
        for word in tokenize(text)
        if word not in ENGLISH_STOP_WORDS and any(character.isalnum() for character in word)
    )


PADDING = 0


class Vocabulary:
    """A growing list of words; a word's number never changes once given."""

    def __init__(self, words: Iterable[str] = ()) -> None:
        self.words: list[str] = [""]
        self._number: dict[str, int] = {"": PADDING}
        self.extend(words)

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: str) -> bool:
        return word in self._number

    def extend(self, words: Iterable[str]) -> list[str]:
        """Add words, in order; returns those that are new."""
        new = [word for word in dict.fromkeys(words) if word not in self._number]
        for word in new:
            self._number[word] = len(self.words)
            self.words.append(word)
        return new

    def encode(self, tokens: Iterable[str]) -> list[int]:
        """Numbers of the tokens; raises `KeyError` for a word that was never added."""
        return [self._number[token] for token in tokens]

    def numbers_of(self, texts: Sequence[str]) -> list[list[int]]:
        """Numbers of the words of each text; raises `KeyError` as `encode` does."""
        return [self.encode(tokenize(text)) for text in texts]
