"""Recurrent layers on a CPU: 1.9 times as fast an epoch as packed `nn.GRU` (paper 3, one thread).

(`docs/notes/kernels.md` has all measurements.) PyTorch's own layers record a dozen small
operations for every word and direction. Here a layer is one node of the graph: one matrix product
projects all words for both directions, compiled loops go from word to word, and one product a
direction makes each gradient. Weights stay those of an `nn.GRU` or `nn.LSTM`, which itself does the
work on a GPU.

Shapes: S texts, W words in all, H the size of a state. Words lie as in a `PackedSequence`: the
first words of all texts, from the longest to the shortest, then the second ones, …; `counts` says
how many texts have a first word, a second one, … Gates of an LSTM are in PyTorch's order (input,
forget, cell, output), those of a GRU are new, reset, update.
"""

from typing import Any

import numpy as np
import torch
from numba import njit
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

# What keeps numba's loops from being vectorised, or slows them, is not there: a division that may
# raise (its default), many arrays read and written in one loop, a view of a row made for every row.
compiled = njit(cache=True, error_model="numpy", fastmath={"nsz", "contract"})
_HALF, ONE = np.float32(0.5), np.float32(1)
_SATURATED = np.float32(7.9053111)
# The rational approximation of Eigen and XLA, from the highest power of x down.
_P13, _P11, _P9, _P7, _P5, _P3, _P1 = np.array(
    [
        -2.76076847742355e-16,
        2.00018790482477e-13,
        -8.60467152213735e-11,
        5.12229709037114e-08,
        1.48572235717979e-05,
        6.37261928875436e-04,
        4.89352455891786e-03,
    ],
    np.float32,
)
_Q6, _Q4, _Q2, _Q0 = np.array(
    [1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03],
    np.float32,
)


@compiled
def tanh(x):  # pragma: no cover
    """tanh to within 2e-7, in operations that vectorise; not a number stays so."""
    x = _SATURATED if x > _SATURATED else x
    x = -_SATURATED if x < -_SATURATED else x
    y = x * x
    p = (((((_P13 * y + _P11) * y + _P9) * y + _P7) * y + _P5) * y + _P3) * y + _P1
    q = ((_Q6 * y + _Q4) * y + _Q2) * y + _Q0
    return x * p / q


@compiled
def logistic(x):  # pragma: no cover
    """1 / (1 + e⁻ˣ), by way of `tanh`."""
    return _HALF + _HALF * tanh(_HALF * x)


def all_states(gru: nn.GRU, words: Tensor, length: Tensor) -> tuple[Tensor, Tensor]:
    """Words `[S, L, size]` → states `[S, L, 2 H]`, 0 beyond a text, and last ones `[S, 2 H]`.

    `length` `[S]` are the numbers of words, each at least 1; what lies beyond does not matter.
    `gru` is of one layer, bidirectional, with biases. In single precision on a CPU the states are
    PyTorch's to about 1e-6.
    """
    length = length.cpu()
    packed = pack_padded_sequence(words, length, batch_first=True, enforce_sorted=False)
    longest = words.shape[1]
    if words.device.type != "cpu" or words.dtype != torch.float32:
        states, last = gru(packed)
        states, _ = pad_packed_sequence(states, batch_first=True, total_length=longest)
        return states, torch.cat([last[0], last[1]], dim=1)
    counts = packed.batch_sizes
    found = _GRULayer.apply(packed.data, counts, *_arranged(gru))
    time = torch.arange(len(counts)).repeat_interleave(counts)
    text = torch.arange(len(found)) - (counts.cumsum(0) - counts)[time]
    assert packed.sorted_indices is not None  # as `enforce_sorted` is off
    place = packed.sorted_indices[text] * longest + time
    padded = found.new_zeros(len(words) * longest, found.shape[1]).index_copy(0, place, found)
    # Forward a text ends with its last word, and backward with its first.
    first = torch.arange(len(words)) * longest
    size = gru.hidden_size
    last = [padded[first + length - 1, :size], padded[first, size:]]
    return padded.view(len(words), longest, -1), torch.cat(last, dim=1)


