"""SemEval-2016 and 2017 Task 3, subtask A: rank the comments below a forum's question.

**Splits.** Train is the union of 2016 train-part1 and part2 with 2015 train, dev and test, as far
as the files are there (4879 questions with comments; the MS-Ranker paper, which trains on this
union, counts 4873); dev is that of 2016, test that of 2016 or 2017. Only `Good` is relevant.
Every question counts, also one without a relevant comment (0 under the `semeval` convention).

**Leaks.** No question id is in two files (2015 has Q1 to Q3090, later ones Q1_R1 and the like),
and a file that brings one is refused. Yet threads come again under other ids: the 2015 files
leave out the questions of 2016's train and dev, but not those of the later tests.
By text, 5 questions of the 2016 test and 2 of 2017's are in 2015 dev and test, some with the same
comments, and going by the words' first letters, 18 and 10 more are in 2015 train (which is here
in lemmatised form only): 23 of 327 and 12 of 293 in all, none of dev. All are kept, so that
scores compare with the published ones; questions with the same text are counted in the notes.

**Files.** Tables before the official XML, but an incomplete table after it. Release v3.2 names
2015 train and test each with the other's name: those files go by the ids in them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from qasel.datasets.base import Question, Split
from qasel.datasets.lines import read_contents
from qasel.datasets.places import find, missing
from qasel.datasets.registry import Collection
from qasel.datasets.rows import Row, group_rows
from qasel.datasets.semeval_tables import read_comments, read_relevancy
from qasel.datasets.semeval_xml import read_xml
from qasel.errors import QaselError


@dataclass(frozen=True)
class Part:
    """A published set: its questions that have comments, its pairs, its files (best first)."""

    questions: int
    pairs: int
    files: tuple[str, ...]


XML_2015 = tuple(
    f"SemEval2015-Task3-CQA-QL-{name}-reformatted-excluding-2016-questions-cleansed.xml"
    for name in ("train", "dev", "test")
)
LAST_2015 = {"2015 train": 2480, "2015 dev": 2771, "2015 test": 3090}
"""Part → the number of its last question, in the release's own counting Q1 … Q3090."""


def _names(part: str) -> tuple[str, str, str]:
    official = f"SemEval2016-Task3-CQA-QL-{part}"
    return f"subtaskA-2016-{part}.tsv", f"{official}-subtaskA.xml", f"{official}.xml"


PARTS = {
    "2016 train-part1": Part(
        1411, 14110, (*_names("train-part1"), "subtaskA-2016-train-part1-partial.tsv")
    ),
    "2016 train-part2": Part(379, 3790, _names("train-part2")),
    "2015 train": Part(
        2480,
        14893,
        ("subtaskA-2015-train.tsv", *XML_2015, "subtaskA-2015-train-lemmatised.tsv"),
    ),
    # 291 threads, one of them without comments.
    "2015 dev": Part(290, 1529, ("subtaskA-2015-dev.tsv", *XML_2015)),
    "2015 test": Part(319, 1876, ("subtaskA-2015-test.tsv", *XML_2015)),
    "2016 dev": Part(244, 2440, _names("dev")),
    "2016 test": Part(327, 3270, _names("test")),
    "2017 test": Part(
        293,
        2930,
        (
            "subtaskA-2017-test.tsv",
            "SemEval2017-task3-English-test-subtaskA.xml",
            "SemEval2017-task3-English-test.xml",
            "SemEval2017-task3-English-test-subtaskA-input.xml",
            "SemEval2017-task3-English-test-input.xml",
        ),
    ),
}

_TRAIN = ("2016 train-part1", "2016 train-part2", "2015 train", "2015 dev", "2015 test")
SPLITS = {
    "a-2016": {"train": _TRAIN, "dev": ("2016 dev",), "test": ("2016 test",)},
    "a-2017": {"train": _TRAIN, "dev": ("2016 dev",), "test": ("2017 test",)},
}
"""Protocol → split → its parts."""


