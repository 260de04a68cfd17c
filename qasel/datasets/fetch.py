"""Public collections: downloaded by pooch, unpacked safely, checked by their contents."""

import hashlib
import os
import shutil
import sys
import tarfile
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from qasel.datasets.lines import read_contents
from qasel.datasets.registry import COLLECTIONS, Collection, checksums, collection, find
from qasel.errors import QaselError
from qasel.files import FilePath
from qasel.locations import data_dirs


@dataclass(frozen=True)
class FileCheck:
    """One file of a collection. `status`: ok, absent, wrong sha256, unreadable, or present.

    `present` means that its checksum is unknown or was not compared; `path` is where it was found.
    """

    collection: str
    file: str
    status: str
    path: Path | None = None


def fetch(name: str, data_dir: FilePath | None = None, *, progress: bool = False) -> list[Path]:
    """Download a collection into `data_dir` (else `$QASEL_DATA`, else the user's cache).

    Returns the paths of the main files; files that are already there are not downloaded again. An
    interrupted download, or one with a wrong checksum, leaves nothing behind.

    Raises `QaselError` for an unknown collection or one without a download, a source that cannot be
    reached (saying how to fetch by hand), a wrong checksum, or a broken or hostile archive.
    """
    known = collection(name)
    if known.name == "sample":
        raise QaselError("the sample is bundled with qasel; there is nothing to fetch")
    if not known.url:
        raise QaselError(
            f"no download is built in for {known.name!r}; get it from {known.source}, put its "
            f"files into DATA_DIR/{known.folder} and run `qasel data check {known.name}`"
        )
    named = data_dir or os.environ.get("QASEL_DATA")
    home = (Path(named) if named else data_dirs()[-1]) / known.folder
    kept = known.url.rsplit("/", 1)[-1] in known.files  # not unpacked
    manual = (
        f"try again later, or fetch it by hand, {'put' if kept else 'unpack'} it into "
        f"{home}, then run `qasel data check {known.name}`"
    )
    if kept:
        return [download(known.url, known.hash, home, manual, progress=progress)]
    sums = {file: sha256 for file, sha256 in _files(known).items() if file in known.files}
    found = {file: find(known.folders([home.parent]), file) for file in sums}
    if all(path and _status(path, sums[file]) in FITTING for file, path in found.items()):
        return [path for path in found.values() if path]
    packed = download(known.url, known.hash, home, manual, progress=progress)
    # Unpack aside, check, then move in file by file: no partial file is ever seen.
    aside = Path(tempfile.mkdtemp(prefix=".fetch-", dir=home))
    try:
        unpacked = unpack(packed, aside)
        names = {name.removesuffix(".gz"): name for name in unpacked}
        for file, sha256 in sums.items():
            if file not in names:
                raise QaselError(f"{known.url}: the archive has no file {file}")
            if _status(unpacked[names[file]], sha256) not in FITTING:
                raise QaselError(
                    f"{known.url}: {file} is not the published file (its sha256 differs), "
                    "so nothing was kept; try again, or the source has changed"
                )
        for name, path in unpacked.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            path.replace(home / name)
        return [home / names[file] for file in sums]
    finally:
        packed.unlink(missing_ok=True)
        shutil.rmtree(aside, ignore_errors=True)


