"""Pre-trained word vectors by name, from the official zip, a text file or an npz file."""

import functools
import hashlib
import os
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

import numpy as np
from sklearn.linear_model import Ridge

from qasel.datasets.registry import unknown
from qasel.errors import QaselError
from qasel.files import FilePath
from qasel.locations import DATA, data_dirs, misnamed

KNOWN = (
    "sample",  # GloVe 6B 100d, cut to the words of the bundled sample (public domain)
    *(f"glove.6B.{size}d" for size in (50, 100, 200, 300)),  # Wikipedia and Gigaword, lower-cased
    "glove.42B.300d",  # Common Crawl, lower-cased
    "glove.840B.300d",  # Common Crawl, cased
    "explosion-md.300d",  # spaCy en_core_web_md 3.8, pruned
)
"""Names of the known sets of word vectors."""

PENALTY = 100.0
"""Of the ridge regression that maps one set of vectors to another."""


@dataclass(frozen=True)
class Vectors:
    """Word vectors: `matrix` is float32 `[words, size]`; a word's vector is row `rows[word]`."""

    name: str
    rows: dict[str, int]
    matrix: np.ndarray

    @classmethod
    def empty(cls, name: str) -> "Vectors":
        """Vectors of no words: every word is unknown."""
        return cls(name, {}, np.zeros((0, 0), dtype=np.float32))

    @property
    def size(self) -> int:
        """Dimension of the vectors."""
        return self.matrix.shape[1]

    @property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits, a hash of the words and their vectors."""
        found = hashlib.sha256("\n".join(self.rows).encode())
        found.update(self.of(list(self.rows)).tobytes())
        return found.hexdigest()[:16]

    def __contains__(self, word: str) -> bool:
        return word in self.rows

    def of(self, words: Sequence[str]) -> np.ndarray:
        """Vectors of the words, float32 `[words, size]`; zeros for unknown words (paper 1)."""
        found = np.zeros((len(words), self.size), dtype=np.float32)
        known = [i for i, word in enumerate(words) if word in self.rows]
        found[known] = self.matrix[[self.rows[words[i]] for i in known]]
        return found

    def coverage(self, words: Iterable[str]) -> float:
        """Share of the words that have a vector, 0 to 1."""
        words = list(words)
        return sum(word in self.rows for word in words) / max(len(words), 1)

    def only(self, words: Iterable[str]) -> "Vectors":
        """These vectors, for some words only."""
        wanted = frozenset(words)
        kept = [word for word in self.rows if word in wanted]  # the same order in each process
        return Vectors(self.name, {word: i for i, word in enumerate(kept)}, self.of(kept))

    def extended(self, more: "Vectors") -> "Vectors":
        """These vectors, followed by those of `more` for words that have none here.

        Raises `QaselError` for vectors of another dimension.
        """
        new = [word for word in more.rows if word not in self.rows]
        if not new:
            return self
        if more.size != self.size:
            told = f"word vectors {more.name!r} have {more.size} numbers each, not {self.size}"
            raise QaselError(f"{told}; take the set that the others are from")
        rows = {word: row for row, word in enumerate(new, start=len(self.matrix))}
        matrix = np.concatenate([self.matrix, more.of(new)])
        return Vectors(self.name, self.rows | rows, matrix)


def load_vectors(
    name: FilePath, data_dir: FilePath | None = None, words: Iterable[str] | None = None
) -> Vectors:
    """Load vectors by name (`sample`, `glove.6B.100d`, …) or from a file.

    `glove.6B.100d+explosion-md.300d` adds to the first set the words that only the second has (see
    `joined`). With `words`, only theirs are kept, which saves time and memory. Raises `QaselError`
    for an unknown name, a set that is not there or has none of `words`, or a malformed file (with
    the line).
    """
    name = os.fspath(name)
    wanted = None if words is None else frozenset(words)
    paths = [(part, find_vectors(part, data_dir)) for part in parts_of(name)]
    state = tuple((now.st_mtime_ns, now.st_size) for now in (path.stat() for _, path in paths))
    if len(paths) > 1:
        both = _both(*paths, state)
        found = both if wanted is None else both.only(wanted)
    elif wanted is None:
        found = _read(*paths[0], None)
    else:
        found = _cut(*paths[0], state, wanted)
    if wanted and not found.rows:
        some = sorted(wanted)[len(wanted) // 2]
        raise QaselError(
            f"word vectors {name!r} have none of the {len(wanted)} words wanted, such as {some!r}; "
            "take a set of the same language, its words in lower case"
        )
    return found


State = tuple[tuple[int, int], ...]  # when files were changed, and their sizes: keys of caches


@functools.lru_cache(maxsize=1)
def _both(first: tuple[str, Path], second: tuple[str, Path], state: State) -> Vectors:
    return joined(_read(*first, None), _read(*second, None))


@functools.lru_cache(maxsize=1)
def _cut(name: str, path: Path, state: State, words: frozenset[str]) -> Vectors:
    """The vectors of `words`; cached until the file changes, for successive runs on a data set."""
    return _read(name, path, words)


def _read(name: str, path: Path, keep: frozenset[str] | None) -> Vectors:
    if path.suffix == ".npz":
        return _read_npz(name, path, keep)
    if path.suffix == ".zip":
        return _read_zip(name, path, keep)
    with path.open("rb") as file:
        return _read_text(name, str(path), file, keep)


def parts_of(name: str) -> list[str]:
    """The set that a name begins with, and a second one after a `+`, unless that is a file's."""
    parts = name.split("+")
    return parts if len(parts) == 2 and {*parts} <= {*KNOWN} else [name]


