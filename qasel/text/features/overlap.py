"""Word overlap of questions and answers: the four sparse features, for many pairs at once.

They are those of Sequiera et al. (2017) as AP-MPCNN uses them (its equations 16-20), on sets of
words. Words are those of `tokenize`; stop words are what `content_words` drops, punctuation
included.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from qasel.errors import QaselError
from qasel.text.tokens import PADDING, content_words, tokenize


@dataclass(frozen=True)
class Idf:
    """Inverse document frequency log(N / n) (equation 20) in a corpus of N = `documents` sentences.

    `counts` has the number n of sentences that contain a word; a word in none counts as in one.
    """

    documents: int
    counts: dict[str, int]

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Idf":
        """Count the distinct texts that contain each word.

        Raises `QaselError` for fewer than two texts: every word's idf would be log 1 = 0.
        """
        different = list(dict.fromkeys(texts))
        if len(different) < 2:
            raise QaselError(
                "idf needs at least 2 different sentences to count words in, got "
                f"{len(different)}: train on more candidates, or without sparse features"
            )
        counts = Counter(word for text in different for word in set(tokenize(text)))
        return cls(len(different), counts)

    def __call__(self, word: str) -> float:
        """The idf of a word, 0 to log N."""
        return math.log(self.documents / max(self.counts.get(word, 0), 1))


def is_content(word: str) -> bool:
    """Whether a word is neither punctuation nor a stop word (with or without a full stop)."""
    return bool(content_words(word))


def word_tables(words: Sequence[str], idf: Idf) -> tuple[Tensor, Tensor]:
    """Whether each word is a content word, and its idf, each `[words]`; word 0 is padding."""
    content = torch.tensor([is_content(word) for word in words], dtype=torch.bool)
    return content, torch.tensor([idf(word) if word else 0.0 for word in words])


def overlap_features(question: Tensor, answer: Tensor, content: Tensor, idf: Tensor) -> Tensor:
    """The four features of P pairs, `[P, 4]` (equations 16-19).

    Columns: shared words, the same without stop words, and both again, weighted by idf.
    `question` `[P, n]` and `answer` `[P, m]` are word numbers, with `PADDING` where there is no
    word; `content` and `idf` `[words]` are those of `word_tables`. A feature is 0 if neither
    sentence has a word that counts.
    """
    question, asked = _different(question)
    _, given = _different(answer)
    _, given_content = _different(torch.where(content[answer], answer, PADDING))
    shared = asked & (question[:, :, None] == answer[:, None, :]).any(2)
    plain = torch.stack([shared, shared & content[question]], dim=1).to(idf)  # [P, 2, n]
    weighted = plain * idf[question][:, None]
    asked_content = asked & content[question]
    sizes = asked.sum(1) + given.sum(1), asked_content.sum(1) + given_content.sum(1)
    total = torch.stack(sizes, dim=1).clamp(min=1)
    return torch.cat([plain.sum(2) / total, weighted.sum(2) / total], dim=1)


def _different(numbers: Tensor) -> tuple[Tensor, Tensor]:
    """The rows sorted, and a mask of the first occurrence of each word in them."""
    ordered = numbers.sort(1).values
    first = torch.ones_like(ordered, dtype=torch.bool)
    first[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    return ordered, first & (ordered != PADDING)
