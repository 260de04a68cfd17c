"""Questions and candidates from tab-separated tables and JSONL: public ones and a user's own."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from qasel.datasets.base import Question, Split
from qasel.datasets.lines import Row, group_rows, json_text, read_json_lines, read_lines, whole_text
from qasel.datasets.locations import Collection, find, missing
from qasel.errors import QaselError
from qasel.files import FilePath

COLUMNS = {
    "question": ("question",),
    "candidate": ("candidate", "sentence"),
    "label": ("label",),
    "question id": ("questionid", "question_id", "qid"),
    "candidate id": ("sentenceid", "candidate_id", "candidateid", "cid"),
}
"""Role → the column names (any case) that hold it; other columns are passed over."""

QUESTION_KEYS = ("qid", "question_id")
CANDIDATE_KEYS = ("candidate_id", "cid", "id")
"""The keys of ids in JSON; `id` is the question's on a line that has all its candidates."""

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
    """Questions of a TSV or JSONL file (by suffix, `.gz` aside), in file order.

    Raises `QaselError` for another suffix and for what `read_table` and `read_jsonl` raise.
    """
    suffix = Path(_plain_name(path)).suffix.lower()
    if suffix in TABLE_SUFFIXES:
        return read_table(path, name)
    if suffix in JSON_SUFFIXES:
        return read_jsonl(path, name)
    if Path(path).is_dir():
        raise QaselError(f"{path} is a folder; give one file of it, such as {path}/test.tsv")
    known = ", ".join(TABLE_SUFFIXES + JSON_SUFFIXES)
    raise QaselError(f"{path}: unknown kind of file {suffix!r}; known: {known} (each may be .gz)")


def read_table(path: FilePath, name: str | None = None) -> Split:
    """A table with a header line: WikiQA's, TREC-QA's, or a user's own.

    Columns: Question and Sentence (or candidate); optional Label, QuestionID
    (or qid, question_id) and SentenceID (or candidate_id). Fields are set
    apart by tabs and never quoted, lines end in LF or CR LF, gzip or not.

    Raises `QaselError`, with file and line, for a missing or doubled column, a
    wrong number of fields, a label that is not 0 or 1, a question without
    candidates, and what `read_lines` and `group_rows` raise.
    """
    return group_rows(path, name or _stem(path), _table_rows(path))


def read_jsonl(path: FilePath, name: str | None = None) -> Split:
    """JSON lines: {"question", "candidates": [text or {"text", "label", "id"}]} a question.

    Or {"question", "candidate", "label"} a candidate. The question's id is "qid" (or
    "question_id"), a candidate's "cid" (or "candidate_id"), and "id" is that of what a line
    stands for: in the first form the question's, in the second the candidate's. Without an id
    of the question, consecutive lines of the second form with the same one belong together.

    Raises `QaselError`, with file and line, for JSON of another form, a label
    that is not 0, 1 or null, and what `read_json_lines` and `group_rows` raise.
    """
    rows = (row for number, line in read_json_lines(path) for row in _json_rows(path, number, line))
    return group_rows(path, name or _stem(path), rows)


def read_wikiqa(
    known: Collection, folders: Sequence[Path], protocol: str
) -> tuple[list[Split], tuple[str, ...]]:
    """WikiQA's splits under a protocol; raises `QaselError` for a file that is not there."""
    splits = []
    for name in SPLITS:
        path = find(folders, f"WikiQA-{name}.tsv") or missing(known, name)
        splits.append(read_table(path, name).where(KEEP[protocol]))
    return splits, ()


def _table_rows(path: FilePath) -> Iterator[Row]:
    lines = read_lines(path)
    number, header = next(lines)
    names = [column.strip() for column in header.split("\t")]
    place = _columns(f"{path}:{number}", names)
    for number, line in lines:
        fields = line.split("\t")
        if len(fields) != len(names):
            what = f"{len(fields)} fields, the header has {len(names)}"
            raise QaselError(f"{path}:{number}: {what} (set apart by tabs, without quotes)")
        value = {role: fields[i] for role, i in place.items()}
        label = value.get("label")
        if label is not None and label.strip() not in ("0", "1"):
            hint = "leave the column out if labels are not known"
            raise QaselError(f"{path}:{number}: label {label!r} is not 0 or 1; {hint}")
        yield Row(
            line=number,
            question=value["question"],
            text=value["candidate"] if value["candidate"].strip() else None,
            label=None if label is None else int(label.strip()),
            question_id=value.get("question id"),
            id=value.get("candidate id"),
        )


def _columns(where: str, names: list[str]) -> dict[str, int]:
    """Role → place of its column."""
    lowered = [name.lower() for name in names]
    place = {}
    for role, known in COLUMNS.items():
        found = [i for i, column in enumerate(lowered) if column in known]
        if len(found) > 1:
            doubled = " and ".join(repr(names[i]) for i in found)
            raise QaselError(f"{where}: the header has two columns for the {role}: {doubled}")
        if found:
            place[role] = found[0]
    for role in ("question", "candidate"):
        if role not in place:
            there = ", ".join(repr(name) for name in names)
            wanted = " or ".join(map(repr, COLUMNS[role]))
            hint = "" if len(names) > 1 else "; columns are set apart by tabs"
            raise QaselError(f"{where}: no column {wanted} in the header, there: {there}{hint}")
    return place


def _json_rows(path: FilePath, number: int, line: dict[str, Any]) -> Iterator[Row]:
    where = f"{path}:{number}"
    question = json_text(where, line, "question")
    if "candidates" in line:
        question_id = _first_id(where, line, ("id", *QUESTION_KEYS))
        candidates = line["candidates"]
        if not isinstance(candidates, list):
            raise QaselError(f"{where}: 'candidates' is not a list")
        # Each such line is a question of its own, also when two have the same text.
        if not candidates:
            yield Row(number, question, None, None, question_id, block=number)
        for candidate in candidates:
            if isinstance(candidate, str):
                candidate = {"text": candidate}
            if not isinstance(candidate, dict):
                raise QaselError(f"{where}: a candidate is neither a string nor an object")
            text = json_text(where, candidate, "text")
            identity = _first_id(where, candidate, CANDIDATE_KEYS)
            label = _label(where, candidate.get("label"))
            yield Row(number, question, text, label, question_id, identity, block=number)
    elif "candidate" in line:
        text = json_text(where, line, "candidate")
        label = _label(where, line.get("label"))
        # Here a line is a candidate, and so an `id` is the candidate's.
        question_id = _first_id(where, line, QUESTION_KEYS)
        identity = _first_id(where, line, CANDIDATE_KEYS)
        yield Row(number, question, text, label, question_id, identity)
    else:
        raise QaselError(f"{where}: neither 'candidates' nor 'candidate' beside the question")


def _first_id(where: str, record: Mapping[str, Any], keys: Iterable[str]) -> str | None:
    """The value of the first of the keys that has one."""
    found = (record[key] for key in keys if record.get(key) is not None)
    value = next(found, None)
    return None if value is None else _id(where, value)


def _id(where: str, value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise QaselError(f"{where}: id {value!r} is not a string or a whole number")
    return whole_text(where, str(value), "id")


def _label(where: str, value: object) -> int | None:
    if value is not None and (isinstance(value, bool) or value not in (0, 1)):
        raise QaselError(f"{where}: label {value!r} is not 0, 1 or null")
    return None if value is None else int(value)  # type: ignore[call-overload]


def _plain_name(path: FilePath) -> str:
    name = Path(path).name
    return name[:-3] if name.lower().endswith(".gz") else name


def _stem(path: FilePath) -> str:
    return Path(_plain_name(path)).stem
