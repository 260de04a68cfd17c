"""Subtasks A and B of SemEval Task 3: what each ranks, and how its files are read.

Subtask A ranks the comments below a question; B ranks the questions that a search engine found for
an original question. In both, most lists have ten candidates.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import NoReturn
from xml.etree.ElementTree import Element, SubElement
from xml.parsers import expat

from pydantic import BaseModel

from qasel.datasets.base import Question, Split
from qasel.datasets.lines import Row, group_rows, read_contents, read_fields
from qasel.datasets.registry import Collection, find, unknown
from qasel.errors import QaselError
from qasel.files import FilePath


class Part(BaseModel, frozen=True):
    """A published set: its numbers of questions with candidates and of pairs; files, best first."""

    questions: int
    pairs: int
    files: tuple[str, ...]

    def lacks(self, found: Sequence[Question]) -> list[str]:
        """How the questions found differ from those published; empty if they do not."""
        pairs = sum(len(question.candidates) for question in found)
        if (len(found), pairs) == (self.questions, self.pairs):
            return []
        if not found:
            return [f"is missing: {self.questions} questions, {self.pairs} pairs"]
        how = "is partial" if len(found) < self.questions else "is not as published"
        counts = f"{len(found)} of {self.questions} questions, {pairs} of {self.pairs} pairs"
        return [f"{how}: {counts}"]


class Subtask(BaseModel, frozen=True):
    """A subtask, and the format of its files (see `semeval.toml`).

    `candidate` is what it ranks; `labels` maps the organisers' labels of a candidate to 1
    (relevant) or 0; `columns` is the header of its tables, of which `question_texts` and
    `candidate_texts` make up the text of a question and a candidate; `blank` allows candidates
    without words; `parts` are its published sets, and `train` those in its training split.
    """

    letter: str
    candidate: str
    labels: dict[str, int]
    columns: tuple[str, ...]
    question_texts: tuple[str, ...]
    candidate_texts: tuple[str, ...]
    blank: bool = False
    parts: dict[str, Part]
    train: tuple[str, ...]

    def relevant(self, where: str, identity: str | None, label: str) -> int:
        """1 or 0 for an organisers' label; raises `QaselError` for an unknown one."""
        if label not in self.labels:
            what = f"{self.candidate} {identity!r}: {unknown('label', label, self.labels)}"
            raise QaselError(f"{where}: {what}")
        return self.labels[label]


class Tag(BaseModel, frozen=True):
    """An XML element: it may stand in its `parents`, and more than once in each if `repeated`.

    `id` and `label` are the attributes with its id and label; `holds` names a required child.
    """

    parents: tuple[str, ...]
    id: str = ""
    label: str = ""
    holds: str = ""
    repeated: bool = False


_KNOWN = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
A, B = (Subtask(letter=letter, **_KNOWN[letter]) for letter in "AB")
TAGS = {tag: Tag(**fields) for tag, fields in _KNOWN["tags"].items()}

HIDDEN = ("", "?")  # the first also stands for a missing attribute
"""Values of the label in files that are a task's input, without the gold labels."""

SKIP = "SubtaskA_Skip_Because_Same_As_RelQuestion_ID"
"""The attribute of a thread that repeats an earlier thread of the release."""


def read_xml(path: FilePath, task: Subtask) -> tuple[list[Row], list[str]]:
    """Read a subtask's candidates from a file, and a remark on threads without comments.

    Subtask A skips threads that repeat an earlier one. A label that is not given is None. Raises
    `QaselError`, with file and line, for an unknown label, in subtask B for a thread without an
    original question, and as `parse` does.
    """
    root = parse(path)
    if task is B:
        if (thread := root.find("Thread")) is not None:
            where = f"{path}:{_question(thread).get('line')}"
            raise QaselError(f"{where}: <RelQuestion> without an <OrgQuestion>; get the full file")
        lists = groupby(root, key=lambda question: question.get("ORGQ_ID"))
        return [
            _row(path, task, block, question, related)
            for block, (_, group) in enumerate(lists)
            for question in group
            for related in question.iter("RelQuestion")
        ], []
    threads = [thread for thread in root.iter("Thread") if not thread.get(SKIP)]
    rows = [
        _row(path, task, block, _question(thread), comment)
        for block, thread in enumerate(threads)
        for comment in thread.findall("RelComment")
    ]
    empty = [t for t in threads if t.find("RelComment") is None]
    if not empty:
        return rows, []
    ids = ", ".join(_question(thread).get("RELQ_ID", "") for thread in empty)
    return rows, [f"has {len(empty)} without comments, left out ({ids})"]


def _question(thread: Element) -> Element:
    return next(thread.iter("RelQuestion"))  # `parse` refuses files without it


