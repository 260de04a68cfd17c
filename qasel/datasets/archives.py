"""Unpacking zip and tar archives without letting a member out of its folder."""

import errno
import lzma
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import IO, Any

from qasel.errors import QaselError


def unpack(archive: Path, folder: Path) -> list[Path]:
    """Write the files of a zip or tar into `folder`; returns them, relative to it.

    A folder that holds all the rest is left out, and so is what macOS adds.
    Links are never made.

    Raises `QaselError`, before anything is written, for a member with an
    absolute path or `..`, or a link that leads out; and for a broken archive.
    """
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as pack:
                return _write(archive, _zip_members(archive, pack), pack.open, folder)
        if tarfile.is_tarfile(archive):
            with tarfile.open(archive) as tar:
                return _write(archive, _tar_members(archive, tar), tar.extractfile, folder)
    # What the two libraries raise for damaged, cut or encrypted archives.
    except (
        zipfile.BadZipFile, tarfile.TarError, EOFError, zlib.error, lzma.LZMAError,
        UnicodeDecodeError,
    ) as error:  # fmt: skip
        raise QaselError(f"{archive}: broken archive ({error})") from error
    except (NotImplementedError, RuntimeError) as error:
        raise QaselError(f"{archive}: archive that cannot be unpacked ({error})") from error
    except OSError as error:
        # Damaged data: bz2 gives no number, zipfile seeks to where no file can be. Or a member is
        # a file and, by another's name, a folder too.
        if error.errno in (None, errno.EINVAL, errno.EEXIST, errno.ENOTDIR, errno.EISDIR):
            raise QaselError(f"{archive}: broken archive ({error})") from error
        raise
    raise QaselError(f"{archive}: neither a zip nor a tar archive")


def _zip_members(archive: Path, pack: zipfile.ZipFile) -> dict[PurePosixPath, zipfile.ZipInfo]:
    members = {}
    for info in pack.infolist():
        # `orig_filename`: zipfile itself cuts the name at a NUL.
        path = _inside(archive, info.orig_filename)
        if stat.S_ISLNK(info.external_attr >> 16):
            _inside(archive, str(path.parent / pack.read(info).decode("utf-8", "replace")))
        elif not info.filename.endswith("/"):  # `is_dir` fails where there is no name
            members[path] = info
    return members


def _tar_members(archive: Path, tar: tarfile.TarFile) -> dict[PurePosixPath, tarfile.TarInfo]:
    members = {}
    for info in tar:
        path = _inside(archive, info.name)
        if info.issym():
            _inside(archive, f"{path.parent}/{info.linkname}")
            if info.linkname.startswith("/"):
                _inside(archive, info.linkname)
        elif info.islnk():
            _inside(archive, info.linkname)
        elif info.isfile():
            members[path] = info
    return members


def _inside(archive: Path, name: str) -> PurePosixPath:
    """The member's path, if it stays below the folder it is unpacked into."""
    # A backslash or a drive letter leads out on Windows only, but no honest archive has them.
    plain = name.replace("\\", "/")
    path = PurePosixPath(plain)
    depth = 0
    for part in path.parts:
        depth += -1 if part == ".." else 1
        if depth < 0:
            break
    if path.is_absolute() or depth < 0 or plain[1:2] == ":" or "\0" in plain:
        raise QaselError(f"{archive}: refused, member {name!r} leads out of the folder")
    return path


def _write(
    archive: Path,
    members: dict[PurePosixPath, Any],
    opener: Callable[[Any], Any],
    folder: Path,
) -> list[Path]:
    for path in members:
        if not path.parts:
            raise QaselError(f"{archive}: refused, file {str(path)!r} has no name")
        if ".." in path.parts:
            raise QaselError(f"{archive}: refused, member {str(path)!r} has `..` in its path")
    kept = {
        path: info
        for path, info in members.items()
        if path.parts[0] != "__MACOSX" and not path.name.startswith("._")
    }
    tops = {path.parts[0] for path in kept}
    strip = 1 if len(tops) == 1 and all(len(path.parts) > 1 for path in kept) else 0
    written = []
    for path, info in kept.items():
        relative = Path(*path.parts[strip:])
        target = folder / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        source: IO[bytes] = opener(info)
        with source, target.open("wb") as file:
            shutil.copyfileobj(source, file)
        written.append(relative)
    return written
