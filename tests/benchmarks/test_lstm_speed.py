"""Speed of paper 4's LSTMs against PyTorch's own on packed sequences, as ratios: `make bench`.

Three layers, both directions, 32 units, 100 texts a batch of words of 100 numbers; forward and
backward. Processor time, which other work on the machine disturbs less than the clock's.
"""

import time

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

from qasel.layers.lstm import last_states

TEXTS, SIZE, HIDDEN, LAYERS = 100, 100, 32, 3
REPEATS = 8
BATCHES, SIDES = 20, 2
"""Of an epoch."""


def plain(lstm, words, length):
    packed = pack_padded_sequence(words, length, batch_first=True, enforce_sorted=False)
    _, (states, _) = lstm(packed)
    return torch.cat([states[-2], states[-1]], 1)


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
def test_against_packed_sequences(longest, capsys):
    torch.manual_seed(0)
    lstm = nn.LSTM(SIZE, HIDDEN, LAYERS, batch_first=True, bidirectional=True)
    length = torch.randint(longest // 4, longest * 3 // 2, (TEXTS,)).clamp(max=longest)
    words = torch.randn(TEXTS, int(length.max()), SIZE)
    weight = torch.randn(TEXTS, 2 * HIDDEN)

    def states(function):
        with torch.inference_mode():
            return function(lstm, words, length)

    def trained(function):
        lstm.zero_grad()
        (function(lstm, words, length) * weight).sum().backward()

    torch.testing.assert_close(states(last_states), states(plain), atol=1e-5, rtol=1e-5)
    slow, fast = seconds(lambda: trained(plain), lambda: trained(last_states))
    slow_read, fast_read = seconds(lambda: states(plain), lambda: states(last_states))
    with capsys.disabled():
        print(
            f"\n{TEXTS} texts of up to {longest} words ({int(length.sum())} in all), "
            f"{torch.get_num_threads()} threads: forward and backward nn.LSTM {1e3 * slow:.0f} ms, "
            f"ours {1e3 * fast:.0f} ms: {slow / fast:.1f} times as fast; forward alone "
            f"{1e3 * slow_read:.0f} and {1e3 * fast_read:.0f} ms: {slow_read / fast_read:.1f} "
            f"times; {BATCHES} batches of both sides {BATCHES * SIDES * fast:.1f} s"
        )
    assert fast < slow
