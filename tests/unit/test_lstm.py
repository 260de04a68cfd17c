"""The fast last states of an LSTM against those of PyTorch's own."""

import copy

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

from qasel.layers.lstm import last_states
from qasel.papers.question_relevancy.model import PairLSTM

SIZE, HIDDEN = 7, 6
LENGTHS = {
    "ragged": [3, 1, 8, 8, 2, 5],
    "one text": [4],
    "one word": [1],
    "equal": [5, 5, 5],
    "long": [1, 60, 33],
}


def plain(lstm, words, length):
    """PyTorch's own."""
    packed = pack_padded_sequence(words, length, batch_first=True, enforce_sorted=False)
    _, (states, _) = lstm(packed)
    return torch.cat([states[-2], states[-1]], 1)


def case(lengths=LENGTHS["ragged"], layers=3, hidden=HIDDEN, dropout=0.0):
    torch.manual_seed(0)
    length = torch.tensor(lengths)
    words = torch.randn(len(length), int(length.max()) + 2, SIZE, requires_grad=True)
    settings = {"batch_first": True, "bidirectional": True, "dropout": dropout}
    return nn.LSTM(SIZE, hidden, layers, **settings), words, length


def with_gradients(function, lstm, words, length):
    """The states, and the gradients of the words and of all weights."""
    states = function(lstm, words, length)
    weight = torch.linspace(-1, 1, states.numel(), dtype=states.dtype).view_as(states)
    gradients = torch.autograd.grad((states * weight).sum(), [words, *lstm.parameters()])
    return [states.detach(), *gradients]


def same(got, wanted):
    return all(torch.equal(a, b) for a, b in zip(got, wanted, strict=True))


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("hidden", [HIDDEN, 32])  # 32 goes through the vectorised loops
@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("name", LENGTHS)
def test_states_and_gradients_are_pytorchs(name, layers, hidden, training):
    lstm, words, length = case(LENGTHS[name], layers, hidden)
    lstm.train(training)
    got = with_gradients(last_states, lstm, words, length)
    wanted = with_gradients(plain, lstm, words, length)
    exact = with_gradients(plain, copy.deepcopy(lstm).double(), words.double(), length)
    assert got[0].shape == (len(length), 2 * hidden)
    for ours, theirs, double in zip(got, wanted, exact, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(ours.double(), double, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("scale", [1e-3, 30.0])
def test_small_and_saturated_gates(scale):
    lstm, words, length = case(LENGTHS["long"], 2, 16)
    with torch.no_grad():
        words *= scale
    got = with_gradients(last_states, lstm, words, length)
    wanted = with_gradients(plain, lstm, words, length)
    for ours, theirs in zip(got, wanted, strict=True):
        near = 1e-5 * float(theirs.abs().max())
        torch.testing.assert_close(ours, theirs, atol=near, rtol=1e-5)


def test_padding_is_never_read():
    lstm, words, length = case()
    beyond = torch.arange(words.shape[1]) >= length[:, None]
    clean = with_gradients(last_states, lstm, words, length)
    with torch.no_grad():
        words[beyond] = torch.nan
    assert same(with_gradients(last_states, lstm, words, length), clean)
    assert not clean[1][beyond].any()


def test_what_is_not_a_number_stays_so():
    lstm, words, length = case()
    with torch.no_grad():
        words[2, 3] = torch.nan
    states = last_states(lstm, words, length)
    assert states[2].isnan().all()
    assert not states[[0, 1, 3, 4, 5]].isnan().any()


def test_bit_for_bit_and_nothing_kept_is_overwritten():
    lstm, words, length = case(hidden=32)
    first = with_gradients(last_states, lstm, words, length)
    assert same(with_gradients(last_states, lstm, words, length), first)
    states = last_states(lstm, words, length).sum()
    once, again = (
        torch.autograd.grad(states, list(lstm.parameters()), retain_graph=True) for _ in range(2)
    )
    assert same(once, again)


def test_a_text_alone_and_in_another_order():
    lstm, words, length = case()
    whole = last_states(lstm, words, length)
    order = torch.tensor([4, 2, 0, 5, 1, 3])
    torch.testing.assert_close(last_states(lstm, words[order], length[order]), whole[order])
    alone = torch.cat([last_states(lstm, words[[i]], length[[i]]) for i in range(len(length))])
    torch.testing.assert_close(alone, whole)


def test_dropout_is_between_layers_and_only_while_training():
    # Where everything is dropped there is no chance in it, and PyTorch's result can be had.
    lstm, words, length = case(dropout=1.0)
    got = with_gradients(last_states, lstm, words, length)
    for ours, theirs in zip(got, with_gradients(plain, lstm, words, length), strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)
    lstm, words, length = case(dropout=0.5)
    torch.manual_seed(1)
    first, second = (last_states(lstm, words, length) for _ in range(2))
    assert not torch.equal(first, second)
    torch.manual_seed(1)
    assert torch.equal(last_states(lstm, words, length), first)
    lstm.eval()
    torch.testing.assert_close(last_states(lstm, words, length), plain(lstm, words, length))


def test_words_that_need_no_gradient_and_no_gradient_at_all():
    lstm, words, length = case()
    wanted = with_gradients(last_states, lstm, words, length)[2:]
    states = last_states(lstm, words.detach(), length)
    weight = torch.linspace(-1, 1, states.numel()).view_as(states)
    assert same(torch.autograd.grad((states * weight).sum(), list(lstm.parameters())), wanted)
    with torch.inference_mode():
        assert torch.equal(last_states(lstm, words, length), states)


def test_double_precision_is_left_to_pytorch():
    lstm, words, length = case()
    lstm, words = lstm.double(), words.double()
    states = last_states(lstm, words, length)
    assert states.dtype == torch.float64
    assert torch.equal(states, plain(lstm, words, length))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_a_gpu_gives_the_same():
    lstm, words, length = case(hidden=32)
    wanted = last_states(lstm, words, length)
    got = last_states(lstm.cuda(), words.cuda(), length.cuda())
    torch.testing.assert_close(got.cpu(), wanted, atol=1e-3, rtol=1e-3)  # TF32


def test_weights_of_the_pair_encoder_are_those_of_two_lstms():
    encoder = PairLSTM(SIZE, HIDDEN, 2, 0.1)
    names = case(layers=2)[0].state_dict()
    wanted = [f"{side}.{name}" for side in ("left", "right") for name in names]
    assert list(encoder.state_dict()) == wanted
