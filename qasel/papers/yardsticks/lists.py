"""Lists for a transformer: tiles of pairs of one length, and training lists cut to its memory."""

from dataclasses import replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from torch import Tensor

from qasel.datasets.base import Question, Split
from qasel.training.batching import EncodedSplit


class PairedSplit(EncodedSplit):
    """A split whose tiles hold pairs of about the same length, question and candidate together.

    A transformer reads them as one row, and computes as much at padding as anywhere else: tiles
    are small. On WikiQA's lists, ten questions a batch, a sixth of what it reads is padding;
    tiles as other networks have them would be two fifths padding.
    """

    tile_pairs: ClassVar[dict[str, int]] = {"cpu": 16, "cuda": 64}

    @cached_property
    def sizes(self) -> Tensor:
        """Pieces of question and candidate, `[all pairs]`."""
        return self.questions.length.repeat_interleave(self.count) + self.answers.length


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
