"""Text files line by line, gzipped or not, with every fault told as file and line."""

import csv
import gzip
import io
import json
import zlib
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from qasel.datasets.base import Candidate, Question, Split
from qasel.errors import QaselError
from qasel.files import FilePath

GZIP_MAGIC = b"\x1f\x8b"


def read_contents(path: FilePath) -> bytes:
    """The file's bytes, uncompressed if they are gzip.

    Raises `QaselError` for a file that is missing, not readable, or broken gzip.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
        # Looking at the bytes, not the name, also reads a file whose `.gz` was lost or left on.
        if data.startswith(GZIP_MAGIC):
            data = gzip.decompress(data)
    except FileNotFoundError:
        raise QaselError(f"{path}: no such file") from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise QaselError(f"{path}: broken gzip file ({error}); get it anew") from None
    except OSError as error:
        raise QaselError(f"{path}: cannot be read: {error.strerror or error}") from None
    return data


def read_text(path: FilePath) -> str:
    """The file's text.

    Raises `QaselError` for what `read_contents` raises, a file that is not
    UTF-8 (with the line of the first wrong byte) and a file without text.
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
    """Number (from 1) and text of each line, without CR and LF; blank ones only if asked for.

    Raises `QaselError` for what `read_text` raises.
    """
    # Not `splitlines`: a sentence may hold U+2028 and other signs that it takes for line ends.
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if blank or line.strip():
            yield number, line.removesuffix("\r")


def read_json_lines(path: FilePath) -> Iterator[tuple[int, dict]]:
    """Number (from 1) and object of each line of a JSONL file.

    Raises `QaselError` for what `read_lines` raises and a line that is not a JSON object.
    """
    for number, line in read_lines(path):
        try:
            value = json.loads(line)
        except json.JSONDecodeError as error:
            what = f"{error.msg} at column {error.colno}"
            raise QaselError(f"{path}:{number}: invalid JSON: {what}") from None
        except (RecursionError, ValueError) as error:  # nested or long beyond what Python reads
            raise QaselError(f"{path}:{number}: invalid JSON: {error}") from None
        if not isinstance(value, dict):
            raise QaselError(f"{path}:{number}: expected one JSON object a line")
        yield number, value


def json_text(where: str, record: Mapping[str, Any], key: str) -> str:
    """The text under a key of a JSON object; raises `QaselError`, saying `where`, for no text."""
    text = record.get(key)
    if not isinstance(text, str):
        raise QaselError(f"{where}: {key!r} is missing or not a string")
    return whole_text(where, text, key)


def whole_text(where: str, text: str, key: str) -> str:
    """The text; raises `QaselError` for half a surrogate pair.

    JSON can spell one, and no UTF-8 file could ever hold it again.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        raise QaselError(f"{where}: {key!r} has a broken \\u escape") from None
    return text


def read_csv(path: FilePath, columns: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Line (from 1) on which it begins, and fields, of each record of a CSV file with a header.

    Fields may be quoted, and then hold commas and line breaks.
    Raises `QaselError`, with file and line, for a header other than `columns`, a wrong number of
    fields and broken quoting; also what `read_text` raises.
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


@dataclass(frozen=True, slots=True)
class Row:
    """One candidate as read. `block` tells which rows belong together when there is no id.

    `text` None is a question that came without any candidate.
    """

    line: int
    question: str
    text: str | None
    label: int | None
    question_id: str | None = None
    id: str | None = None
    block: Hashable = None


@dataclass
class _Open:
    """A question while its rows are read."""

    id: str
    text: str
    candidates: list[Candidate] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)


def group_rows(path: FilePath, name: str, rows: Iterable[Row], *, blank: bool = False) -> Split:
    """The split that the rows of a file make.

    Rows with the same question id belong together; without ids, consecutive
    rows with the same question (and block) do, and questions are numbered
    `q1`, `q2`, … A candidate without an id gets QUESTION-PLACE. `blank` allows
    candidates without words, which keep label and place.

    Raises `QaselError`, with file and line, for a blank text, an id that is
    blank or has white space, one id with two texts, two candidates with one
    id, a question without candidates, and one without an id (or block) whose
    rows do not stand together: in a table that was shuffled, each row would
    become a question.
    """
    questions: dict[str, _Open] = {}
    blocks: dict[str, Hashable] = {}
    texts: dict[tuple[str, Hashable], int] = {}  # where a question without an id began
    last: _Open | None = None
    numbered: bool | None = None
    for row in rows:
        where = f"{path}:{row.line}"
        if not row.question.strip():
            raise QaselError(f"{where}: the question has no text")
        _check_id(where, "question", row.question_id)
        _check_id(where, "candidate", row.id)
        if numbered not in (None, row.question_id is None):
            # Made-up numbers could meet an id of the file, and join two questions unawares.
            raise QaselError(f"{where}: some questions have an id and some have none; give all one")
        numbered = row.question_id is None
        if row.question_id is None:
            if last is None or last.text != row.question or blocks[last.id] != row.block:
                began = texts.setdefault((row.question, row.block), row.line)
                if began != row.line:
                    raise QaselError(
                        f"{where}: the question {row.question!r} of line {began} comes again after "
                        "another; put its rows together, or give questions an id (column qid)"
                    )
                last = _Open(f"q{len(questions) + 1}", row.question)
                blocks[last.id] = row.block
                questions[last.id] = last
        else:
            last = questions.setdefault(row.question_id, _Open(row.question_id, row.question))
            if blocks.setdefault(last.id, row.block) != row.block:
                raise QaselError(f"{where}: question id {last.id!r} occurs twice")
        if last.text != row.question:
            raise QaselError(f"{where}: question id {last.id!r} stands for two different texts")
        if row.text is None:
            raise QaselError(
                f"{where}: question {last.id!r} has no candidate here; add one, or take it out"
            )
        if not blank and not row.text.strip():
            raise QaselError(f"{where}: a candidate of question {last.id!r} has no text")
        _add(where, last, row)
    if not questions:
        raise QaselError(f"{path}: no questions in the file")
    return Split(
        name, tuple(Question(q.id, q.text, tuple(q.candidates)) for q in questions.values())
    )


def _add(where: str, question: _Open, row: Row) -> None:
    place = len(question.candidates)
    identity = f"{question.id}-{place}" if row.id is None else row.id
    if identity in question.ids:
        raise QaselError(
            f"{where}: question {question.id!r} has two candidates {identity!r}; each needs an id "
            "of its own (that of the question is `qid`)"
        )
    question.ids.add(identity)
    question.candidates.append(Candidate(identity, row.text or "", row.label, place))


def _check_id(where: str, what: str, identity: str | None) -> None:
    """White space would tear the columns of a TREC run apart, and other programs end at a NUL."""
    if identity is not None and (identity.split() != [identity] or "\0" in identity):
        raise QaselError(f"{where}: {what} id {identity!r} is blank or has white space or a NUL")
