"""Bidirectional GRUs and LSTMs on a CPU, several times as fast as PyTorch's packed ones.

(`docs/notes/kernels.md` has the measurements.) A layer is one node of the graph: both directions
take each step together, and the gradient of each weight is a single product. The weights are those
of an `nn.GRU` or `nn.LSTM`, which itself does the work on a GPU.

Shapes: S texts, W words in all, H the size of a state. Words are ordered as in a `PackedSequence`:
the first words of all texts, from the longest to the shortest text, then the second words, …
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

_Step = tuple[tuple[Tensor, ...], tuple[Tensor, ...]]


def bidirectional(
    network: nn.GRU | nn.LSTM, words: Tensor, length: Tensor
) -> tuple[Tensor, Tensor]:
    """The top layer's states `[S, L, 2 H]`, 0 at padding, and its final states `[S, 2 H]`.

    `words` are `[S, L, size]`, `length` `[S]` the texts' numbers of words, at least 1. `network` is
    bidirectional, with biases and without projections; its dropout acts between layers.
    """
    # Under autocast, cuDNN's layers would use float16 (not bfloat16), which needs a scaled loss.
    with torch.autocast(words.device.type, enabled=False):
        words = words.to(network.all_weights[0][0].dtype)
        packed = pack_padded_sequence(words, length.cpu(), batch_first=True, enforce_sorted=False)
        on_cpu = words.device.type == "cpu"
        data = _top_layer(network, packed) if on_cpu else network(packed)[0].data
    states, _ = pad_packed_sequence(
        packed._replace(data=data), batch_first=True, total_length=words.shape[1]
    )
    # The forward direction ends at a text's last word, the backward one at its first.
    texts = torch.arange(len(words), device=words.device)
    size = network.hidden_size
    return states, torch.cat([states[texts, length - 1, :size], states[:, 0, size:]], dim=1)


def _top_layer(network: nn.GRU | nn.LSTM, packed: PackedSequence) -> Tensor:
    """The states of the top layer, `[W, 2 H]`."""
    cell = _LSTMCell if isinstance(network, nn.LSTM) else _GRUCell
    states, reverse = packed.data, _reversed(packed.batch_sizes)
    counts = packed.batch_sizes.tolist()
    for number in range(network.num_layers):
        if number:
            states = F.dropout(states, network.dropout, network.training)
        ways = network.all_weights[2 * number : 2 * number + 2]
        of_words, of_states, bias, state_bias = map(torch.stack, zip(*ways, strict=True))
        # The backward direction is the forward one on reversed texts.
        both = torch.stack([states, states[reverse]])
        projected = torch.baddbmm(bias[:, None], both, of_words.mT)
        ahead, back = _Recurrence.apply(projected, of_states, state_bias, counts, cell)
        states = torch.cat([ahead, back[reverse]], dim=1)
    return states


def _reversed(counts: Tensor) -> Tensor:
    """Per word, the row of its mirror image in its text, `[W]`; `counts` are texts per step."""
    starts = counts.cumsum(0) - counts
    step = torch.arange(len(counts)).repeat_interleave(counts)
    text = torch.arange(len(step)) - starts[step]
    length = (counts[:, None] > torch.arange(int(counts[0]))).sum(0)
    return starts[length[text] - 1 - step] + text


class _GRUCell:
    """One step of all texts in both directions; the gates are reset, update and new."""

    states = 1

    @staticmethod
    def forward(given: Tensor, hidden: Tensor, before: Tensor) -> _Step:
        """The next state, and what `backward` needs, from the gates' input and hidden parts."""
        size = before.shape[-1]
        gates = hidden[..., : 2 * size].add_(given[..., : 2 * size]).sigmoid_()
        reset, update = gates.chunk(2, dim=-1)
        from_new = hidden[..., 2 * size :]
        new = torch.addcmul(given[..., 2 * size :], reset, from_new).tanh_()
        return (torch.lerp(new, before, update),), (reset, update, new, from_new, before)

    @staticmethod
    def backward(
        kept: tuple[Tensor, ...], to_given: Tensor, to_hidden: Tensor, gradient: Tensor
    ) -> None:
        """Fill in both parts' gradients, and turn the gradient of the next state into this one's.

        What reaches this one through `hidden` is left out.
        """
        reset, update, new, from_new, before = kept
        to_reset, to_update, to_new = to_given.chunk(3, dim=-1)
        torch.mul(gradient * (1 - update), 1 - new * new, out=to_new)
        torch.mul(to_new * from_new, reset * (1 - reset), out=to_reset)
        torch.mul(gradient * (before - new), update * (1 - update), out=to_update)
        to_hidden.copy_(to_given).chunk(3, dim=-1)[2].mul_(reset)
        gradient.mul_(update)


