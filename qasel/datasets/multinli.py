"""MultiNLI: whether a hypothesis follows from a premise.

The official training set comes as JSON lines and as a table; a sample of it, as a table of
another form, stands in where neither is there.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from qasel.datasets.lines import json_text, read_json_lines, read_lines
from qasel.datasets.pairs import Pair, PairTask
from qasel.datasets.places import find, missing
from qasel.datasets.registry import Collection
from qasel.errors import QaselError

LABELS = ("entailment", "neutral", "contradiction")
UNDECIDED = "-"
"""Stands for the label where the annotators did not agree on one."""

OFFICIAL = ("multinli_1.0_train.jsonl", "multinli_1.0_train.txt")
SAMPLE = "mnli-train-20k-tokenised.tsv"
PUBLISHED = 392_702
"""Pairs of the official training set."""

COLUMNS = ("sentence1", "sentence2", "gold_label")
SAMPLE_COLUMNS = ("premise", "hypothesis", "gold_label")
ANNOTATORS = {"label1", "label2", "label3", "label4", "label5"}
"""Last columns of the official table; a line ends after the last label that was given."""


def read_multinli(known: Collection, folders: Sequence[Path]) -> PairTask:
    """The training pairs, premise and hypothesis, in file order: all of them, or the sample.

    Raises `QaselError` for no file at all, and, with file and line, for an unknown label, a
    text or label that is missing, a wrong number of fields, and what `read_lines` and
    `read_json_lines` raise.
    """
    names = (*OFFICIAL, SAMPLE)
    path = find(folders, *OFFICIAL) or find(folders, SAMPLE) or missing(known, "train", names)
    pairs, undecided = [], 0
    for line, (premise, hypothesis, label) in _rows(path):
        if label == UNDECIDED:
            undecided += 1
            continue
        if label not in LABELS:
            what = f"unknown label {label!r}; known: {', '.join(LABELS)}"
            raise QaselError(f"{path}:{line}: {what}")
        left, right = (" ".join(text.split()) for text in (premise, hypothesis))
        pairs.append(Pair(left, right, LABELS.index(label)))
    if not pairs:
        raise QaselError(f"{path}: no pairs with a label in the file")
    notes = []
    if path.name.startswith(SAMPLE):
        blanks = "words and punctuation set apart by blanks"
        notes.append(f"a sample, {len(pairs)} of {PUBLISHED} pairs, {blanks}")
    elif len(pairs) + undecided != PUBLISHED:
        notes.append(f"{len(pairs) + undecided} of {PUBLISHED} pairs")
    if undecided:
        notes.append(f"{undecided} pairs without a gold label, left out")
    return PairTask("multinli", LABELS, tuple(pairs), tuple(notes))


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Line, and premise, hypothesis and label of each pair."""
    if path.name.removesuffix(".gz") == OFFICIAL[0]:
        for number, record in read_json_lines(path):
            yield number, [json_text(f"{path}:{number}", record, key) for key in COLUMNS]
        return
    columns = SAMPLE_COLUMNS if path.name.startswith(SAMPLE) else COLUMNS
    lines = read_lines(path)
    number, header = next(lines)
    names = header.split("\t")
    for column in columns:
        if names.count(column) != 1:
            raise QaselError(f"{path}:{number}: not one column {column!r} in the header, by tabs")
    places = [names.index(column) for column in columns]
    least = max(max(places) + 1, len([name for name in names if name not in ANNOTATORS]))
    for number, line in lines:
        fields = line.split("\t")
        if not least <= len(fields) <= len(names):
            what = f"{len(fields)} fields, the header has {len(names)}"
            raise QaselError(f"{path}:{number}: {what} (set apart by tabs, without quotes)")
        yield number, [fields[place] for place in places]