def _arranged(gru: nn.GRU) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Weights and biases of both directions, gates in our order.

    Of the words `[2, 3 H, size]` and `[2, 3 H]`, the state's biases of reset and update among
    them; of the state `[2, 3 H, H]` and, of new alone, `[2, H]`.
    """
    of_words, of_states, one, other = (
        torch.stack(pair) for pair in zip(*gru.all_weights, strict=True)
    )
    size = gru.hidden_size
    gates, new = 2 * size, slice(2 * size, None)
    bias = torch.cat([one[:, new], one[:, :gates] + other[:, :gates]], dim=1)
    return of_words.roll(size, 1), bias, of_states, other[:, new]


class _GRULayer(torch.autograd.Function):
    """Both directions: words `[W, size]` → states `[W, 2 H]`; weights as `_arranged` has them."""

    @staticmethod
    def forward(
        ctx: Any, words: Tensor, counts: Tensor, of_words: Tensor, bias: Tensor, of_states: Tensor,
        told_bias: Tensor,
    ) -> Tensor:  # fmt: skip
        size = of_states.shape[2]
        gates = torch.addmm(bias.flatten(), words, of_words.flatten(0, 1).T)
        states, before, told = (gates.new_empty(len(words), 2, size) for _ in range(3))
        _gru_forward(
            counts.numpy(),
            of_states.transpose(1, 2).contiguous().numpy(),
            told_bias.numpy(),
            gates.view(-1, 2, 3, size).numpy(),
            states.numpy(),
            before.numpy(),
            told.numpy(),
        )
        ctx.save_for_backward(words, counts, of_words, of_states, gates, before, told)
        return states.view(-1, 2 * size)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        words, counts, of_words, of_states, gates, before, told = ctx.saved_tensors
        size = of_states.shape[2]
        to_gates = gates.new_empty(len(words), 2, 4 * size)
        _gru_backward(
            counts.numpy(),
            of_states.numpy(),
            gates.view(-1, 2, 3, size).numpy(),
            before.numpy(),
            told.numpy(),
            gradient.contiguous().view(-1, 2, size).numpy(),
            to_gates.view(-1, 2, 4, size).numpy(),
        )
        to_given, to_told = to_gates[..., : 3 * size], to_gates[..., size:]
        to_words = None
        if ctx.needs_input_grad[0]:
            to_words = to_given[:, 0] @ of_words[0] + to_given[:, 1] @ of_words[1]
        to_bias = to_gates.sum(0)
        return (
            to_words,
            None,
            torch.stack([to_given[:, way].T @ words for way in range(2)]),
            to_bias[:, : 3 * size],
            torch.stack([to_told[:, way].T @ before[:, way] for way in range(2)]),
            to_bias[:, 3 * size :],
        )


@compiled
def _gru_forward(counts, weights, told_bias, gates, states, before, told):  # pragma: no cover
    """Run both directions; `weights` `[2, H, 3 H]`, gates there as PyTorch has them.

    `gates` `[W, 2, 3, H]` are the projected words when it starts and the gates when it ends.
    Filled, `[W, 2, H]` each: `states`, the states `before` a word, and what they `told`.
    """
    size = states.shape[2]
    h = np.empty((counts[0], size), np.float32)
    added = np.empty((counts[0], 3, size), np.float32)
    flat = added.reshape(counts[0], 3 * size)
    for way in range(2):
        first = len(states) if way else 0
        h[:] = 0
        for step in range(len(counts)):
            count = counts[-1 - step] if way else counts[step]
            first -= count if way else 0
            np.dot(h[:count], weights[way], flat[:count])
            for s in range(count):
                row = first + s
                for j in range(size):
                    gates[row, way, 1, j] = logistic(gates[row, way, 1, j] + added[s, 0, j])
                for j in range(size):
                    gates[row, way, 2, j] = logistic(gates[row, way, 2, j] + added[s, 1, j])
                for j in range(size):
                    told[row, way, j] = added[s, 2, j] + told_bias[way, j]
                for j in range(size):
                    new = gates[row, way, 0, j] + gates[row, way, 1, j] * told[row, way, j]
                    gates[row, way, 0, j] = tanh(new)
                for j in range(size):
                    before[row, way, j] = h[s, j]
                for j in range(size):
                    new = gates[row, way, 0, j]
                    h[s, j] = new + gates[row, way, 2, j] * (h[s, j] - new)
                for j in range(size):
                    states[row, way, j] = h[s, j]
            first += 0 if way else count


@compiled
def _gru_backward(counts, weights, gates, before, told, gradient, to_gates):  # pragma: no cover
    """From the gradient of the states `[W, 2, H]` to that of the gates before they are squashed.

    `gates`, `before` and `told` are as `_forward` left them, `weights` `[2, 3 H, H]`; `to_gates`
    `[W, 2, 4, H]` is filled: new, reset, update, `told`.
    """
    size = weights.shape[2]
    dh = np.empty((counts[0], size), np.float32)
    added = np.empty((counts[0], 3, size), np.float32)
    flat = added.reshape(counts[0], 3 * size)
    for way in range(2):
        first = 0 if way else len(before)
        dh[:] = 0
        for step in range(len(counts)):
            count = counts[step] if way else counts[-1 - step]
            first -= 0 if way else count
            for s in range(count):
                row = first + s
                for j in range(size):
                    dh[s, j] += gradient[row, way, j]
                for j in range(size):
                    new, update = gates[row, way, 0, j], gates[row, way, 2, j]
                    to_gates[row, way, 0, j] = dh[s, j] * (ONE - update) * (ONE - new * new)
                for j in range(size):
                    reset = gates[row, way, 1, j]
                    to_told = to_gates[row, way, 0, j] * reset
                    to_gates[row, way, 1, j] = to_told * told[row, way, j] * (ONE - reset)
                    to_gates[row, way, 3, j] = to_told
                for j in range(size):
                    update = gates[row, way, 2, j]
                    kept = (before[row, way, j] - gates[row, way, 0, j]) * update
                    to_gates[row, way, 2, j] = dh[s, j] * kept * (ONE - update)
                for j in range(size):
                    dh[s, j] *= gates[row, way, 2, j]
                for k in range(3):
                    for j in range(size):
                        added[s, k, j] = to_gates[row, way, k + 1, j]
            # Texts that the way back has not reached yet keep their zeros.
            dh[:count] += np.dot(flat[:count], weights[way])
            first += count if way else 0


def last_states(lstm: nn.LSTM, words: Tensor, length: Tensor) -> Tensor:
    """The top layer's last states both ways, `[S, 2 H]`, of texts `[S, longest, size]`.

    `length` `[S]` are their numbers of words, each at least 1; what lies beyond does not matter.
    `lstm` is bidirectional, with biases and without projections; between layers there is its
    dropout while it trains. In single precision on a CPU the states are PyTorch's to about 1e-7.
    """
    length = length.cpu()
    packed = pack_padded_sequence(words, length, batch_first=True, enforce_sorted=False)
    if words.device.type != "cpu" or words.dtype != torch.float32:
        _, (states, _) = lstm(packed)
        return torch.cat([states[-2], states[-1]], 1)
    counts = packed.batch_sizes
    states = _top_layer(lstm, packed.data, counts)
    words_before = counts.cumsum(0) - counts
    # Forward a text ends with its last word, and backward with its first.
    place = packed.unsorted_indices
    assert place is not None  # as `enforce_sorted` is off
    forward = states[words_before[length - 1] + place, : lstm.hidden_size]
    return torch.cat([forward, states[place, lstm.hidden_size :]], 1)


def _top_layer(lstm: nn.LSTM, states: Tensor, counts: Tensor) -> Tensor:
    """The top layer's states `[W, 2 H]`, of words `[W, size]`."""
    for number in range(lstm.num_layers):
        if number:
            states = F.dropout(states, lstm.dropout, lstm.training)
        ways = lstm.all_weights[2 * number : 2 * number + 2]
        of_words, of_states, one, other = zip(*ways, strict=True)
        bias = torch.cat(one) + torch.cat(other)
        states = _LSTMLayer.apply(states, counts, torch.cat(of_words), bias, torch.stack(of_states))
    return states


