"""Rows of (question, candidate, label) put together into questions, whatever file they are from."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from qasel.datasets.base import Candidate, Question, Split
from qasel.errors import QaselError
from qasel.files import FilePath


@dataclass(frozen=True, slots=True)
class Row:
    """One candidate as read. `block` tells which rows belong together when there is no id.

    `text` None is a question that came without any candidate.
    """

    line: int
    question: str
    text: str | None
    label: int | None
    question_id: str | None = None
    id: str | None = None
    block: Hashable = None


@dataclass
class _Open:
    """A question while its rows are read."""

    id: str
    text: str
    candidates: list[Candidate] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)


def group_rows(path: FilePath, name: str, rows: Iterable[Row], *, blank: bool = False) -> Split:
    """The split that the rows of a file make.

    Rows with the same question id belong together; without ids, consecutive
    rows with the same question (and block) do, and questions are numbered
    `q1`, `q2`, … A candidate without an id gets QUESTION-PLACE. `blank` allows
    candidates without words, which keep label and place.

    Raises `QaselError`, with file and line, for a blank text, an id that is
    blank or has white space, one id with two texts, two candidates with one
    id, a question without candidates, and one without an id (or block) whose
    rows do not stand together: in a table that was shuffled, each row would
    become a question.
    """
    questions: dict[str, _Open] = {}
    blocks: dict[str, Hashable] = {}
    texts: dict[tuple[str, Hashable], int] = {}  # where a question without an id began
    last: _Open | None = None
    numbered: bool | None = None
    for row in rows:
        where = f"{path}:{row.line}"
        if not row.question.strip():
            raise QaselError(f"{where}: the question has no text")
        _check_id(where, "question", row.question_id)
        _check_id(where, "candidate", row.id)
        if numbered not in (None, row.question_id is None):
            # Made-up numbers could meet an id of the file, and join two questions unawares.
            raise QaselError(f"{where}: some questions have an id and some have none; give all one")
        numbered = row.question_id is None
        if row.question_id is None:
            if last is None or last.text != row.question or blocks[last.id] != row.block:
                began = texts.setdefault((row.question, row.block), row.line)
                if began != row.line:
                    raise QaselError(
                        f"{where}: the question {row.question!r} of line {began} comes again after "
                        "another; put its rows together, or give questions an id (column qid)"
                    )
                last = _Open(f"q{len(questions) + 1}", row.question)
                blocks[last.id] = row.block
                questions[last.id] = last
        else:
            last = questions.setdefault(row.question_id, _Open(row.question_id, row.question))
            if blocks.setdefault(last.id, row.block) != row.block:
                raise QaselError(f"{where}: question id {last.id!r} occurs twice")
        if last.text != row.question:
            raise QaselError(f"{where}: question id {last.id!r} stands for two different texts")
        if row.text is None:
            raise QaselError(
                f"{where}: question {last.id!r} has no candidate here; add one, or take it out"
            )
        if not blank and not row.text.strip():
            raise QaselError(f"{where}: a candidate of question {last.id!r} has no text")
        _add(where, last, row)
    if not questions:
        raise QaselError(f"{path}: no questions in the file")
    return Split(
        name, tuple(Question(q.id, q.text, tuple(q.candidates)) for q in questions.values())
    )


def _add(where: str, question: _Open, row: Row) -> None:
    place = len(question.candidates)
    identity = f"{question.id}-{place}" if row.id is None else row.id
    if identity in question.ids:
        raise QaselError(
            f"{where}: question {question.id!r} has two candidates {identity!r}; each needs an id "
            "of its own (that of the question is `qid`)"
        )
    question.ids.add(identity)
    question.candidates.append(Candidate(identity, row.text or "", row.label, place))


def _check_id(where: str, what: str, identity: str | None) -> None:
    """White space would tear the columns of a TREC run apart, and other programs end at a NUL."""
    if identity is not None and (identity.split() != [identity] or "\0" in identity):
        raise QaselError(f"{where}: {what} id {identity!r} is blank or has white space or a NUL")
