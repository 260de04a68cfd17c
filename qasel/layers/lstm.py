"""The last states of a stack of bidirectional LSTMs, quickly on a CPU.

PyTorch's own LSTM runs a dozen small operations, and as many backward, for every word and
direction. Here a layer is one node of the graph: the inputs of all words and both directions are
projected by one matrix product, and compiled loops do the rest, a small product and one pass over
the gates a word. The weights stay those of an `nn.LSTM`, which also does the work on a GPU.

Shapes: S texts, W words in all, H the size of a state. Words lie as in a `PackedSequence`: texts
from the longest to the shortest, first the first words of all, then the second ones, …; `counts`
says how many texts have a first word, a second one, … Gates are in PyTorch's order: input,
forget, cell, output.
"""

import numpy as np
import torch
from numba import njit
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence


def last_states(lstm: nn.LSTM, words: Tensor, length: Tensor) -> Tensor:
    """The top layer's last states both ways, `[S, 2 H]`, of texts `[S, longest, size]`.

    `length` `[S]` are their numbers of words, each at least 1; what lies beyond does not matter.
    `lstm` is bidirectional, with biases and without projections. Between layers there is its
    dropout while it trains.
    """
    packed = pack_padded_sequence(words, length.cpu(), batch_first=True, enforce_sorted=False)
    if words.device.type == "cpu" and words.dtype == torch.float32:
        return _on_cpu(lstm, packed)
    _, (states, _) = lstm(packed)
    return torch.cat([states[-2], states[-1]], 1)


def _on_cpu(lstm: nn.LSTM, packed: PackedSequence) -> Tensor:
    states, counts = packed.data, packed.batch_sizes
    for number in range(lstm.num_layers):
        if number:
            states = F.dropout(states, lstm.dropout, lstm.training)
        forward, backward = lstm.all_weights[2 * number : 2 * number + 2]
        of_words, of_states, *biases = zip(forward, backward, strict=True)
        bias = sum(torch.cat(both) for both in biases)
        states = _Layer.apply(states, counts, torch.cat(of_words), bias, torch.stack(of_states))
    texts, size = len(packed.sorted_indices), lstm.hidden_size
    # Forward a text ends with its last word, which is the row before that many others' ...
    place = torch.arange(texts)
    words_before = counts.cumsum(0) - counts
    length = (counts[:, None] > place).sum(0)
    forward = states[words_before[length - 1] + place, :size]
    # ... and backward with its first word.
    return torch.cat([forward, states[:texts, size:]], 1)[packed.unsorted_indices]


class _Layer(torch.autograd.Function):
    """Both directions of a layer: words `[W, size]` → states `[W, 2 H]`.

    Weights of both directions: `of_words` `[8 H, size]`, `bias` `[8 H]`, `of_states`
    `[2, 4 H, H]`.
    """

    @staticmethod
    def forward(
        ctx, words: Tensor, counts: Tensor, of_words: Tensor, bias: Tensor, of_states: Tensor
    ) -> Tensor:
        size = of_states.shape[2]
        gates = torch.addmm(bias, words, of_words.T)
        states, before, cells = (gates.new_empty(len(words), 2 * size) for _ in range(3))
        _forward(
            gates.view(-1, 2, 4 * size).numpy(),
            counts.numpy(),
            of_states.transpose(1, 2).contiguous().numpy(),
            states.numpy(),
            before.numpy(),
            cells.numpy(),
        )
        ctx.save_for_backward(words, counts, of_words, of_states, gates, before, cells)
        return states

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, gradient: Tensor):
        words, counts, of_words, of_states, gates, before, cells = ctx.saved_tensors
        size = of_states.shape[2]
        to_gates = torch.empty_like(gates)
        _backward(
            gradient.contiguous().numpy(),
            gates.view(-1, 2, 4 * size).numpy(),
            counts.numpy(),
            of_states.detach().numpy(),
            cells.numpy(),
            to_gates.view(-1, 2, 4 * size).numpy(),
        )
        to_words = to_gates @ of_words if ctx.needs_input_grad[0] else None
        ways = zip(to_gates.split(4 * size, 1), before.split(size, 1), strict=True)
        to_of_states = torch.stack([part.T @ states for part, states in ways])
        return to_words, None, to_gates.T @ words, to_gates.sum(0), to_of_states


