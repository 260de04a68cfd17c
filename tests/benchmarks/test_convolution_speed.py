"""The two passes of the convolution with its maximum over time, as a ratio: `make bench`."""

import time

import pytest
import torch

from qasel.layers.convolution import MaxOverTime

SENTENCES, LENGTH, SIZE, CHANNELS, KERNELS = 600, 20, 300, 150, (1, 2, 3, 4, 5)
TIMES = 5


@pytest.mark.parametrize("wide", [False, True])
def test_the_backward_pass_is_the_cheaper_one(wide, capsys):
    """It visits one window a channel and not all, if only its loops are vectorised."""
    torch.manual_seed(0)
    layer = MaxOverTime(SIZE, CHANNELS, KERNELS, wide=wide)
    words = torch.randn(SENTENCES * LENGTH, SIZE, requires_grad=True)
    length = torch.full((SENTENCES,), LENGTH)
    layer(words[: 2 * LENGTH], length[:2]).sum().backward()  # compiled by now
    forward = backward = 0.0
    for _ in range(TIMES):
        started = time.perf_counter()
        total = layer(words, length).sum()
        between = time.perf_counter()
        total.backward()
        forward += between - started
        backward += time.perf_counter() - between
    with capsys.disabled():
        print(f"\nMaxOverTime(wide={wide}): backward takes {backward / forward:.2f} of forward")
    assert backward < forward
