"""The two subtasks of SemEval Task 3 read here: what each ranks, and which files hold it.

Subtask A ranks the comments below a question; B ranks the questions that a search engine found
for an original question. In both, most lists have ten candidates.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from qasel.datasets.base import Question, Split
from qasel.datasets.lines import Row, group_rows, read_contents, read_lines
from qasel.datasets.locations import Collection, find, missing
from qasel.errors import QaselError
from qasel.files import FilePath


@dataclass(frozen=True)
class Part:
    """A published set: its questions that have candidates, its pairs, its files (best first)."""

    questions: int
    pairs: int
    files: tuple[str, ...]


@dataclass(frozen=True)
class Subtask:
    """A subtask, and how its files say it.

    `letter` is its name; `candidate` what it ranks; `labels` the organisers' words for a
    candidate → whether it counts as relevant; `columns` the header of its tables, of which
    `question_texts` and `candidate_texts` make a question's and a candidate's text; `blank`
    allows candidates without words; `parts` are its published sets, `train` those of its
    training split.
    """

    letter: str
    candidate: str
    labels: Mapping[str, int]
    columns: tuple[str, ...]
    question_texts: tuple[str, ...]
    candidate_texts: tuple[str, ...]
    blank: bool
    parts: Mapping[str, Part]
    train: tuple[str, ...]

    def relevant(self, where: str, identity: str | None, label: str) -> int:
        """1 or 0 for a label; raises `QaselError` for one that is not known."""
        if label not in self.labels:
            what = f"{self.candidate} {identity!r}: unknown label {label!r}"
            raise QaselError(f"{where}: {what}; known: {', '.join(self.labels)}")
        return self.labels[label]


XML_2015 = tuple(
    f"SemEval2015-Task3-CQA-QL-{name}-reformatted-excluding-2016-questions-cleansed.xml"
    for name in ("train", "dev", "test")
)


def _names(letter: str, part: str) -> tuple[str, ...]:
    """The files of a part of 2016; that of all subtasks repeats threads, so it comes last."""
    official = f"SemEval2016-Task3-CQA-QL-{part}"
    whole = (f"subtask{letter}-2016-{part}.tsv", f"{official}.xml")
    return whole if letter == "B" else (whole[0], f"{official}-subtaskA.xml", whole[1])


A = Subtask(
    letter="A",
    candidate="comment",
    # `NotGood` stands in tables where only the organisers' binary gold is known.
    labels={"Good": 1, "PotentiallyUseful": 0, "Bad": 0, "NotGood": 0},
    columns=("q_id", "c_id", "pos", "label", "relevant", "q_subject", "q_body", "c_text", "form"),
    question_texts=("q_subject", "q_body"),
    candidate_texts=("c_text",),
    blank=True,
    parts={
        "2016 train-part1": Part(
            1411, 14110, (*_names("A", "train-part1"), "subtaskA-2016-train-part1-partial.tsv")
        ),
        "2016 train-part2": Part(379, 3790, _names("A", "train-part2")),
        "2015 train": Part(
            2480,
            14893,
            ("subtaskA-2015-train.tsv", *XML_2015, "subtaskA-2015-train-lemmatised.tsv"),
        ),
        # 291 threads, one of them without comments.
        "2015 dev": Part(290, 1529, ("subtaskA-2015-dev.tsv", *XML_2015)),
        "2015 test": Part(319, 1876, ("subtaskA-2015-test.tsv", *XML_2015)),
        "2016 dev": Part(244, 2440, _names("A", "dev")),
        "2016 test": Part(327, 3270, _names("A", "test")),
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
    },
    train=("2016 train-part1", "2016 train-part2", "2015 train", "2015 dev", "2015 test"),
)

B = Subtask(
    letter="B",
    candidate="related question",
    labels={"PerfectMatch": 1, "Relevant": 1, "Irrelevant": 0},
    columns=(
        *("orgq_id", "relq_id", "pos", "se_rank", "label", "relevant"),
        *("orgq_subject", "orgq_body", "relq_subject", "relq_body", "form"),
    ),
    question_texts=("orgq_subject", "orgq_body"),
    candidate_texts=("relq_subject", "relq_body"),
    blank=False,
    parts={
        # One original question has nine related ones, so 1999 pairs, not the 2000 often told.
        "2016 train-part1": Part(200, 1999, _names("B", "train-part1")),
        "2016 dev": Part(50, 500, _names("B", "dev")),
        "2016 test": Part(70, 700, _names("B", "test")),
        "2017 test": Part(
            88,
            880,
            (
                "subtaskB-2017-test.tsv",
                "SemEval2017-Task3-CQA-QL-test.xml",
                "SemEval2017-task3-English-test.xml",
                "SemEval2017-task3-English-test-input.xml",
            ),
        ),
    },
    train=("2016 train-part1",),
)

SPLITS: dict[str, tuple[Subtask, dict[str, tuple[str, ...]]]] = {
    f"{task.letter.lower()}-{year}": (
        task,
        {"train": task.train, "dev": ("2016 dev",), "test": (f"{year} test",)},
    )
    for task in (A, B)
    for year in (2016, 2017)
}
"""Protocol → its subtask, and split → its parts."""


HIDDEN = (None, "", "?")
"""What stands for the label where a file is a task's input, without the gold."""

