"""Write the sample's tables of related questions: `python tools/sample_related.py`.

data/sample/related.txt holds the texts and explains its format at the top. The tables
data/sample/related-{train,dev,test}.tsv are made from it, in the form of SemEval's subtask B:
each list is filled up to ten with the other original questions of its split that BM25 ranks
highest, and sorted by BM25 (the column `pos`).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import bm25s
import numpy as np

from qasel.datasets.semeval import ORIGINAL, B
from qasel.locations import DATA

FOUND = 10
"""Candidates per list."""

LABELS = {"P": "PerfectMatch", "R": "Relevant", "I": "Irrelevant"}
"""Letter in the source → label in the tables."""

SPLIT = re.compile(r"# (\w+)")
LINE = re.compile(r"(F\d+|[PRI]) (\S.*?) \| (\S.*)")


@dataclass(frozen=True)
class Text:
    """A forum question; `label` is its relevance to the original that it was written for."""

    id: str
    subject: str
    body: str
    label: str = "Irrelevant"  # what an original question is to all others

    @property
    def words(self) -> list[str]:
        """The words that BM25 reads."""
        return re.findall(r"\w+", f"{self.subject} {self.body}".lower())


@dataclass
class List:
    """An original question and the questions written for it."""

    original: Text
    written: list[Text] = field(default_factory=list)


def read(text: str) -> dict[str, list[List]]:
    """Parse the source into split → lists; raises `ValueError` for a malformed line."""
    splits: dict[str, list[List]] = {}
    lists: list[List] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if split := SPLIT.fullmatch(line):
            lists = splits.setdefault(split[1], [])
        elif splits and line:
            if not (match := LINE.fullmatch(line)) or "\t" in line:
                raise ValueError(f"line {number} is not ID SUBJECT | BODY: {line!r}")
            name, subject, body = match.groups()
            if name not in LABELS:
                lists.append(List(Text(name, subject, body)))
                continue
            if not lists:
                raise ValueError(f"line {number} comes before any original question")
            original, written = lists[-1].original, lists[-1].written
            identity = f"{original.id}_R{len(written) + 1}"
            written.append(Text(identity, subject, body, LABELS[name]))
    return splits


def found(lists: Sequence[List]) -> Iterator[tuple[Text, list[Text]]]:
    """Yield every original question of a split with its ten candidates, sorted by BM25.

    BM25 is Lucene's (library bm25s), over all texts of the split. Ties keep the order of the
    source, with the questions written for the original first.
    """
    originals = [each.original for each in lists]
    texts = originals + [text for each in lists for text in each.written]
    words = [text.words for text in texts]
    number = {word: i for i, word in enumerate(sorted({w for text in words for w in text}))}
    ids = [[number[word] for word in text] for text in words]
    index = bm25s.BM25(dtype="float64")
    index.index((ids, number), show_progress=False)
    row = {text.id: i for i, text in enumerate(texts)}
    for each in lists:
        scores = index.get_scores(ids[row[each.original.id]]).round(9)
        best = [originals[i] for i in np.argsort(-scores[: len(originals)], kind="stable")]
        others = [text for text in best if text is not each.original]
        ten = each.written + others[: FOUND - len(each.written)]
        yield each.original, sorted(ten, key=lambda text: -scores[row[text.id]])


def table(lists: Sequence[List]) -> str:
    """Return the table of a split."""
    rows = [B.columns]
    for original, ten in found(lists):
        for place, text in enumerate(ten, start=1):
            told = (original.id, text.id, place, place, text.label, B.labels[text.label])
            texts = (original.subject, original.body, text.subject, text.body)
            rows.append(tuple(map(str, (*told, *texts, ORIGINAL))))
    return "".join("\t".join(row) + "\n" for row in rows)


def tables(folder: Path = DATA / "sample") -> dict[str, str]:
    """Return name → text of each table."""
    splits = read((folder / "related.txt").read_text(encoding="utf-8"))
    return {f"related-{name}.tsv": table(lists) for name, lists in splits.items()}


if __name__ == "__main__":
    for name, text in tables().items():
        (DATA / "sample" / name).write_text(text, encoding="utf-8")
        print(f"{name}: {text.count(chr(10)) - 1} pairs")
