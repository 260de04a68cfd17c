"""Tasks on pairs of texts, used as auxiliary training tasks."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import BaseModel

from qasel.datasets.base import Pair, PairTask, Split
from qasel.datasets.lines import read_csv, read_fields, read_json_lines
from qasel.datasets.registry import Collection, find, unknown
from qasel.errors import QaselError


def pairs_of(split: Split) -> PairTask:
    """Turn a ranking split into a task on pairs: question and candidate, irrelevant or relevant.

    Raises `QaselError` for a candidate without a label.
    """
    pairs = (
        Pair(question.text, candidate.text, int(label))
        for question in split
        for candidate, label in zip(question.candidates, question.labels, strict=True)
    )
    return PairTask(split.name, ("irrelevant", "relevant"), tuple(pairs))


STANCES = ("agree", "disagree", "discuss", "unrelated")
FILES = ("train_stances.csv", "train_bodies.csv")
FNC_PUBLISHED = 49972
"""Number of pairs in the official training set."""


def read_fnc(known: Collection, folders: Sequence[Path]) -> PairTask:
    """Read the training pairs, headline and body, in the order of the stances.

    Raises `QaselError` for a missing file and, with file and line, for an unknown stance or a body
    id that is unknown or occurs twice.
    """
    stances, bodies = (find(folders, name) or known.missing("train", FILES) for name in FILES)
    texts: dict[str, str] = {}
    for line, (identity, text) in read_csv(bodies, ("Body ID", "articleBody")):
        if identity in texts:
            raise QaselError(f"{bodies}:{line}: body id {identity!r} occurs twice")
        texts[identity] = " ".join(text.split())
    pairs = []
    for line, (headline, identity, stance) in read_csv(stances, ("Headline", "Body ID", "Stance")):
        if stance not in STANCES:
            raise QaselError(f"{stances}:{line}: {unknown('stance', stance, STANCES)}")
        if identity not in texts:
            raise QaselError(f"{stances}:{line}: body id {identity!r} is not in {bodies}")
        pairs.append(Pair(" ".join(headline.split()), texts[identity], STANCES.index(stance)))
    if not pairs:
        raise QaselError(f"{stances}: no stances in the file")
    notes = () if len(pairs) == FNC_PUBLISHED else (f"{len(pairs)} of {FNC_PUBLISHED} pairs",)
    return PairTask("fnc-1", STANCES, tuple(pairs), notes)


ENTAILMENT = ("entailment", "neutral", "contradiction")
UNDECIDED = "-"
"""The label of pairs on which the annotators did not agree."""

OFFICIAL = "multinli_1.0_train.jsonl"
SAMPLE = "mnli-train-20k-tokenised.tsv"
SAMPLE_COLUMNS = ("premise", "hypothesis", "gold_label")
MNLI_PUBLISHED = 392_702
"""Number of pairs in the official training set."""


class _Line(BaseModel):
    sentence1: str
    sentence2: str
    gold_label: str


def read_multinli(known: Collection, folders: Sequence[Path]) -> PairTask:
    """Read the training pairs, premise and hypothesis, in file order: all of them, or the sample.

    Raises `QaselError` if neither file exists and, with file and line, for an unknown label or a
    missing text or label.
    """
    path = find(folders, OFFICIAL) or find(folders, SAMPLE)
    path = path or known.missing("train", (OFFICIAL, SAMPLE))
    sample = path.name.startswith(SAMPLE)
    pairs, undecided = [], 0
    for line, (premise, hypothesis, label) in (_sample_rows if sample else _official_rows)(path):
        if label == UNDECIDED:
            undecided += 1
            continue
        if label not in ENTAILMENT:
            raise QaselError(f"{path}:{line}: {unknown('label', label, ENTAILMENT)}")
        left, right = (" ".join(text.split()) for text in (premise, hypothesis))
        pairs.append(Pair(left, right, ENTAILMENT.index(label)))
    if not pairs:
        raise QaselError(f"{path}: no pairs with a label in the file")
    notes = []
    if sample:
        blanks = "words and punctuation set apart by blanks"
        notes.append(f"a sample, {len(pairs)} of {MNLI_PUBLISHED} pairs, {blanks}")
    elif len(pairs) + undecided != MNLI_PUBLISHED:
        notes.append(f"{len(pairs) + undecided} of {MNLI_PUBLISHED} pairs")
    if undecided:
        notes.append(f"{undecided} pairs without a gold label, left out")
    return PairTask("multinli", ENTAILMENT, tuple(pairs), tuple(notes))


def _official_rows(path: Path) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the line, and (premise, hypothesis, label), of each pair."""
    for number, pair in read_json_lines(path, _Line):
        yield number, (pair.sentence1, pair.sentence2, pair.gold_label)


def _sample_rows(path: Path) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the same for the sample."""
    lines = read_fields(path)
    number, names = next(lines)
    for column in SAMPLE_COLUMNS:
        if names.count(column) != 1:
            raise QaselError(f"{path}:{number}: not one column {column!r} in the header, by tabs")
    for number, fields in lines:
        yield number, tuple(fields[names.index(column)] for column in SAMPLE_COLUMNS)