class _LSTMCell:
    """The same for an LSTM; the gates are input, forget, cell and output."""

    states = 2

    @staticmethod
    def forward(given: Tensor, hidden: Tensor, _: Tensor, cell: Tensor) -> _Step:
        enter, forget, new, leave = hidden.add_(given).chunk(4, dim=-1)
        for gate in (enter, forget, leave):
            gate.sigmoid_()
        new.tanh_()
        after = torch.addcmul(forget * cell, enter, new)
        shown = after.tanh()
        return (leave * shown, after), (enter, forget, new, leave, cell, shown)

    @staticmethod
    def backward(
        kept: tuple[Tensor, ...], to_given: Tensor, to_hidden: Tensor, *gradients: Tensor
    ) -> None:
        enter, forget, new, leave, cell, shown = kept
        gradient, to_cell = gradients
        to_enter, to_forget, to_new, to_leave = to_given.chunk(4, dim=-1)
        to_cell.addcmul_(gradient * leave, 1 - shown * shown)
        torch.mul(to_cell * new, enter * (1 - enter), out=to_enter)
        torch.mul(to_cell * cell, forget * (1 - forget), out=to_forget)
        torch.mul(to_cell * enter, 1 - new * new, out=to_new)
        torch.mul(gradient * shown, leave * (1 - leave), out=to_leave)
        to_hidden.copy_(to_given)
        to_cell.mul_(forget)
        gradient.zero_()


class _Recurrence(torch.autograd.Function):
    """All steps of a layer: projected words `[2, W, gates · H]` → states `[2, W, H]`.

    `weights` are `[2, gates · H, H]`, `bias` `[2, gates · H]`; `counts` are the numbers of texts
    with a first word, a second word, …
    """

    @staticmethod
    def forward(
        ctx: Any, projected: Tensor, weights: Tensor, bias: Tensor, counts: list[int], cell: Any
    ) -> Tensor:
        state = (projected.new_zeros(2, counts[0], weights.shape[2]),) * cell.states
        turned, bias = weights.mT.contiguous(), bias[:, None]
        states, ctx.kept = [], []
        for given in projected.split(counts, dim=1):
            before, *rest = (part[:, : given.shape[1]] for part in state)
            hidden = torch.baddbmm(bias, before, turned)
            state, kept = cell.forward(given, hidden, before, *rest)
            states.append(state[0])
            ctx.kept.append((before, kept))
        ctx.save_for_backward(weights)
        ctx.counts, ctx.cell = counts, cell
        return torch.cat(states, dim=1)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        (weights,) = ctx.saved_tensors
        to_given = gradient.new_empty(*gradient.shape[:2], weights.shape[1])
        to_hidden = torch.empty_like(to_given)
        texts, size = ctx.counts[0], weights.shape[2]
        back = [gradient.new_zeros(2, texts, size) for _ in range(ctx.cell.states)]
        steps = (part.split(ctx.counts, dim=1) for part in (gradient, to_given, to_hidden))
        for (_, kept), part, given, hidden in reversed([*zip(ctx.kept, *steps, strict=True)]):
            # Texts that the backward pass has not reached yet keep their zeros.
            state, *rest = (old[:, : part.shape[1]] for old in back)
            ctx.cell.backward(kept, given, hidden, state.add_(part), *rest)
            state.baddbmm_(hidden, weights)
        before = torch.cat([before for before, _ in ctx.kept], dim=1)
        return to_given, to_hidden.mT @ before, to_hidden.sum(1), None, None
