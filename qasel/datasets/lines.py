"""Reading text files line by line, gzipped or not; each error names the file and line."""

import csv
import gzip
import io
import zlib
from collections.abc import Hashable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from qasel.datasets.base import Candidate, Question, Split
from qasel.errors import QaselError
from qasel.files import FilePath

Model = TypeVar("Model", bound=BaseModel)


def read_contents(path: FilePath) -> bytes:
    """The file's bytes, decompressed if they are gzip.

    Raises `QaselError` for a file that is missing, not readable, or broken gzip.
    """
    try:
        data = Path(path).read_bytes()
        # Goes by the bytes, not the name: `.gz` may have been lost or left on.
        return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
    except FileNotFoundError:
        raise QaselError(f"{path}: no such file") from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise QaselError(f"{path}: broken gzip file ({error}); get it anew") from None
    except OSError as error:
        raise QaselError(f"{path}: cannot be read: {error.strerror or error}") from None


def read_text(path: FilePath) -> str:
    """The file's text.

    Raises `QaselError` as `read_contents` does, and for a file that is not UTF-8 (with the line of
    the first invalid byte) or has no text.
    """
    data = read_contents(path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise QaselError(f"{path}:{line}: not UTF-8; save the file as UTF-8") from None
    if not text.strip():
        raise QaselError(f"{path}: the file is empty")
    return text


def read_lines(path: FilePath, *, blank: bool = False) -> Iterator[tuple[int, str]]:
    """Yield each line's number (from 1) and text, without CR and LF; blank ones if `blank`."""
    # Not `splitlines`: it also splits at U+2028 and the like, which a sentence may contain.
    text = read_text(path)
    if "\r" in text and "\n" not in text:
        raise QaselError(f"{path}: lines end in CR alone; save the file with LF, or with CR LF")
    for number, line in enumerate(text.split("\n"), start=1):
        if blank or line.strip():
            yield number, line.removesuffix("\r")


def read_fields(path: FilePath, columns: int = 0) -> Iterator[tuple[int, list[str]]]:
    """Yield the number (from 1) and tab-separated fields of each line; fields are never quoted.

    Raises `QaselError`, with file and line, for a line that does not have `columns` fields (by
    default, as many as the first line).
    """
    for number, line in read_lines(path):
        fields = line.split("\t")
        columns = columns or len(fields)
        if len(fields) != columns:
            what = f"{len(fields)} fields, expected {columns}"
            raise QaselError(f"{path}:{number}: {what} (set apart by tabs, without quotes)")
        yield number, fields


def read_json_lines(path: FilePath, model: type[Model]) -> Iterator[tuple[int, Model]]:
    """Yield the number (from 1) of each line of a JSONL file, and the line as a pydantic model.

    Raises `QaselError`, with file and line, for a line that is not JSON or does not fit the model.
    """
    for number, line in read_lines(path):
        try:
            yield number, model.model_validate_json(line)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            field = ".".join(map(str, first["loc"]))
            what = first["msg"].removeprefix("Value error, ")
            raise QaselError(f"{path}:{number}: {field and field + ': '}{what}") from None


def read_csv(path: FilePath, columns: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the first line (from 1) and the fields of each CSV record; fields may be quoted.

    Raises `QaselError`, with file and line, for a header other than `columns`, a wrong number of
    fields, or broken quoting.
    """
    records = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
    line = 1
    try:
        for fields in records:
            if line == 1 and fields != list(columns):
                raise QaselError(f"{path}:1: the header is not {','.join(columns)}")
            if fields and len(fields) != len(columns):
                what = f"{len(fields)} fields, expected {len(columns)}"
                raise QaselError(f"{path}:{line}: {what} (set apart by commas)")
            if fields and line > 1:
                yield line, fields
            line = records.line_num + 1
    except csv.Error as error:
        raise QaselError(f"{path}:{line}: broken CSV: {error}; get the file anew") from None


class Row(NamedTuple):
    """One candidate as read; with `text` None, a question without any candidate.

    `block` is the same for all rows of a question, if the file says which rows belong together.
    """

    line: int
    question: str
    text: str | None
    label: int | None
    question_id: str | None = None
    id: str | None = None
    block: Hashable = None


def group_rows(path: FilePath, name: str, rows: Iterable[Row], *, blank: bool = False) -> Split:
    """Group the rows of a file into questions, and return them as a split.

    Rows with the same question id belong together. Without ids, consecutive rows with the same
    question (and block) do, and questions are numbered `q1`, `q2`, … A candidate without an id gets
    the id QUESTION-PLACE. `blank` allows candidates without words, which keep their label and
    place.

    Raises `QaselError`, with file and line, for a blank text, an id that is blank or contains white
    space, one id with two texts, two candidates with one id, a question without candidates, and a
    question without an id (or block) whose rows are not adjacent, as in a shuffled table.
    """
    questions: dict[Hashable, tuple[str, Row, dict[str, Candidate]]] = {}
    last: Hashable = None
    numbered: bool | None = None
    for row in rows:
        where = f"{path}:{row.line}"
        if not row.question.strip():
            raise QaselError(f"{where}: the question has no text")
        _check_id(where, "question", row.question_id)
        _check_id(where, "candidate", row.id)
        if numbered not in (None, row.question_id is None):
            # A made-up number could equal an id of the file and merge two questions unnoticed.
            raise QaselError(f"{where}: some questions have an id and some have none; give all one")
        numbered = row.question_id is None
        key = (row.question, row.block) if numbered else row.question_id
        if key not in questions:
            questions[key] = row.question_id or f"q{len(questions) + 1}", row, {}
        qid, first, candidates = questions[key]
        if numbered and candidates and key != last:
            raise QaselError(
                f"{where}: the question {row.question!r} of line {first.line} comes again after "
                "another; put its rows together, or give questions an id (column qid)"
            )
        last = key
        if first.block != row.block:
            raise QaselError(f"{where}: question id {qid!r} occurs twice")
        if first.question != row.question:
            raise QaselError(f"{where}: question id {qid!r} stands for two different texts")
        if row.text is None:
            what = f"question {qid!r} has no candidate here; add one, or take it out"
            raise QaselError(f"{where}: {what}")
        if not blank and not row.text.strip():
            raise QaselError(f"{where}: a candidate of question {qid!r} has no text")
        place = len(candidates)
        cid = f"{qid}-{place}" if row.id is None else row.id
        if cid in candidates:
            how = "each needs an id of its own (that of the question is `qid`)"
            raise QaselError(f"{where}: question {qid!r} has two candidates {cid!r}; {how}")
        candidates[cid] = Candidate(cid, row.text, row.label, place)
    if not questions:
        raise QaselError(f"{path}: no questions with candidates in the file")
    lists = questions.values()
    return Split(name, tuple(Question(qid, row.question, (*c.values(),)) for qid, row, c in lists))


def _check_id(where: str, what: str, identity: str | None) -> None:
    """Refuse white space, which separates columns in TREC runs, and NUL, which ends C strings."""
    if identity is not None and (identity.split() != [identity] or "\0" in identity):
        raise QaselError(f"{where}: {what} id {identity!r} is blank or has white space or a NUL")
