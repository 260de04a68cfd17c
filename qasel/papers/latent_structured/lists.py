"""Lists as flat arrays: the form in which the learners and the compiled searches read a split."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from qasel.datasets.base import Split
from qasel.errors import QaselError


@dataclass(frozen=True)
class Lists:
    """Q lists with T candidates in all, one after the other.

    `features` `[T, d]`, `positive` bool `[T]`, `first` `[Q + 1]`: list q is rows
    `first[q] : first[q + 1]`.
    """

    features: np.ndarray
    positive: np.ndarray
    first: np.ndarray

    @classmethod
    def of(cls, split: Split, features: Sequence[np.ndarray]) -> "Lists":
        """From a labelled split and one array `[candidates, d]` a question.

        Raises `QaselError`, naming the question, for a feature that is not finite.
        """
        for question, rows in zip(split, features, strict=True):
            if not np.isfinite(rows).all():
                at, column = np.argwhere(~np.isfinite(rows))[0]
                raise QaselError(
                    f"{split.name}: question {question.id!r}, candidate "
                    f"{question.candidates[at].id!r}: feature {column} is {rows[at, column]}"
                )
        counts = [len(rows) for rows in features]
        return cls(
            np.ascontiguousarray(np.concatenate(features), dtype=np.float64),
            np.concatenate([question.labels == 1 for question in split]),
            np.concatenate([[0], np.cumsum(counts)]),
        )

    def __len__(self) -> int:
        return len(self.first) - 1

    @property
    def longest(self) -> int:
        """Candidates of the longest list."""
        return int(np.diff(self.first).max())

    @property
    def norm(self) -> float:
        """Root mean square norm of the candidates' features; 1 where all are 0."""
        return float(np.sqrt((self.features**2).sum(1).mean())) or 1.0

    def split(self, values: np.ndarray) -> list[np.ndarray]:
        """Values of all candidates `[T, …]`, one array a list."""
        return np.split(values, self.first[1:-1])


def first_candidates(split: Split, count: int | None) -> Split:
    """The first candidates (None: all) of each question in the source file; mixed lists only.

    The paper cuts lists to ten without saying how. The first ten of each TREC-QA training list
    leave 974 mixed lists where the paper counts 970; ten drawn at random leave 890.
    """
    kept = []
    for question in split:
        places = sorted(candidate.place for candidate in question.candidates)[:count]
        chosen = tuple(c for c in question.candidates if c.place in places)
        kept.append(replace(question, candidates=chosen))
    return Split(split.name, tuple(question for question in kept if question.mixed))
