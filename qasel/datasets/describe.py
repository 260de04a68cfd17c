"""Statistics of a data set or a task on pairs."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import fmean

from qasel.datasets.base import Dataset, PairTask, Split


def describe(dataset: Dataset) -> list[dict[str, str | int | float]]:
    """One record per split: questions, pairs, positives, pairs per question, mean lengths.

    `answered` counts the questions with a relevant candidate, `mixed` those that also have a
    non-relevant one. Lengths are in blank-separated tokens, as the papers count them:
    `question_tokens` over questions, `sentence_tokens` over pairs.
    """
    return [
        {
            "split": name,
            "questions": len(split),
            "answered": sum(question.answered for question in split),
            "mixed": sum(question.mixed for question in split),
            "pairs": split.pairs,
            "positives": split.positives,
            "pairs_per_question": split.pairs / len(split),
            "question_tokens": fmean(len(question.text.split()) for question in split),
            "sentence_tokens": fmean(len(c.text.split()) for q in split for c in q.candidates),
        }
        for name, split in dataset.splits.items()
    ]


def describe_pairs(task: PairTask) -> list[dict[str, str | int | float]]:
    """One record per label: its number of pairs, and the mean lengths of both texts in tokens.

    Tokens are separated by blanks; a label without pairs has lengths of 0.
    """
    pairs = [[pair for pair in task.pairs if pair.label == i] for i in range(len(task.labels))]
    return [
        {
            "label": label,
            "pairs": len(own),
            "left_tokens": fmean([len(pair.left.split()) for pair in own] or [0]),
            "right_tokens": fmean([len(pair.right.split()) for pair in own] or [0]),
        }
        for label, own in zip(task.labels, pairs, strict=True)
    ]


def oddities(folder: Path, read: Mapping[Path, Split]) -> Iterator[str]:
    """Notes on the splits in a folder, before a protocol leaves any questions out.

    `read` maps each file that was read to its split.
    """
    splits = {split.name: split for split in read.values()}
    if missing := [name for name in ("train", "dev", "test") if name not in splits]:
        yield f"no {' and no '.join(missing)} file; training needs all three"
    others = sorted(path.name for path in folder.iterdir() if path.is_file() and path not in read)
    if others:
        yield f"not read: {', '.join(others)}"
    for name, split in splits.items():
        if all(len(question.candidates) < 2 for question in split):
            yield f"{name}: no question has two candidates, so there is nothing to rank"
        unlabelled = sum(any(c.label is None for c in question.candidates) for question in split)
        if unlabelled == len(split):
            yield f"{name}: no labels; it can be ranked, not learnt from or measured"
        elif unlabelled:
            yield f"{name}: {unlabelled} of {len(split)} questions have candidates without a label"
        elif same := sum(not question.mixed for question in split):
            what = "questions have only right or only wrong candidates, and tell nothing of a"
            yield f"{name}: {same} of {len(split)} {what} ranking"
    if "train" in splits:
        known = {question.text for question in splits["train"]}
        for name, split in splits.items():
            shared = sum(question.text in known for question in split)
            if name != "train" and shared:
                yield f"{name}: {shared} of {len(split)} questions are in train too"
