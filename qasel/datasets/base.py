"""The core classes: a `Dataset` has named splits of `Question`s, each with its `Candidate`s."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import overload

import numpy as np

from qasel.errors import QaselError

SHUFFLE_SEED = 20130609
"""Candidates are shuffled with this seed when loaded, so that no score profits from file order."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One candidate answer: `label` is 1 (answers the question), 0 (does not) or None (unknown).

    `place` is its position in the question's list in the source file, from 0, before any shuffling.
    """

    id: str
    text: str
    label: int | None
    place: int


@dataclass(frozen=True, slots=True)
class Question:
    """A question and its candidates, in the order in which rankers see them."""

    id: str
    text: str
    candidates: tuple[Candidate, ...]

    def __repr__(self) -> str:
        text = self.text if len(self.text) <= 60 else f"{self.text[:59]}…"
        right = sum(candidate.label == 1 for candidate in self.candidates)
        return f"Question({self.id!r}: {text!r}, {len(self.candidates)} candidates, {right} right)"

    @property
    def labels(self) -> np.ndarray:
        """The labels, an int64 array `[candidates]`; raises `QaselError` if any is unknown."""
        labels = [candidate.label for candidate in self.candidates]
        if None in labels:
            raise QaselError(f"question {self.id!r} has candidates without a label")
        return np.array(labels, dtype=np.int64)

    @property
    def answered(self) -> bool:
        """Whether at least one candidate is relevant."""
        return any(candidate.label == 1 for candidate in self.candidates)

    @property
    def mixed(self) -> bool:
        """Whether there is at least one relevant and at least one non-relevant candidate."""
        return self.answered and any(candidate.label == 0 for candidate in self.candidates)


@dataclass(frozen=True)
class Split(Sequence[Question]):
    """A named, validated sequence of questions.

    Raises `QaselError` for a question without text or candidates, an id that occurs twice, or a
    label that is not 0, 1 or None.
    """

    name: str
    questions: tuple[Question, ...]

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for question in self.questions:
            where = f"{self.name}: question {question.id!r}"
            if question.id in seen:
                raise QaselError(f"{where} occurs twice; ids must be unique")
            seen.add(question.id)
            if not question.text.strip():
                raise QaselError(f"{where} has no text")
            if not question.candidates:
                raise QaselError(f"{where} has no candidates; leave the question out or add some")
            ids = [candidate.id for candidate in question.candidates]
            if len(set(ids)) < len(ids):
                raise QaselError(f"{where} has two candidates with the same id")
            for c in question.candidates:
                if c.label not in (0, 1, None):
                    what = f"candidate {c.id!r}: label {c.label!r} is not 0 or 1"
                    raise QaselError(f"{where}, {what}")

    def __repr__(self) -> str:
        counts = f"{self.pairs} candidates, {self.positives} right"
        return f"Split({self.name!r}: {len(self)} questions, {counts})"

    def __len__(self) -> int:
        return len(self.questions)

    @overload
    def __getitem__(self, index: int) -> Question: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Question, ...]: ...
    def __getitem__(self, index: int | slice) -> Question | tuple[Question, ...]:
        return self.questions[index]

    def __iter__(self) -> Iterator[Question]:
        return iter(self.questions)

    @property
    def texts(self) -> list[str]:
        """The texts of all questions, then those of all candidates."""
        return [q.text for q in self] + [c.text for q in self for c in q.candidates]

    @property
    def pairs(self) -> int:
        """Number of (question, candidate) pairs."""
        return sum(len(question.candidates) for question in self.questions)

    @property
    def positives(self) -> int:
        """Number of candidates labelled 1."""
        return sum(candidate.label == 1 for q in self.questions for candidate in q.candidates)

    def require_labels(self) -> None:
        """Raise `QaselError` if any candidate has no label."""
        for question in self:
            _ = question.labels

    @property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits, a hash of the name and of all ids, texts and labels."""
        found = hashlib.sha256(self.name.encode())
        for question in self:
            rows = [(c.id, c.text, c.label) for c in question.candidates]
            found.update(repr((question.id, question.text, rows)).encode())
        return found.hexdigest()[:16]

    def where(self, keep: Callable[[Question], bool]) -> "Split":
        """The split restricted to the questions for which `keep(question)` is true."""
        return replace(self, questions=tuple(filter(keep, self.questions)))

    def shuffled(self, seed: int = SHUFFLE_SEED) -> "Split":
        """The split with each question's candidates in a fixed random order; `place` stays."""
        generator = np.random.default_rng(seed)
        questions = []
        for question in self.questions:
            order = generator.permutation(len(question.candidates))
            candidates = tuple(question.candidates[i] for i in order)
            questions.append(replace(question, candidates=candidates))
        return replace(self, questions=tuple(questions))


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts; `label` is an index into the task's labels."""

    left: str
    right: str
    label: int


@dataclass(frozen=True)
class PairTask:
    """Labelled pairs of texts, in file order.

    `notes` list how the files read differ from the published set. Raises `QaselError` for a task
    without pairs, or a label that is not one of `labels`.
    """

    name: str
    labels: tuple[str, ...]
    pairs: tuple[Pair, ...] = field(repr=False)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.pairs:
            raise QaselError(f"{self.name}: no pairs")
        for pair in self.pairs:
            if not 0 <= pair.label < len(self.labels):
                known = f"{len(self.labels)} labels ({', '.join(self.labels)})"
                raise QaselError(f"{self.name}: label {pair.label}, but there are {known}")

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits, a hash of the name and of all texts and labels."""
        found = hashlib.sha256(repr((self.name, self.labels)).encode())
        for pair in self.pairs:
            found.update(repr((pair.left, pair.right, pair.label)).encode())
        return found.hexdigest()[:16]


@dataclass(frozen=True)
class Dataset:
    """Named splits under a named protocol, which decides which questions count.

    `scoring` is the convention of its published scores, one of
    `qasel.evaluation.measures.PROTOCOLS`; `notes` list how the files read differ from the published
    data set; `tasks` are auxiliary tasks; `articles` are documents for comparing its texts
    (Explicit Semantic Analysis).
    """

    name: str
    protocol: str
    splits: Mapping[str, Split] = field(repr=False)
    scoring: str = "trec"
    notes: tuple[str, ...] = ()
    tasks: Mapping[str, PairTask] = field(default_factory=dict, repr=False)
    articles: tuple[str, ...] = field(default=(), repr=False)

    def __getitem__(self, split: str) -> Split:
        if split not in self.splits:
            known = ", ".join(self.splits)
            raise QaselError(f"{self.name} has no split {split!r}; it has {known}")
        return self.splits[split]

    def require_labels(self) -> None:
        """Raise `QaselError` if train, dev or test is missing, or any candidate has no label."""
        for split in (self.train, self.dev, self.test, *self.splits.values()):
            split.require_labels()

    @property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits, a hash of all splits."""
        parts = [split.fingerprint for _, split in sorted(self.splits.items())]
        return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:16]

    @property
    def train(self) -> Split:
        """The split named `train`."""
        return self["train"]

    @property
    def dev(self) -> Split:
        """The split named `dev`."""
        return self["dev"]

    @property
    def test(self) -> Split:
        """The split named `test`."""
        return self["test"]
