"""The fast states of a GRU and of a stack of LSTMs against those of PyTorch's own."""

import copy
from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from qasel.layers.recurrent import bidirectional
from qasel.papers.question_relevancy.model import PairLSTM

SIZE, HIDDEN = 7, 6
LENGTHS = {
    "ragged": [3, 1, 8, 8, 2, 5],
    "one text": [4],
    "one word": [1],
    "equal": [5, 5, 5],
    "long": [1, 60, 33],
}


def packed(words, length):
    return pack_padded_sequence(words, length, batch_first=True, enforce_sorted=False)


def plain_gru(gru, words, length):
    states, last = gru(packed(words, length))
    states, _ = pad_packed_sequence(states, batch_first=True, total_length=words.shape[1])
    return states, torch.cat([last[0], last[1]], 1)


def plain_lstm(lstm, words, length):
    _, (states, _) = lstm(packed(words, length))
    return (torch.cat([states[-2], states[-1]], 1),)


def lstm(layers=3, hidden=HIDDEN, dropout=0.0):
    return nn.LSTM(SIZE, hidden, layers, batch_first=True, bidirectional=True, dropout=dropout)


def gru(hidden=HIDDEN):
    return nn.GRU(SIZE, hidden, batch_first=True, bidirectional=True)


# Each gives a tuple of what it finds: a GRU all states and the last ones, LSTMs the last ones.
GRU = SimpleNamespace(make=gru, fast=bidirectional, plain=plain_gru)
LSTM = SimpleNamespace(make=lstm, fast=lambda *a: (bidirectional(*a)[1],), plain=plain_lstm)
BOTH = pytest.mark.parametrize("system", [GRU, LSTM], ids=["gru", "lstm"])


def texts(lengths=LENGTHS["ragged"]):
    length = torch.tensor(lengths)
    return torch.randn(len(length), int(length.max()) + 2, SIZE, requires_grad=True), length


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def total(found):
    """A sum of all numbers, no two of the same weight."""
    weights = (torch.linspace(-1, 1, x.numel(), dtype=x.dtype).view_as(x) for x in found)
    return sum((x * weight).sum() for x, weight in zip(found, weights, strict=True))


def with_gradients(function, network, words, length, parts=None):
    """What is found, and the gradients of the words and all weights, from the first `parts`."""
    found = function(network, words, length)
    gradients = torch.autograd.grad(total(found[:parts]), [words, *network.parameters()])
    return [x.detach() for x in found] + list(gradients)


def same(got, wanted):
    return all(torch.equal(a, b) for a, b in zip(got, wanted, strict=True))


def near(got, wanted, atol=1e-5):
    for ours, theirs in zip(got, wanted, strict=True):
        torch.testing.assert_close(ours.to(theirs), theirs, atol=atol, rtol=1e-5)


KINDS = {
    "gru": (GRU, {}, None),
    "gru, all states only": (GRU, {}, 1),
    "lstm, one layer": (LSTM, {"layers": 1}, None),
    "lstm, three layers": (LSTM, {"layers": 3}, None),
}


@pytest.mark.parametrize("hidden", [HIDDEN, 32])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", LENGTHS)
def test_states_and_gradients_are_pytorchs(name, kind, hidden):
    system, settings, parts = KINDS[kind]
    network = system.make(**settings, hidden=hidden)
    words, length = texts(LENGTHS[name])
    got = with_gradients(system.fast, network, words, length, parts)
    near(got, with_gradients(system.plain, network, words, length, parts))
    exact = copy.deepcopy(network).double()
    near(got, with_gradients(system.plain, exact, words.double(), length, parts))


@pytest.mark.parametrize("scale", [1e-3, 30.0])
@BOTH
def test_small_and_saturated_gates(system, scale):
    network, (words, length) = system.make(hidden=16), texts(LENGTHS["long"])
    with torch.no_grad():
        words *= scale
    got = with_gradients(system.fast, network, words, length)
    wanted = with_gradients(system.plain, network, words, length)
    for ours, theirs in zip(got, wanted, strict=True):
        near([ours], [theirs], atol=1e-5 * float(theirs.abs().max()))


@BOTH
def test_padding_is_never_read_and_what_is_not_a_number_stays_so(system):
    network, (words, length) = system.make(), texts()
    beyond = torch.arange(words.shape[1]) >= length[:, None]
    clean = with_gradients(system.fast, network, words, length)
    with torch.no_grad():
        words[beyond] = torch.nan
    unclean = with_gradients(system.fast, network, words, length)
    assert same(unclean, clean)
    *_, last, to_words = clean[: len(clean) - len(list(network.parameters()))]
    assert not to_words[beyond].any()
    assert not last.isnan().any()
    with torch.no_grad():
        words[2, 3] = torch.nan
    found = system.fast(network, words, length)
    assert found[-1][2].isnan().all()
    assert not any(x[[0, 1, 3, 4, 5]].isnan().any() for x in found)


@BOTH
def test_bit_for_bit_and_nothing_kept_is_overwritten(system):
    network, (words, length) = system.make(hidden=32), texts()
    first = with_gradients(system.fast, network, words, length)
    assert same(with_gradients(system.fast, network, words, length), first)
    found = total(system.fast(network, words, length))
    once, again = (
        torch.autograd.grad(found, list(network.parameters()), retain_graph=True) for _ in range(2)
    )
    assert same(once, again)


@BOTH
def test_words_that_need_no_gradient_and_no_gradient_at_all(system):
    network, (words, length) = system.make(), texts()
    found = system.fast(network, words.detach(), length)
    gradients = torch.autograd.grad(total(found), list(network.parameters()))
    wanted = with_gradients(system.fast, network, words, length)
    assert same(gradients, wanted[len(found) + 1 :])
    with torch.inference_mode():
        assert same(system.fast(network, words, length), found)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@BOTH
def test_a_gpu_gives_the_same(system):
    network, (words, length) = system.make(hidden=32), texts()
    wanted = system.fast(network, words, length)
    got = system.fast(network.cuda(), words.cuda(), length.cuda())
    for theirs, ours in zip(got, wanted, strict=True):
        torch.testing.assert_close(theirs.cpu(), ours, atol=1e-3, rtol=1e-3)  # TF32


def test_dropout_is_between_layers_and_only_while_training():
    # Where everything is dropped there is no chance in it, and PyTorch's result can be had.
    network, (words, length) = lstm(dropout=1.0), texts()
    got = with_gradients(LSTM.fast, network, words, length)
    near(got, with_gradients(plain_lstm, network, words, length))
    network = lstm(dropout=0.5)
    torch.manual_seed(1)
    first, second = (bidirectional(network, words, length)[1] for _ in range(2))
    assert not torch.equal(first, second)
    torch.manual_seed(1)
    assert torch.equal(bidirectional(network, words, length)[1], first)
    network.eval()
    near(LSTM.fast(network, words, length), plain_lstm(network, words, length))


def test_weights_of_the_pair_encoder_are_those_of_two_lstms():
    encoder = PairLSTM(SIZE, HIDDEN, 2, 0.1)
    wanted = [f"{side}.{name}" for side in ("left", "right") for name in lstm(2).state_dict()]
    assert list(encoder.state_dict()) == wanted
