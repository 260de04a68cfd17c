"""Holistic convolution of widths 1 to M with max pooling (sections 3.1.2-3.1.4), done sparsely.

A window is a sum of words, each times the weights of its position in the window (a tap), and
attention only scales words: W·[x; a·x] = W₁·x + a·(W₂·x). So every *distinct* word of a batch is
projected once, by one matrix product, however often it occurs and whatever it is paired with; only
sums of scaled rows of that table depend on the pair. Max pooling keeps one window per filter. The
search for it needs no gradient: only the winners are then read from the table again. On a CPU the
search is a compiled loop, which makes an epoch 2.3 times as fast (`docs/notes/kernels.md`).

Shapes: U distinct words, R sentences (or pairs), L words of the longest, M widths, T = 1 + … + M
taps, F filters, p parts of an input (1, or 2 with the weighted copy beside the vector).
"""

from typing import Any

import numpy as np
import torch
from numba import njit, prange
from torch import Tensor, nn

from qasel.layers.convolution import take_torchs_threads


def largest_windows(
    table: Tensor, place: Tensor, length: Tensor, weight: Tensor | None, widths: int, wide: bool
) -> Tensor:
    """`HolisticConvolution.largest` on a CPU; `table` `[U, T, p, F]` is float32."""
    take_torchs_threads()
    start = np.empty((len(place), widths, table.shape[3]), dtype=np.int64)
    words = table.detach().flatten(1).numpy()
    weights = np.empty((1, 1), np.float32) if weight is None else weight.detach().numpy()
    _search(words, place.numpy(), length.numpy(), weights, weight is not None, wide, start)
    return torch.from_numpy(start)


@njit(parallel=True, cache=True, fastmath={"nsz", "contract", "reassoc"})
def _search(table, place, length, weight, scaled, wide, start):  # pragma: no cover
    rows, widths, filters = start.shape
    parts = 2 if scaled else 1
    for r in prange(rows):
        window = np.empty(filters, dtype=np.float32)
        best = np.empty(filters, dtype=np.float32)
        winner = np.empty(filters, dtype=np.int32)
        words = length[r]
        for width in range(1, widths + 1):
            first = 1 - width if wide else 0
            last = words - 1 if wide else max(words - width, 0)
            tap = width * (width - 1) // 2
            best[:] = -np.inf
            winner[:] = first
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
                for c in range(filters):
                    better = window[c] > best[c]
                    best[c] = window[c] if better else best[c]
                    winner[c] = s if better else winner[c]
            start[r, width - 1] = winner


class HolisticConvolution(nn.Module):
    """`filters` holistic filters of each width 1 to `widths`, tanh, max over the windows.

    With `wide`, a sentence is surrounded by zeros, so that all words are in equally many of its
    |S| + w − 1 windows (Kalchbrenner et al. 2014). Otherwise its |S| − w + 1 windows lie within it;
    a sentence shorter than a window has one window, filled up with zeros. These zeros belong to
    the method; a batch's padding is in no window that counts.
    """

    def __init__(self, size: int, filters: int, widths: int, *, weighted: bool, wide: bool) -> None:
        super().__init__()
        self.parts, self.wide, self.filters = 1 + weighted, wide, filters
        self.widths = range(1, widths + 1)
        self.convolutions: Any = nn.ModuleList(
            nn.Conv1d(self.parts * size, filters, width) for width in self.widths
        )

    def project(self, words: Tensor) -> Tensor:
        """Project words `[U, d]`, where row 0 must be zeros, to the table `[U, T, p, F]`."""
        weights = [c.weight.unflatten(1, (self.parts, -1)) for c in self.convolutions]
        taps = torch.cat([w.permute(2, 3, 1, 0) for w in weights], dim=1)  # [d, T, p, F]
        return (words @ taps.flatten(1)).view(len(words), *taps.shape[1:])

    @torch.no_grad()
    def largest(
        self, table: Tensor, place: Tensor, length: Tensor, weight: Tensor | None
    ) -> Tensor:
        """Return the first position of the largest window of each width and filter, `[R, M, F]`.

        It is negative if the window begins before the sentence; ties go to the first window.
        `place` `[R, L]` are the words' rows in the table (0: padding), `weight` `[R, L]` their
        attention weights, `length` `[R]` the numbers of words of the sentences.
        """
        rows, longest = place.shape
        starts = []
        for width in self.widths:
            tap = width * (width - 1) // 2
            sums = table.new_zeros(rows, longest + width - 1, self.filters)
            for offset in range(width):
                part = table[:, tap + offset, 0][place]
                if weight is not None:
                    copy = table[:, tap + offset, 1][place]
                    part = part.addcmul(weight[..., None].to(part), copy)
                sums[:, width - 1 - offset :][:, :longest] += part
            start = torch.arange(1 - width, longest, device=place.device)
            if self.wide:
                counts = start < length[:, None]
            else:
                counts = (start >= 0) & (start <= (length[:, None] - width).clamp(min=0))
            sums = sums.masked_fill(~counts[..., None], -torch.inf)
            starts.append(sums.argmax(1) - (width - 1))
        return torch.stack(starts, dim=1)

    def winners(
        self, table: Tensor, place: Tensor, length: Tensor, weight: Tensor | None
    ) -> tuple[Tensor, Tensor | None]:
        """Return table rows and attention weights of the largest windows' words, `[R, T, F]`.

        The row is 0 (no word) outside of the sentence. Arguments are as in `largest`.
        """
        if table.device.type == "cpu" and table.dtype == torch.float32:
            widths = len(self.widths)
            start = largest_windows(table, place, length, weight, widths, self.wide)
        else:
            start = self.largest(table, place, length, weight)
        taps = [start[:, w - 1] + offset for w in self.widths for offset in range(w)]
        word = torch.stack(taps, dim=1)
        inside = (word >= 0) & (word < place.shape[1])
        index = word.clamp(0, place.shape[1] - 1).flatten(1)
        row = torch.where(inside, place.gather(1, index).view_as(word), 0)
        return row, None if weight is None else weight.gather(1, index).view_as(word)

    def pool(self, table: Tensor, row: Tensor, weight: Tensor | None) -> Tensor:
        """Return the max-pooled sentences, `[R, M, F]`: tanh of the sums over the `winners`.

        (tanh after the maximum equals tanh before it.)
        """
        taps, parts, filters = table.shape[1:]
        first = torch.arange(taps, device=table.device)[:, None] * parts * filters
        index = row * (taps * parts * filters) + first + torch.arange(filters, device=table.device)
        # A single gather, as each one has a gradient of the size of the table.
        places = torch.stack([index + part * filters for part in range(parts)])
        sums, *copy = table.flatten().gather(0, places.flatten()).view(places.shape).float()
        if weight is not None:
            sums = sums + weight * copy[0]
        by_width = [part.sum(1) for part in sums.split(list(self.widths), dim=1)]
        bias = torch.stack([c.bias for c in self.convolutions])
        return (torch.stack(by_width, dim=1) + bias).tanh()
