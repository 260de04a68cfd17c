"""Runs (scores of a split's candidates) and qrels (labels), in trec_eval's TREC formats."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from qasel.datasets.base import Split
from qasel.datasets.lines import read_lines
from qasel.errors import QaselError
from qasel.files import FilePath, write_whole

T = TypeVar("T")

Qrels = Mapping[str, Mapping[str, int]]
"""Labels: question id → candidate id → relevance (larger than 0: relevant), in file order."""


@dataclass(frozen=True)
class Run:
    """Scores of candidates: question id → candidate id → score, the larger the better.

    `predicted` has the labels of a system that also classifies: question id → candidate id → 1
    (relevant) or 0. TREC files do not hold them.

    Raises `QaselError` for a question without candidates, a score that is not finite, and predicted
    labels that are not 0 or 1 or do not match the candidates with scores.
    """

    scores: Mapping[str, Mapping[str, float]] = field(repr=False)
    tag: str = "qasel"
    predicted: Mapping[str, Mapping[str, int]] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for qid, row in self.scores.items():
            if not row:
                raise QaselError(f"run {self.tag!r}: question {qid!r} has no candidates")
        scores = _by_pair(self.scores)
        labels = dict.fromkeys(scores, 0) if self.predicted is None else _by_pair(self.predicted)
        for qid, cid in {**scores, **labels}:
            score, label = scores.get((qid, cid)), labels.get((qid, cid))
            if label is None:
                what = " has a score, but no predicted label"
            elif score is None:
                what = " has a predicted label, but no score"
            elif not math.isfinite(score):
                what = f": score {score!r} is not a finite number"
            elif label not in (0, 1):
                what = f": predicted label {label!r} is not 0 or 1"
            else:
                continue
            raise QaselError(f"run {self.tag!r}: question {qid!r}, candidate {cid!r}{what}")

    def __repr__(self) -> str:
        scored = sum(map(len, self.scores.values()))
        return f"Run({self.tag!r}: {len(self.scores)} questions, {scored} candidates)"

    @classmethod
    def from_scores(
        cls,
        split: Split,
        scores: Sequence[Any],
        tag: str = "qasel",
        relevant_above: float | None = None,
    ) -> "Run":
        """Make a run from one array of scores `[candidates]` per question, in the split's order.

        With `relevant_above`, candidates with a higher score are predicted to be relevant. Raises
        `QaselError` if the numbers of questions or of candidates differ.
        """
        if len(scores) != len(split):
            counts = f"{len(split)} questions, but {len(scores)} arrays of scores came"
            raise QaselError(f"{split.name} has {counts}")
        rows = {}
        for question, array in zip(split, scores, strict=True):
            values = np.asarray(array, dtype=np.float64)
            if values.shape != (len(question.candidates),):
                raise QaselError(
                    f"{split.name}: question {question.id!r} has {len(question.candidates)} "
                    f"candidates, but its scores have the shape {values.shape}"
                )
            ids = (candidate.id for candidate in question.candidates)
            rows[question.id] = dict(zip(ids, values.tolist(), strict=True))
        if relevant_above is None:
            return cls(rows, tag)
        labels = {
            qid: {cid: int(score > relevant_above) for cid, score in row.items()}
            for qid, row in rows.items()
        }
        return cls(rows, tag, labels)

    def ranking(self, qid: str) -> list[str]:
        """Candidate ids of a question, best first; ties stay in the run's own order.

        Raises `QaselError` for a question that the run does not have.
        """
        if qid not in self.scores:
            raise QaselError(f"run {self.tag!r} has no question {qid!r}")
        row = self.scores[qid]
        return sorted(row, key=row.__getitem__, reverse=True)  # stable in reverse, too

    def only(self, questions: Split | Iterable[str]) -> "Run":
        """The run restricted to those questions of a split (or those ids) that it has."""
        ids = [q.id for q in questions] if isinstance(questions, Split) else questions
        kept = [qid for qid in ids if qid in self.scores]
        predicted = self.predicted and {qid: self.predicted[qid] for qid in kept}
        return Run({qid: self.scores[qid] for qid in kept}, self.tag, predicted)

    def text(self) -> str:
        """The run as TREC lines `qid Q0 docid rank score tag`, with scores in full precision.

        Raises `QaselError` for an id or tag that is empty or has blanks.
        """
        tag = _word(self.tag, "the run's tag")
        lines = []
        for qid in self.scores:
            name = _word(qid, "question id")
            for rank, cid in enumerate(self.ranking(qid), start=1):
                score = float(self.scores[qid][cid])
                lines.append(f"{name} Q0 {_word(cid, 'candidate id')} {rank} {score!r} {tag}\n")
        return "".join(lines)

    def write(self, path: FilePath) -> None:
        """Write `text()` to a file, compressed if the name ends in `.gz`."""
        write_whole(path, self.text())

    @classmethod
    def read(cls, path: FilePath) -> "Run":
        """Read a TREC run, gzipped or not; the tag is the first line's, the rank column is ignored.

        Raises `QaselError` with file and line for a malformed line.
        """
        return cls(*_read(path, "qid Q0 docid rank score tag", "score", _finite))


def read_qrels(path: FilePath) -> dict[str, dict[str, int]]:
    """Read TREC qrels `qid 0 docid relevance`, gzipped or not, in file order.

    Raises `QaselError` with file and line for a malformed line.
    """
    return _read(path, "qid 0 docid relevance", "relevance", int)[0]


def _word(text: str, what: str) -> str:
    """`text`, if it can stand in a blank-separated line."""
    if text.split() != [text]:
        raise QaselError(
            f"{what} {text!r} is empty or has blanks, which TREC files cannot hold; "
            "rename it, for example with underscores"
        )
    return text


def _by_pair(rows: Mapping[str, Mapping[str, T]]) -> dict[tuple[str, str], T]:
    """(question id, candidate id) → value."""
    return {(qid, cid): value for qid, row in rows.items() for cid, value in row.items()}


def _read(
    path: FilePath, form: str, column: str, convert: Callable[[str], T]
) -> tuple[dict[str, dict[str, T]], str]:
    """Read question id → candidate id → value in `column` of a TREC file; and line 1's last field.

    `form` names all columns; `convert` raises `ValueError` for an invalid value.
    """
    names = form.split()
    rows: dict[str, dict[str, T]] = {}
    tag = ""
    for number, line in read_lines(path):
        where, fields = f"{path}:{number}", line.split()
        if len(fields) != len(names):
            raise QaselError(f"{where}: {len(fields)} columns, not the {len(names)} of `{form}`")
        qid, cid, text, tag = fields[0], fields[2], fields[names.index(column)], tag or fields[-1]
        if cid in rows.setdefault(qid, {}):
            raise QaselError(f"{where}: question {qid!r} has candidate {cid!r} twice")
        try:
            rows[qid][cid] = convert(text)
        except ValueError:
            kind = "whole" if convert is int else "finite"
            raise QaselError(f"{where}: {column} {text!r} is not a {kind} number") from None
    return rows, tag


def _finite(text: str) -> float:
    if math.isfinite(value := float(text)):
        return value
    raise ValueError(text)
