"""Questions and candidates from tab-separated tables and JSONL, public ones or a user's own."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, model_validator

from qasel.datasets.base import Question, Split
from qasel.datasets.lines import Row, group_rows, read_fields, read_json_lines
from qasel.datasets.registry import Collection, find
from qasel.errors import QaselError
from qasel.files import FilePath

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = {
    "question": ("question",),
    "candidate": ("candidate", "sentence", "answer"),
    "label": ("label",),
    "question id": ("questionid", "question_id", "qid"),
    "candidate id": ("sentenceid", "candidate_id", "candidateid", "cid"),
}
"""Role → the column names (in any case) that can hold it; other columns are ignored."""

SPLITS = ("train", "dev", "test")
KEEP: dict[str, Callable[[Question], bool]] = {
    "all": lambda question: True,
    "answered": lambda question: question.answered,
    "mixed": lambda question: question.mixed,
}
"""Protocol → whether a question counts under it."""

TABLE_SUFFIXES = (".tsv", ".txt", ".tab")
JSON_SUFFIXES = (".jsonl", ".ndjson")


def read_questions(path: FilePath, name: str | None = None) -> Split:
    """Read questions from a TSV or JSONL file (by suffix, `.gz` aside), in file order.

    Raises `QaselError` for another suffix, and as `read_table` and `read_jsonl` do.
    """
    suffix = _without_gz(path).suffix.lower()
    if suffix in TABLE_SUFFIXES:
        return read_table(path, name)
    if suffix in JSON_SUFFIXES:
        return read_jsonl(path, name)
    if Path(path).is_dir():
        raise QaselError(f"{path} is a folder; give one file of it, such as {path}/test.tsv")
    known = ", ".join(TABLE_SUFFIXES + JSON_SUFFIXES)
    raise QaselError(f"{path}: unknown kind of file {suffix!r}; known: {known} (each may be .gz)")


def read_table(path: FilePath, name: str | None = None) -> Split:
    """Read a table with a header line: WikiQA's, TREC-QA's, or a user's own.

    Columns are those of `COLUMNS`; question and candidate are required. Fields are separated by
    tabs, never quoted; lines end in LF or CR LF, gzipped or not. Raises `QaselError`, with file and
    line, for a missing or duplicate column, a label that is not 0 or 1, and as `group_rows` does.
    """
    lines = read_fields(path)
    number, names = next(lines)
    rows = _table_rows(path, _columns(f"{path}:{number}", [name.strip() for name in names]), lines)
    return group_rows(path, name or _without_gz(path).stem, rows)


def from_frame(frame: "pd.DataFrame", name: str = "table") -> Split:
    """Make a split from a pandas table with columns of `COLUMNS`, such as `microsoft/wiki_qa`.

    Raises `QaselError`, with the row (from 1), for what `read_table` refuses.
    """
    place = _columns(name, [str(column) for column in frame.columns])
    rows = frame.itertuples(index=False, name=None)
    lines = ((number, [_as_field(value) for value in row]) for number, row in enumerate(rows, 1))
    return group_rows(name, name, _table_rows(name, place, lines))


def to_frame(split: Split) -> "pd.DataFrame":
    """One row per candidate, in file order; columns as in `microsoft/wiki_qa`, and its id."""
    import pandas as pd

    rows = [
        (question.id, question.text, candidate.id, candidate.text, candidate.label)
        for question in split
        for candidate in sorted(question.candidates, key=lambda candidate: candidate.place)
    ]
    columns = ["question_id", "question", "candidate_id", "answer", "label"]
    frame = pd.DataFrame(rows, columns=columns)
    # If a label is unknown there is no label column, as in files.
    return frame.drop(columns="label") if frame["label"].isna().any() else frame


def _as_field(value: object) -> str:
    """A table's value as text in a file: 1.0 is `1`, a missing value is empty."""
    import pandas as pd

    if pd.isna(value):
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def read_jsonl(path: FilePath, name: str | None = None) -> Split:
    """Read JSON lines: {"question", "candidates": [text or {"text", "label", "id"}]} per question.

    Or {"question", "candidate", "label"} per candidate. The question's id is "qid" (or
    "question_id"), a candidate's "cid" (or "candidate_id"); a line's "id" is the question's in the
    first form and the candidate's in the second. Without question ids, consecutive lines of the
    second form with the same question belong together.

    Raises `QaselError`, with file and line, for JSON of another form, a label that is not 0, 1 or
    null, and as `group_rows` does.
    """
    lines = read_json_lines(path, _Line)
    rows = (row for number, line in lines for row in line.rows(number))
    return group_rows(path, name or _without_gz(path).stem, rows)


