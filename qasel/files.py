"""Paths, and writing files so that a kill leaves the old one or the new one, never half."""

import gzip
import os
import secrets
from pathlib import Path

from qasel.errors import QaselError

FilePath = str | os.PathLike[str]
"""What names a file or a folder."""


def write_whole(path: FilePath, text: str) -> None:
    """Write a file aside, then rename it, so that no reader ever meets half of it.

    Parent folders are made; a name ending in `.gz` is compressed, without a time stamp. A link is
    followed. Raises `QaselError` for anything that is no plain file.
    """
    path = Path(path)
    if path.exists() and not path.is_file():  # before `resolve`: a pipe's own path does not exist
        what = "a folder" if path.is_dir() else "no plain file"
        raise QaselError(f"cannot write {path}: it is {what}; give the name of a file")
    path = path.resolve()  # a link stays one
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
    """A path as seen from here; the path itself where there is no way from here (other drives)."""
    try:
        return os.path.relpath(path)
    except ValueError:
        return str(path)


def require_writable(folder: Path, variable: str = "") -> None:
    """Make the folder and try a file in it; raises `QaselError` when that fails.

    `variable` is that of the environment which names another folder, where one does.
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