class _LSTMLayer(torch.autograd.Function):
    """Both directions of a layer: words `[W, size]` → states `[W, 2 H]`.

    Weights of both directions: `of_words` `[8 H, size]`, `bias` `[8 H]`, `of_states`
    `[2, 4 H, H]`.
    """

    @staticmethod
    def forward(
        ctx: Any, words: Tensor, counts: Tensor, of_words: Tensor, bias: Tensor, of_states: Tensor
    ) -> Tensor:
        size = of_states.shape[2]
        gates = torch.addmm(bias, words, of_words.T)
        states, before, cells = (gates.new_empty(len(words), 2, size) for _ in range(3))
        _lstm_forward(
            counts.numpy(),
            of_states.transpose(1, 2).contiguous().numpy(),
            gates.view(-1, 2, 4, size).numpy(),
            states.numpy(),
            before.numpy(),
            cells.numpy(),
        )
        ctx.save_for_backward(words, counts, of_words, of_states, gates, before, cells)
        return states.view(-1, 2 * size)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        words, counts, of_words, of_states, gates, before, cells = ctx.saved_tensors
        size = of_states.shape[2]
        to_gates = torch.empty_like(gates)
        _lstm_backward(
            counts.numpy(),
            of_states.detach().numpy(),
            gates.view(-1, 2, 4, size).numpy(),
            cells.numpy(),
            gradient.contiguous().view(-1, 2, size).numpy(),
            to_gates.view(-1, 2, 4 * size).numpy(),
        )
        to_words = to_gates @ of_words if ctx.needs_input_grad[0] else None
        ways = zip(to_gates.split(4 * size, 1), before.unbind(1), strict=True)
        to_of_states = torch.stack([part.T @ found for part, found in ways])
        return to_words, None, to_gates.T @ words, to_gates.sum(0), to_of_states


