"""Runs (scores of a split's candidates) and qrels (labels), in the TREC forms of trec_eval."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from qasel.datasets.base import Split
from qasel.datasets.lines import read_lines
from qasel.errors import QaselError
from qasel.files import FilePath, write_whole

Qrels = Mapping[str, Mapping[str, int]]
"""Labels: question id → candidate id → relevance (larger than 0: relevant), in file order."""


@dataclass(frozen=True)
class Run:
    """Scores of candidates: question id → candidate id → score, the larger the better.

    `predicted`, where a system also classifies, has the labels that it gives: question id →
    candidate id → 1 (relevant) or 0. The TREC form does not hold them.

    Raises `QaselError` for a question without candidates, a score that is not finite, and
    predicted labels that are not 0 or 1 or not those of the candidates with scores.
    """

    scores: Mapping[str, Mapping[str, float]] = field(repr=False)
    tag: str = "qasel"
    predicted: Mapping[str, Mapping[str, int]] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for qid, row in self.scores.items():
            if not row:
                raise QaselError(f"run {self.tag!r}: question {qid!r} has no candidates")
            for cid, score in row.items():
                if not math.isfinite(score):
                    raise QaselError(
                        f"run {self.tag!r}: question {qid!r}, candidate {cid!r}: "
                        f"score {score!r} is not a finite number"
                    )
        if self.predicted is not None:
            self._check_predicted(self.predicted)

    def _check_predicted(self, predicted: Mapping[str, Mapping[str, int]]) -> None:
        for qid in {**self.scores, **predicted}:
            row, labels = self.scores.get(qid, {}), predicted.get(qid, {})
            for cid in {**row, **labels}:
                if cid not in labels:
                    what = " has a score, but no predicted label"
                elif cid not in row:
                    what = " has a predicted label, but no score"
                elif labels[cid] not in (0, 1):
                    what = f": predicted label {labels[cid]!r} is not 0 or 1"
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
        """A run from one array `[candidates]` per question, both in the split's order.

        Candidates with a score above `relevant_above` are predicted to be relevant, if it is
        given.
        Raises `QaselError` when the numbers of questions or of candidates differ.
        """
        if len(scores) != len(split):
            raise QaselError(
                f"{split.name} has {len(split)} questions, but {len(scores)} arrays of scores came"
            )
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
        predicted = None
        if relevant_above is not None:
            predicted = {
                qid: {cid: int(score > relevant_above) for cid, score in row.items()}
                for qid, row in rows.items()
            }
        return cls(rows, tag, predicted)

    def __len__(self) -> int:
        return len(self.scores)

    def ranking(self, qid: str) -> list[str]:
        """Candidate ids of a question, best first; ties stay in the run's own order.

        Raises `QaselError` for a question that the run does not have.
        """
        if qid not in self.scores:
            raise QaselError(f"run {self.tag!r} has no question {qid!r}")
        row = self.scores[qid]
        return sorted(row, key=row.__getitem__, reverse=True)  # stable in reverse, too

    def only(self, questions: Split | Iterable[str]) -> "Run":
        """The run cut to the questions of a split (or to the ids named) that it has."""
        ids = [q.id for q in questions] if isinstance(questions, Split) else questions
        kept = [qid for qid in ids if qid in self.scores]
        predicted = self.predicted and {qid: self.predicted[qid] for qid in kept}
        return Run({qid: self.scores[qid] for qid in kept}, self.tag, predicted)

    def text(self) -> str:
        """TREC lines `qid Q0 docid rank score tag`.

        Scores are written in full, so that reading gives the same run. Raises `QaselError`
        for an id or tag that is empty or has blanks, which the form cannot hold.
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
        """Write `text()` to a file; a name ending in `.gz` is compressed."""
        write_whole(path, self.text())

    @classmethod
    def read(cls, path: FilePath) -> "Run":
        """Read a TREC run, gzipped or not; the tag is the first line's, the rank column is unused.

        Raises `QaselError` with file and line for a line that is not in the form.
        """
        rows: dict[str, dict[str, float]] = {}
        tag = None
        for where, (qid, _, cid, _, score, line_tag) in _rows(path, "qid Q0 docid rank score tag"):
            tag = tag or line_tag
            try:
                value = float(score)
            except ValueError:
                value = math.nan
            if not math.isfinite(value):
                raise QaselError(f"{where}: score {score!r} is not a finite number")
            if cid in rows.setdefault(qid, {}):
                raise QaselError(f"{where}: question {qid!r} has candidate {cid!r} twice")
            rows[qid][cid] = value
        return cls(rows, tag or "qasel")


def read_qrels(path: FilePath) -> dict[str, dict[str, int]]:
    """Read TREC qrels `qid 0 docid rel`, gzipped or not, in file order.

    Raises `QaselError` with file and line for a line that is not in the form.
    """
    qrels: dict[str, dict[str, int]] = {}
    for where, (qid, _, cid, rel) in _rows(path, "qid 0 docid rel"):
        try:
            value = int(rel)
        except ValueError:
            raise QaselError(f"{where}: relevance {rel!r} is not a whole number") from None
        if cid in qrels.setdefault(qid, {}):
            raise QaselError(f"{where}: question {qid!r} has candidate {cid!r} twice")
        qrels[qid][cid] = value
    return qrels


def write_qrels(split: Split, path: FilePath) -> None:
    """Write a split's labels as TREC qrels, candidates by their place in the source file.

    Raises `QaselError` for an id with blanks and for a label that is not known.
    """
    lines = []
    for question in split:
        name = _word(question.id, "question id")
        question.labels  # noqa: B018  # refuses unknown labels
        for candidate in sorted(question.candidates, key=lambda candidate: candidate.place):
            lines.append(f"{name} 0 {_word(candidate.id, 'candidate id')} {candidate.label}\n")
    write_whole(path, "".join(lines))


def _word(text: str, what: str) -> str:
    """`text`, if it can stand in a blank-separated line."""
    if text.split() != [text]:
        raise QaselError(
            f"{what} {text!r} is empty or has blanks, which TREC files cannot hold; "
            "rename it, for example with underscores"
        )
    return text


def _rows(path: FilePath, form: str) -> Iterator[tuple[str, list[str]]]:
    """("file:line", columns) of each line that is not blank; refuses other numbers of columns."""
    columns = len(form.split())
    for number, line in read_lines(path):
        row = line.split()
        if len(row) != columns:
            raise QaselError(f"{path}:{number}: {len(row)} columns, not the {columns} of `{form}`")
        yield f"{path}:{number}", row