def read_wikiqa(
    known: Collection, folders: Sequence[Path], protocol: str
) -> tuple[list[Split], tuple[str, ...]]:
    """Read WikiQA's splits under a protocol; raises `QaselError` for a missing file."""
    splits = []
    for name in SPLITS:
        file = f"WikiQA-{name}.tsv"
        path = find(folders, file) or known.missing(name, [file])
        splits.append(read_table(path, name).where(KEEP[protocol]))
    return splits, ()


def _table_rows(
    path: FilePath, place: dict[str, int], lines: Iterable[tuple[int, list[str]]]
) -> Iterator[Row]:
    for number, fields in lines:
        value = {role: fields[i] for role, i in place.items()}
        label = value.get("label")
        if label is not None and label.strip() not in ("0", "1"):
            hint = "leave the column out if labels are not known"
            raise QaselError(f"{path}:{number}: label {label!r} is not 0 or 1; {hint}")
        yield Row(
            line=number,
            question=value["question"],
            text=value["candidate"] if value["candidate"].strip() else None,
            label=None if label is None else int(label),
            question_id=value.get("question id"),
            id=value.get("candidate id"),
        )


def _columns(where: str, names: list[str]) -> dict[str, int]:
    """Role → index of its column."""
    place = {}
    for role, known in COLUMNS.items():
        places = [i for i, name in enumerate(names) if name.lower() in known]
        if len(places) > 1:
            doubled = " and ".join(repr(names[i]) for i in places)
            raise QaselError(f"{where}: the header has two columns for the {role}: {doubled}")
        if places:
            place[role] = places[0]
        elif role in ("question", "candidate"):
            there = ", ".join(map(repr, names))
            hint = "" if len(names) > 1 else "; columns are set apart by tabs"
            wanted = " or ".join(map(repr, known))
            raise QaselError(f"{where}: no column {wanted} in the header, there: {there}{hint}")
    return place


def _as_id(value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int | None):
        raise ValueError(f"id {value!r} is not a string or a whole number")
    return None if value is None else str(value)


def _as_label(value: object) -> object:
    if isinstance(value, bool) or value not in (0, 1, None):
        raise ValueError(f"label {value!r} is not 0, 1 or null")
    return value


Id = Annotated[str | None, BeforeValidator(_as_id)]
Label = Annotated[int | None, BeforeValidator(_as_label)]


def _first(*names: str) -> Any:
    """A field that a line may give by any of these names, and None by default."""
    return Field(default=None, validation_alias=AliasChoices(*names))


class _Candidate(BaseModel):
    text: str
    label: Label = None
    id: Id = _first("candidate_id", "cid", "id")

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: object) -> object:
        return {"text": value} if isinstance(value, str) else value


class _Line(BaseModel):
    """A line of JSON: a question with all its candidates, or with one of them."""

    question: str
    candidates: list[_Candidate] | None = None
    candidate: str | None = None
    label: Label = None
    qid: Id = _first("qid", "question_id")
    cid: Id = _first("candidate_id", "cid", "id")
    id: Id = None

    def rows(self, number: int) -> Iterator[Row]:
        """The candidates of line `number`."""
        if self.candidates is None:
            yield Row(number, self.question, self.candidate, self.label, self.qid, self.cid)
            return
        # Each such line is a question of its own, even if two have the same text.
        qid = self.id if self.qid is None else self.qid
        if not self.candidates:
            yield Row(number, self.question, None, None, qid, block=number)
        for one in self.candidates:
            yield Row(number, self.question, one.text, one.label, qid, one.id, number)

    @model_validator(mode="after")
    def _has_candidates(self) -> "_Line":
        if self.candidates is None and self.candidate is None:
            raise ValueError("neither 'candidates' nor 'candidate' beside the question")
        return self


def _without_gz(path: FilePath) -> Path:
    path = Path(path)
    return path.with_suffix("") if path.suffix.lower() == ".gz" else path
