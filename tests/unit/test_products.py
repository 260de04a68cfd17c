"""Quicker matrix products lose no precision and leave PyTorch's settings as they were."""

import pytest
import torch

from qasel import onednn as products
from qasel.onednn import by_onednn


def precision():
    matmul = getattr(torch.backends.mkldnn, "matmul", None)
    return torch.get_float32_matmul_precision(), matmul and matmul.fp32_precision


def test_products_keep_single_precision():
    generator = torch.Generator().manual_seed(0)
    a, b = (torch.rand(shape, generator=generator) for shape in ((300, 500), (500, 200)))
    before = precision()
    with by_onednn():
        product = a @ b
    torch.testing.assert_close(product.double(), a.double() @ b.double(), rtol=1e-5, atol=0)
    assert precision() == before


def test_the_setting_is_put_back_after_an_error():
    before = precision()
    with pytest.raises(ZeroDivisionError), by_onednn():
        raise ZeroDivisionError
    assert precision() == before


def test_where_onednn_would_round_it_is_not_asked(monkeypatch):
    rounded = {torch.float32: torch.bfloat16, torch.float64: torch.float64}
    monkeypatch.setattr(
        torch.Tensor, "__matmul__", lambda a, b: a.to(rounded[a.dtype]).mm(b.to(rounded[b.dtype]))
    )
    assert not products._exact.__wrapped__()
    monkeypatch.setattr(products, "_exact", lambda: False)
    before = precision()
    with by_onednn():
        assert precision() == before
