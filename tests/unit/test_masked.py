"""Softmax, maximum and maps over the real entries, by hand."""

import math

import pytest
import torch
from torch import nn

from qasel.layers import masked_max, masked_softmax, on_real

REAL = torch.tensor([[True, True, False], [False, False, False]])


def test_padding_has_no_share_and_is_no_maximum():
    scores = torch.tensor([[0.0, math.log(3), 99.0], [1.0, 2.0, torch.nan]])
    found = masked_softmax(scores, REAL)
    torch.testing.assert_close(found, torch.tensor([[0.25, 0.75, 0.0], [0.0, 0.0, 0.0]]))
    assert masked_max(scores, REAL, 1).tolist() == [pytest.approx(math.log(3)), -math.inf]


@pytest.mark.parametrize("real", [REAL, torch.zeros(2, 3) > 0, torch.ones(2, 3) > 0])
def test_a_map_of_the_real_rows_alone(real):
    torch.manual_seed(0)
    layer, values = nn.Linear(4, 5), torch.randn(2, 3, 4, requires_grad=True)
    weight = torch.randn(2, 3, 5)

    def gradients(found):
        return torch.autograd.grad((found * weight).sum(), [values, *layer.parameters()])

    found, wanted = on_real(layer, values, real), layer(values) * real[..., None]
    torch.testing.assert_close(found, wanted)
    for ours, theirs in zip(gradients(found), gradients(wanted), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_what_is_no_number_beyond_the_words_stays_there():
    values = torch.where(REAL[..., None], torch.ones(2, 3, 4), torch.nan)
    assert on_real(nn.Linear(4, 5), values, REAL).isfinite().all()
