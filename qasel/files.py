"""Paths and atomic writes: an interrupted write leaves the old file or the new one, never half."""

import gzip
import os
import secrets
from pathlib import Path

from qasel.errors import QaselError

FilePath = str | os.PathLike[str]
"""The path of a file or folder."""


def write_whole(path: FilePath, text: str) -> None:
    """Write a file atomically: to a temporary file, which is then renamed.

    Creates parent folders and follows links. A name ending in `.gz` is compressed, without a time
    stamp. Raises `QaselError` if the path exists and is not a regular file.
    """
    path = Path(path)
    if path.exists() and not path.is_file():  # before `resolve`: a pipe's real path does not exist
        what = "a folder" if path.is_dir() else "no plain file"
        raise QaselError(f"cannot write {path}: it is {what}; give the name of a file")
    path = path.resolve()  # keep a link a link
    data = text.encode("utf-8")
    if path.suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        with aside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def shown(path: Path) -> str:
    """The path relative to the working folder, or unchanged if there is none (on another drive)."""
    try:
        return os.path.relpath(path)
    except ValueError:
        return str(path)


def require_writable(folder: Path, variable: str = "") -> None:
    """Create the folder and a test file in it; raises `QaselError` if that fails.

    `variable` names the environment variable, if any, that can choose another folder.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".{secrets.token_hex(4)}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        reason = f"cannot write to {folder}: {error.strerror}"
        how = f": {variable}=… names one" if variable else ""
        raise QaselError(f"{reason}; choose another folder{how}") from error
