"""Which wrong answers a right one is set against, and the triplet loss (section 3.3).

Over padded lists, `[questions, candidates]`: `scores` are f(q, p), probabilities; `labels` are 0 or
1 (0 at padding), `mask` is true where there is a candidate. Triplets are a table `[questions,
candidates, candidates]`, true where the first (right) is set against the second (wrong).
"""

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import functional as F

from qasel.errors import QaselError
from qasel.training.batching import Batch, EncodedSplit

NEGATIVES = ("nearest", "alike", "highest", "random")
"""Ways to choose: by distance to the right answer's score or hidden vector, by the score, or by
chance."""


def choose(
    scores: Tensor, labels: Tensor, mask: Tensor, count: int, by: str, hidden: Tensor | None = None
) -> Tensor:
    """At most `count` wrong answers for every right one: the triplets.

    `by="nearest"`: those with the most similar scores; `"alike"`: whose `hidden` vectors
    `[questions, candidates, size]` have the largest cosine; `"highest"`: with the highest scores;
    `"random"`: any. A list with fewer than `count` wrong answers gives them all.
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

    (The paper prints the sum; to Adam the two differ only beside the regularisation, which is the
    optimiser's here.)
    """
    gap = scores[:, :, None] - scores[:, None, :]
    loss = F.relu(margin - gap) * triplets
    return loss.sum() / triplets.sum().clamp(min=1)


class CountedLists:
    """The lists of a split that there is something to learn from, in batches of counted items.

    What is counted are right answers if `pairwise`, candidates otherwise. Lists stay whole, so a
    batch has about as many as asked for: a list belongs to the batch in which it starts.
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
