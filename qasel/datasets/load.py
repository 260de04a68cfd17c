"""Loading data sets and tasks on pairs by name, and a user's own folder, under a named protocol."""

import contextlib
import functools
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from pkgutil import resolve_name

from qasel.datasets.base import Dataset, PairTask, Split
from qasel.datasets.describe import oddities
from qasel.datasets.lines import group_rows
from qasel.datasets.registry import COLLECTIONS, QUESTION_PROTOCOLS, Collection, unknown
from qasel.datasets.semeval import B, read_table
from qasel.datasets.tables import JSON_SUFFIXES, KEEP, SPLITS, read_questions
from qasel.errors import QaselError
from qasel.files import FilePath
from qasel.locations import data_dirs

RELATED = "related"
"""The sample's protocol under which the candidates of a question are related questions."""


def read_sample(
    known: Collection, folders: Sequence[Path], protocol: str
) -> tuple[list[Split], tuple[str, ...]]:
    """Read the bundled sample; its tables of related questions are like SemEval's for subtask B."""
    (folder,) = folders
    if protocol != RELATED:
        return [read_questions(folder / f"{n}.tsv", n).where(KEEP[protocol]) for n in SPLITS], ()
    paths = {name: folder / f"{RELATED}-{name}.tsv" for name in SPLITS}
    return [group_rows(path, name, read_table(path, B)[0]) for name, path in paths.items()], ()


def load_dataset(
    name: FilePath, protocol: str | None = None, data_dir: FilePath | None = None
) -> Dataset:
    """Load a data set: `sample`, `wikiqa`, `trecqa`, `semeval-cqa`, or a folder of your own.

    A folder has the files train, dev and test (or some of them), each .tsv or .jsonl as described
    in `read_table` and `read_jsonl`. `protocol` decides which questions count (see
    `qasel data list`; `all` by default for a folder). Under `b-…` of `semeval-cqa` and `related` of
    the sample, the candidates are questions too. Files are looked up in `data_dir`, `$QASEL_DATA`,
    `data/` and the user's cache. Candidates come in a fixed random order; `place` gives the file's.

    Raises `QaselError` for an unknown name or protocol, missing data (saying how to get them),
    malformed files (with file and line), or a split left without questions.
    """
    text = os.fspath(name)
    path_like = "/" in text or os.sep in text or Path(text).is_dir()
    if text not in COLLECTIONS and path_like:
        kept = _protocol(text, protocol, QUESTION_PROTOCOLS, "all")
        folder = Path(text)
        files = _folder(folder)
        splits = [split.where(KEEP[kept]) for split in files.values()]
        return _dataset(folder.resolve().name, kept, splits, notes=tuple(oddities(folder, files)))
    if text not in COLLECTIONS:
        loadable = [key for key, known in COLLECTIONS.items() if known.protocols]
        raise QaselError(f"{unknown('data set', text, loadable)}, or a path to a folder")
    known = COLLECTIONS[text]
    if not known.protocols:
        how = f"; load its sentence pairs with load_pairs({known.pairs!r})" if known.pairs else ""
        check = f"its files can be checked with `qasel data check {text}`"
        raise QaselError(f"{text!r} cannot be loaded as a data set{how}; {check}")
    kept = _protocol(text, protocol, known.protocols, known.default)
    folders = known.folders(data_dirs(data_dir))
    read = _collection(text, kept, tuple(folders), _state(folders))
    return replace(read, splits=dict(read.splits))


def full_name(dataset: str) -> str:
    """The name of a data set unchanged, or the absolute path of a user's own folder.

    A protocol may follow, as in `own/answered`; a folder with that very name takes precedence.
    """
    if Path(dataset).is_dir():
        return full_path(dataset)
    folder, slash, protocol = dataset.rpartition("/")
    own = folder and protocol in QUESTION_PROTOCOLS
    return full_name(folder) + slash + protocol if own else dataset