SKIP = "SubtaskA_Skip_Because_Same_As_RelQuestion_ID"

_PARENTS: dict[str, tuple[str, ...]] = {
    "xml": ("",),
    "OrgQuestion": ("xml",),
    "OrgQSubject": ("OrgQuestion",),
    "OrgQBody": ("OrgQuestion",),
    "Thread": ("xml", "OrgQuestion"),
    "RelQuestion": ("Thread",),
    "RelQSubject": ("RelQuestion",),
    "RelQBody": ("RelQuestion",),
    "RelComment": ("Thread",),
    "RelCText": ("RelComment",),
}

_ATTRIBUTES = {
    "OrgQuestion": ("ORGQ_ID", ""),
    "RelQuestion": ("RELQ_ID", "RELQ_RELEVANCE2ORGQ"),
    "RelComment": ("RELC_ID", "RELC_RELEVANCE2RELQ"),
}
"""Elements that are posts → the attributes with their id and label."""


@dataclass
class Post:
    """What somebody wrote: its line in the file, id, label as given, element → text."""

    line: int
    id: str
    label: str | None
    texts: dict[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Subject and body, or the comment; runs of white space are one blank."""
        return " ".join(" ".join(self.texts.values()).split())


@dataclass
class Thread:
    """A question with its comments, and the original question that it is related to, if any.

    `repeats`: an earlier thread of the release is the same one.
    """

    question: Post
    comments: list[Post]
    repeats: bool
    original: Post | None = None


def read_xml(path: FilePath, task: Subtask) -> tuple[list[Row], list[str]]:
    """The candidates that a subtask has in a file, and a remark on threads without comments.

    Subtask A passes over the threads that repeat an earlier one. A label that is not
    given is None.

    Raises `QaselError`, with file and line, for an unknown label, for subtask B also a
    thread without an original question, and for what `read_threads` raises.
    """
    threads = read_threads(path)
    listed = _related(path, threads) if task.letter == "B" else _comments(threads)
    rows = []
    for block, question, post in listed:
        label = None
        if post.label not in HIDDEN:
            label = task.relevant(f"{path}:{post.line}", post.id, post.label or "")
        rows.append(Row(post.line, question.text, post.text, label, question.id, post.id, block))
    empty = [thread.question.id for thread in threads if not thread.comments and not thread.repeats]
    if task.letter == "B" or not empty:
        return rows, []
    return rows, [f"has {len(empty)} without comments, left out ({', '.join(empty)})"]


def _comments(threads: list[Thread]) -> Iterator[tuple[int, Post, Post]]:
    """A number of its own for each list, its question, a comment; repeated threads left out."""
    for block, thread in enumerate(threads):
        for comment in () if thread.repeats else thread.comments:
            yield block, thread.question, comment


def _related(path: FilePath, threads: list[Thread]) -> Iterator[tuple[int, Post, Post]]:
    """A number of its own for each list, the original question, a related one."""
    pairs = []
    for thread in threads:
        if thread.original is None:
            where = f"{path}:{thread.question.line}"
            raise QaselError(f"{where}: <RelQuestion> without an <OrgQuestion>; get the full file")
        pairs.append((thread.original, thread.question))
    for block, (_, group) in enumerate(groupby(pairs, key=lambda pair: pair[0].id)):
        for original, related in group:
            yield block, original, related


def read_threads(path: FilePath) -> list[Thread]:
    """The threads of a file, gzipped or not, in its order, which is that of a list's candidates.

    Raises `QaselError`, with file and line, for XML that is not well-formed or not
    UTF-8, a reference to another file, an entity that is declared or not known, an
    element out of place or missing, an id that is missing, and (without the line) a
    file without threads; also what `read_contents` raises.
    """
    reader = _Reader(path)
    parser = reader.parser
    parser.buffer_text = True
    # Each official file begins with a DTD for its elements; all else a DTD may do is refused.
    parser.StartDoctypeDeclHandler = reader.doctype
    parser.EntityDeclHandler = reader.entity
    parser.SkippedEntityHandler = reader.entity
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.words
    try:
        parser.Parse(read_contents(path), True)
    except expat.ExpatError as error:
        what = expat.errors.messages[error.code]
        raise QaselError(f"{path}:{error.lineno}: broken XML: {what}; get the file anew") from None
    if not reader.threads:
        raise QaselError(f"{path}: no threads in the file")
    return reader.threads


class _Reader:
    """What expat calls, and what has been read so far."""

    def __init__(self, path: FilePath) -> None:
        self.path = path
        # All of them are UTF-8, whatever a file may claim.
        self.parser = expat.ParserCreate("utf-8")
        self.threads: list[Thread] = []
        self.open = [""]  # the elements that are open
        self.posts: list[Post] = []  # those of them that are posts
        self.question: Post | None = None  # of the open thread, once it is read
        self.comments: list[Post] = []
        self.repeats = False
        self.before = 0  # threads before the open original question

    def fail(self, what: str) -> NoReturn:
        raise QaselError(f"{self.path}:{self.parser.CurrentLineNumber}: {what}")

    def doctype(self, name: str, system: str | None, public: str | None, subset: int) -> None:
        if system or public:
            self.fail("refused, the DOCTYPE refers to another file")

    def entity(self, name: str, *_: object) -> None:
        self.fail(f"refused, entity {name!r}; the official files declare none")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        # Strict, since an element passed over would be a post or a text lost unseen.
        twice = self.posts and tag in self.posts[-1].texts
        if self.open[-1] not in _PARENTS.get(tag, ()) or twice:
            self.fail(f"<{tag}> is out of place; not a file of SemEval Task 3")
        self.open.append(tag)
        if tag in _ATTRIBUTES:
            identity, label = _ATTRIBUTES[tag]
            if identity not in attributes:
                self.fail(f"<{tag}> without {identity}")
            line = self.parser.CurrentLineNumber
            self.posts.append(Post(line, attributes[identity], attributes.get(label)))
        elif tag == "Thread":
            self.question, self.comments = None, []
            self.repeats = bool(attributes.get(SKIP))
        elif tag != "xml":
            self.posts[-1].texts[tag] = ""
        if tag == "OrgQuestion":
            self.before = len(self.threads)

    def end(self, tag: str) -> None:
        self.open.pop()
        if tag in _ATTRIBUTES:
            self.posted(tag, self.posts.pop())
        elif tag == "Thread":
            if self.question is None:
                self.fail("a <Thread> without a <RelQuestion>")
            self.threads.append(Thread(self.question, self.comments, self.repeats))

    def posted(self, tag: str, post: Post) -> None:
        """A post has been read to its end."""
        if tag == "RelComment":
            if not post.texts:
                self.fail(f"comment {post.id!r} has no <RelCText>")
            self.comments.append(post)
        elif tag == "RelQuestion":
            if self.question is not None:
                self.fail(f"a second <RelQuestion> in thread {self.question.id!r}")
            self.question = post
        else:
            if len(self.threads) == self.before:
                self.fail(f"original question {post.id!r} without a <Thread>")
            for thread in self.threads[self.before :]:
                thread.original = post

    def words(self, text: str) -> None:
        if self.posts and self.open[-1] in self.posts[-1].texts:
            self.posts[-1].texts[self.open[-1]] += text


ORIGINAL = "original"
"""The `form` of texts that are the release's own."""

FORMS = {"subject-original": "only the original questions' subjects are lemmatised"}
"""What a `form` means that does not say it by its name."""


def read_table(path: FilePath, task: Subtask) -> tuple[list[Row], list[str]]:
    """The candidates of a subtask's table, and a remark on each `form` that is not the original.

    A question's text is its subject and body (so is a related question's), runs of white space
    are one blank; `pos` is a candidate's place in its list, from 1: the order of time for
    comments, the search engine's for related questions. A candidate's id may be blank.

    Raises `QaselError`, with file and line, for a header other than `task.columns`, a wrong
    number of fields, an unknown label, a `relevant` that contradicts it and a `pos` that
    is not the next one; also what `read_lines` raises.
    """
    rows: list[Row] = []
    forms: Counter[str] = Counter()
    lines = _fields(path, len(task.columns))
    where, _, header = next(lines)
    if tuple(header) != task.columns:
        raise QaselError(f"{where}: the header is not {' '.join(task.columns)} (set apart by tabs)")
    last, block, place = "", 0, 0
    for where, number, fields in lines:
        value = dict(zip(task.columns, fields, strict=True))
        qid, cid = fields[:2]
        # `block`: rows of a question that stand apart are no list, and told apart by it.
        last, block, place = (qid, block, place + 1) if qid == last else (qid, number, 1)
        label = task.relevant(where, cid, value["label"])
        what = f"{where}: {task.candidate} {cid!r}"
        if value["relevant"] != str(label):
            raise QaselError(f"{what}: relevant {value['relevant']!r} and label {value['label']!r}")
        if value["pos"] != str(place):
            raise QaselError(f"{what}: pos {value['pos']!r}, expected {place}")
        forms[value["form"]] += 1
        question = _text(value, task.question_texts)
        text = _text(value, task.candidate_texts)
        rows.append(Row(number, question, text, label, qid, cid or None, block))
    other = sorted(form for form in forms if form != ORIGINAL)
    return rows, [_remark(task, form, forms[form], len(rows)) for form in other]


def read_relevancy(path: FilePath) -> dict[tuple[str | None, str | None], int]:
    """The official gold: (question id, candidate id) → 1 or 0.

    Raises `QaselError`, with file and line, for a wrong number of fields, a label
    that is not true or false, and a candidate given twice; also what `read_lines` raises.
    """
    gold: dict[tuple[str | None, str | None], int] = {}
    for where, _, (qid, cid, _rank, _score, label) in _fields(path, 5):
        if label not in ("true", "false"):
            raise QaselError(f"{where}: label {label!r} is not true or false")
        if (qid, cid) in gold:
            raise QaselError(f"{where}: candidate {cid!r} of question {qid!r} occurs twice")
        gold[qid, cid] = int(label == "true")
    return gold


def _text(value: dict[str, str], columns: tuple[str, ...]) -> str:
    return " ".join(" ".join(value[column] for column in columns).split())


def _remark(task: Subtask, form: str, count: int, rows: int) -> str:
    meaning = f": {FORMS[form]}" if form in FORMS else ""
    return f"has {count} of {rows} {task.candidate}s in the form {form!r}{meaning}"


def _fields(path: FilePath, wanted: int) -> Iterator[tuple[str, int, list[str]]]:
    """Place (file and line), line and fields of each line."""
    for number, line in read_lines(path):
        fields = line.split("\t")
        if len(fields) != wanted:
            what = f"{len(fields)} fields, expected {wanted}"
            raise QaselError(f"{path}:{number}: {what} (set apart by tabs, without quotes)")
        yield f"{path}:{number}", number, fields


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
