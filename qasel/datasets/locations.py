"""Where the files of a collection are looked for, and what is said when they are not there."""

from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from qasel.datasets.registry import Collection
from qasel.errors import QaselError
from qasel.locations import misnamed

LAYOUTS = {
    "wikiqa": ("wikiqa", "WikiQACorpus", "wikiqa/WikiQACorpus", "."),
    "trecqa": (
        "trecqa",
        "jacana-qa-naacl2013-data-results",
        "trecqa/jacana-qa-naacl2013-data-results",
        "tree-edit-data/answerSelectionExperiments/answer",
        "tree-edit-data/answerSelectionExperiments/data",
        ".",
    ),
    "semeval-cqa": (
        "semeval-cqa",
        "semeval-cqa/v3.2/train",
        "semeval-cqa/v3.2/dev",
        "semeval-cqa/SemEval2016_task3_test/English",
        "semeval-cqa/SemEval2017_task3_test_input_ABCD/English-ABC",
    ),
    "mnli": ("mnli", "mnli/multinli_1.0", "multinli_1.0"),
    "fnc-1": ("fnc-1",),
}
"""Folders below a data folder in which the files of a collection may lie: ours, the archives'."""


def find(folders: Sequence[Path], *names: str) -> Path | None:
    """The first file there is, plain or gzipped, in the order of the folders."""
    for folder in folders:
        for name in names:
            for path in (folder / name, folder / f"{name}.gz"):
                if path.is_file():
                    return path
    return None


def missing(known: Collection, split: str, names: Sequence[str] = ()) -> NoReturn:
    """Raise `QaselError`: no file of the split, where it was looked for, and how to get it."""
    wanted = f" for {', '.join(names)}" if names else ""
    get = f"get it with `qasel data fetch {known.name}`"
    if known.archive is None:
        get = f"get it from {known.source} and put it there"
    raise QaselError(
        f"{known.name}: no {split} file in --data-dir, $QASEL_DATA, data/ or the user's cache "
        f"(looked under {known.folder}/{wanted}); {get}, or set QASEL_DATA to a folder that has it"
        f"{misnamed()}"
    )
