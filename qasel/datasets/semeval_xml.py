"""The official XML of SemEval Task 3 (2015 to 2017), read for subtask A as a stream, with lines.

Threads stand below the root in the `*-subtaskA.xml` files and in those of 2015, and one by one
within an `<OrgQuestion>` in the others:

<Thread THREAD_SEQUENCE="Q1_R1">
  <RelQuestion RELQ_ID="Q1_R1" …><RelQSubject>…</RelQSubject><RelQBody>…</RelQBody></RelQuestion>
  <RelComment RELC_ID="Q1_R1_C1" RELC_RELEVANCE2RELQ="Good" …><RelCText>…</RelCText></RelComment>
  …
</Thread>
"""

import os
from typing import NoReturn
from xml.parsers import expat

from qasel.datasets.lines import read_contents
from qasel.datasets.rows import Row
from qasel.errors import QaselError

LABELS = {"Good": 1, "PotentiallyUseful": 0, "Bad": 0}
"""What the organisers call a comment → whether it counts as relevant."""

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


def read_xml(path: str | os.PathLike[str]) -> tuple[list[Row], list[str]]:
    """The comments of a file, gzipped or not, and the ids of the threads that have none.

    A question's text is its subject and body, runs of white space are one blank.
    Threads that repeat an earlier one (`SKIP`) are passed over; a label that is not
    given is None.

    Raises `QaselError`, with file and line, for XML that is not well-formed or not
    UTF-8, a reference to another file, an entity that is declared or not known, an
    element out of place, an id that is missing, an unknown label, and (without the
    line) a file without threads; also what `read_contents` raises.
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
    return reader.rows, reader.empty


class _Reader:
    """What expat calls, and what has been read so far."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path
        # All of them are UTF-8, whatever a file may claim.
        self.parser = expat.ParserCreate("utf-8")
        self.rows: list[Row] = []
        self.empty: list[str] = []
        self.threads = 0
        self.open = [""]  # the elements that are open
        self.texts: dict[str, str] = {}  # of the elements of the open question or comment
        self.skipping = False
        self.question: str | None = None  # the open thread's, once it is read
        self.question_id = ""
        self.comments = 0
        self.comment: tuple[int, str, int | None] = (0, "", None)  # line, id and label

    def fail(self, what: str) -> NoReturn:
        raise QaselError(f"{self.path}:{self.parser.CurrentLineNumber}: {what}")

    def doctype(self, name: str, system: str | None, public: str | None, subset: int) -> None:
        if system or public:
            self.fail("refused, the DOCTYPE refers to another file")

    def entity(self, name: str, *_: object) -> None:
        self.fail(f"refused, entity {name!r}; the official files declare none")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        parent = self.open[-1]
        # Strict, since an element passed over would be a comment or a text lost unseen.
        if parent not in _PARENTS.get(tag, ()) or tag in self.texts:
            self.fail(f"<{tag}> is out of place; not a file of SemEval Task 3")
        self.open.append(tag)
        if tag == "Thread":
            self.threads += 1
            self.skipping = bool(attributes.get(SKIP))
            self.question, self.question_id, self.comments = None, "", 0
        elif tag == "RelQuestion":
            if self.question is not None:
                self.fail(f"a second <RelQuestion> in thread {self.question_id!r}")
            self.question_id = self.identity(tag, attributes, "RELQ_ID")
        elif tag == "RelComment":
            if self.question is None:
                self.fail("<RelComment> before the <RelQuestion> of its thread")
            identity = self.identity(tag, attributes, "RELC_ID")
            label = attributes.get("RELC_RELEVANCE2RELQ")
            if label not in HIDDEN and label not in LABELS:
                known = ", ".join(LABELS)
                self.fail(f"comment {identity!r}: unknown label {label!r}; known: {known}")
            self.comment = self.parser.CurrentLineNumber, identity, LABELS.get(label or "")
            self.comments += 1
        elif tag.startswith("RelQ") or tag == "RelCText":
            self.texts[tag] = ""

    def end(self, tag: str) -> None:
        self.open.pop()
        if tag == "RelQuestion":
            subject, body = self.texts.get("RelQSubject", ""), self.texts.get("RelQBody", "")
            self.question = " ".join(f"{subject} {body}".split())
            self.texts = {}
        elif tag == "RelComment":
            line, identity, label = self.comment
            if "RelCText" not in self.texts:
                self.fail(f"comment {identity!r} has no <RelCText>")
            text = " ".join(self.texts["RelCText"].split())
            self.texts = {}
            if not self.skipping:
                # `block`: an id that comes again in another thread is told apart by it.
                block = self.threads
                row = Row(line, self.question or "", text, label, self.question_id, identity, block)
                self.rows.append(row)
        elif tag == "Thread":
            if self.question is None:
                self.fail("a <Thread> without a <RelQuestion>")
            if not self.comments and not self.skipping:
                self.empty.append(self.question_id)

    def words(self, text: str) -> None:
        if self.open[-1] in self.texts:
            self.texts[self.open[-1]] += text

    def identity(self, tag: str, attributes: dict[str, str], name: str) -> str:
        if name not in attributes:
            self.fail(f"<{tag}> without {name}")
        return attributes[name]
