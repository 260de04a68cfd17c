"""All states of a bidirectional GRU, quickly on a CPU.

On a CPU, PyTorch's own GRU records a dozen small operations for every word and direction, and each
adds its own product to the gradient of the weights. Here it is one node of the graph: one matrix
product projects all words for both directions, compiled loops go from word to word, and one
product a direction makes each gradient. The weights stay those of an `nn.GRU`, which itself does
the work on a GPU.

Shapes: S texts, W words in all, H the size of a state. Words lie as in a `PackedSequence`, as in
`lstm`: the first words of all texts, then the second ones, …; `counts` says how many texts have a
first word, a second one, … Gates are in the order new, reset, update, and not PyTorch's (reset,
update, new): what the words give (new, reset, update) and what the state gives (reset, update,
`told`, the state's part of new) lie side by side so.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from qasel.layers.compiled import ONE, compiled, logistic, tanh


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
    found = _Layer.apply(packed.data, counts, *_arranged(gru))
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


class _Layer(torch.autograd.Function):
    """Both directions: words `[W, size]` → states `[W, 2 H]`; weights as `_arranged` has them."""

    @staticmethod
    def forward(
        ctx: Any, words: Tensor, counts: Tensor, of_words: Tensor, bias: Tensor, of_states: Tensor,
        told_bias: Tensor,
    ) -> Tensor:  # fmt: skip
        size = of_states.shape[2]
        gates = torch.addmm(bias.flatten(), words, of_words.flatten(0, 1).T)
        states, before, told = (gates.new_empty(len(words), 2, size) for _ in range(3))
        _forward(
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
        _backward(
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
def _forward(counts, weights, told_bias, gates, states, before, told):  # pragma: no cover
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
def _backward(counts, weights, gates, before, told, gradient, to_gates):  # pragma: no cover
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
