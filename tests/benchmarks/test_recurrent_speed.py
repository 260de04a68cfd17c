"""Speed of our LSTMs and GRUs against PyTorch's own on packed sequences, as ratios: `make bench`.

Forward and backward of 100 texts a batch, of words of 100 numbers, both directions: the LSTM of
paper 4 (three layers of 32 units) and the GRU of paper 3 (one of 128). Processor time, which other
work on the machine disturbs less than the clock's.
"""

import time

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from qasel.layers.recurrent import bidirectional

TEXTS, SIZE = 100, 100
REPEATS = 8


def packed_lstm(lstm, words, length):
    packed = pack_padded_sequence(words, length, batch_first=True, enforce_sorted=False)
    _, (states, _) = lstm(packed)
    return torch.cat([states[-2], states[-1]], 1)


def packed_gru(gru, words, length):
    packed = pack_padded_sequence(words, length, batch_first=True, enforce_sorted=False)
    states, _ = pad_packed_sequence(gru(packed)[0], batch_first=True)
    return states


BOTH = {"batch_first": True, "bidirectional": True}
KINDS = {
    "LSTM": (nn.LSTM(SIZE, 32, 3, **BOTH), packed_lstm, lambda *a: bidirectional(*a)[1]),
    "GRU": (nn.GRU(SIZE, 128, **BOTH), packed_gru, lambda *a: bidirectional(*a)[0]),
}


def seconds(*functions):
    """Processor time of a call of each: the least of some, taken in turns, the first not counted.

    In turns, so that what else runs on the machine slows all alike.
    """
    spent = []
    for _ in range(REPEATS + 1):
        row = []
        for function in functions:
            started = time.process_time()
            function()
            row.append(time.process_time() - started)
        spent.append(row)
    return map(min, zip(*spent[1:], strict=True))


@pytest.mark.parametrize("longest", [40, 100])
@pytest.mark.parametrize("kind", KINDS)
def test_against_packed_sequences(kind, longest, capsys):
    torch.manual_seed(0)
    network, plain, ours = KINDS[kind]
    length = torch.randint(longest // 4, longest * 3 // 2, (TEXTS,)).clamp(max=longest)
    words = torch.randn(TEXTS, int(length.max()), SIZE)

    def states(function):
        with torch.inference_mode():
            return function(network, words, length)

    wanted = states(plain)
    weight = torch.randn_like(wanted)

    def trained(function):
        network.zero_grad()
        (function(network, words, length) * weight).sum().backward()

    torch.testing.assert_close(states(ours), wanted, atol=1e-5, rtol=1e-5)
    slow, fast = seconds(lambda: trained(plain), lambda: trained(ours))
    slow_read, fast_read = seconds(lambda: states(plain), lambda: states(ours))
    with capsys.disabled():
        print(
            f"\n{TEXTS} texts of up to {longest} words ({int(length.sum())} in all), "
            f"{torch.get_num_threads()} threads: forward and backward nn.{kind} "
            f"{1e3 * slow:.0f} ms, ours {1e3 * fast:.0f} ms: {slow / fast:.1f} times as fast; "
            f"forward alone {1e3 * slow_read:.0f} and {1e3 * fast_read:.0f} ms: "
            f"{slow_read / fast_read:.1f} times"
        )
    assert fast < slow
