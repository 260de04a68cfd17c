"""The search for the largest windows on a CPU: one pass over the words, nothing kept.

PyTorch would write all windows of all filters to memory, and read them again for their maximum;
here a window is summed and compared while its words' rows are in the cache.
"""

import numpy as np
import torch
from numba import njit, prange
from torch import Tensor

from qasel.layers.recurrent import take_torchs_threads


def largest_windows(
    table: Tensor, place: Tensor, length: Tensor, weight: Tensor | None, widths: int, wide: bool
) -> Tensor:
    """First word of the largest window of each width and filter, `[R, M, F]`; see `convolution`.

    `table` `[U, T, p, F]` is float32, `place` `[R, L]` and `weight` as there; of equal windows
    the first is taken.
    """
    take_torchs_threads()
    filters = table.shape[3]
    start = np.empty((len(place), widths, filters), dtype=np.int64)
    _search(
        table.detach().reshape(len(table), -1).numpy(),
        place.numpy(),
        length.numpy(),
        np.empty((1, 1), dtype=np.float32) if weight is None else weight.detach().numpy(),
        weight is not None,
        wide,
        start,
    )
    return torch.from_numpy(start)


@njit(parallel=True, cache=True, fastmath={"nsz", "contract", "reassoc"})
def _search(table, place, length, weight, scaled, wide, start):  # pragma: no cover
    rows, widths, filters = start.shape
    parts = 2 if scaled else 1
    for r in prange(rows):
        window = np.empty(filters, dtype=np.float32)
        best = np.empty(filters, dtype=np.float32)
        found = np.empty(filters, dtype=np.int32)
        words = length[r]
        for width in range(1, widths + 1):
            first = 1 - width if wide else 0
            last = words - 1 if wide else max(words - width, 0)
            tap = width * (width - 1) // 2
            for s in range(first, last + 1):
                window[:] = 0
                for k in range(max(0, -s), min(width, words - s)):
                    source = table[place[r, s + k]]
                    one = source[(tap + k) * parts * filters :]
                    if scaled:
                        a, two = weight[r, s + k], one[filters:]
                        for c in range(filters):
                            window[c] += one[c] + a * two[c]
                    else:
                        for c in range(filters):
                            window[c] += one[c]
                if s == first:
                    best[:] = window
                    found[:] = s
                else:
                    for c in range(filters):
                        better = window[c] > best[c]
                        best[c] = window[c] if better else best[c]
                        found[c] = s if better else found[c]
            for c in range(filters):
                start[r, width - 1, c] = found[c]
