"""Text files line by line, gzipped or not, with every fault told as file and line."""

import gzip
import json
import os
import zlib
from collections.abc import Iterator
from pathlib import Path

from qasel.errors import QaselError

GZIP_MAGIC = b"\x1f\x8b"


def read_contents(path: str | os.PathLike[str]) -> bytes:
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


def read_lines(path: str | os.PathLike[str], *, blank: bool = False) -> Iterator[tuple[int, str]]:
    """Number (from 1) and text of each line, without CR and LF; blank ones only if asked for.

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
    # Not `splitlines`: a sentence may hold U+2028 and other signs that it takes for line ends.
    for number, line in enumerate(text.split("\n"), start=1):
        if blank or line.strip():
            yield number, line.removesuffix("\r")


def read_json_lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, dict]]:
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
