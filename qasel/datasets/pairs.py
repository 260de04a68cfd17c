"""Tasks on pairs of texts: what an auxiliary task learns from."""

import hashlib
from dataclasses import dataclass, field

from qasel.datasets.base import Split
from qasel.errors import QaselError


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts; `label` is the place of theirs among the task's."""

    left: str
    right: str
    label: int


@dataclass(frozen=True)
class PairTask:
    """Pairs of texts to be told apart by their labels, in file order.

    `notes` tell, a line each, in what the files that were read differ from the published set.
    Raises `QaselError` for a task without pairs and for a label that is not one of `labels`.
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
        """Sixteen hexadecimal digits over all texts and labels."""
        found = hashlib.sha256(repr((self.name, self.labels)).encode())
        for pair in self.pairs:
            found.update(repr((pair.left, pair.right, pair.label)).encode())
        return found.hexdigest()[:16]


def pairs_of(split: Split) -> PairTask:
    """A ranking split as a task on pairs: question and candidate, irrelevant or relevant.

    Raises `QaselError` for a candidate whose label is not known.
    """
    pairs = (
        Pair(question.text, candidate.text, int(label))
        for question in split
        for candidate, label in zip(question.candidates, question.labels, strict=True)
    )
    return PairTask(split.name, ("irrelevant", "relevant"), tuple(pairs))
