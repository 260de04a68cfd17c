"""One file over HTTP: resumed where it broke off, told by a bar, whole or not there at all."""

import errno
import hashlib
import lzma
import os
import re
import shutil
import stat
import tarfile
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from qasel.datasets.lines import read_contents
from qasel.datasets.load import SPLITS
from qasel.datasets.locations import LAYOUTS
from qasel.datasets.registry import (
    COLLECTIONS,
    RELATED,
    Archive,
    Collection,
    checksums,
    collection,
)
from qasel.errors import QaselError
from qasel.files import FilePath
from qasel.locations import DATA, data_dirs

TRIES = 3
"""Connections made before giving up; each goes on where the last one broke off."""

PAUSE = 1.0
"""Seconds before the second try; doubled for each later one."""

_CHUNK = 1 << 14  # a piece cut short is lost with its connection, so pieces are small
_TIMEOUT = (15, 60)  # seconds to connect, and between two pieces


class _BrokenOffError(Exception):
    """The file did not come whole, though the server told of no error."""


def download(url: str, target: Path, *, progress: bool | None = None) -> Path:
    """Fetch `url` into `target` by way of `target.part`, which a later call goes on with.

    `progress` None shows the bar on a terminal only.

    Raises `QaselError` when the server cannot be reached, answers with an error
    or breaks off `TRIES` times; what was fetched stays in `target.part`.
    """
    import requests  # slow to import, and wanted by this one function

    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    for attempt in range(TRIES):
        if attempt:
            time.sleep(PAUSE * 2 ** (attempt - 1))
        try:
            _one_try(url, part, progress)
            part.replace(target)
            return target
        except requests.HTTPError as error:
            answer = error.response
            assert answer is not None  # as it comes of an answer's status
            status = answer.status_code
            reason = f"the server answers {status} {answer.reason}"
            if status < 500 and status != 429:
                break  # asking again would not help
        except (requests.RequestException, _BrokenOffError) as error:
            reason = _reason(error)
    raise QaselError(f"cannot download {url}: {reason}")


def _one_try(url: str, part: Path, progress: bool | None) -> None:
    """Add to `part` until it is whole; raises what `download` catches where it is not."""
    import requests
    from tqdm.auto import tqdm

    start = part.stat().st_size if part.exists() else 0
    # `identity`: the range and the sizes must count the file's own bytes, not compressed ones.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
    with requests.get(url, headers=headers, stream=True, timeout=_TIMEOUT) as response:
        known = re.search(r"/(\d+)$", response.headers.get("Content-Range", ""))
        if response.status_code == 416:  # nothing after `start`: whole already, or another file
            if known and int(known[1]) == start:
                return
            part.unlink(missing_ok=True)
            raise _BrokenOffError("the part fetched before does not fit; starting anew")
        response.raise_for_status()
        begins = re.match(rf"bytes {start}-", response.headers.get("Content-Range", ""))
        if response.status_code != 206 or not begins:
            start = 0  # a server that knows no ranges sends the file from its beginning
        length = response.headers.get("Content-Length")
        total = start + int(length) if length else None
        bar = tqdm(
            total=total,
            initial=start,
            unit="B",
            unit_scale=True,
            desc=part.name.removesuffix(".part"),
            disable=None if progress is None else not progress,
        )
        with bar, part.open("ab" if start else "wb") as file:
            for chunk in response.iter_content(_CHUNK):
                file.write(chunk)
                bar.update(len(chunk))
    if total is not None and part.stat().st_size < total:
        raise _BrokenOffError(f"broke off after {part.stat().st_size} of {total} bytes")


def _reason(error: Exception) -> str:
    """Short words for the nested messages of the HTTP library."""
    import requests

    if isinstance(error, requests.Timeout):
        return "the server does not answer in time"
    if isinstance(error, requests.exceptions.ProxyError):
        return "the proxy refuses or cannot be reached"
    if isinstance(error, requests.exceptions.SSLError):
        return "the server's certificate cannot be verified"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return "the connection broke off; the next call goes on from there"
    if isinstance(error, requests.ConnectionError):
        return "the server cannot be reached (is there a network?)"
    return str(error)


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


@dataclass(frozen=True)
class FileCheck:
    """One file of a collection. `status`: ok, absent, wrong sha256, unreadable, or present.

    `present` is a file whose checksum nobody has published; `path` is where it was found.
    """

    collection: str
    file: str
    status: str
    path: Path | None = None


def fetch(
    name: str,
    data_dir: FilePath | None = None,
    *,
    progress: bool | None = None,
) -> list[Path]:
    """Download a collection into `data_dir` (else `$QASEL_DATA`, else the user's cache).

    A download that broke off is gone on with; one whose checksum is wrong leaves
    nothing behind. Nothing is downloaded when the files are there already. Returns
    the paths of the collection's main files.

    Raises `QaselError` for an unknown collection, one that no download is known
    for, a source that cannot be reached (telling the manual way), a wrong
    checksum and a broken or hostile archive.
    """
    known = collection(name)
    if known.archive is None:
        raise QaselError(_no_download(known))
    home = _home(data_dir) / known.folder
    there = _already(known, known.archive, home)
    if there:
        return there
    packed = home / known.archive.url.rsplit("/", 1)[-1]
    try:
        download(known.archive.url, packed, progress=progress)
    except QaselError as error:
        what = "put it into" if not known.archive.unpack else "unpack it into"
        manual = f"or fetch it by hand, {what} {home}, then run `qasel data check {known.name}`"
        raise QaselError(f"{error}; try again later, {manual}") from error
    try:
        _check_archive(known.archive, packed)
    except QaselError:
        packed.unlink()
        raise
    if not known.archive.unpack:
        return [packed]
    try:
        return _unpack_checked(known, known.archive, packed, home)
    finally:
        packed.unlink(missing_ok=True)


