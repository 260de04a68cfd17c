"""Pre-trained word vectors by name, from the official zip, a text file or an npz file."""

import functools
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from qasel.errors import QaselError
from qasel.files import FilePath
from qasel.paths import DATA, data_dirs

KNOWN = {
    "sample": "GloVe 6B 100d, cut to the words of the bundled sample (public domain)",
    "glove.6B.50d": "GloVe, Wikipedia 2014 + Gigaword 5, lower-cased",
    "glove.6B.100d": "GloVe, Wikipedia 2014 + Gigaword 5, lower-cased",
    "glove.6B.200d": "GloVe, Wikipedia 2014 + Gigaword 5, lower-cased",
    "glove.6B.300d": "GloVe, Wikipedia 2014 + Gigaword 5, lower-cased",
    "glove.42B.300d": "GloVe, Common Crawl, lower-cased",
    "glove.840B.300d": "GloVe, Common Crawl, cased",
    "explosion-md.300d": "spaCy en_core_web_md 3.8 vectors, pruned",
}

CONTEXTS = "+contexts"
"""After a name: words that the set lacks get vectors too, from the texts that a run learns from."""


@dataclass(frozen=True)
class Vectors:
    """Word vectors: `matrix` is float32 `[words, size]`, row `rows[word]` is a word's."""

    name: str
    rows: dict[str, int]
    matrix: np.ndarray

    @classmethod
    def empty(cls, name: str) -> "Vectors":
        """No words: every word is unknown."""
        return cls(name, {}, np.zeros((0, 0), dtype=np.float32))

    @property
    def size(self) -> int:
        """Length of one vector."""
        return self.matrix.shape[1]

    def __contains__(self, word: str) -> bool:
        return word in self.rows

    def of(self, words: Sequence[str]) -> np.ndarray:
        """Vectors of the words, float32 `[words, size]`; unknown words are zeros (paper 1)."""
        found = np.zeros((len(words), self.size), dtype=np.float32)
        known = [(i, self.rows[word]) for i, word in enumerate(words) if word in self.rows]
        if known:
            target, source = map(list, zip(*known, strict=True))
            found[target] = self.matrix[source]
        return found

    def coverage(self, words: Iterable[str]) -> float:
        """Share of the words that have a vector, 0 to 1."""
        words = list(words)
        return sum(word in self.rows for word in words) / max(len(words), 1)


def load_vectors(
    name: str,
    data_dir: FilePath | None = None,
    words: Iterable[str] | None = None,
) -> Vectors:
    """Vectors by name (`sample`, `glove.6B.100d`, …) or from a path to a file of them.

    `words` keeps only those, which saves time and memory with the large text
    files. Of a name with `CONTEXTS` it is the set itself; what a run adds to it is
    `contexts.completed`. Raises `QaselError` for an unknown name, a set that is not there, or
    a malformed file (with the line).
    """
    name = name.removesuffix(CONTEXTS)
    path = find_vectors(name, data_dir)
    if words is None:
        return _read(name, path, None)
    now = path.stat()
    return _cut(name, path, (now.st_mtime_ns, now.st_size), frozenset(words))


@functools.lru_cache(maxsize=1)
def _cut(name: str, path: Path, state: tuple[int, int], words: frozenset[str]) -> Vectors:
    """Kept until the file changes, for runs on one data set, one after another, read the same."""
    return _read(name, path, words)


def _read(name: str, path: Path, keep: frozenset[str] | None) -> Vectors:
    if path.suffix == ".npz":
        return _read_npz(name, path, keep)
    if path.suffix == ".zip":
        member = f"{name}.txt"
        try:
            with zipfile.ZipFile(path) as archive, archive.open(member) as file:
                return _read_text(name, f"{path}:{member}", file, keep)
        except (zipfile.BadZipFile, KeyError) as error:
            raise QaselError(f"{path}: no readable member {member} ({error})") from error
    with path.open("rb") as file:
        return _read_text(name, str(path), file, keep)


def find_vectors(name: str, data_dir: FilePath | None = None) -> Path:
    """The file of the vectors of that name; raises `QaselError` where `load_vectors` would."""
    if name == "sample":
        return DATA / "sample" / "vectors.npz"
    if Path(name).suffix in (".txt", ".npz", ".zip") and Path(name).is_file():
        return Path(name)
    if name not in KNOWN:
        raise QaselError(f"unknown word vectors {name!r}; known: {', '.join(KNOWN)}, or a file")
    archive = name.rsplit(".", 1)[0] + ".zip" if name.startswith("glove.6B") else name + ".zip"
    for folder in data_dirs(data_dir):
        for file in (f"{name}.npz", f"{name}.f16.npz", f"{name}.txt", archive):
            for path in (folder / "vectors" / file, folder / file):
                if path.is_file():
                    return path
    raise QaselError(
        f"word vectors {name!r} not found; get them with `qasel data fetch {name}`, "
        "or set QASEL_DATA to a folder that has them under vectors/"
    )


def _read_npz(name: str, path: Path, keep: frozenset[str] | None) -> Vectors:
    try:
        with np.load(path, allow_pickle=False) as file:
            words, matrix = file["words"].tolist(), file["vectors"]
            # Pruned sets give several words one row.
            rows = file["rows"] if "rows" in file else np.arange(len(words))
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise QaselError(f"{path}: not a file of word vectors ({error})") from error
    if keep is not None:
        kept = [i for i, word in enumerate(words) if word in keep]
        words, rows = [words[i] for i in kept], rows[kept]
    return Vectors(name, {w: i for i, w in enumerate(words)}, matrix[rows].astype(np.float32))


def _read_text(name: str, where: str, file: IO[bytes], keep: frozenset[str] | None) -> Vectors:
    rows: dict[str, int] = {}
    values: list[np.ndarray] = []
    for number, raw in enumerate(file, start=1):
        # Some words of the 840B file hold blanks, so the numbers are split off from the right;
        # the first line tells how many there are.
        fields = raw.decode("utf-8").rstrip("\n").split(" ")
        size = len(values[0]) if values else len(fields) - 1
        word = " ".join(fields[:-size])
        if keep is not None and word not in keep and values:
            continue
        vector = np.array(fields[-size:], dtype=np.float32) if _numbers(fields[-size:]) else None
        if vector is None or not word:
            raise QaselError(f"{where}, line {number}: expected a word and {size} numbers")
        rows.setdefault(word, len(values))
        values.append(vector)
    if not values:
        raise QaselError(f"{where}: the file is empty")
    return Vectors(name, rows, np.stack(values))


def _numbers(fields: list[str]) -> bool:
    try:
        return all(np.isfinite(float(field)) for field in fields)
    except ValueError:
        return False
