"""Public collections: downloaded by pooch, unpacked within bounds, checked by their contents."""

import errno
import hashlib
import lzma
import os
import shutil
import sys
import tarfile
import tempfile
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from qasel.datasets.lines import read_contents
from qasel.datasets.locations import Archive, Collection, find
from qasel.datasets.registry import COLLECTIONS, RELATED, checksums, collection
from qasel.datasets.tables import SPLITS
from qasel.errors import QaselError
from qasel.files import FilePath
from qasel.locations import DATA, data_dirs

_TIMEOUT = (15, 60)  # seconds to connect, and between two pieces


@dataclass(frozen=True)
class FileCheck:
    """One file of a collection. `status`: ok, absent, wrong sha256, unreadable, or present.

    `present` is a file whose checksum nobody has published; `path` is where it was found.
    """

    collection: str
    file: str
    status: str
    path: Path | None = None


def fetch(name: str, data_dir: FilePath | None = None, *, progress: bool = False) -> list[Path]:
    """Download a collection into `data_dir` (else `$QASEL_DATA`, else the user's cache).

    A download that breaks off, or whose checksum is wrong, leaves nothing behind. Nothing is
    downloaded when the files are there already. Returns the paths of the main files.

    Raises `QaselError` for an unknown collection, one that no download is known
    for, a source that cannot be reached (telling the manual way), a wrong
    checksum and a broken or hostile archive.
    """
    known = collection(name)
    archive = known.archive
    if archive is None:
        raise QaselError(_no_download(known))
    named = data_dir or os.environ.get("QASEL_DATA")
    home = (Path(named) if named else data_dirs()[-1]) / known.folder
    manual = (
        f"try again later, or fetch it by hand, {'unpack' if archive.unpack else 'put'} it into "
        f"{home}, then run `qasel data check {known.name}`"
    )
    if not archive.unpack:
        return [download(archive, home, manual, progress=progress)]
    found = {file: _locate(known, [home.parent], file) for file in archive.holds}
    if all(p and _status(p, _sha256(known, file)) in FITTING for file, p in found.items()):
        return [path for path in found.values() if path]
    packed = download(archive, home, manual, progress=progress)
    # Unpack aside, check, then move in file by file, so that no half file is ever met.
    aside = Path(tempfile.mkdtemp(prefix=".fetch-", dir=home))
    try:
        names = {path.as_posix().removesuffix(".gz"): path for path in unpack(packed, aside)}
        for file in archive.holds:
            if file not in names:
                raise QaselError(f"{archive.url}: the archive has no file {file}")
            if _status(aside / names[file], _sha256(known, file)) not in FITTING:
                raise QaselError(
                    f"{archive.url}: {file} is not the published file (its sha256 differs), "
                    "so nothing was kept; try again, or the source has changed"
                )
        for path in names.values():
            (home / path).parent.mkdir(parents=True, exist_ok=True)
            (aside / path).replace(home / path)
        return [home / names[file] for file in archive.holds]
    finally:
        packed.unlink(missing_ok=True)
        shutil.rmtree(aside, ignore_errors=True)


def download(archive: Archive, folder: Path, manual: str, *, progress: bool = False) -> Path:
    """The archive's file in a folder, downloaded unless it is there.

    Raises `QaselError` for a server that cannot be reached or refuses, ending with `manual`, and
    for a file whose checksum is not the published one.
    """
    import pooch
    import requests

    pooch.get_logger().setLevel("WARNING")
    getter = pooch.HTTPDownloader(progressbar=progress and sys.stderr.isatty(), timeout=_TIMEOUT)
    try:
        return Path(
            pooch.retrieve(archive.url, archive.hash, archive.file, folder, downloader=getter)
        )
    except requests.HTTPError as error:
        answer = error.response
        reason = (
            str(error)
            if answer is None
            else f"the server answers {answer.status_code} {answer.reason}"
        )
    except requests.Timeout:
        reason = "the server does not answer in time"
    except requests.exceptions.SSLError:
        reason = "the server's certificate cannot be verified"
    except requests.exceptions.ChunkedEncodingError:
        reason = "the connection broke off"
    except requests.ConnectionError as error:
        broken = "IncompleteRead" in str(error)
        reason = "the connection broke off" if broken else "the server cannot be reached"
    except ValueError as error:  # pooch's error for a wrong checksum; the file is gone by then
        algorithm = (archive.hash or "").partition(":")[0]
        raise QaselError(
            f"{archive.url}: not the published file (its {algorithm} differs), so it was deleted; "
            "try again, or the source has changed"
        ) from error
    raise QaselError(f"cannot download {archive.url}: {reason}; {manual}")


