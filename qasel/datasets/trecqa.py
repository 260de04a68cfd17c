"""TREC-QA in its official form: jacana's pseudo-XML, read by line.

No XML parser reads it, since `&` and `<` stand bare in it:

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
from collections.abc import Sequence
from pathlib import Path

from qasel.datasets.base import Candidate, Question, Split
from qasel.datasets.lines import read_lines
from qasel.datasets.locations import Collection, find, missing
from qasel.datasets.tables import SPLITS, read_table
from qasel.errors import QaselError
from qasel.files import FilePath

_OPEN = re.compile(r"<QApairs id='([^']*)'>")
_CLOSE = "</QApairs>"
_LABELS = {"question": None, "positive": 1, "negative": 0}
_FILES = {
    "train": ("train2393.cleanup.xml", "TRAIN-ALL.xml"),
    "dev": ("dev-less-than-40.manual-edit.xml", "DEV.xml"),
    "test": ("test-less-than-40.manual-edit.xml", "TEST.xml"),
}
"""Split → its names in the jacana archive and in the copies made from it."""


def read_trecqa(
    known: Collection, folders: Sequence[Path], protocol: str
) -> tuple[list[Split], tuple[str, ...]]:
    """Tables before the official XML; a clean split that is not there is derived from the raw one.

    Raises `QaselError` for a split without a file.
    """
    splits = []
    for name in SPLITS:
        table = "train-all.tsv" if name == "train" else f"{protocol}-{name}.tsv"
        if path := find(folders, table):
            splits.append(read_table(path, name))
            continue
        if name != "train" and (path := find(folders, f"raw-{name}.tsv")):
            raw = read_table(path, name)
        else:
            raw = read_jacana(find(folders, *_FILES[name]) or missing(known, name), name)
        clean = protocol == "clean" and name != "train"
        splits.append(raw.where(lambda question: question.mixed) if clean else raw)
    return splits, ()


def read_jacana(path: FilePath, name: str | None = None) -> Split:
    """The questions that have candidates, words joined by one blank, ids as in the tables.

    Questions left without candidates are listed by these files and passed over
    here. A candidate without words (the official train-all has some) keeps its
    label and place, with an empty text.

    Raises `QaselError`, with file and line, for a tag out of place, a question
    without words, an id that occurs twice, a file cut short, and what
    `read_lines` raises.
    """
    questions: dict[str, Question] = {}
    block: str | None = None  # the id of the open <QApairs>
    tag: str | None = None  # the open element in it
    words: str | None = None
    text = ""
    candidates: list[Candidate] = []
    number = 0
    for number, raw in read_lines(path, blank=True):
        where, line = f"{path}:{number}", raw.strip()
        if tag is not None:
            if line == f"</{tag}>":
                if tag == "question":
                    text = words or ""
                else:
                    place = len(candidates)
                    identity = f"{block}-{place}"
                    candidates.append(Candidate(identity, words or "", _LABELS[tag], place))
                tag = None
            elif line == _CLOSE or _OPEN.fullmatch(line):
                raise QaselError(f"{where}: {line} inside <{tag}>; the file is damaged")
            elif words is None:
                words = " ".join(raw.split("\t")).strip()  # may be blank, see above
        elif not line:
            continue
        elif block is None:
            opening = _OPEN.fullmatch(line)
            if not opening:
                raise QaselError(f"{where}: expected <QApairs id='…'>, found {line[:40]!r}")
            block, text, candidates = opening[1], "", []
            if block in questions or block.split() != [block]:
                raise QaselError(f"{where}: question id {block!r} occurs twice or is not valid")
        elif line == _CLOSE:
            if not text:
                raise QaselError(f"{where}: question {block!r} has no words")
            questions[block] = Question(block, text, tuple(candidates))
            block = None
        elif line[1:-1] in _LABELS and line == f"<{line[1:-1]}>":
            tag, words = line[1:-1], None
        else:
            raise QaselError(f"{where}: {line[:40]!r} is out of place in question {block!r}")
    if block is not None:
        raise QaselError(f"{path}:{number}: the file ends inside question {block!r}; get it anew")
    kept = tuple(question for question in questions.values() if question.candidates)
    if not kept:
        raise QaselError(f"{path}: no question has candidates")
    return Split(name or Path(path).name.split(".")[0], kept)
