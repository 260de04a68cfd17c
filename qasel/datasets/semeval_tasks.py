"""The two subtasks of SemEval Task 3 read here: what each ranks, and which files hold it.

Subtask A ranks the comments below a question; B ranks the questions that a search engine found
for an original question. In both, most lists have ten candidates.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from qasel.errors import QaselError


@dataclass(frozen=True)
class Part:
    """A published set: its questions that have candidates, its pairs, its files (best first)."""

    questions: int
    pairs: int
    files: tuple[str, ...]


@dataclass(frozen=True)
class Subtask:
    """A subtask, and how its files say it.

    `letter` is its name; `candidate` what it ranks; `labels` the organisers' words for a
    candidate → whether it counts as relevant; `columns` the header of its tables, of which
    `question_texts` and `candidate_texts` make a question's and a candidate's text; `blank`
    allows candidates without words; `parts` are its published sets, `train` those of its
    training split.
    """

    letter: str
    candidate: str
    labels: Mapping[str, int]
    columns: tuple[str, ...]
    question_texts: tuple[str, ...]
    candidate_texts: tuple[str, ...]
    blank: bool
    parts: Mapping[str, Part]
    train: tuple[str, ...]

    def relevant(self, where: str, identity: str | None, label: str) -> int:
        """1 or 0 for a label; raises `QaselError` for one that is not known."""
        if label not in self.labels:
            what = f"{self.candidate} {identity!r}: unknown label {label!r}"
            raise QaselError(f"{where}: {what}; known: {', '.join(self.labels)}")
        return self.labels[label]


XML_2015 = tuple(
    f"SemEval2015-Task3-CQA-QL-{name}-reformatted-excluding-2016-questions-cleansed.xml"
    for name in ("train", "dev", "test")
)


def _names(letter: str, part: str) -> tuple[str, ...]:
    """The files of a part of 2016; that of all subtasks repeats threads, so it comes last."""
    official = f"SemEval2016-Task3-CQA-QL-{part}"
    whole = (f"subtask{letter}-2016-{part}.tsv", f"{official}.xml")
    return whole if letter == "B" else (whole[0], f"{official}-subtaskA.xml", whole[1])


A = Subtask(
    letter="A",
    candidate="comment",
    # `NotGood` stands in tables where only the organisers' binary gold is known.
    labels={"Good": 1, "PotentiallyUseful": 0, "Bad": 0, "NotGood": 0},
    columns=("q_id", "c_id", "pos", "label", "relevant", "q_subject", "q_body", "c_text", "form"),
    question_texts=("q_subject", "q_body"),
    candidate_texts=("c_text",),
    blank=True,
    parts={
        "2016 train-part1": Part(
            1411, 14110, (*_names("A", "train-part1"), "subtaskA-2016-train-part1-partial.tsv")
        ),
        "2016 train-part2": Part(379, 3790, _names("A", "train-part2")),
        "2015 train": Part(
            2480,
            14893,
            ("subtaskA-2015-train.tsv", *XML_2015, "subtaskA-2015-train-lemmatised.tsv"),
        ),
        # 291 threads, one of them without comments.
        "2015 dev": Part(290, 1529, ("subtaskA-2015-dev.tsv", *XML_2015)),
        "2015 test": Part(319, 1876, ("subtaskA-2015-test.tsv", *XML_2015)),
        "2016 dev": Part(244, 2440, _names("A", "dev")),
        "2016 test": Part(327, 3270, _names("A", "test")),
        "2017 test": Part(
            293,
            2930,
            (
                "subtaskA-2017-test.tsv",
                "SemEval2017-task3-English-test-subtaskA.xml",
                "SemEval2017-task3-English-test.xml",
                "SemEval2017-task3-English-test-subtaskA-input.xml",
                "SemEval2017-task3-English-test-input.xml",
            ),
        ),
    },
    train=("2016 train-part1", "2016 train-part2", "2015 train", "2015 dev", "2015 test"),
)

B = Subtask(
    letter="B",
    candidate="related question",
    labels={"PerfectMatch": 1, "Relevant": 1, "Irrelevant": 0},
    columns=(
        *("orgq_id", "relq_id", "pos", "se_rank", "label", "relevant"),
        *("orgq_subject", "orgq_body", "relq_subject", "relq_body", "form"),
    ),
    question_texts=("orgq_subject", "orgq_body"),
    candidate_texts=("relq_subject", "relq_body"),
    blank=False,
    parts={
        # One original question has nine related ones, so 1999 pairs, not the 2000 often told.
        "2016 train-part1": Part(200, 1999, _names("B", "train-part1")),
        "2016 dev": Part(50, 500, _names("B", "dev")),
        "2016 test": Part(70, 700, _names("B", "test")),
        "2017 test": Part(
            88,
            880,
            (
                "subtaskB-2017-test.tsv",
                "SemEval2017-Task3-CQA-QL-test.xml",
                "SemEval2017-task3-English-test.xml",
                "SemEval2017-task3-English-test-input.xml",
            ),
        ),
    },
    train=("2016 train-part1",),
)

SPLITS: dict[str, tuple[Subtask, dict[str, tuple[str, ...]]]] = {
    f"{task.letter.lower()}-{year}": (
        task,
        {"train": task.train, "dev": ("2016 dev",), "test": (f"{year} test",)},
    )
    for task in (A, B)
    for year in (2016, 2017)
}
"""Protocol → its subtask, and split → its parts."""
