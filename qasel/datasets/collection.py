"""What a public collection is, where its files are looked for, and what is said without them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from qasel.errors import QaselError
from qasel.locations import DATA, misnamed


@dataclass(frozen=True)
class Collection:
    """A public data set or set of word vectors: all that is peculiar to it stands here.

    `folder` is its place below a data folder, `layouts` other places where its official archives
    put its files. `url` is its download, `hash` the `algorithm:digest` of that, as far as one is
    published; `files` must come out of it (without `.gz`). If they are the archive itself, it is
    kept as it is. `default` is the protocol taken when none is named; without protocols nothing
    loads it as a `Dataset`. `read(collection, folders, protocol)` gives its splits and notes on
    them; of a collection of sentence pairs, which `load_pairs` knows by the name `pairs`,
    `read(collection, folders)` gives the `PairTask`. `scoring` is the convention of its published
    scores, `vectors` the word vectors that all papers start with on it. `label` is its name in
    tables and figures, `labels` that under a protocol. `wider` names, for a protocol, others whose
    test holds all of its questions with the same candidates.
    """

    name: str
    title: str
    folder: str
    source: str
    licence: str
    citation: str
    protocols: Mapping[str, str] = field(default_factory=dict)
    default: str = ""
    url: str = ""
    hash: str | None = None
    files: tuple[str, ...] = ()
    pairs: str = ""
    read: Callable[..., Any] | None = None
    layouts: tuple[str, ...] = ()
    scoring: str = "trec"
    vectors: str = "glove.6B.100d"
    label: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    wider: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def archive(self) -> str:
        """The name of the file at `url`."""
        return self.url.rsplit("/", 1)[-1]

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


def find(folders: Sequence[Path], *names: str) -> Path | None:
    """The first file there is, plain or gzipped, in the order of the folders."""
    paths = (f / name for f in folders for plain in names for name in (plain, f"{plain}.gz"))
    return next((path for path in paths if path.is_file()), None)