# A division that may raise (numba's default) would keep the loops from being vectorised.
_compiled = njit(cache=True, error_model="numpy", fastmath={"nsz", "contract"})
_HALF, _ONE = np.float32(0.5), np.float32(1)
_SATURATED = np.float32(7.9053111)
# The rational approximation of Eigen and XLA, from the highest power of x² down.
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


@_compiled
def _tanh(x):  # pragma: no cover
    """tanh to within 2e-7, in operations that vectorise; not a number stays so."""
    x = _SATURATED if x > _SATURATED else x
    x = -_SATURATED if x < -_SATURATED else x
    y = x * x
    p = (((((_P13 * y + _P11) * y + _P9) * y + _P7) * y + _P5) * y + _P3) * y + _P1
    q = ((_Q6 * y + _Q4) * y + _Q2) * y + _Q0
    return x * p / q


@_compiled
def _forward(gates, counts, weights, states, before, cells):  # pragma: no cover
    """Run both directions.

    `gates` `[W, 2, 4 H]` are the projected words when it starts and the gates when it ends,
    `weights` `[2, H, 4 H]`. Filled, `[W, 2 H]` each: `states`, and the states (`before`) and
    `cells` that each word found.
    """
    size = weights.shape[1]
    # The logistic function is 1/2 + 1/2 tanh(x/2), so one loop does all four gates.
    scale, shift = np.full(4 * size, _HALF), np.full(4 * size, _HALF)
    scale[2 * size : 3 * size], shift[2 * size : 3 * size] = _ONE, 0
    state, cell = np.empty((counts[0], size), np.float32), np.empty((counts[0], size), np.float32)
    added = np.empty((counts[0], 4 * size), np.float32)
    for way in range(2):
        first = gates.shape[0] if way else 0
        state[:], cell[:] = 0, 0
        for step in range(len(counts)):
            count = counts[-1 - step] if way else counts[step]
            first -= count if way else 0
            np.dot(state[:count], weights[way], added[:count])
            for s in range(count):
                g, a, h, c = gates[first + s, way], added[s], state[s], cell[s]
                for j in range(4 * size):
                    g[j] = shift[j] + scale[j] * _tanh(scale[j] * (g[j] + a[j]))
                part = slice(way * size, (way + 1) * size)
                before[first + s, part] = h
                cells[first + s, part] = c
                for j in range(size):
                    c[j] = g[size + j] * c[j] + g[j] * g[2 * size + j]
                    h[j] = g[3 * size + j] * _tanh(c[j])
                states[first + s, part] = h
            first += 0 if way else count


@_compiled
def _backward(gradient, gates, counts, weights, cells, to_gates):  # pragma: no cover
    """From the gradient of the states `[W, 2 H]` to that of the projected words.

    `gates` and `cells` as `_forward` left them, `weights` `[2, 4 H, H]`; fills `to_gates`
    `[W, 2, 4 H]`.
    """
    size = weights.shape[2]
    to_state = np.empty((counts[0], size), np.float32)
    to_cell = np.empty((counts[0], size), np.float32)
    to_added = np.empty((counts[0], 4 * size), np.float32)
    for way in range(2):
        first = 0 if way else gates.shape[0]
        to_state[:], to_cell[:] = 0, 0
        for step in range(len(counts)):
            count = counts[step] if way else counts[-1 - step]
            first -= 0 if way else count
            for s in range(count):
                g, before = gates[first + s, way], cells[first + s]
                given, found = gradient[first + s], to_state[s]
                c, out = to_cell[s], to_added[s]
                for j in range(size):
                    i, f, n, o = g[j], g[size + j], g[2 * size + j], g[3 * size + j]
                    old = before[way * size + j]
                    u = _tanh(f * old + i * n)
                    dh = given[way * size + j] + found[j]
                    dc = c[j] + dh * o * (_ONE - u * u)
                    c[j] = dc * f
                    out[j] = dc * n * i * (_ONE - i)
                    out[size + j] = dc * old * f * (_ONE - f)
                    out[2 * size + j] = dc * i * (_ONE - n * n)
                    out[3 * size + j] = dh * u * o * (_ONE - o)
                to_gates[first + s, way] = out
            # Texts that have not ended yet, or that have begun, keep the zeros they start with.
            np.dot(to_added[:count], weights[way], to_state[:count])
            first += count if way else 0
