"""A data set in numbers."""

from statistics import fmean

from qasel.datasets.base import Dataset


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
