"""Ranking losses over padded lists `[questions, candidates]`, and networks that combine several.

The point, pair and list losses are those of Gao et al. 2020. All return a mean over the questions
of the batch. `labels` are 0 or 1 (0 at padding), `mask` is true where there is a candidate.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from qasel.training.loss_augmented import structured_hinge


def point_loss(scores: Tensor, labels: Tensor, mask: Tensor, **_: Any) -> Tensor:
    """Cross entropy of each candidate's label, averaged over its list (equation 6).

    `scores` are logits: a softmax over two classes depends only on the difference of their scores.
    """
    loss = F.binary_cross_entropy_with_logits(scores, labels, reduction="none")
    return ((loss * mask).sum(1) / mask.sum(1)).mean()


def pair_loss(
    scores: Tensor, labels: Tensor, mask: Tensor, margin: float, pairs: str, **_: Any
) -> Tensor:
    """Hinge loss of positive against negative candidates (equation 8).

    `pairs="all"`: every positive against every negative, scores squashed by a sigmoid (the paper's
    choice on WikiQA). `pairs="hardest"`: every positive against the negative with the highest score
    (its choice on TREC-QA). A list without both kinds has no pairs and adds 0.
    """
    positive = mask & (labels > 0.5)
    negative = mask & (labels <= 0.5)
    if pairs == "all":
        scores = scores.sigmoid()
        gap = scores[:, :, None] - scores[:, None, :]
        counts = positive[:, :, None] & negative[:, None, :]
    else:
        # Lists without a negative get 0 here, not -inf: they have no pairs, and inf · 0 is nan.
        highest = scores.masked_fill(~negative, -torch.inf).amax(1).nan_to_num(neginf=0.0)
        gap = (scores - highest[:, None])[:, :, None]
        counts = (positive & negative.any(1, keepdim=True))[:, :, None]
    loss = F.relu(margin - gap) * counts
    return (loss.sum((1, 2)) / counts.sum((1, 2)).clamp(min=1)).mean()


def list_loss(
    scores: Tensor, labels: Tensor, mask: Tensor, mean: str = "batch", **_: Any
) -> Tensor:
    """KL(Y || p) of the normalised labels Y and the softmax p of the scores (equation 9).

    The paper prints KL(p || Y), which is infinite wherever a label is 0. `mean="list"` divides each
    list's KL by its own length, as printed; `mean="batch"` by the mean length in the batch, so that
    all lists count alike; `mean="none"` does not divide. A list without a positive adds 0.
    """
    log_p = F.log_softmax(scores.masked_fill(~mask, -torch.inf), dim=1)
    target = labels / labels.sum(1, keepdim=True).clamp(min=1)
    # 0 · log 0 = 0, and no 0 · inf at padding.
    terms = torch.where(target > 0, target * (target.clamp(min=1e-12).log() - log_p), 0.0)
    if mean == "none":
        return terms.sum(1).mean()
    if mean == "list":
        return (terms.sum(1) / mask.sum(1)).mean()
    return terms.sum() / mask.sum()


def ap_loss(scores: Tensor, labels: Tensor, mask: Tensor, **_: Any) -> Tensor:
    """Structured hinge loss of 1 − AP, with the most violating ranking found exactly.

    Equation 4 of Haponchyk and Moschitti (position weights 1 / j, C = 1) with a network's scores,
    which they leave to future work. A list without both kinds adds 0.
    """
    real = scores[mask]
    counts = mask.sum(1)
    first = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
    parts = (real.detach().double(), labels[mask] > 0.5, first)
    values, gradient = structured_hinge(*(part.cpu().numpy() for part in parts))
    # Has this value and this gradient: the rankings are constants to autograd.
    moved = (real * torch.from_numpy(gradient).to(real)).sum()
    total = moved - moved.detach() + float(values.sum())
    return total / len(scores)


def ndcg_loss(scores: Tensor, labels: Tensor, mask: Tensor, k: int = 10, **_: Any) -> Tensor:
    """LambdaLoss with LambdaRank's weights (Wang et al. 2018): pairs by the change in NDCG@k.

    Among the k best (10 in the shared tasks), each pair of which only the first is relevant costs
    log₂(1 + exp(s₂ − s₁)), times the change in NDCG@k if the two swapped places. A list without
    both kinds adds 0.
    """
    ranked, relevant, pairs = _ranked_pairs(scores, labels, mask)
    place = torch.arange(relevant.shape[1], device=scores.device)
    discount = 1 / (place + 2.0).log2()
    ideal = (labels.sort(dim=1, descending=True).values * discount)[:, :k].sum(1)
    gap = (discount[:, None] - discount).abs() / ideal.clamp(min=1e-9)[:, None, None]
    inside = (place < k)[:, None] & (place < k)
    return _weighted_pairs(ranked, gap, pairs & inside)


def lambda_ap_loss(scores: Tensor, labels: Tensor, mask: Tensor, **_: Any) -> Tensor:
    """As `ndcg_loss`, but with the change in average precision, and without a cutoff."""
    ranked, relevant, pairs = _ranked_pairs(scores, labels, mask)
    rank = torch.arange(1, relevant.shape[1] + 1, device=scores.device)
    above = relevant.cumsum(1)  # number of relevant ones up to each rank
    precision, passed = above / rank, (relevant / rank).cumsum(1)
    first, second = precision[:, :, None], precision[:, None, :]
    # Down: the relevant one's precision is that of its new rank, and those it passes lose one.
    down = first - second + passed[:, None, :] - passed[:, :, None]
    # Up: at its new rank it counts itself, and those it passes gain one.
    up = second + 1 / rank - first + (passed - relevant / rank)[:, :, None] - passed[:, None, :]
    gap = torch.where(rank[:, None] < rank, down, up) / above[:, -1:, None].clamp(min=1)
    return _weighted_pairs(ranked, gap, pairs)


def _ranked_pairs(scores: Tensor, labels: Tensor, mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Scores and labels, best first, padding last; and a mask of (relevant, non-relevant) pairs."""
    seen = scores.detach().masked_fill(~mask, -torch.inf)
    order = seen.argsort(dim=1, descending=True, stable=True)
    ranked, relevant, real = (x.gather(1, order) for x in (scores, labels, mask))
    is_relevant = relevant > 0.5
    return ranked, relevant, is_relevant[:, :, None] & (real & ~is_relevant)[:, None, :]