def full_vectors_name(name: str) -> str:
    """The name of a set of vectors unchanged, or the absolute path of a user's own file."""
    return str(Path(name).resolve()) if _is_own(Path(name)) else name


def _is_own(file: Path) -> bool:
    return file.suffix in (".txt", ".npz", ".zip") and file.is_file()


def find_vectors(name: str, data_dir: FilePath | None = None) -> Path:
    """The file of a set of vectors; raises `QaselError` if it is unknown or not there."""
    name, *others = parts_of(name)
    for other in others:
        find_vectors(other, data_dir)
    if name == "sample":
        return DATA / "sample" / "vectors.npz"
    if _is_own(Path(name)):
        return Path(name)
    if name not in KNOWN:
        what = unknown("word vectors", name, KNOWN)
        raise QaselError(f"{what}, or a file (.txt, .npz or .zip)")
    archive = name.rsplit(".", 1)[0] + ".zip" if name.startswith("glove.6B") else name + ".zip"
    for folder in data_dirs(data_dir):
        for file in (f"{name}.npz", f"{name}.f16.npz", f"{name}.txt", archive):
            for path in (folder / "vectors" / file, folder / file):
                if path.is_file():
                    return path
    fetch = f"get them with `qasel data fetch {name}`, or " if name.startswith("glove") else ""
    raise QaselError(
        f"word vectors {name!r} not found; {fetch}"
        f"set QASEL_DATA to a folder that has them under vectors/{misnamed()}; "
        "to try things out, `--set vectors=sample` takes the few thousand words that are bundled"
    )


def _read_zip(name: str, path: Path, keep: frozenset[str] | None) -> Vectors:
    try:
        with zipfile.ZipFile(path) as archive:
            texts = [member for member in archive.namelist() if member.endswith(".txt")]
            if name in KNOWN:  # an archive of GloVe's contains several sets
                texts = [f"{name}.txt"]
            if len(texts) != 1:
                told = f"{path}: holds {len(texts)} .txt files, not one"
                raise QaselError(f"{told}; unpack it, and name the file to take")
            with archive.open(texts[0]) as file:
                return _read_text(name, f"{path}:{texts[0]}", file, keep)
    except (
        zipfile.BadZipFile, zlib.error, EOFError, KeyError, RuntimeError, UnicodeDecodeError,
    ) as error:  # fmt: skip
        raise QaselError(f"{path}: no readable text of word vectors in it ({error})") from error


