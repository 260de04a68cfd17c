"""Softmax and maximum over the real entries only."""

import torch
from torch import Tensor


def masked_softmax(scores: Tensor, mask: Tensor, dim: int = -1) -> Tensor:
    """Softmax where `mask` (of a shape that broadcasts); padding gets 0, all padding all 0."""
    return scores.masked_fill(~mask, -torch.inf).softmax(dim).nan_to_num(0.0)


def masked_max(values: Tensor, mask: Tensor, dim: int) -> Tensor:
    """The largest entry where `mask` along `dim`; −∞ where there is none."""
    return values.masked_fill(~mask, -torch.inf).amax(dim)
