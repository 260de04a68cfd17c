"""The last states of a stack of bidirectional LSTMs, quickly on a CPU.

On a CPU, PyTorch's own LSTM records a dozen small operations for every word and direction, and
most of its time goes into their backward passes. Here a layer is one node of the graph: one matrix
product projects all words for both directions, and compiled loops do the rest, a small product and
one pass over the gates for every word. The weights stay those of an `nn.LSTM`, which itself does
the work on a GPU.

Shapes: S texts, W words in all, H the size of a state. Words lie as in a `PackedSequence`: texts
from the longest to the shortest, the first words of all, then the second ones, …; `counts` says
how many texts have a first word, a second one, … Gates are in PyTorch's order: input, forget,
cell, output.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence

from qasel.layers.compiled import ONE, compiled, logistic, tanh


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
        states = _Layer.apply(states, counts, torch.cat(of_words), bias, torch.stack(of_states))
    return states


class _Layer(torch.autograd.Function):
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
        _forward(
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
        _backward(
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
def _forward(counts, weights, gates, states, before, cells):  # pragma: no cover
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
def _backward(counts, weights, gates, cells, gradient, to_gates):  # pragma: no cover
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
