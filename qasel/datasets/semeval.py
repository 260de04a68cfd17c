"""SemEval-2016 and 2017 Task 3: forum questions, their comments (subtask A) and kin (subtask B).

Every question counts, also one without a relevant candidate (0 under the `semeval` convention).

**Subtask A** ranks the comments below a question; only `Good` is relevant. Train is the union of
2016 train-part1 and part2 with 2015 train, dev and test, as far as the files are there (4879
questions with comments; the MS-Ranker paper, which trains on this union, counts 4873); dev is
that of 2016, test that of 2016 or 2017.

**Subtask B** ranks the ten questions that a search engine found for an original question;
`PerfectMatch` and `Relevant` are relevant. `place` is the search engine's order, and so the
official IR baseline. Train is 2016 train-part1 alone, the "2000 pairs" of the question relevancy
paper: in truth 1999, since one list has nine. 41 of its related questions have a subject only.
29 of the 2017 test's 88 questions have nothing relevant, so that MAP cannot exceed 67.05 there.

**Leaks.** No question id is in two files of a subtask, and a file that brings one is refused. Yet
threads come again under other ids: the 2015 files leave out the questions of 2016's train and
dev, but not those of the later tests. By text, 5 questions of subtask A's 2016 test and 2 of
2017's are in 2015 dev and test, some with the same comments, and going by the words' first
letters, 18 and 10 more are in 2015 train (which is here in lemmatised form only): 23 of 327 and
12 of 293 in all, none of dev. All are kept, so that scores compare with the published ones;
questions with the same text are counted in the notes.

**Files.** Tables before the official XML, but an incomplete table after it. Release v3.2 names
2015 train and test each with the other's name: those files go by the ids in them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from qasel.datasets.base import Question, Split
from qasel.datasets.lines import read_contents
from qasel.datasets.places import find, missing
from qasel.datasets.registry import Collection
from qasel.datasets.rows import Row, group_rows
from qasel.datasets.semeval_tables import read_relevancy, read_table
from qasel.datasets.semeval_tasks import SPLITS, XML_2015, Part, Subtask
from qasel.datasets.semeval_xml import read_xml
from qasel.errors import QaselError

LAST_2015 = {"2015 train": 2480, "2015 dev": 2771, "2015 test": 3090}
"""Part → the number of its last question, in the release's own counting Q1 … Q3090."""


def read_semeval(
    known: Collection, folders: Sequence[Path], protocol: str
) -> tuple[list[Split], tuple[str, ...]]:
    """The splits of a protocol from the files in `folders`, and notes on what they lack.

    Raises `QaselError` for a split without any file (saying where to get it), a
    question that is in two files, and what the readers raise.
    """
    splits, notes = [], []
    seen: dict[str, Path] = {}
    task, parts = SPLITS[protocol]
    for split, names in parts.items():
        questions: list[Question] = []
        for name in names:
            part = task.parts[name]
            found: Sequence[Question] = ()
            remarks: list[str] = []
            if path := _path(folders, name, part):
                found, remarks = _read(folders, path, task, part)
                _claim(seen, path, found)
            questions += found
            notes += [f"{split}: {name} {note}" for note in (*_lack(part, found), *remarks)]
        if not questions:
            missing(known, split, task.parts[names[0]].files)
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


def _path(folders: Sequence[Path], name: str, part: Part) -> Path | None:
    """The best file of a part."""
    for file in part.files:
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


def _read(
    folders: Sequence[Path], path: Path, task: Subtask, part: Part
) -> tuple[Split, list[str]]:
    """The questions of a file and remarks on them."""
    if path.name.removesuffix(".gz").endswith(".tsv"):
        rows, remarks = read_table(path, task)
    else:
        rows, remarks = read_xml(path, task)
        rows = _labelled(folders, path, task, part, rows)
    return group_rows(path, path.name, _one_text(rows), blank=task.blank), remarks


def _one_text(rows: list[Row]) -> Iterator[Row]:
    """The rows with the first text of their question, where others differ in punctuation only.

    Of the 2016 test's Q326, which stands there ten times, one has two quotation marks less.
    """
    first: dict[str | None, str] = {}
    for row in rows:
        text = first.setdefault(row.question_id, row.question)
        same = row.question != text and _words(row.question) == _words(text)
        yield replace(row, question=text) if same else row


def _labelled(
    folders: Sequence[Path], path: Path, task: Subtask, part: Part, rows: list[Row]
) -> list[Row]:
    """The rows with the labels that the XML hides, from the gold file of the part."""
    hidden = next((row for row in rows if row.label is None), None)
    if hidden is None:
        return rows
    ending = f".subtask{task.letter}.relevancy"
    names = [file + ending for file in part.files if file.endswith(".xml")]
    gold_path = find(folders, *names)
    if gold_path is None:
        what = f"{task.candidate} {hidden.id!r} has no label"
        gold_file = f"the gold file {names[0]} is not there; put it beside this file"
        raise QaselError(f"{path}:{hidden.line}: {what}, and {gold_file}")
    gold = read_relevancy(gold_path)
    for row in rows:
        if row.label is None and (row.question_id, row.id) not in gold:
            what = f"{gold_path} has no label of {task.candidate} {row.id!r}"
            raise QaselError(f"{path}:{row.line}: {what}")
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
    known = {_words(question.text) for question in train}
    ids = [question.id for question in other if _words(question.text) in known]
    what = "have the text of a question in train"
    return [f"{other.name}: {len(ids)} of {len(other)} {what} ({', '.join(ids)})"] if ids else []


def _words(text: str) -> str:
    """Words alone: the releases differ in punctuation, 2016 has semicolons for commas."""
    return " ".join(re.findall(r"\w+", text.lower()))