def download(
    url: str, hash_: str | None, folder: Path, manual: str, *, progress: bool = False
) -> Path:
    """Download the file at `url` to a folder, unless it is there already; returns its path.

    Raises `QaselError` if the server cannot be reached or refuses (the message ends with `manual`),
    or the file's checksum is not `hash_` (`algorithm:digest`).
    """
    import pooch
    import requests

    pooch.get_logger().setLevel("WARNING")
    patience = (15, 60)  # seconds to connect, and between two chunks
    getter = pooch.HTTPDownloader(progressbar=progress and sys.stderr.isatty(), timeout=patience)
    try:
        return Path(pooch.retrieve(url, hash_, url.rsplit("/", 1)[-1], folder, downloader=getter))
    except requests.RequestException as error:
        if error.response is not None:
            reason = f"the server answers {error.response.status_code} {error.response.reason}"
        elif isinstance(error, requests.Timeout):
            reason = "the server does not answer in time"
        elif "IncompleteRead" in str(error):
            reason = "the connection broke off"
        else:
            reason = f"the server cannot be reached ({type(error).__name__})"
        raise QaselError(f"cannot download {url}: {reason}; {manual}") from error
    except ValueError as error:  # pooch's error for a wrong checksum; the file is gone by then
        algorithm = (hash_ or "").partition(":")[0]
        raise QaselError(
            f"{url}: not the published file (its {algorithm} differs), so it was deleted; "
            "try again, or the source has changed"
        ) from error


def unpack(archive: Path, folder: Path) -> dict[str, Path]:
    """Extract a zip or tar archive into `folder`; returns name → path of each extracted file.

    Names omit a folder that holds everything else. Links and macOS's extra files are not returned.

    Raises `QaselError` for a broken archive, a link that leads out of the folder and, before
    anything is written, a member whose name does.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as pack:
                # `orig_filename`: zipfile cuts `filename` at a NUL. It makes no links.
                _refuse(archive, [info.orig_filename for info in pack.infolist()])
                pack.extractall(folder)
        elif tarfile.is_tarfile(archive):
            with tarfile.open(archive) as pack:
                _refuse(archive, pack.getnames())
                pack.extractall(folder, filter="data")
        else:
            raise QaselError(f"{archive}: neither a zip nor a tar archive")
    except tarfile.FilterError as error:
        raise QaselError(f"{archive}: refused, {error}") from error
    except QaselError:
        raise
    except Exception as error:  # the libraries raise many errors for damaged or encrypted archives
        raise QaselError(f"{archive}: the archive cannot be unpacked ({error})") from error
    files = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not path.is_symlink()
        and not path.name.startswith("._")
        and path.relative_to(folder).parts[0] != "__MACOSX"
    ]
    tops = {path.relative_to(folder).parts[0] for path in files}
    inner = folder / tops.pop() if len(tops) == 1 else folder
    inner = inner if inner.is_dir() else folder
    return {path.relative_to(inner).as_posix(): path for path in files}


def _refuse(archive: Path, names: list[str]) -> None:
    """Raise `QaselError` for a name that leads out of the folder, on this system or on Windows."""
    for name in names:
        path = PurePosixPath(name.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or name[1:2] == ":" or "\0" in name:
            raise QaselError(f"{archive}: refused, member {name!r} leads out of the folder")


def check(
    name: str | None = None, data_dir: FilePath | None = None, *, contents: bool = True
) -> list[FileCheck]:
    """Check which files of a collection (by default, of each) are there, by their contents' sha256.

    With `contents=False`, only looks whether they exist (`present` or `absent`). Raises
    `QaselError` for an unknown name.
    """
    bases = data_dirs(data_dir)
    found = []
    for known in [collection(name)] if name else COLLECTIONS.values():
        for file, sha256 in _files(known).items():
            path = find(known.folders(bases), file)
            status = _status(path, sha256 if contents else None) if path else "absent"
            found.append(FileCheck(known.name, f"{known.folder}/{file}", status, path))
    return found


FITTING = ("ok", "present")


def _status(path: Path, sha256: str | None) -> str:
    if sha256 is None:
        return "present"
    try:
        return "ok" if hashlib.sha256(read_contents(path)).hexdigest() == sha256 else "wrong sha256"
    except QaselError:
        return "unreadable"


def _files(known: Collection) -> dict[str, str | None]:
    """File name within a collection's folder → sha256 of its contents, or None if unknown."""
    sums = {
        file.removeprefix(f"{known.folder}/"): str(entry["sha256"])
        for file, entry in checksums().get(known.name, {}).items()
    }
    return sums | {file: None for file in known.files if file not in sums}
