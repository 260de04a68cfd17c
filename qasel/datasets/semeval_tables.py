"""SemEval Task 3 in tab-separated files: the tables `subtaskA-*.tsv` and the official gold."""

import os
from collections import Counter
from collections.abc import Iterator

from qasel.datasets.lines import read_lines
from qasel.datasets.rows import Row
from qasel.datasets.semeval_xml import LABELS
from qasel.errors import QaselError

COLUMNS = ["q_id", "c_id", "pos", "label", "relevant", "q_subject", "q_body", "c_text", "form"]

TABLE_LABELS = LABELS | {"NotGood": 0}
"""`NotGood` stands where only the organisers' binary gold is known."""

ORIGINAL = "original"
"""The `form` of a text that is the release's own."""


def read_comments(path: str | os.PathLike[str]) -> tuple[list[Row], list[str]]:
    """The comments of a table, and a remark on each `form` of text that is not the original.

    A question's text is its subject and body, runs of white space are one blank;
    `pos` is a comment's place in its thread, from 1.

    Raises `QaselError`, with file and line, for a header other than `COLUMNS`, a wrong
    number of fields, an unknown label, a `relevant` that contradicts it and a `pos` that
    is not the next one; also what `read_lines` raises.
    """
    rows: list[Row] = []
    forms: Counter[str] = Counter()
    places: Counter[str] = Counter()
    lines = _fields(path, len(COLUMNS))
    where, _, header = next(lines)
    if header != COLUMNS:
        raise QaselError(f"{where}: the header is not {' '.join(COLUMNS)} (set apart by tabs)")
    for where, number, (qid, cid, pos, label, relevant, subject, body, text, form) in lines:
        if label not in TABLE_LABELS:
            known = ", ".join(TABLE_LABELS)
            raise QaselError(f"{where}: comment {cid!r}: unknown label {label!r}; known: {known}")
        if relevant != str(TABLE_LABELS[label]):
            raise QaselError(f"{where}: comment {cid!r}: relevant {relevant!r} and label {label!r}")
        places[qid] += 1
        if pos != str(places[qid]):
            raise QaselError(f"{where}: comment {cid!r}: pos {pos!r}, expected {places[qid]}")
        forms[form] += 1
        question = " ".join(f"{subject} {body}".split())
        rows.append(Row(number, question, " ".join(text.split()), TABLE_LABELS[label], qid, cid))
    other = sorted(form for form in forms if form != ORIGINAL)
    remarks = [f"has {forms[form]} of {len(rows)} comments in the form {form!r}" for form in other]
    return rows, remarks


def read_relevancy(path: str | os.PathLike[str]) -> dict[tuple[str | None, str | None], int]:
    """The official gold: (question id, comment id) → 1 or 0.

    Raises `QaselError`, with file and line, for a wrong number of fields, a label
    that is not true or false, and a comment given twice; also what `read_lines` raises.
    """
    gold: dict[tuple[str | None, str | None], int] = {}
    for where, _, (qid, cid, _rank, _score, label) in _fields(path, 5):
        if label not in ("true", "false"):
            raise QaselError(f"{where}: label {label!r} is not true or false")
        if (qid, cid) in gold:
            raise QaselError(f"{where}: comment {cid!r} of question {qid!r} occurs twice")
        gold[qid, cid] = int(label == "true")
    return gold


def _fields(path: str | os.PathLike[str], wanted: int) -> Iterator[tuple[str, int, list[str]]]:
    """Place (file and line), line and fields of each line."""
    for number, line in read_lines(path):
        fields = line.split("\t")
        if len(fields) != wanted:
            what = f"{len(fields)} fields, expected {wanted}"
            raise QaselError(f"{path}:{number}: {what} (set apart by tabs, without quotes)")
        yield f"{path}:{number}", number, fields
