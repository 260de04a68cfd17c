"""The reward of each step: what an insertion does to the average precision (section 3.5)."""

import torch
from torch import Tensor

NO_CHANGE = 1e-9
"""Average precisions closer than this are the same."""


def inserted(keys: Tensor, new: Tensor, labels: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """AP of the list L before each step, and after it if the step's candidate had key `new`.

    All are `[questions, steps]`. Candidates enter in the order of the columns of `keys`, and L is
    kept sorted by key, largest first; one that ties with candidates already there goes below
    them. AP (equation 25) is 0 as long as no right candidate has entered, so on a list without
    any it is 0 throughout.
    """
    keys, new, right = keys.double(), new.double(), (labels * mask).double()
    step = torch.arange(keys.shape[1], device=keys.device)
    # [questions, t, j]: candidate j is in the list before step t.
    there = (step < step[:, None]) & mask[:, :, None]
    # [questions, i, j]: of two that entered, i stands above j.
    above = keys[:, :, None] > keys[:, None, :]
    above |= (keys[:, :, None] == keys[:, None, :]) & (step[:, None] < step)
    above = (above & mask[:, :, None]).double()
    # [questions, t, j]: how many, and how many right ones, stand above j before step t.
    all_above = above.cumsum(1) - above
    right_above = (above * right[:, :, None]).cumsum(1) - above * right[:, :, None]
    below = (new[:, :, None] > keys[:, None, :]).double()  # j goes down when t comes in

    worth = right[:, None] * there
    before = (worth * (1 + right_above) / (1 + all_above)).sum(-1)
    moved = worth * (1 + right_above + below * right[:, :, None]) / (1 + all_above + below)
    over = there * (1 - below)
    own = right * (1 + (over * right[:, None]).sum(-1)) / (1 + over.sum(-1))
    count = right.cumsum(1)
    return before / (count - right).clamp(min=1), (moved.sum(-1) + own) / count.clamp(min=1)


def rewards(
    keys: Tensor, labels: Tensor, mask: Tensor, no_change: float, new: Tensor | None = None
) -> Tensor:
    """R(a_t) (equation 24): the change of AP, or `no_change` where it is the same; 0 at padding.

    Arguments as in `inserted`; `new` asks what a step would have earned with another key.
    """
    before, after = inserted(keys, keys if new is None else new, labels, mask)
    change = after - before
    return torch.where(change.abs() < NO_CHANGE, no_change, change).float() * mask
