"""Words to integers. Number 0 is padding; every other word has its own number."""

from collections.abc import Iterable, Sequence

from qasel.text.tokens import tokenize

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
        """Add the words that are new, in order; returns those."""
        new = [word for word in dict.fromkeys(words) if word not in self._number]
        for word in new:
            self._number[word] = len(self.words)
            self.words.append(word)
        return new

    def encode(self, tokens: Iterable[str]) -> list[int]:
        """Numbers of the tokens; raises `KeyError` for a word that was never added."""
        return [self._number[token] for token in tokens]

    def numbers(self, text: str) -> list[int]:
        """Numbers of a text's words; raises `KeyError` as `encode` does."""
        return self.encode(tokenize(text))

    def numbers_of(self, texts: Sequence[str]) -> list[list[int]]:
        """Numbers of many texts' words."""
        return [self.numbers(text) for text in texts]
