"""A stand-in for SemEval's subtask B, made from a set whose questions share passages.

The questions of a split play both parts: each is an original question, and the others are what a
search engine (BM25) finds for it. Two questions are related if they are about the same passage,
that is, have the same candidate sentences.
"""

import re

import numpy as np

from qasel.datasets.base import Candidate, Question, Split

FOUND = 10
"""Questions found for each one, as in subtask B."""


def related(split: Split) -> Split:
    """The split's questions, each with the `FOUND` others that BM25 ranks first.

    `place` is BM25's order (ties: the split's). Lists without a related question stay, as there
    are some in subtask B. BM25 is Lucene's (library bm25s), over words in lower case.
    """
    import bm25s  # slow to import, and no other set needs it

    tokens = [re.findall(r"\w+", question.text.lower()) for question in split]
    number = {word: i for i, word in enumerate(sorted({w for words in tokens for w in words}))}
    ids = [[number[word] for word in words] for words in tokens]
    index = bm25s.BM25(dtype="float64")
    index.index((ids, number), show_progress=False)
    passages = [frozenset(candidate.id for candidate in question.candidates) for question in split]
    questions = []
    for row, (question, query) in enumerate(zip(split, ids, strict=True)):
        order = np.argsort(-index.get_scores(query), kind="stable")
        found = [int(other) for other in order if other != row][:FOUND]
        candidates = (
            Candidate(split[i].id, split[i].text, int(passages[i] == passages[row]), place)
            for place, i in enumerate(found)
        )
        questions.append(Question(question.id, question.text, tuple(candidates)))
    return Split(split.name, tuple(questions))
