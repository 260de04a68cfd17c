"""Whole lists in batches of about the same number of right answers, or of candidates."""

from collections.abc import Iterator

import torch

from qasel.errors import QaselError
from qasel.training.batching import Batch, EncodedSplit


class CountedLists:
    """What an epoch goes through: the lists of a split that there is something to learn from.

    A batch of 32 means right answers if `pairwise`, each to be set against wrong ones of its
    list, and candidates otherwise. Lists stay whole, so a batch has about as many as asked for:
    a list belongs to the batch in which it starts.
    """

    def __init__(self, data: EncodedSplit, pairwise: bool) -> None:
        self.data, self.device = data, data.device
        positives = torch.tensor([float(q.labels.sum()) for q in data.split]).long()
        candidates = data.count.cpu()
        keep = (positives > 0) & (positives < candidates) if pairwise else candidates > 0
        self.questions = keep.nonzero()[:, 0]
        self.weight = (positives if pairwise else candidates)[self.questions]
        if not len(self.questions):
            raise QaselError(
                f"split {data.split.name!r} has no question with both a right and a wrong "
                "candidate: there is nothing to learn from"
            )

    def __len__(self) -> int:
        return len(self.questions)

    def batches(self, size: int, shuffle: torch.Generator | None = None) -> Iterator[Batch]:
        """Batches of about `size`, in file order or shuffled by a (CPU) generator."""
        order = torch.arange(len(self))
        if shuffle is not None:
            order = torch.randperm(len(self), generator=shuffle)
        weight = self.weight[order]
        _, lists = ((weight.cumsum(0) - weight) // size).unique_consecutive(return_counts=True)
        for index in self.questions[order].split(lists.tolist()):
            yield self.data.batch(index.to(self.device))
