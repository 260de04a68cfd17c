"""float32 matrix products by oneDNN: a cross-encoder learns 1.7 times as fast on some CPUs."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache

import torch

# How many compiled shapes oneDNN keeps, 1,024 by default: it reads this when first asked.
os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "32")


def by_onednn() -> AbstractContextManager[None]:
    """A context in which oneDNN multiplies float32 matrices, where that costs no precision.

    PyTorch's own choice, MKL, leaves more than half of some processors unused (AMD's). For products
    of one shape, or for large ones: oneDNN compiles some megabytes of code for each shape, and
    keeps those of the last 32.
    """
    return _allowed() if _exact() else nullcontext()


@contextmanager
def _allowed() -> Iterator[None]:
    """PyTorch asks oneDNN for products only together with leave to round factors to bfloat16."""
    matmul = torch.backends.mkldnn.matmul  # type: ignore[attr-defined]
    before, matmul.fp32_precision = matmul.fp32_precision, "bf16"
    try:
        yield
    finally:
        matmul.fp32_precision = before


@lru_cache(maxsize=1)
def _exact() -> bool:
    """Whether oneDNN is there and does not take that leave; with AMX instructions it would."""
    if not hasattr(torch.backends.mkldnn, "matmul") or not torch.backends.mkldnn.is_available():
        return False
    factor = torch.linspace(1, 2, 2**16).view(256, 256)
    with _allowed():
        product = factor @ factor
    return torch.allclose(product.double(), factor.double() @ factor.double(), 1e-5, 0)