def check(
    name: str | None = None,
    data_dir: FilePath | None = None,
    *,
    contents: bool = True,
) -> list[FileCheck]:
    """What is there of a collection (by default of each), by the sha256 of the contents.

    `contents` False only looks whether the files are there (`present` or `absent`).
    Raises `QaselError` for an unknown name.
    """
    chosen = [collection(name)] if name else list(COLLECTIONS.values())
    bases = data_dirs(data_dir)
    found = []
    for known in chosen:
        sums = checksums().get(known.name, {}) if known.name == known.folder else {}
        found += [
            _check_file(known, file, _find(known, bases, file), entry if contents else None)
            for file, entry in sums.items()
        ]
        for file in _unsummed(known, set(sums)):
            path = _find(known, bases, file)
            found.append(FileCheck(known.name, file, "present" if path else "absent", path))
    return found


def contents_sha256(path: FilePath) -> str:
    """sha256 of a file's contents, uncompressed; raises `QaselError` as `read_contents` does."""
    return hashlib.sha256(read_contents(path)).hexdigest()


def _home(data_dir: FilePath | None) -> Path:
    named = data_dir or os.environ.get("QASEL_DATA")
    return Path(named) if named else data_dirs()[-1]


def _no_download(known: Collection) -> str:
    if known.name == "sample":
        return "the sample is bundled with qasel; there is nothing to fetch"
    return (
        f"no download is built in for {known.name!r}; get it from {known.source}, put its files "
        f"into DATA_DIR/{known.folder} and run `qasel data check {known.name}`"
    )


def _already(known: Collection, archive: Archive, home: Path) -> list[Path]:
    """The main files, if all are there with the right contents; else nothing."""
    if not archive.unpack:
        packed = home / archive.url.rsplit("/", 1)[-1]
        return [packed] if packed.is_file() and _archive_fits(archive, packed) else []
    paths = []
    for file in archive.holds:
        path = _find(known, [home.parent], f"{known.folder}/{file}")
        if path is None or _status(path, _sha256(known, file)) not in ("ok", "present"):
            return []
        paths.append(path)
    return paths


def _archive_fits(archive: Archive, path: Path) -> bool:
    import pooch

    if archive.hash is None:
        return True
    algorithm, digest = archive.hash.split(":")
    return pooch.file_hash(str(path), alg=algorithm) == digest


def _check_archive(archive: Archive, path: Path) -> None:
    if not _archive_fits(archive, path):
        raise QaselError(
            f"{archive.url}: not the published file (its {archive.hash.split(':')[0]} differs), "  # type: ignore[union-attr]
            "so it was deleted; try again, or the source has changed"
        )


def _unpack_checked(known: Collection, archive: Archive, packed: Path, home: Path) -> list[Path]:
    """Unpack aside, check, then move in file by file, so that no half file is ever met."""
    aside = Path(tempfile.mkdtemp(prefix=".fetch-", dir=home))
    try:
        members = unpack(packed, aside)
        names = {path.as_posix().removesuffix(".gz"): path for path in members}
        for file in archive.holds:
            if file not in names:
                raise QaselError(f"{archive.url}: the archive has no file {file}")
            if _status(aside / names[file], _sha256(known, file)) not in ("ok", "present"):
                raise QaselError(
                    f"{archive.url}: {file} is not the published file (its sha256 differs), "
                    "so nothing was kept; try again, or the source has changed"
                )
        for path in members:
            (home / path).parent.mkdir(parents=True, exist_ok=True)
            (aside / path).replace(home / path)
        return [home / names[file] for file in archive.holds]
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _sha256(known: Collection, file: str) -> str | None:
    entry = checksums().get(known.name, {}).get(f"{known.folder}/{file}")
    return str(entry["sha256"]) if entry else None


def _status(path: Path, sha256: str | None) -> str:
    if sha256 is None:
        return "present"
    try:
        return "ok" if contents_sha256(path) == sha256 else "wrong sha256"
    except QaselError:
        return "unreadable"


def _check_file(known: Collection, file: str, path: Path | None, entry: dict | None) -> FileCheck:
    sha256 = str(entry["sha256"]) if entry else None
    return FileCheck(known.name, file, _status(path, sha256) if path else "absent", path)


def _unsummed(known: Collection, summed: set[str]) -> list[str]:
    """Files of a collection that have no checksum: the sample's, and what archives add."""
    if known.name == "sample":
        return [f"sample/{kind}{split}.tsv" for kind in ("", f"{RELATED}-") for split in SPLITS]
    if known.archive is None:
        return []
    if not known.archive.unpack:
        return [f"{known.folder}/{known.archive.url.rsplit('/', 1)[-1]}"]
    files = [f"{known.folder}/{file}" for file in known.archive.holds]
    return [file for file in files if file not in summed]


def _find(known: Collection, bases: list[Path], file: str) -> Path | None:
    """Where a file (`FOLDER/NAME`) lies, plain or gzipped, in any layout of the collection."""
    inner = file.removeprefix(f"{known.folder}/")
    folders = [DATA] if known.name == "sample" else bases
    for base in folders:
        for layout in LAYOUTS.get(known.name, (known.folder,)):
            for path in (base / layout / inner, base / layout / f"{inner}.gz"):
                if path.is_file():
                    return path
    return None
