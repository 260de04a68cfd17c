"""The unpadded convolution against a slow, obvious one."""

import os
import subprocess
import sys

import pytest
import torch
from torch.nn import functional as F

from qasel.layers.convolution import MaxOverTime, max_by_products


def slow(words, length, layer):
    """One sentence, one kernel, one window at a time."""
    rows = []
    for sentence in words.split(length.tolist()):
        best = []
        for convolution in layer.convolutions:
            kernel = convolution.kernel_size[0]
            over = sentence.new_zeros(kernel - 1, sentence.shape[1])
            series = torch.cat([over, sentence, over] if layer.wide else [sentence, over])
            windows = [
                torch.einsum("kd,cdk->c", series[t : t + kernel], convolution.weight)
                for t in range(len(series) - kernel + 1)
            ]
            best.append(torch.stack(windows).amax(0) + convolution.bias)
        rows.append(F.relu(torch.cat(best)))
    return torch.stack(rows)


@pytest.fixture(params=[False, True], ids=["narrow at the beginning", "wide"])
def case(request):
    torch.manual_seed(0)
    length = torch.tensor([1, 2, 7, 3, 30, 1, 5])  # shorter than a kernel, and longer
    words = torch.randn(int(length.sum()), 6, requires_grad=True)
    return words, length, MaxOverTime(6, 4, (1, 2, 3, 5), wide=request.param)


def gradients(words, layer, output):
    weight = torch.linspace(-1, 1, output.numel()).view_as(output)
    return torch.autograd.grad((output * weight).sum(), [words, *layer.parameters()])


def test_output_and_gradients_equal_the_slow_reference(case):
    words, length, layer = case
    fast, reference = layer(words, length), slow(words, length, layer)
    torch.testing.assert_close(fast, reference)
    for got, wanted in zip(
        gradients(words, layer, fast), gradients(words, layer, reference), strict=True
    ):
        torch.testing.assert_close(got, wanted, atol=1e-5, rtol=1e-5)


def test_path_of_the_gpu_equals_the_cpu_path(case, monkeypatch):
    words, length, layer = case
    monkeypatch.setattr("qasel.layers.convolution.TOGETHER", 2)  # several groups of sentences
    bias = torch.cat([c.bias for c in layer.convolutions])
    weights = [c.weight for c in layer.convolutions]
    other = F.relu(max_by_products(words, length, layer.wide, weights) + bias)
    here = layer(words, length)
    torch.testing.assert_close(other, here)
    for got, wanted in zip(
        gradients(words, layer, other), gradients(words, layer, here), strict=True
    ):
        torch.testing.assert_close(got, wanted, atol=1e-5, rtol=1e-5)


def test_more_words_than_one_product_holds(case, monkeypatch):
    words, length, layer = case
    whole = layer(words, length)
    monkeypatch.setattr("qasel.layers.convolution.ROWS", 4)
    torch.testing.assert_close(layer(words, length), whole)


LOOPS = """
import torch
from qasel.layers.convolution import MaxOverTime
MaxOverTime(2, 1, (1,), wide=True)(torch.ones(1, 2), torch.tensor([1]))
print(torch.get_num_threads())
"""


def test_compiled_loops_leave_pytorch_the_threads_that_were_asked_for():
    asked = os.environ | {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "2"}
    told = subprocess.run([sys.executable, "-c", LOOPS], env=asked, capture_output=True, text=True)
    assert told.stdout == "1\n", told.stderr
