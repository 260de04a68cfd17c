"""What is odd about a folder of one's own, a line each: nothing that stops it from being read."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from qasel.datasets.base import Split


def oddities(folder: Path, read: Mapping[Path, Split]) -> Iterator[str]:
    """Notes on the splits of a folder, as they are before a protocol takes questions out.

    `read` are the files that were read, each with its split.
    """
    splits = {split.name: split for split in read.values()}
    if missing := [name for name in ("train", "dev", "test") if name not in splits]:
        yield f"no {' and no '.join(missing)} file; training needs all three"
    others = sorted(path.name for path in folder.iterdir() if path.is_file() and path not in read)
    if others:
        yield f"not read: {', '.join(others)}"
    for name, split in splits.items():
        yield from _of_split(name, split)
    if "train" in splits:
        known = {question.text for question in splits["train"]}
        for name, split in splits.items():
            shared = sum(question.text in known for question in split)
            if name != "train" and shared:
                yield f"{name}: {shared} of {len(split)} questions are in train too"


def _of_split(name: str, split: Split) -> Iterator[str]:
    if all(len(question.candidates) < 2 for question in split):
        yield f"{name}: no question has two candidates, so there is nothing to rank"
    unlabelled = sum(any(c.label is None for c in question.candidates) for question in split)
    if unlabelled == len(split):
        yield f"{name}: no labels; it can be ranked, not learnt from or measured"
    elif unlabelled:
        yield f"{name}: {unlabelled} of {len(split)} questions have candidates without a label"
    elif same := sum(not question.mixed for question in split):
        yield (
            f"{name}: {same} of {len(split)} questions have only right or only wrong candidates, "
            "and tell nothing of a ranking"
        )