def full_path(name: str) -> str:
    """The name of a data set unchanged, or the absolute path of a user's own file or folder."""
    own = name and name not in COLLECTIONS and Path(name).exists()
    return str(Path(name).resolve()) if own else name


@functools.lru_cache(maxsize=4)
def _collection(
    name: str, protocol: str, folders: tuple[Path, ...], state: tuple[object, ...]
) -> Dataset:
    """Load a collection; cached until a file changes, for successive runs (tens of MB each)."""
    known = COLLECTIONS[name]
    splits, notes = resolve_name(known.reader)(known, folders, protocol)
    scoring = "semeval" if protocol == RELATED else known.scoring
    return _dataset(name, protocol, splits, scoring, notes)


def _state(folders: Iterable[Path]) -> tuple[object, ...]:
    """The paths, times and sizes of the files in some folders; differs once one of them changes."""
    states = []
    for entry in (entry for folder in folders if folder.is_dir() for entry in os.scandir(folder)):
        with contextlib.suppress(OSError):  # deleted meanwhile
            states.append((entry.path, entry.stat().st_mtime_ns, entry.stat().st_size))
    return tuple(states)


def load_pairs(name: str, data_dir: FilePath | None = None) -> PairTask:
    """Load the training pairs of `fnc-1` or `multinli`, as many as are available.

    `fnc-1`: headline and body, labelled agree, disagree, discuss or unrelated. `multinli`: premise
    and hypothesis, labelled entailment, neutral or contradiction; without the official file, a
    sample of it is read, and a note says so. Runs of white space become one blank. Files are looked
    up as by `load_dataset`, and `QaselError` is raised for the same faults.
    """
    tasks = {known.pairs: known for known in COLLECTIONS.values() if known.pairs}
    if name not in tasks:
        raise QaselError(unknown("task on pairs", name, tasks))
    known = tasks[name]
    return resolve_name(known.reader)(known, known.folders(data_dirs(data_dir)))


def _dataset(
    name: str,
    protocol: str,
    splits: Sequence[Split],
    scoring: str = "trec",
    notes: tuple[str, ...] = (),
) -> Dataset:
    """Make a data set. Shuffling only here gives a split one order, whatever file it came from."""
    if empty := [split.name for split in splits if not split]:
        what = f"{name}: protocol {protocol!r} leaves no question in {empty[0]}"
        raise QaselError(f"{what}; it goes by labels: `qasel data describe` tells of them")
    shuffled = {split.name: split.shuffled() for split in splits}
    return Dataset(name, protocol, shuffled, scoring, notes)


def _protocol(name: str, asked: str | None, known: Mapping[str, str], default: str) -> str:
    if asked and asked not in known:
        raise QaselError(unknown(f"protocol of {name}", asked, known))
    return asked or default


def _folder(folder: Path) -> dict[Path, Split]:
    """File → split for the train, dev and test files in a user's folder, at most one file each."""
    if not folder.is_dir():
        name, protocol = os.fspath(folder.parent), folder.name
        known = COLLECTIONS[name].protocols if name in COLLECTIONS else QUESTION_PROTOCOLS
        hint = f" but a file; give its folder, {folder.parent}" if folder.exists() else ""
        if protocol in known and (name in COLLECTIONS or folder.parent.is_dir()):
            how = f"`--protocol {protocol}`, of a run `--set protocol={protocol}`"
            hint = f"; name the protocol by itself, {how}"
        raise QaselError(f"{folder}: no such folder{hint}")
    splits: dict[Path, Split] = {}
    for name in SPLITS:
        names = [name + suffix + gz for suffix in (".tsv", *JSON_SUFFIXES) for gz in ("", ".gz")]
        there = [folder / name for name in names if (folder / name).is_file()]
        if len(there) > 1:
            raise QaselError(f"{folder}: {there[0].name} and {there[1].name}: keep only one")
        splits |= {path: read_questions(path, name) for path in there}
    if not splits:
        raise QaselError(f"{folder}: no train, dev or test file (.tsv or .jsonl, may be .gz)")
    return splits