def _row(path: FilePath, task: Subtask, block: int, question: Element, post: Element) -> Row:
    """The row of a candidate, a comment or related question; `block` is the number of its list."""
    line = int(post.get("line", ""))
    identity, given = post.get(TAGS[post.tag].id), post.get(TAGS[post.tag].label, "")
    label = None if given in HIDDEN else task.relevant(f"{path}:{line}", identity, given)
    qid = question.get(TAGS[question.tag].id)
    return Row(line, _words_of(question), _words_of(post), label, qid, identity, block)


def _words_of(post: Element) -> str:
    """A question's subject and body, or a comment's text; runs of white space become one blank."""
    texts = [child.text or "" for child in post if not TAGS[child.tag].repeated]
    return " ".join(" ".join(texts).split())


def parse(path: FilePath) -> Element:
    """The root element of an official file, gzipped or not; each element has its line as `line`.

    Raises `QaselError`, with file and line, for XML that is not well-formed or not UTF-8, a
    reference to another file, an entity that is declared or unknown, a misplaced or missing
    element, a missing id, and (without the line) a file without threads.
    """
    # All official files are UTF-8, whatever they declare.
    parser = expat.ParserCreate("utf-8")
    stack = [Element("")]  # the open elements

    def fail(what: str) -> NoReturn:
        raise QaselError(f"{path}:{parser.CurrentLineNumber}: {what}")

    def doctype(name: str, system: str | None, public: str | None, subset: int) -> None:
        if system or public:
            fail("refused, the DOCTYPE refers to another file")

    def entity(name: str, *_: object) -> None:
        fail(f"refused, entity {name!r}; the official files declare none")

    def start(tag: str, attributes: dict[str, str]) -> None:
        # Strict, since skipping an unknown element could lose a post or a text unnoticed.
        parent, known = stack[-1], TAGS.get(tag, Tag(parents=()))
        again = not known.repeated and parent.find(tag) is not None
        if parent.tag not in known.parents or again:
            fail(f"<{tag}> is out of place; not a file of SemEval Task 3")
        if known.id and known.id not in attributes:
            fail(f"<{tag}> without {known.id}")
        stack.append(SubElement(parent, tag, attributes, line=str(parser.CurrentLineNumber)))

    def end(tag: str) -> None:
        element = stack.pop()
        known = TAGS[tag]
        if known.holds and element.find(known.holds) is None:
            identity = f" {element.get(known.id)!r}" if known.id else ""
            fail(f"<{tag}>{identity} without a <{known.holds}>")

    def words(text: str) -> None:
        stack[-1].text = (stack[-1].text or "") + text

    parser.buffer_text = True
    # Each official file begins with a DTD for its elements; anything more in a DTD is refused.
    parser.StartDoctypeDeclHandler = doctype
    parser.EntityDeclHandler = parser.SkippedEntityHandler = entity
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = words
    try:
        parser.Parse(read_contents(path), True)
    except expat.ExpatError as error:
        what = expat.errors.messages[error.code]
        raise QaselError(f"{path}:{error.lineno}: broken XML: {what}; get the file anew") from None
    root = next(stack[0].iter("xml"))
    if root.find(".//Thread") is None:
        raise QaselError(f"{path}: no threads in the file")
    return root


ORIGINAL = "original"
"""The `form` of texts as they are in the release."""

FORMS = {"subject-original": "only the original questions' subjects are lemmatised"}
"""The meaning of each `form` whose name does not tell it."""


def read_table(path: FilePath, task: Subtask) -> tuple[list[Row], list[str]]:
    """Read a subtask's candidates from a table, and a remark on each `form` but the original.

    The text of a question (also of a related one) is its subject and body, with runs of white space
    as one blank. `pos` is a candidate's position in its list, from 1: in order of time for
    comments, by search rank for related questions. A candidate's id may be blank.

    Raises `QaselError`, with file and line, for a header other than `task.columns`, an unknown
    label, a `relevant` that contradicts it, or a `pos` that is not the next one.
    """
    rows: list[Row] = []
    forms: Counter[str] = Counter()
    lines = read_fields(path, len(task.columns))
    number, header = next(lines)
    if tuple(header) != task.columns:
        columns = " ".join(task.columns)
        raise QaselError(f"{path}:{number}: the header is not {columns} (set apart by tabs)")
    last, block, place = "", 0, 0
    for number, fields in lines:
        value = dict(zip(task.columns, fields, strict=True))
        qid, cid = fields[:2]
        # `block` tells apart rows of a question that are not adjacent: they are not one list.
        last, block, place = (qid, block, place + 1) if qid == last else (qid, number, 1)
        label = task.relevant(f"{path}:{number}", cid, value["label"])
        what = f"{path}:{number}: {task.candidate} {cid!r}"
        if value["relevant"] != str(label):
            raise QaselError(f"{what}: relevant {value['relevant']!r} and label {value['label']!r}")
        if value["pos"] != str(place):
            raise QaselError(f"{what}: pos {value['pos']!r}, expected {place}")
        forms[value["form"]] += 1
        question, text = (
            " ".join(" ".join(value[column] for column in columns).split())
            for columns in (task.question_texts, task.candidate_texts)
        )
        rows.append(Row(number, question, text, label, qid, cid or None, block))
    return rows, [
        f"has {forms[form]} of {len(rows)} {task.candidate}s in the form {form!r}"
        + (f": {FORMS[form]}" if form in FORMS else "")
        for form in sorted(forms)
        if form != ORIGINAL
    ]


