"""Text files line by line, gzipped or not, with every fault told as file and line."""

import csv
import gzip
import io
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

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
