"""A data set, or a task on pairs, in numbers."""

from statistics import fmean

from qasel.datasets.base import Dataset
from qasel.datasets.pairs import PairTask


def describe(dataset: Dataset) -> list[dict[str, str | int | float]]:
    """One record a split: questions, pairs, positives, pairs a question, mean lengths.

    `answered` and `mixed` count the questions with a right answer, and with a
    right and a wrong one. Lengths are in blank-separated tokens, as the papers count:
    `question_tokens` over questions, `sentence_tokens` over pairs.
    """
    return [
        {
            "split": name,
            "questions": len(split),
            "answered": sum(question.answered for question in split),
            "mixed": sum(question.mixed for question in split),
            "pairs": split.pairs,
            "positives": split.positives,
            "pairs_per_question": split.pairs / len(split),
            "question_tokens": fmean(len(question.text.split()) for question in split),
            "sentence_tokens": fmean(
                len(candidate.text.split())
                for question in split
                for candidate in question.candidates
            ),
        }
        for name, split in dataset.splits.items()
    ]


def describe_pairs(task: PairTask) -> list[dict[str, str | int | float]]:
    """One record a label: its pairs, and the mean lengths of both texts in tokens.

    Tokens are set apart by blanks; a label without pairs has lengths of 0.
    """
    records: list[dict[str, str | int | float]] = []
    for number, label in enumerate(task.labels):
        pairs = [pair for pair in task.pairs if pair.label == number]
        records.append(
            {
                "label": label,
                "pairs": len(pairs),
                "left_tokens": fmean([len(pair.left.split()) for pair in pairs] or [0]),
                "right_tokens": fmean([len(pair.right.split()) for pair in pairs] or [0]),
            }
        )
    return records