def _read_npz(name: str, path: Path, keep: frozenset[str] | None) -> Vectors:
    try:
        with np.load(path, allow_pickle=False) as file:
            words, matrix = file["words"], file["vectors"]
            # In pruned sets, several words share a row.
            rows = file["rows"] if "rows" in file else np.arange(len(words))
    except Exception as error:  # numpy and zipfile raise many errors for a damaged file
        raise QaselError(f"{path}: not a file of word vectors ({error})") from error
    _check(path, words, rows, matrix)
    kept = [i for i, word in enumerate(words.tolist()) if keep is None or word in keep]
    listed = words[kept].tolist()
    with np.errstate(over="ignore"):  # reported below
        taken = matrix[rows[kept]].astype(np.float32)
    if len(bad := np.flatnonzero(~np.isfinite(taken).all(axis=1))):
        what = f"the vector of {listed[bad[0]]!r} has numbers that are not finite"
        raise QaselError(f"{path}: not a file of word vectors ({what})")
    return Vectors(name, {w: i for i, w in enumerate(listed)}, taken)


def _check(path: Path, words: np.ndarray, rows: np.ndarray, matrix: np.ndarray) -> None:
    """Raise `QaselError` unless every word has a row, and every row is a vector of numbers."""
    if words.ndim != 1 or words.dtype.kind != "U":
        what = "`words` is no list of texts"
    elif matrix.ndim != 2 or not matrix.shape[1] or matrix.dtype.kind not in "fiu":
        what = "`vectors` is no table of numbers"
    elif rows.shape != words.shape or rows.dtype.kind not in "iu":
        what = f"{len(words)} words, but `rows` is not as many whole numbers"
    elif len(rows) and not 0 <= rows.min() <= rows.max() < len(matrix):
        what = f"{len(words)} words, but {len(matrix)} vectors do not have all of their rows"
    else:
        return
    raise QaselError(f"{path}: not a file of word vectors ({what})")


def _read_text(name: str, where: str, file: IO[bytes], keep: frozenset[str] | None) -> Vectors:
    rows: dict[str, int] = {}
    values: list[np.ndarray] = []
    size = 0
    for number, raw in enumerate(file, start=1):
        try:
            fields = raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip().split(" ")
        except UnicodeDecodeError:
            raise QaselError(f"{where}, line {number}: not UTF-8; convert the file to it") from None
        # word2vec and fastText files begin with the numbers of words and dimensions.
        if number == 1 and len(fields) == 2 and all(field.isdecimal() for field in fields):
            continue
        # Some words of the 840B file contain blanks, so the numbers are taken from the right; the
        # first line tells how many there are.
        known, size = size, size or len(fields) - 1
        word = " ".join(fields[:-size])
        wanted = keep is None or word in keep
        if known and word and not wanted:
            continue
        try:
            with np.errstate(over="ignore"):  # reported below, as not finite
                vector = np.array(fields[-size:], dtype=np.float32)
        except ValueError:
            vector = np.array([np.nan])
        if not word or not np.isfinite(vector).all():
            raise QaselError(f"{where}, line {number}: expected a word and {size or 'its'} numbers")
        if wanted:
            rows.setdefault(word, len(values))
            values.append(vector)
    if not size:
        raise QaselError(f"{where}: the file is empty")
    matrix = np.stack(values) if values else np.zeros((0, size), dtype=np.float32)
    return Vectors(name, rows, matrix)


def joined(vectors: Vectors, other: Vectors) -> Vectors:
    """`vectors`, followed by the lower-case words that only `other` has.

    Their vectors are mapped by a ridge regression, fitted on the words that both have. It shrinks
    what it predicts, so the new ones are scaled to the mean length of the others.
    """
    shared = [word for word in vectors.rows if word in other]
    new = [word for word in other.rows if word == word.lower() and word not in vectors]
    name = f"{vectors.name}+{other.name}"
    if not new:  # nothing to map
        return replace(vectors, name=name)
    # In double precision, so that the vectors are the same whatever the CPU and its threads.
    given, known, asked = (
        found.astype(np.float64) for found in (vectors.of(shared), other.of(shared), other.of(new))
    )
    mapped = Ridge(PENALTY).fit(known, given).predict(asked)
    length = np.linalg.norm(given, axis=1).mean()
    mapped *= length / np.linalg.norm(mapped, axis=1, keepdims=True).clip(1e-6)
    rows = {word: i for i, word in enumerate(new)}
    added = vectors.extended(Vectors(other.name, rows, mapped.astype(np.float32)))
    return replace(added, name=name)