def read_semeval(
    known: Collection, folders: Sequence[Path], protocol: str
) -> tuple[list[Split], tuple[str, ...]]:
    """The splits of a protocol from the files in `folders`, and notes on what they lack.

    Raises `QaselError` for a split without any file (saying where to get it), a
    question that is in two files, and what the readers raise.
    """
    splits, notes = [], []
    seen: dict[str, Path] = {}
    for split, names in SPLITS[protocol].items():
        questions: list[Question] = []
        for name in names:
            found: Sequence[Question] = ()
            remarks: list[str] = []
            if path := _path(folders, name):
                found, remarks = _read(folders, path, PARTS[name])
                _claim(seen, path, found)
            questions += found
            notes += [f"{split}: {name} {note}" for note in (*_lack(PARTS[name], found), *remarks)]
        if not questions:
            missing(known, split, PARTS[names[0]].files)
        splits.append(Split(split, tuple(questions)))
    train, *others = splits
    return splits, (*notes, *(note for other in others for note in _repeats(train, other)))


def _claim(seen: dict[str, Path], path: Path, found: Sequence[Question]) -> None:
    """Note the file of each question; refuse one that another file has brought."""
    for question in found:
        if question.id in seen:
            raise QaselError(
                f"{path}: question {question.id!r} is also in {seen[question.id]}; a question "
                "may be in one split only, and once; remove one of the files"
            )
        seen[question.id] = path


def _path(folders: Sequence[Path], name: str) -> Path | None:
    """The best file of a part."""
    for file in PARTS[name].files:
        path = find(folders, file)
        if path and (file not in XML_2015 or _part_2015(path) == name):
            return path
    return None


def _part_2015(path: Path) -> str:
    """The part that an XML file of 2015 holds: the first id in it tells, its name may not."""
    first = re.search(rb"RELQ_ID=[\"']Q(\d{1,6})[\"']", read_contents(path))
    if first is None:  # read under its name, to tell what is wrong with it
        return next(part for part in LAST_2015 if f"-{part.removeprefix('2015 ')}-" in path.name)
    number = int(first[1])
    return next((part for part, last in LAST_2015.items() if number <= last), "2015 test")


def _read(folders: Sequence[Path], path: Path, part: Part) -> tuple[Split, list[str]]:
    """The questions of a file and remarks on them."""
    if path.name.removesuffix(".gz").endswith(".tsv"):
        rows, remarks = read_comments(path)
    else:
        rows, empty = read_xml(path)
        rows = _labelled(folders, path, part, rows)
        without = f"has {len(empty)} without comments, left out ({', '.join(empty)})"
        remarks = [without] if empty else []
    return group_rows(path, path.name, rows, blank=True), remarks


def _labelled(folders: Sequence[Path], path: Path, part: Part, rows: list[Row]) -> list[Row]:
    """The rows with the labels that the XML hides, from the gold file of the part."""
    hidden = next((row for row in rows if row.label is None), None)
    if hidden is None:
        return rows
    name = next(file for file in part.files if file.endswith(".xml")) + ".subtaskA.relevancy"
    gold_path = find(folders, name)
    if gold_path is None:
        what = f"comment {hidden.id!r} has no label, and the gold file {name} is not there"
        raise QaselError(f"{path}:{hidden.line}: {what}; put it beside this file")
    gold = read_relevancy(gold_path)
    for row in rows:
        if row.label is None and (row.question_id, row.id) not in gold:
            raise QaselError(f"{path}:{row.line}: {gold_path} has no label of comment {row.id!r}")
    return [
        replace(row, label=gold[row.question_id, row.id]) if row.label is None else row
        for row in rows
    ]


def _lack(part: Part, found: Sequence[Question]) -> list[str]:
    """How the questions found differ from those published, if they do."""
    pairs = sum(len(question.candidates) for question in found)
    if (len(found), pairs) == (part.questions, part.pairs):
        return []
    if not found:
        return [f"is missing: {part.questions} questions, {part.pairs} pairs"]
    how = "is partial" if len(found) < part.questions else "is not as published"
    counts = f"{len(found)} of {part.questions} questions, {pairs} of {part.pairs} pairs"
    return [f"{how}: {counts}"]


def _repeats(train: Split, other: Split) -> list[str]:
    """A note on the questions of dev or test that train has under another id."""
    known = {_words(question) for question in train}
    ids = [question.id for question in other if _words(question) in known]
    what = "have the text of a question in train"
    return [f"{other.name}: {len(ids)} of {len(other)} {what} ({', '.join(ids)})"] if ids else []


def _words(question: Question) -> str:
    """Words alone: the releases differ in punctuation, 2016 has semicolons for commas."""
    return " ".join(re.findall(r"\w+", question.text.lower()))
