"""Convolution and maximum over time; on a CPU without padding, in half of the time of `F.conv1d`.

(An epoch of CA(list) on WikiQA, see `docs/notes/kernels.md`.) Sentences are rows of words, one
after the other. A window may extend beyond the end of its sentence, where it sees zeros; in a wide
convolution also beyond the beginning, so that each word meets each tap.

On a CPU, the forward pass is one matrix product per kernel (every word with every tap) and a pass
that sums taps and takes the maximum. In the backward pass only a channel's winning window gets a
gradient: about length times less work than a dense one. On a GPU, PyTorch's products and gradients
serve (`max_by_products`).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numba import config, njit, prange, set_num_threads
from torch import Tensor, nn
from torch.nn import functional as F

from qasel.onednn import by_onednn

ROWS = 256  # words per matrix product: its result stays in the cache for the pass that reads it
TOGETHER = 512  # sentences padded to one length on a GPU
_BLOCK = 16  # sentences, or channels, whose data stay in the cache while the others stream by

# The inner loops below index slices by the loop variable only: the compiler checks any other index
# for negative values, and then does not vectorise (three times slower).


def take_torchs_threads() -> None:
    """Give numba's parallel loops, called by this thread, as many threads as PyTorch has.

    A process's first parallel loop starts numba's threads. If these are OpenMP's, like PyTorch's,
    numba then sets both thread counts to the number of CPUs, whatever the user asked for. So
    PyTorch's is set back.
    """
    threads = torch.get_num_threads()
    set_num_threads(min(threads, config.NUMBA_NUM_THREADS))
    if torch.get_num_threads() != threads:
        torch.set_num_threads(threads)


class MaxOverTime(nn.Module):
    """Convolutions of several kernel sizes, maximum over time, then ReLU (which commutes with it).

    Input: words `[T, size]` of S sentences, one after the other, and lengths `[S]` (each at least
    1). Output: `[S, kernels · channels]`. With `wide`, windows may start before the sentence.
    """

    def __init__(self, size: int, channels: int, kernels: tuple[int, ...], *, wide: bool) -> None:
        super().__init__()
        self.wide = wide
        self.convolutions: Any = nn.ModuleList(nn.Conv1d(size, channels, k) for k in kernels)

    def forward(self, words: Tensor, length: Tensor) -> Tensor:
        """The features of each sentence."""
        weights = [convolution.weight for convolution in self.convolutions]
        if words.device.type == "cpu":
            best = _SparseMax.apply(words, length, self.wide, *weights)
        else:
            best = max_by_products(words, length, self.wide, weights)
        return F.relu(best + torch.cat([convolution.bias for convolution in self.convolutions]))


def max_by_products(words: Tensor, length: Tensor, wide: bool, weights: Sequence[Tensor]) -> Tensor:
    """The largest window per sentence and channel, without bias and ReLU: `[S, all channels]`.

    For a GPU, where cuDNN's convolutions want a large workspace for each of a batch's many shapes.
    """
    # In groups, as one long sentence would pad all others to its length.
    lengths = length.split(TOGETHER)
    counts = torch.stack([part.sum() for part in lengths]).tolist()
    parts = zip(words.split(counts), lengths, strict=True)
    return torch.cat([_padded_max(*part, wide, weights) for part in parts])


def _padded_max(words: Tensor, length: Tensor, wide: bool, weights: Sequence[Tensor]) -> Tensor:
    # Zeros before each sentence, and after the last, are all that windows see outside of one.
    gap = max(weight.shape[2] for weight in weights) - 1
    place = torch.arange(gap + int(length.max()), device=length.device) - gap
    inside = (place >= 0) & (place < length[:, None])
    row = words.new_zeros(inside.numel() + gap, words.shape[1])
    row[: inside.numel()][inside.flatten()] = words
    best = []
    for weight in weights:
        kernel, windows = weight.shape[2], row.new_zeros(())
        for tap in range(kernel):
            part = row[tap : tap + inside.numel()]
            windows = torch.addmm(windows, part, weight[:, :, tap].mT)
        valid = (place >= (1 - kernel if wide else 0)) & (place < length[:, None])
        windows = windows.view(*valid.shape, -1).masked_fill(~valid[..., None], -torch.inf)
        best.append(windows.max(dim=1).values)
    return torch.cat(best, dim=1)


class _SparseMax(torch.autograd.Function):
    """What `max_by_products` returns, for the CPU."""

    @staticmethod
    def forward(ctx: Any, words: Tensor, length: Tensor, wide: bool, *weights: Tensor) -> Tensor:
        take_torchs_threads()
        words = words.float().contiguous()
        channels, size, _ = weights[0].shape
        # One column per tap and channel, tap by tap.
        taps = [weight.permute(1, 2, 0).reshape(size, -1) for weight in weights]
        lengths = length.numpy()
        ends = lengths.cumsum()
        best = torch.empty(len(lengths), len(weights) * channels)
        place = np.empty(best.shape, dtype=np.int32)
        # Always the same number of rows, whatever sentences they hold: products of one shape.
        rows = min(max(ROWS, int(lengths.max())), len(words))
        products = torch.empty(rows * max(tap.shape[1] for tap in taps))
        first = 0
        while first < len(lengths):
            row = min(int(ends[first] - lengths[first]), len(words) - rows)
            last = int(np.searchsorted(ends, row + rows, side="right"))
            some = words[row : row + rows]
            starts = ends[first:last] - lengths[first:last] - row
            for number, tap in enumerate(taps):
                out = products[: rows * tap.shape[1]].view(rows, -1)
                with by_onednn():
                    torch.mm(some, tap, out=out)
                part = slice(first, last), slice(number * channels, (number + 1) * channels)
                results = best.numpy()[part], place[part]
                _maxima(out.numpy(), starts, lengths[first:last], wide, *results)
            first = last
        ctx.save_for_backward(words, length, *weights)
        ctx.place = place
        return best

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        # Numba's number of threads is set per thread, and this is one of autograd's.
        take_torchs_threads()
        words, length, *weights = ctx.saved_tensors
        lengths = length.numpy()
        starts = lengths.cumsum() - lengths
        pulls = gradient.contiguous().numpy()
        flat = words.numpy()
        to_words = torch.zeros_like(words)
        to_weights = []
        for number, weight in enumerate(weights):
            channels, size, kernel = weight.shape
            block = slice(number * channels, (number + 1) * channels)
            # The words of a window are contiguous, and so must be its weights.
            rows = weight.detach().transpose(1, 2).contiguous().view(channels, -1)
            to_rows = torch.zeros_like(rows)
            place, part = ctx.place[:, block], pulls[:, block]
            _to_weights(flat.reshape(-1), size, starts, lengths, place, part, to_rows.numpy())
            if ctx.needs_input_grad[0]:
                target = to_words.view(-1).numpy()
                _to_words(target, size, starts, lengths, place, part, rows.numpy())
            to_weights.append(to_rows.view(channels, kernel, size).transpose(1, 2))
        return to_words if ctx.needs_input_grad[0] else None, None, None, *to_weights


@njit(parallel=True, cache=True, fastmath={"nsz", "contract", "reassoc"})
def _maxima(products, starts, lengths, wide, best, place):  # pragma: no cover
    """Sum the taps of each window, and keep the largest window per channel.

    The place of a window is that of its first tap: below 0 if it starts before the sentence.
    """
    channels = best.shape[1]
    kernel = products.shape[1] // channels
    start = 1 - kernel if wide else 0
    for s in prange(len(starts)):
        window = np.empty(channels, dtype=np.float32)
        largest, winner = best[s], place[s]
        for t in range(start, lengths[s]):
            first = max(0, -t)
            row = starts[s] + t
            window[:] = products[row + first, first * channels : (first + 1) * channels]
            for j in range(first + 1, min(kernel, lengths[s] - t)):
                tap = products[row + j, j * channels : (j + 1) * channels]
                for c in range(channels):
                    window[c] += tap[c]
            if t == start:
                largest[:] = window
                winner[:] = t
            else:
                for c in range(channels):
                    better = window[c] > largest[c]
                    largest[c] = window[c] if better else largest[c]
                    winner[c] = t if better else winner[c]


@njit(inline="always")
def _inside(place, length, size, taps):  # pragma: no cover
    """The part of a window inside its sentence, counted in numbers rather than words.

    Returns where it begins in the window, where it begins in the sentence, and its length.
    """
    before = max(0, -place) * size
    begin = max(0, place) * size
    return before, begin, min(taps - before, length * size - begin)


@njit(parallel=True, cache=True, fastmath={"nsz", "contract", "reassoc"})
def _to_weights(words, size, starts, lengths, place, gradient, rows):  # pragma: no cover
    """rows[c] += gradient[s, c] · (the words of the winning window of sentence s)."""
    sentences, channels = gradient.shape
    for lane in prange(-(-channels // _BLOCK)):
        for block in range(0, sentences, _BLOCK):
            for c in range(lane * _BLOCK, min((lane + 1) * _BLOCK, channels)):
                for s in range(block, min(block + _BLOCK, sentences)):
                    g = gradient[s, c]
                    if g != 0.0:
                        before, begin, count = _inside(place[s, c], lengths[s], size, len(rows[c]))
                        first = starts[s] * size + begin
                        source = words[first : first + count]
                        out = rows[c, before : before + count]
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
                        before, begin, count = _inside(place[s, c], lengths[s], size, len(rows[c]))
                        first = starts[s] * size + begin
                        source = rows[c, before : before + count]
                        out = target[first : first + count]
                        for i in range(count):
                            out[i] += g * source[i]