def read_relevancy(path: FilePath) -> dict[tuple[str | None, str | None], int]:
    """The official gold labels: (question id, candidate id) → 1 or 0.

    Raises `QaselError`, with file and line, for an unknown label or a candidate given twice.
    """
    gold: dict[tuple[str | None, str | None], int] = {}
    for number, (qid, cid, _rank, _score, label) in read_fields(path, 5):
        where = f"{path}:{number}"
        if label not in ("true", "false"):
            raise QaselError(f"{where}: label {label!r} is not true or false")
        if (qid, cid) in gold:
            raise QaselError(f"{where}: candidate {cid!r} of question {qid!r} occurs twice")
        gold[qid, cid] = int(label == "true")
    return gold


def read_semeval(
    known: Collection, folders: Sequence[Path], protocol: str
) -> tuple[list[Split], tuple[str, ...]]:
    """Read the splits of a protocol from the files in `folders`, with notes on what they lack.

    Raises `QaselError` for a split without any file (saying where to get it) or a question that is
    in two files, and as the readers do.
    """
    splits, notes = [], []
    seen: dict[str, Path] = {}
    task = A if protocol.startswith("a-") else B
    parts = {"train": task.train, "dev": ("2016 dev",), "test": (f"{protocol[2:]} test",)}
    for split, names in parts.items():
        questions: list[Question] = []
        for name in names:
            part = task.parts[name]
            found: Sequence[Question] = ()
            remarks: list[str] = []
            if path := find(folders, *part.files):
                found, remarks = _read(folders, path, task, part)
                for question in found:
                    if question.id in seen:
                        raise QaselError(
                            f"{path}: question {question.id!r} is also in {seen[question.id]}; a "
                            "question may be in one split only, and once; remove one of the files"
                        )
                    seen[question.id] = path
            questions += found
            notes += [f"{split}: {name} {note}" for note in (*part.lacks(found), *remarks)]
        if not questions:
            known.missing(split, task.parts[names[0]].files)
        splits.append(Split(split, tuple(questions)))
    train, *others = splits
    texts = {_words(question.text) for question in train}
    for other in others:
        # The same question may have another id in another split.
        if ids := [question.id for question in other if _words(question.text) in texts]:
            what = f"have the text of a question in train ({', '.join(ids)})"
            notes.append(f"{other.name}: {len(ids)} of {len(other)} {what}")
    return splits, tuple(notes)


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


def _one_text(rows: Iterable[Row]) -> Iterator[Row]:
    """Replace texts of a question that differ only in punctuation by its first text.

    In the 2016 test set, one of the ten copies of Q326 lacks two quotation marks.
    """
    first: dict[str | None, str] = {}
    for row in rows:
        text = first.setdefault(row.question_id, row.question)
        same = row.question != text and _words(row.question) == _words(text)
        yield row._replace(question=text) if same else row


def _labelled(
    folders: Sequence[Path], path: Path, task: Subtask, part: Part, rows: list[Row]
) -> list[Row]:
    """The rows; labels that the XML hides are taken from the part's gold file."""
    hidden = [row for row in rows if row.label is None]
    if not hidden:
        return rows
    names = [f"{file}.subtask{task.letter}.relevancy" for file in part.files if ".xml" in file]
    gold_path = find(folders, *names)
    if gold_path is None:
        what = f"{task.candidate} {hidden[0].id!r} has no label"
        gold_file = f"the gold file {names[0]} is not there; put it beside this file"
        raise QaselError(f"{path}:{hidden[0].line}: {what}, and {gold_file}")
    gold = read_relevancy(gold_path)
    for row in hidden:
        if (row.question_id, row.id) not in gold:
            what = f"{gold_path} has no label of {task.candidate} {row.id!r}"
            raise QaselError(f"{path}:{row.line}: {what}")
    return [
        row._replace(label=gold[row.question_id, row.id]) if row.label is None else row
        for row in rows
    ]


def _words(text: str) -> str:
    """The words alone: releases differ in punctuation (2016 has semicolons for commas)."""
    return " ".join(re.findall(r"\w+", text.lower()))
