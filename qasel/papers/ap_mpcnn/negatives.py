"""The choice of non-relevant answers for each relevant one, and the triplet loss (section 3.3).

Lists are padded, `[questions, candidates]`: `scores` are f(q, p); `labels` are 0 or 1 (0 at
padding); `mask` is true where there is a candidate. Triplets are a table `[questions, candidates,
candidates]`, true where the first (relevant) is compared with the second (non-relevant).
"""

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import functional as F

from qasel.errors import QaselError
from qasel.training.batching import Batch, EncodedSplit

NEGATIVES = ("nearest", "alike", "highest", "random")
"""Ways to choose: closest to the relevant answer by score or hidden vector, best score, random."""


def choose(
    scores: Tensor, labels: Tensor, mask: Tensor, count: int, by: str, hidden: Tensor | None = None
) -> Tensor:
    """Choose at most `count` non-relevant answers for every relevant one; returns the triplets.

    `by="nearest"`: those with the closest scores; "alike": those whose `hidden` vectors
    `[questions, candidates, size]` have the largest cosine; "highest": those with the highest
    scores; "random": any. Lists with fewer than `count` non-relevant answers use them all.
    """
    scores = scores.detach()
    positive = mask & (labels > 0.5)
    negative = mask & (labels <= 0.5)
    pairs = positive[:, :, None] & negative[:, None, :]
    if by == "nearest":
        far = (scores[:, :, None] - scores[:, None, :]).abs()
    elif by == "alike":
        assert hidden is not None
        unit = F.normalize(hidden.detach(), dim=2)
        far = -unit @ unit.mT
    elif by == "highest":
        far = (-scores[:, None, :]).expand(pairs.shape)
    else:
        far = torch.rand(pairs.shape, device=scores.device)
    far = far.masked_fill(~pairs, torch.inf)
    kept = far.topk(min(count, far.shape[2]), dim=2, largest=False).indices
    return torch.zeros_like(pairs).scatter(2, kept, True) & pairs


def triplet_loss(scores: Tensor, triplets: Tensor, margin: float) -> Tensor:
    """Mean over the triplets of max(0, margin − (f(q, p⁺) − f(q, p⁻))) (equation 24); 0 for none.

    (The paper prints the sum. For Adam, the two differ only relative to its weight decay.)
    """
    gap = scores[:, :, None] - scores[:, None, :]
    loss = F.relu(margin - gap) * triplets
    return loss.sum() / triplets.sum().clamp(min=1)


class CountedLists:
    """The lists of a split that can be learnt from, in batches of about equally many items.

    Items are relevant answers if `pairwise`, else candidates. Lists stay whole: each belongs to
    the batch in which its first item falls. Raises `QaselError` if no list can be learnt from.
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
        """Yield batches of about `size` items, in file order or shuffled by a (CPU) generator."""
        order = torch.randperm(len(self), generator=shuffle) if shuffle else torch.arange(len(self))
        weight = self.weight[order]
        _, lists = ((weight.cumsum(0) - weight) // size).unique_consecutive(return_counts=True)
        for index in self.questions[order].split(lists.tolist()):
            yield self.data.batch(index.to(self.device))
