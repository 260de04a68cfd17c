"""The official XML of SemEval Task 3 (2015 to 2017), read as a stream, with lines.

Threads stand below the root in the `*-subtaskA.xml` files and in those of 2015; in the others
each is within an `<OrgQuestion>`, which is there once for each of its related questions:

<OrgQuestion ORGQ_ID="Q1"><OrgQSubject>…</OrgQSubject><OrgQBody>…</OrgQBody>
<Thread THREAD_SEQUENCE="Q1_R1">
  <RelQuestion RELQ_ID="Q1_R1" RELQ_RELEVANCE2ORGQ="Relevant" …>
    <RelQSubject>…</RelQSubject><RelQBody>…</RelQBody>
  </RelQuestion>
  <RelComment RELC_ID="Q1_R1_C1" RELC_RELEVANCE2RELQ="Good" …><RelCText>…</RelCText></RelComment>
  …
</Thread>
</OrgQuestion>
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import NoReturn
from xml.parsers import expat

from qasel.datasets.lines import read_contents
from qasel.datasets.rows import Row
from qasel.datasets.semeval_tasks import Subtask
from qasel.errors import QaselError
from qasel.files import FilePath

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
