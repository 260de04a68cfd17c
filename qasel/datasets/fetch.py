"""Getting the public collections from their official sources, and checking what is there."""

import hashlib
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from qasel.datasets.archives import unpack
from qasel.datasets.download import download
from qasel.datasets.lines import read_contents
from qasel.datasets.load import SPLITS
from qasel.datasets.places import LAYOUTS
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
from qasel.paths import DATA, data_dirs


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
