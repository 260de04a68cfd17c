"""Network layers shared by several papers; in this module, those that ignore padding."""

from collections.abc import Callable

import torch
from torch import Tensor


def masked_softmax(scores: Tensor, mask: Tensor, dim: int = -1) -> Tensor:
    """Softmax where `mask` (broadcastable) is true; 0 elsewhere, also if it is true nowhere."""
    return scores.masked_fill(~mask, -torch.inf).softmax(dim).nan_to_num(0.0)


def masked_max(values: Tensor, mask: Tensor, dim: int) -> Tensor:
    """The maximum along `dim` of the entries where `mask` is true; −∞ if there are none."""
    return values.masked_fill(~mask, -torch.inf).amax(dim)


def on_real(function: Callable[[Tensor], Tensor], values: Tensor, mask: Tensor) -> Tensor:
    """Apply a function of rows `[rows, size]` to `values` `[…, size]` where `mask` `[…]` is true.

    Other rows get 0. A GPU would have to wait for the number of rows, so it computes them all.
    """
    if values.device.type != "cpu":
        return torch.where(mask[..., None], function(values), 0.0)
    place = mask.flatten().nonzero()[:, 0]
    found = function(values.flatten(0, -2).index_select(0, place))
    padded = found.new_zeros(mask.numel(), found.shape[-1]).index_copy(0, place, found)
    return padded.view(*mask.shape, -1)
