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
from pathlib import Path

from qasel.datasets.base import Candidate, Question, Split
from qasel.datasets.lines import read_lines
from qasel.errors import QaselError
from qasel.files import FilePath

_OPEN = re.compile(r"<QApairs id='([^']*)'>")
_CLOSE = "</QApairs>"
_LABELS = {"question": None, "positive": 1, "negative": 0}


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
