"""The reward of each step: what an insertion does to the average precision (section 3.5)."""

import torch
from torch import Tensor

NO_CHANGE = 1e-9
"""Average precisions closer than this are the same."""
NUMBERS = 1 << 25
"""Entries `[lists, steps, steps]` at once: long lists take many times their length in memory."""


def prefix_precisions(keys: Tensor, labels: Tensor, mask: Tensor) -> Tensor:
    """AP_t (equation 25): average precision of the list L after each step, `[lists, steps]`.

    Candidates enter in the order of the columns of `keys` `[lists, steps]`, and L is kept sorted
    by key, largest first; one that ties with candidates already there goes below them. `labels`
    and `mask` are of the same shape. AP is 0 as long as no right candidate has entered, so on a
    list without any it is 0 throughout.
    """
    keys, right = keys.double(), (labels * mask).double()
    step = torch.arange(keys.shape[1], device=keys.device)
    # [lists, i, j]: i stands above j.
    above = keys[:, :, None] > keys[:, None, :]
    above |= (keys[:, :, None] == keys[:, None, :]) & (step[:, None] < step)
    above = (above & mask[:, :, None]).double()
    # [lists, t, j]: what stands above j among those that entered up to step t.
    all_above = above.cumsum(1)
    right_above = (above * right[:, :, None]).cumsum(1)
    entered = step <= step[:, None]
    precision = right[:, None] * entered * (1 + right_above) / (1 + all_above)
    return precision.sum(-1) / right.cumsum(1).clamp(min=1)


def rewards(keys: Tensor, labels: Tensor, mask: Tensor, no_change: float) -> Tensor:
    """R(a_t) (equation 24): the change of AP, or `no_change` where it is the same; 0 at padding.

    Arguments as in `prefix_precisions`. Every step of a list without a right candidate is a
    step without a change.
    """
    rows = max(1, NUMBERS // keys.shape[1] ** 2)
    parts = zip(keys.split(rows), labels.split(rows), mask.split(rows), strict=True)
    precision = torch.cat([prefix_precisions(*part) for part in parts])
    change = precision.diff(dim=1, prepend=torch.zeros_like(precision[:, :1]))
    return torch.where(change.abs() < NO_CHANGE, no_change, change).float() * mask