def _weighted_pairs(ranked: Tensor, weight: Tensor, pairs: Tensor) -> Tensor:
    """Logistic loss in bits of pairs `[questions, candidates, candidates]`: mean sum per list."""
    cost = F.softplus(ranked[:, None, :] - ranked[:, :, None]) / math.log(2)
    return (cost * weight * pairs).sum((1, 2)).mean()


LOSSES: dict[str, Callable[..., Tensor]] = {
    "point": point_loss, "pair": pair_loss, "list": list_loss, "ap": ap_loss, "ndcg": ndcg_loss,
    "lambda-ap": lambda_ap_loss,
}  # fmt: skip
LEVELS = ("point", "pair", "list")
"""The levels of ranking of Gao et al. 2020."""


@dataclass(frozen=True)
class Head:
    """A ranking level: its `name`, the `loss` that trains it, and the heads that it `reads`.

    Their features precede its own in its enhanced features (Gao et al. 2020, equations 11-15).
    """

    name: str
    loss: str
    reads: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scheme:
    """The heads of a variant, in order (a head reads earlier ones), and the one that ranks."""

    heads: tuple[Head, ...]
    ranks: str

    def sources(self, name: str) -> tuple[str, ...]:
        """The heads whose features make up head `name`'s enhanced features r̂, its own last."""
        head = next(head for head in self.heads if head.name == name)
        read = [source for other in head.reads for source in self.sources(other)]
        return (*read, name)


POINT, PAIR, LIST = (Head(level, level) for level in LEVELS)
PROGRESSIVE = Scheme(
    (POINT, Head("pair", "pair", ("point",)), Head("list", "list", ("pair",))), "list"
)
"""PRI(list), equation 14: each level reads the one before."""


def joint_loss(
    heads: Iterable[Head],
    scores: Mapping[str, Tensor],
    labels: Tensor,
    mask: Tensor,
    weights: Mapping[str, float],
    **how: Any,
) -> dict[str, Tensor]:
    """The loss of each head by name, and their weighted sum as "loss" (equation 10).

    A head without a weight has weight 1; `how` are the settings that the losses read.
    """
    parts = {head.name: LOSSES[head.loss](scores[head.name], labels, mask, **how) for head in heads}
    first, *others = (weights.get(name, 1.0) * part for name, part in parts.items())
    return {"loss": sum(others, first), **parts}
