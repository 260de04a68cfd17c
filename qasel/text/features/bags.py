"""Texts as bags of words and of trigrams, counted once each, however many pairs they are in."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from qasel.errors import QaselError
from qasel.text.tokens import content_words, tokenize

TRIGRAMS = ("characters", "words")
"""What trigrams are made of."""

WORDS = {"all": tokenize, "content": content_words}
"""Which words of a text count."""

BLOCK = 2048
"""Pairs compared at a time, for memory's sake: the numbers do not depend on it."""


@dataclass(frozen=True)
class Bags:
    """How often each text has each word, and each trigram: int32 `[texts, things]`.

    Columns are in the order of the sorted words or trigrams (`vocabulary` has the words), and so
    are the entries of a row. So a sum along a row does not depend, to the last bit, on the other
    texts.
    """

    vocabulary: list[str]
    words: csr_array
    trigrams: csr_array

    @classmethod
    def of(cls, texts: Iterable[str], words: str = "all", trigrams: str = "characters") -> Self:
        """Count the words of texts, and their trigrams.

        Words are those of `tokenize`, `all` or only those of `content_words`. Trigrams are three
        `characters` in a row of a word with a blank on either side (` a `, ` ab` and `ab `:
        sklearn's `char_wb`), or three `words` in a row, of which shorter texts have none.
        Raises `QaselError` for unknown words or trigrams.
        """
        for what, name, known in (("words", words, WORDS), ("trigrams", trigrams, TRIGRAMS)):
            if name not in known:
                raise QaselError(f"unknown {what} {name!r}; known: {', '.join(known)}")
        bags = [WORDS[words](text) for text in texts]
        vocabulary, counts = _counted(bags)
        if trigrams == "words":
            return cls(vocabulary, counts, _counted(_threes(bags, vocabulary))[1])
        # Through the words, each of which is cut up once, however many texts have it.
        grams = counts @ _counted([_windows(f" {word} ") for word in vocabulary])[1]
        grams.sort_indices()
        return cls(vocabulary, counts, grams)


def numbered(
    left: Sequence[str], right: Sequence[str], first: Iterable[str] = ()
) -> tuple[list[str], np.ndarray]:
    """The different texts, those of `first` first, and the pairs' numbers in them, `[2, pairs]`.

    Raises `QaselError` for sides of different lengths.
    """
    if len(left) != len(right):
        raise QaselError(f"{len(left)} texts on the left, {len(right)} on the right: not pairs")
    number = {text: i for i, text in enumerate(dict.fromkeys(chain(first, left, right)))}
    pairs = [[number[text] for text in side] for side in (left, right)]
    return list(number), np.array(pairs, dtype=np.intp)


def compared(
    pairs: np.ndarray, columns: int, compare: Callable[[np.ndarray, np.ndarray], list[np.ndarray]]
) -> np.ndarray:
    """What `compare` says of the pairs `[2, pairs]`, block by block: float64 `[pairs, columns]`.

    `compare` gets the numbers of the left and the right texts, and gives a list of columns.
    """
    found = np.empty((pairs.shape[1], columns))
    for start in range(0, len(found), BLOCK):
        x, y = pairs[:, start : start + BLOCK]
        found[start : start + BLOCK] = np.column_stack(compare(x, y))
    return found


def _windows(sequence: Sequence) -> list:
    """Three in a row, from every place on."""
    return [sequence[i : i + 3] for i in range(len(sequence) - 2)]


def _threes(bags: Sequence[Sequence[str]], vocabulary: Sequence[str]) -> list[list[int]]:
    """Three words in a row, from every place on, as one whole number each.

    They sort as the words do, but much faster.
    """
    number, size = {word: i for i, word in enumerate(vocabulary)}, len(vocabulary)
    rows = [[number[word] for word in bag] for bag in bags]
    return [[(a * size + b) * size + c for a, b, c in _windows(row)] for row in rows]


def _counted(bags: Sequence[Sequence[Any]]) -> tuple[list, csr_array]:
    """The different things in all bags, sorted, and how often each bag has each."""
    things = sorted(set(chain.from_iterable(bags)))
    number = {thing: i for i, thing in enumerate(things)}
    ends = np.cumsum([0, *map(len, bags)], dtype=np.int32)
    columns = np.fromiter(map(number.__getitem__, chain.from_iterable(bags)), np.int32, ends[-1])
    ones = np.ones(len(columns), dtype=np.int32)
    counts = csr_array((ones, columns, ends), shape=(len(bags), len(things)))
    counts.sum_duplicates()
    return things, counts
