"""TREC-QA in its official form, jacana's pseudo-XML, read line by line.

No XML parser accepts it, since `&` and `<` are not escaped:

<QApairs id='32.1'>
<question>
What  do  practitioners  …           words, then lines of tags, heads, entities
</question>
<positive>                           or <negative>, any number of them
An  estimated  …
</positive>
</QApairs>
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from qasel.datasets.base import Split
from qasel.datasets.lines import Row, group_rows, read_lines
from qasel.datasets.registry import Collection, find
from qasel.datasets.tables import SPLITS, read_table
from qasel.errors import QaselError
from qasel.files import FilePath

_OPEN = re.compile(r"<QApairs id='([^']*)'>")
_CLOSE = "</QApairs>"
_LABELS = {"<question>": None, "<positive>": 1, "<negative>": 0}
_FILES = {
    "train": ("train2393.cleanup.xml", "TRAIN-ALL.xml"),
    "dev": ("dev-less-than-40.manual-edit.xml", "DEV.xml"),
    "test": ("test-less-than-40.manual-edit.xml", "TEST.xml"),
}
"""Split → its file names in the jacana archive and in the copies made from it."""


def read_trecqa(
    known: Collection, folders: Sequence[Path], protocol: str
) -> tuple[list[Split], tuple[str, ...]]:
    """Read TREC-QA from tables or, without them, from the official XML.

    A missing clean split is derived from the raw one. Raises `QaselError` if a split has no file.
    """
    splits = []
    for name in SPLITS:
        clean = protocol == "clean" and name != "train"
        raw = "train-all.tsv" if name == "train" else f"raw-{name}.tsv"
        if clean and (path := find(folders, f"clean-{name}.tsv")):
            splits.append(read_table(path, name))
            continue
        path = find(folders, raw) or find(folders, *_FILES[name])
        path = path or known.missing(name, (raw, *_FILES[name]))
        split = read_table(path, name) if path.name.startswith(raw) else read_jacana(path, name)
        splits.append(split.where(lambda question: question.mixed) if clean else split)
    return splits, ()


def read_jacana(path: FilePath, name: str | None = None) -> Split:
    """The questions that have candidates, words joined by one blank, ids as in the tables.

    Questions without candidates, which these files contain, are skipped. A candidate without words
    (the official train-all has some) keeps its label and place, with an empty text.

    Raises `QaselError`, with file and line, for a misplaced tag, a question without words, an id
    that occurs twice, a truncated file, and as `group_rows` does.
    """
    return group_rows(path, name or Path(path).name.split(".")[0], _rows(path), blank=True)


def _rows(path: FilePath) -> Iterator[Row]:
    seen: set[str] = set()
    qid = ""  # id of the open <QApairs>
    question = ""
    tag = ""  # its open element
    words: str | None = None  # the element's first line
    number = 0
    for number, raw in read_lines(path, blank=True):
        where, line = f"{path}:{number}", raw.strip()
        if tag:
            if line == tag.replace("<", "</"):
                if tag == "<question>":
                    question = words or ""
                else:
                    yield Row(number, question, words or "", _LABELS[tag], qid)
                tag = ""
            elif line == _CLOSE or _OPEN.fullmatch(line):
                raise QaselError(f"{where}: {line} inside {tag}; the file is damaged")
            elif words is None:
                words = " ".join(raw.split("\t")).strip()  # may be blank: see `read_jacana`
        elif not line:
            continue
        elif not qid:
            opening = _OPEN.fullmatch(line)
            if not opening:
                raise QaselError(f"{where}: expected <QApairs id='…'>, found {line[:40]!r}")
            qid, question = opening[1], ""
            if not qid or qid in seen:
                raise QaselError(f"{where}: question id {qid!r} occurs twice or is not valid")
            seen.add(qid)
        elif line == _CLOSE:
            if not question:
                raise QaselError(f"{where}: question {qid!r} has no words")
            qid = ""
        elif line in _LABELS:
            tag, words = line, None
        else:
            raise QaselError(f"{where}: {line[:40]!r} is out of place in question {qid!r}")
    if qid:
        raise QaselError(f"{path}:{number}: the file ends inside question {qid!r}; get it anew")
