"""Every public collection that the project knows: protocols, files, source, licence.

They are described in `collections.toml`. A new data set is one more table there and a reader in a
module of its own.
"""

import difflib
import functools
import json
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NoReturn

from pydantic import BaseModel

from qasel.errors import QaselError
from qasel.locations import DATA, misnamed


class Collection(BaseModel, frozen=True, extra="forbid"):
    """A public data set or set of word vectors: all that is peculiar to it.

    `folder` is its place below a data folder, `layouts` other places where its official archives
    put its files. `url` is its download, `hash` the `algorithm:digest` of that where one is
    published; `files` must come out of it (without `.gz`), or are the archive itself, which is
    then kept as it is. `default` is the protocol taken when none is named; a collection without
    protocols is no `Dataset`. `pairs` is the name of its task on sentence pairs in `load_pairs`.
    `reader` names the function that reads it, `module:function`: of a data set
    `read(collection, folders, protocol)`, which gives a list of splits and notes on them, of a task
    on pairs `read(collection, folders)`, which gives the `PairTask`.
    `scoring` is the convention of its published scores, `vectors` the word vectors that all
    papers start with on it. `label` is its name in tables and figures, `labels` that under a
    protocol. `wider` maps a protocol to others whose test holds all of its questions with the
    same candidates.
    """

    name: str
    title: str
    folder: str
    source: str
    licence: str
    citation: str
    protocols: dict[str, str] = {}
    default: str = ""
    url: str = ""
    hash: str | None = None
    files: tuple[str, ...] = ()
    pairs: str = ""
    reader: str = ""
    layouts: tuple[str, ...] = ()
    scoring: str = "trec"
    vectors: str = "glove.6B.100d"
    label: str = ""
    labels: dict[str, str] = {}
    wider: dict[str, tuple[str, ...]] = {}

    @property
    def origin(self) -> str:
        """Where it comes from, under which licence, and what to cite."""
        return f"{self.source}. Licence: {self.licence}. Cite: {self.citation}."

    def folders(self, bases: Sequence[Path]) -> list[Path]:
        """Every folder below the data folders in which its files may lie, best first."""
        bases = [DATA] if self.name == "sample" else bases
        return [base / layout for base in bases for layout in (self.folder, *self.layouts)]

    def missing(self, split: str, names: Sequence[str]) -> NoReturn:
        """Raise `QaselError`: no file of the split, where it was looked for, and how to get it."""
        get = f"get it with `qasel data fetch {self.name}`"
        if not self.url:
            get = f"get it from {self.source} and put it there"
        raise QaselError(
            f"{self.name}: no {split} file in --data-dir, $QASEL_DATA, data/ or the user's cache "
            f"(looked under {self.folder}/ for {', '.join(names)}); {get}, or set QASEL_DATA to a "
            f"folder that has it{misnamed()}"
        )


COLLECTIONS = {
    name: Collection(name=name, **fields)
    for name, fields in tomllib.loads(
        Path(__file__).with_name("collections.toml").read_text(encoding="utf-8")
    ).items()
}

QUESTION_PROTOCOLS = COLLECTIONS["wikiqa"].protocols
"""Which questions count, in a collection that does not name its own protocols."""


def collection(name: str) -> Collection:
    """The collection of that name; `glove.6B.100d` and its like mean `glove.6B`.

    Raises `QaselError` for an unknown name, with the nearest known one.
    """
    if name.startswith("glove.6B."):
        name = "glove.6B"
    if name not in COLLECTIONS:
        raise QaselError(unknown("data set", name, COLLECTIONS))
    return COLLECTIONS[name]


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """`unknown WHAT 'NAME'; did you mean …? known: …`."""
    close = difflib.get_close_matches(name.lower(), list(known), n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"unknown {what} {name!r}; {hint}known: {', '.join(known)}"


def find(folders: Sequence[Path], *names: str) -> Path | None:
    """The first file there is, plain or gzipped, in the order of the folders."""
    paths = (f / name for f in folders for plain in names for name in (plain, f"{plain}.gz"))
    return next((path for path in paths if path.is_file()), None)


@functools.cache
def checksums() -> dict[str, dict[str, dict[str, str | int]]]:
    """Collection → file, relative to a data folder, without `.gz` → `sha256` and `bytes`.

    Both are of the contents, so that a file counts as itself gzipped or not.
    """
    return json.loads((DATA / "checksums.json").read_text(encoding="utf-8"))
