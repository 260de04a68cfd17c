"""A CNN over sentences followed by the maximum over time, without padding.

Sentences lie one after the other as rows of words; nothing is spent on
padding. A window may start at any word of its sentence and sees zeros past the
sentence's end, so that a sentence shorter than a kernel has windows too.

On a CPU the forward pass is one matrix product a kernel (every word with every
tap) and a pass that adds up taps and takes the maximum; the backward pass uses
that the maximum sends gradient to a single window a channel, which is about
length times less work than a dense convolution's. On a GPU the dense
convolution is fast enough and stays.
"""

from collections.abc import Iterable
from typing import Any, cast

import numpy as np
import torch
from numba import njit, prange
from torch import Tensor, nn
from torch.nn import functional as F

from qasel.layers.compiled import take_torchs_threads

ROWS = 256
"""Words a matrix product: its result stays in the cache for the pass that reads it."""
_BLOCK = 16
"""Sentences, or channels, whose data stay in the cache while the others stream by."""


class MaxOverTime(nn.Module):
    """Convolutions of several kernel sizes, the maximum over time, then ReLU.

    (ReLU after the maximum equals ReLU before it.) Input: words `[T, size]` of
    S sentences, of lengths `[S]` (each at least 1), one after the other.
    Output: `[S, kernels · channels]`, the kernels in the order given.
    """

    def __init__(self, size: int, channels: int, kernels: tuple[int, ...]) -> None:
        super().__init__()
        self.convolutions = nn.ModuleList(nn.Conv1d(size, channels, k) for k in kernels)

    def forward(self, words: Tensor, length: Tensor) -> Tensor:
        """The features of each sentence."""
        convolutions = list(cast(Iterable[nn.Conv1d], self.convolutions))
        weights = [convolution.weight for convolution in convolutions]
        if words.device.type == "cpu":
            best = _SparseMax.apply(words, length, *weights)
        else:
            best = dense_max(words, length, weights)
        return F.relu(best + torch.cat([c.bias for c in convolutions if c.bias is not None]))


def dense_max(words: Tensor, length: Tensor, weights: list[Tensor]) -> Tensor:
    """The same maxima by padding and PyTorch's convolution: `[S, sum of channels]`."""
    longest = max(weight.shape[2] for weight in weights)
    size = int(length.max())
    inside = torch.arange(size, device=length.device) < length[:, None]
    padded = words.new_zeros(len(length), size, words.shape[1])
    padded[inside] = words
    series = F.pad(padded, (0, 0, 0, longest - 1)).transpose(1, 2)
    best = []
    for weight in weights:
        windows = F.conv1d(series, weight)[..., :size]
        best.append(windows.masked_fill(~inside[:, None], -torch.inf).amax(-1))
    return torch.cat(best, dim=1)


