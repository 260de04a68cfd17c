"""Every public collection that the project knows: protocols, files, source, licence.

They are described in `collections.toml`. A new data set needs a table there and a reader in a
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
    """The description of a public data set or set of word vectors.

    `folder` is its place below a data folder; `layouts` are other places where its official
    archives put its files. `url` is its download, and `hash` the published `algorithm:digest` of
    that, if any. `files` (without `.gz`) must be in the download, or name the archive itself, which
    is then kept packed. `default` is the protocol used if none is named; a collection without
    protocols is not a `Dataset`. `pairs` is the name of its task on sentence pairs in `load_pairs`.
    `reader` names the function that reads it, as `module:function`. For a data set,
    `read(collection, folders, protocol)` returns a list of splits and notes on them; for a task on
    pairs, `read(collection, folders)` returns the `PairTask`. `scoring` is the convention of its
    published scores; `vectors` are the word vectors that all papers start with on it. `label` is
    its name in tables and figures, `labels` its names under single protocols. `wider` maps a
    protocol to others whose test split has all of its questions, with the same candidates.
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

    def folders(self, bases: Sequence[Path]) -> list[Path]:
        """All folders below the data folders in which its files may be, in order of preference."""
        bases = [DATA] if self.name == "sample" else bases
        return [base / layout for base in bases for layout in (self.folder, *self.layouts)]

    def missing(self, split: str, names: Sequence[str]) -> NoReturn:
        """Raise `QaselError` for a missing split: where its file was looked for, how to get it."""
        get = f"get it with `qasel data fetch {self.name}`"
        if not self.url:
            get = f"get it from {self.source} and put it there"
        raise QaselError(
            f"{self.name}: no {split} file in --data-dir, $QASEL_DATA, data/ or the user's cache "
            f"(looked under {self.folder}/ for {', '.join(names)}); {get}, or set QASEL_DATA to a "
            f"folder that has it{misnamed()}"
        )


_KNOWN = tomllib.loads(Path(__file__).with_name("collections.toml").read_text(encoding="utf-8"))
COLLECTIONS = {name: Collection(name=name, **fields) for name, fields in _KNOWN.items()}

QUESTION_PROTOCOLS = COLLECTIONS["wikiqa"].protocols
"""Protocol → which questions count, for collections that do not define their own protocols."""


def collection(name: str) -> Collection:
    """The collection of that name; `glove.6B.100d` and its siblings mean `glove.6B`.

    Raises `QaselError` for an unknown name, suggesting the nearest known one.
    """
    if name.startswith("glove.6B."):
        name = "glove.6B"
    if name not in COLLECTIONS:
        raise QaselError(unknown("data set", name, COLLECTIONS))
    return COLLECTIONS[name]


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """The message `unknown WHAT 'NAME'; did you mean …? known: …`."""
    return f"unknown {what} {name!r}; {nearest(name, known)}known: {', '.join(known)}"


def nearest(name: str, known: Iterable[str]) -> str:
    """The hint `did you mean …? `, whatever the case of letters; empty if no known name is near."""
    folded = {one.casefold(): one for one in known}
    close = difflib.get_close_matches(name.casefold(), folded, n=1)
    return f"did you mean {folded[close[0]]!r}? " if close else ""


def find(folders: Sequence[Path], *names: str) -> Path | None:
    """The first of these files that exists, plain or gzipped, in the order of the folders."""
    paths = (f / name for f in folders for plain in names for name in (plain, f"{plain}.gz"))
    return next((path for path in paths if path.is_file()), None)


@functools.cache
def checksums() -> dict[str, dict[str, dict[str, str | int]]]:
    """Collection → file (relative to a data folder, without `.gz`) → `sha256` and `bytes`.

    Both are of the decompressed contents, so that a gzipped file matches too.
    """
    return json.loads((DATA / "checksums.json").read_text(encoding="utf-8"))
