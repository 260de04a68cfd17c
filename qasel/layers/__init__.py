"""Network layers that more than one paper uses; here those over real entries only."""

from collections.abc import Callable

import torch
from torch import Tensor


def masked_softmax(scores: Tensor, mask: Tensor, dim: int = -1) -> Tensor:
    """Softmax where `mask` (of a shape that broadcasts); padding gets 0, all padding all 0."""
    return scores.masked_fill(~mask, -torch.inf).softmax(dim).nan_to_num(0.0)


def masked_max(values: Tensor, mask: Tensor, dim: int) -> Tensor:
    """The largest entry where `mask` along `dim`; −∞ where there is none."""
    return values.masked_fill(~mask, -torch.inf).amax(dim)


def on_real(function: Callable[[Tensor], Tensor], values: Tensor, mask: Tensor) -> Tensor:
    """A function of rows `[rows, size]`, of the rows of `values` `[…, size]` where `mask` `[…]`; 0
    elsewhere. A GPU would have to wait for the number of rows, so there it is computed of all.
    """
    if values.device.type != "cpu":
        return torch.where(mask[..., None], function(values), 0.0)
    place = mask.flatten().nonzero()[:, 0]
    found = function(values.flatten(0, -2).index_select(0, place))
    padded = found.new_zeros(mask.numel(), found.shape[-1]).index_copy(0, place, found)
    return padded.view(*mask.shape, -1)