class _SparseMax(torch.autograd.Function):
    """`dense_max` for the CPU."""

    @staticmethod
    def forward(ctx: Any, words: Tensor, length: Tensor, *weights: Tensor) -> Tensor:
        take_torchs_threads()
        words = words.float().contiguous()
        channels, size, _ = weights[0].shape
        # One column a tap and channel, tap by tap.
        taps = [weight.permute(1, 2, 0).reshape(size, -1) for weight in weights]
        lengths = length.numpy()
        ends = lengths.cumsum()
        best = torch.empty(len(lengths), len(weights) * channels)
        place = np.empty(best.shape, dtype=np.int32)
        rows = max(ROWS, int(lengths.max()))
        products = torch.empty(rows * max(tap.shape[1] for tap in taps))
        first = 0
        while first < len(lengths):
            row = int(ends[first] - lengths[first])
            last = max(int(np.searchsorted(ends, row + ROWS, side="right")), first + 1)
            some = words[row : int(ends[last - 1])]
            starts = ends[first:last] - lengths[first:last] - row
            for number, tap in enumerate(taps):
                out = products[: len(some) * tap.shape[1]].view(len(some), -1)
                torch.mm(some, tap, out=out)
                block = slice(number * channels, (number + 1) * channels)
                _maxima(
                    out.numpy(),
                    starts,
                    lengths[first:last],
                    best.numpy()[first:last, block],
                    place[first:last, block],
                )
            first = last
        ctx.save_for_backward(words, length, *weights)
        ctx.place = place
        return best

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        # Numba counts threads per thread, and this is one of autograd's own.
        take_torchs_threads()
        words, length, *weights = ctx.saved_tensors
        lengths = length.numpy()
        starts = lengths.cumsum() - lengths
        pulls = gradient.contiguous().numpy()
        flat = words.numpy()
        to_words = torch.zeros_like(words)
        to_weights = []
        column = 0
        for weight in weights:
            channels, size, kernel = weight.shape
            block = slice(column, column + channels)
            column += channels
            # Rows of a window are contiguous, and so must be those of the weights.
            rows = weight.detach().transpose(1, 2).contiguous().view(channels, -1)
            to_rows = torch.zeros_like(rows)
            place, part = ctx.place[:, block], pulls[:, block]
            _to_weights(flat.reshape(-1), size, starts, lengths, place, part, to_rows.numpy())
            if ctx.needs_input_grad[0]:
                target = to_words.view(-1).numpy()
                _to_words(target, size, starts, lengths, place, part, rows.numpy())
            to_weights.append(to_rows.view(channels, kernel, size).transpose(1, 2))
        return to_words if ctx.needs_input_grad[0] else None, None, *to_weights


@njit(parallel=True, cache=True, fastmath={"nsz", "contract", "reassoc"})
def _maxima(products, starts, lengths, best, place):  # pragma: no cover
    """Add up the taps of each window and keep the largest window of each channel."""
    channels = best.shape[1]
    kernel = products.shape[1] // channels
    for s in prange(len(starts)):
        window = np.empty(channels, dtype=np.float32)
        for t in range(lengths[s]):
            row = starts[s] + t
            window[:] = products[row, :channels]
            for j in range(1, min(kernel, lengths[s] - t)):
                for c in range(channels):
                    window[c] += products[row + j, j * channels + c]
            if t == 0:
                best[s, :] = window
                place[s, :] = 0
            else:
                for c in range(channels):
                    better = window[c] > best[s, c]
                    best[s, c] = window[c] if better else best[s, c]
                    place[s, c] = t if better else place[s, c]


@njit(parallel=True, cache=True, fastmath={"nsz", "contract", "reassoc"})
def _to_weights(words, size, starts, lengths, place, gradient, rows):  # pragma: no cover
    """rows[c] += gradient[s, c] · (the words of the window that won in sentence s)."""
    sentences, channels = gradient.shape
    for lane in prange(-(-channels // _BLOCK)):
        for block in range(0, sentences, _BLOCK):
            for c in range(lane * _BLOCK, min((lane + 1) * _BLOCK, channels)):
                out = rows[c]
                for s in range(block, min(block + _BLOCK, sentences)):
                    g = gradient[s, c]
                    if g != 0.0:
                        t = place[s, c]
                        count = min(len(out), (lengths[s] - t) * size)
                        source = words[(starts[s] + t) * size : (starts[s] + t) * size + count]
                        for i in range(count):
                            out[i] += g * source[i]


@njit(parallel=True, cache=True, fastmath={"nsz", "contract", "reassoc"})
def _to_words(target, size, starts, lengths, place, gradient, rows):  # pragma: no cover
    """The words of the winning window of sentence s += gradient[s, c] · rows[c]."""
    sentences, channels = gradient.shape
    for lane in prange(-(-sentences // _BLOCK)):
        for block in range(0, channels, _BLOCK):
            for s in range(lane * _BLOCK, min((lane + 1) * _BLOCK, sentences)):
                for c in range(block, min(block + _BLOCK, channels)):
                    g = gradient[s, c]
                    if g != 0.0:
                        t = place[s, c]
                        source = rows[c]
                        count = min(len(source), (lengths[s] - t) * size)
                        out = target[(starts[s] + t) * size : (starts[s] + t) * size + count]
                        for i in range(count):
                            out[i] += g * source[i]