def unpack(archive: Path, folder: Path) -> list[Path]:
    """Write the files of a zip or tar into `folder`; returns them, relative to it.

    A folder that holds all the rest is left out, and so are links and what macOS adds.

    Raises `QaselError`, before anything is written, for a member with an
    absolute path or `..`, or a link that leads out; and for a broken archive.
    """
    folder.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=".unpack-", dir=folder))
    try:
        _extract(archive, aside)
        files = [
            path
            for path in sorted(aside.rglob("*"))
            if path.is_file()
            and not path.is_symlink()
            and not path.name.startswith("._")
            and path.relative_to(aside).parts[0] != "__MACOSX"
        ]
        tops = {path.relative_to(aside).parts[0] for path in files}
        inner = aside / tops.pop() if len(tops) == 1 else aside
        inner = inner if inner.is_dir() else aside
        for path in files:
            (folder / path.relative_to(inner)).parent.mkdir(parents=True, exist_ok=True)
            path.replace(folder / path.relative_to(inner))
        return [path.relative_to(inner) for path in files]
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _extract(archive: Path, folder: Path) -> None:
    """Extract all members; none leads out of the folder, whatever the archive says."""
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as pack:
                # `orig_filename`: zipfile itself cuts the name at a NUL.
                _refuse(archive, [info.orig_filename for info in pack.infolist()])
                for info in pack.infolist():
                    if info.external_attr >> 28 == 0o12:  # a link, its target the contents
                        _refuse(archive, [pack.read(info).decode("utf-8", "replace")])
                pack.extractall(folder)
        elif tarfile.is_tarfile(archive):
            with tarfile.open(archive) as pack:
                _refuse(archive, pack.getnames())
                pack.extractall(folder, filter="data")
        else:
            raise QaselError(f"{archive}: neither a zip nor a tar archive")
    except tarfile.FilterError as error:
        raise QaselError(f"{archive}: refused, {error}") from error
    # What the two libraries raise for damaged, cut or encrypted archives.
    except (
        zipfile.BadZipFile, tarfile.TarError, EOFError, zlib.error, lzma.LZMAError,
        UnicodeDecodeError, NotImplementedError, RuntimeError,
    ) as error:  # fmt: skip
        raise QaselError(f"{archive}: broken archive ({error})") from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EACCES, errno.EROFS):
            raise
        raise QaselError(f"{archive}: broken archive ({error})") from error


def _refuse(archive: Path, names: list[str]) -> None:
    """Raise `QaselError` for a name that leads out of the folder, here or on Windows."""
    for name in names:
        path = PurePosixPath(name.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or name[1:2] == ":" or "\0" in name:
            raise QaselError(f"{archive}: refused, member {name!r} leads out of the folder")


def check(
    name: str | None = None, data_dir: FilePath | None = None, *, contents: bool = True
) -> list[FileCheck]:
    """What is there of a collection (by default of each), by the sha256 of the contents.

    `contents` False only looks whether the files are there (`present` or `absent`).
    Raises `QaselError` for an unknown name.
    """
    bases = data_dirs(data_dir)
    found = []
    for known in [collection(name)] if name else COLLECTIONS.values():
        for file in _files(known):
            path = _locate(known, bases, file)
            sha256 = _sha256(known, file) if contents else None
            status = _status(path, sha256) if path else "absent"
            found.append(FileCheck(known.name, f"{known.folder}/{file}", status, path))
    return found


FITTING = ("ok", "present")


def _status(path: Path, sha256: str | None) -> str:
    if sha256 is None:
        return "present"
    try:
        return "ok" if contents_sha256(path) == sha256 else "wrong sha256"
    except QaselError:
        return "unreadable"


def contents_sha256(path: FilePath) -> str:
    """sha256 of a file's contents, uncompressed; raises `QaselError` as `read_contents` does."""
    return hashlib.sha256(read_contents(path)).hexdigest()


def _files(known: Collection) -> list[str]:
    """The files of a collection, below its folder: those with checksums, then the others."""
    summed = checksums().get(known.name, {}) if known.name == known.folder else {}
    files = [file.removeprefix(f"{known.folder}/") for file in summed]
    if known.name == "sample":
        files += [f"{kind}{split}.tsv" for kind in ("", f"{RELATED}-") for split in SPLITS]
    elif known.archive:
        files += known.archive.holds if known.archive.unpack else [known.archive.file]
    return list(dict.fromkeys(files))


def _sha256(known: Collection, file: str) -> str | None:
    entry = checksums().get(known.name, {}).get(f"{known.folder}/{file}")
    return str(entry["sha256"]) if entry else None


def _locate(known: Collection, bases: list[Path], file: str) -> Path | None:
    """Where a file lies, plain or gzipped, in any layout of the collection."""
    return find(known.folders([DATA] if known.name == "sample" else bases), file)


def _no_download(known: Collection) -> str:
    if known.name == "sample":
        return "the sample is bundled with qasel; there is nothing to fetch"
    return (
        f"no download is built in for {known.name!r}; get it from {known.source}, put its files "
        f"into DATA_DIR/{known.folder} and run `qasel data check {known.name}`"
    )