@compiled
def _lstm_forward(counts, weights, gates, states, before, cells):  # pragma: no cover
    """Run both directions; `weights` `[2, H, 4 H]`.

    `gates` `[W, 2, 4, H]` are the projected words when it starts and the gates when it ends.
    Filled, `[W, 2, H]` each: `states`, and the states (`before`) and `cells` that a word found.
    """
    size = states.shape[2]
    h, c = np.empty((counts[0], size), np.float32), np.empty((counts[0], size), np.float32)
    added = np.empty((counts[0], 4, size), np.float32)
    flat = added.reshape(counts[0], 4 * size)
    for way in range(2):
        first = len(states) if way else 0
        h[:], c[:] = 0, 0
        for step in range(len(counts)):
            count = counts[-1 - step] if way else counts[step]
            first -= count if way else 0
            np.dot(h[:count], weights[way], flat[:count])
            for s in range(count):
                row = first + s
                for k in range(4):
                    if k == 2:
                        for j in range(size):
                            gates[row, way, k, j] = tanh(gates[row, way, k, j] + added[s, k, j])
                    else:
                        for j in range(size):
                            gates[row, way, k, j] = logistic(gates[row, way, k, j] + added[s, k, j])
                for j in range(size):
                    before[row, way, j] = h[s, j]
                for j in range(size):
                    cells[row, way, j] = c[s, j]
                for j in range(size):
                    kept, new = gates[row, way, 1, j] * c[s, j], gates[row, way, 2, j]
                    c[s, j] = kept + gates[row, way, 0, j] * new
                for j in range(size):
                    h[s, j] = gates[row, way, 3, j] * tanh(c[s, j])
                for j in range(size):
                    states[row, way, j] = h[s, j]
            first += 0 if way else count


@compiled
def _lstm_backward(counts, weights, gates, cells, gradient, to_gates):  # pragma: no cover
    """From the gradient of the states `[W, 2, H]` to that of the projected words.

    `gates` and `cells` are as `_forward` left them, `weights` `[2, 4 H, H]`; `to_gates`
    `[W, 2, 4 H]` is filled.
    """
    size = weights.shape[2]
    dh, dc = np.empty((counts[0], size), np.float32), np.empty((counts[0], size), np.float32)
    added = np.empty((counts[0], 4, size), np.float32)
    flat = added.reshape(counts[0], 4 * size)
    u = np.empty(size, np.float32)
    for way in range(2):
        first = 0 if way else len(cells)
        dh[:], dc[:] = 0, 0
        for step in range(len(counts)):
            count = counts[step] if way else counts[-1 - step]
            first -= 0 if way else count
            for s in range(count):
                row = first + s
                for j in range(size):
                    kept, new = gates[row, way, 1, j] * cells[row, way, j], gates[row, way, 2, j]
                    u[j] = tanh(kept + gates[row, way, 0, j] * new)
                for j in range(size):
                    dh[s, j] += gradient[row, way, j]
                for j in range(size):
                    dc[s, j] += dh[s, j] * gates[row, way, 3, j] * (ONE - u[j] * u[j])
                for j in range(size):
                    i, new = gates[row, way, 0, j], gates[row, way, 2, j]
                    added[s, 0, j] = dc[s, j] * new * i * (ONE - i)
                for j in range(size):
                    f = gates[row, way, 1, j]
                    added[s, 1, j] = dc[s, j] * cells[row, way, j] * f * (ONE - f)
                for j in range(size):
                    i, new = gates[row, way, 0, j], gates[row, way, 2, j]
                    added[s, 2, j] = dc[s, j] * i * (ONE - new * new)
                for j in range(size):
                    o = gates[row, way, 3, j]
                    added[s, 3, j] = dh[s, j] * u[j] * o * (ONE - o)
                for j in range(size):
                    dc[s, j] *= gates[row, way, 1, j]
                for j in range(4 * size):
                    to_gates[row, way, j] = flat[s, j]
            # Texts that the way back has not reached yet keep their zeros.
            np.dot(flat[:count], weights[way], dh[:count])
            first += count if way else 0
