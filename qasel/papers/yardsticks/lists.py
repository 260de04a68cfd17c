"""Training lists cut to what a transformer has memory and time for."""

from dataclasses import replace

import numpy as np

from qasel.datasets.base import Question, Split


def cut_lists(split: Split, most: int, seed: int) -> Split:
    """The split with at most `most` candidates a list, in their order; 0 keeps all.

    All right ones stay, even where they are more, and at least one wrong one beside them, if
    there is any; which wrong ones is drawn by `seed`.
    """
    generator = np.random.default_rng(seed)

    def cut(question: Question) -> Question:
        if not most or len(question.candidates) <= most:
            return question
        right = question.labels == 1
        kept = generator.permutation(np.flatnonzero(~right))[: max(most - right.sum(), 1)]
        chosen = np.sort(np.concatenate([np.flatnonzero(right), kept]))
        return replace(question, candidates=tuple(question.candidates[i] for i in chosen))

    return Split(split.name, tuple(cut(question) for question in split))
