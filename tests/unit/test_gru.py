"""The fast states of a GRU against those of PyTorch's own."""

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from qasel.layers.gru import all_states

SIZE, HIDDEN = 7, 6
LENGTHS = {
    "ragged": [3, 1, 8, 8, 2, 5],
    "one text": [4],
    "one word": [1],
    "equal": [5, 5, 5],
    "long": [1, 60, 33],
}


def plain(gru, words, length):
    """PyTorch's own."""
    packed = pack_padded_sequence(words, length, batch_first=True, enforce_sorted=False)
    states, last = gru(packed)
    states, _ = pad_packed_sequence(states, batch_first=True, total_length=words.shape[1])
    return states, torch.cat([last[0], last[1]], 1)


def case(lengths=LENGTHS["ragged"], hidden=HIDDEN):
    torch.manual_seed(0)
    length = torch.tensor(lengths)
    words = torch.randn(len(length), int(length.max()) + 2, SIZE, requires_grad=True)
    return nn.GRU(SIZE, hidden, batch_first=True, bidirectional=True), words, length


def with_gradients(function, gru, words, length, last=True):
    """All states, the last ones, and the gradients of the words and of all weights."""
    found = function(gru, words, length)
    total = sum(
        (part * torch.linspace(-1, 1, part.numel(), dtype=part.dtype).view_as(part)).sum()
        for part in (found if last else found[:1])
    )
    gradients = torch.autograd.grad(total, [words, *gru.parameters()])
    return [part.detach() for part in found] + list(gradients)


def same(got, wanted):
    return all(torch.equal(a, b) for a, b in zip(got, wanted, strict=True))


@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("hidden", [HIDDEN, 32])  # 32 goes through the vectorised loops
@pytest.mark.parametrize("name", LENGTHS)
def test_states_and_gradients_are_pytorchs(name, hidden, last):
    gru, words, length = case(LENGTHS[name], hidden)
    got = with_gradients(all_states, gru, words, length, last)
    wanted = with_gradients(plain, gru, words, length, last)
    exact = with_gradients(plain, gru.double(), words.double(), length, last)
    assert got[0].shape == (*words.shape[:2], 2 * hidden)
    for ours, theirs, double in zip(got, wanted, exact, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(ours.double(), double, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("scale", [1e-3, 30.0])
def test_small_and_saturated_gates(scale):
    gru, words, length = case(LENGTHS["long"], 16)
    with torch.no_grad():
        words *= scale
    got = with_gradients(all_states, gru, words, length)
    wanted = with_gradients(plain, gru, words, length)
    for ours, theirs in zip(got, wanted, strict=True):
        near = 1e-5 * float(theirs.abs().max())
        torch.testing.assert_close(ours, theirs, atol=near, rtol=1e-5)


def test_padding_is_never_read_and_what_is_not_a_number_stays_so():
    gru, words, length = case()
    beyond = torch.arange(words.shape[1]) >= length[:, None]
    clean = with_gradients(all_states, gru, words, length)
    with torch.no_grad():
        words[beyond] = torch.nan
    assert same(with_gradients(all_states, gru, words, length), clean)
    assert not clean[0][beyond].any()
    assert not clean[2][beyond].any()
    with torch.no_grad():
        words[2, 3] = torch.nan
    states, last = all_states(gru, words, length)
    assert last[2].isnan().all()
    assert not states[[0, 1, 3, 4, 5]].isnan().any()


def test_bit_for_bit_and_nothing_kept_is_overwritten():
    gru, words, length = case(hidden=32)
    first = with_gradients(all_states, gru, words, length)
    assert same(with_gradients(all_states, gru, words, length), first)
    states, _ = all_states(gru, words, length)
    once, again = (
        torch.autograd.grad(states.sum(), list(gru.parameters()), retain_graph=True)
        for _ in range(2)
    )
    assert same(once, again)


def test_a_text_alone_and_in_another_order():
    gru, words, length = case()
    whole, _ = all_states(gru, words, length)
    order = torch.tensor([4, 2, 0, 5, 1, 3])
    torch.testing.assert_close(all_states(gru, words[order], length[order])[0], whole[order])
    alone = [all_states(gru, words[[i]], length[[i]])[0] for i in range(len(length))]
    torch.testing.assert_close(torch.cat(alone), whole)


def test_words_that_need_no_gradient_and_no_gradient_at_all():
    gru, words, length = case()
    wanted = with_gradients(all_states, gru, words, length, last=False)
    states, _ = all_states(gru, words.detach(), length)
    weight = torch.linspace(-1, 1, states.numel()).view_as(states)
    assert same(torch.autograd.grad((states * weight).sum(), list(gru.parameters())), wanted[3:])
    with torch.inference_mode():
        assert torch.equal(all_states(gru, words, length)[0], states)


def test_double_precision_is_left_to_pytorch():
    gru, words, length = case()
    gru, words = gru.double(), words.double()
    assert same(all_states(gru, words, length), plain(gru, words, length))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_a_gpu_gives_the_same():
    gru, words, length = case(hidden=32)
    wanted = all_states(gru, words, length)
    got = all_states(gru.cuda(), words.cuda(), length.cuda())
    for theirs, ours in zip(got, wanted, strict=True):
        torch.testing.assert_close(theirs.cpu(), ours, atol=1e-3, rtol=1e-3)  # TF32
