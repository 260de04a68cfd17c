"""SemEval Task 3 in tab-separated files: the tables `subtask[AB]-*.tsv` and the official gold."""

from collections import Counter
from collections.abc import Iterator

from qasel.datasets.lines import read_lines
from qasel.datasets.rows import Row
from qasel.datasets.semeval_tasks import Subtask
from qasel.errors import QaselError
from qasel.files import FilePath

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
