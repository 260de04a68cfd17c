"""float32 matrix products by oneDNN: some networks train 1.3 to 1.7 times as fast on some CPUs."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache

import torch

# How many compiled shapes oneDNN keeps (default: 1,024). It reads this at its first use.
os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "32")


def by_onednn() -> AbstractContextManager[None]:
    """A context in which oneDNN multiplies float32 matrices, if that costs no precision.

    PyTorch's default, MKL, leaves more than half of the speed of some processors (AMD's) unused.
    Use this for large products, or for products of one shape: oneDNN compiles some megabytes of
    code per shape, and keeps that of the last 32.
    """
    return _allowed() if _exact() else nullcontext()


@contextmanager
def _allowed() -> Iterator[None]:
    """Let PyTorch use oneDNN, which it does only with permission to round factors to bfloat16."""
    matmul = torch.backends.mkldnn.matmul  # type: ignore[attr-defined]
    before, matmul.fp32_precision = matmul.fp32_precision, "bf16"
    try:
        yield
    finally:
        matmul.fp32_precision = before


@lru_cache(maxsize=1)
def _exact() -> bool:
    """Whether oneDNN is available and does not round factors; with AMX instructions it would."""
    if not hasattr(torch.backends.mkldnn, "matmul") or not torch.backends.mkldnn.is_available():
        return False
    factor = torch.linspace(1, 2, 2**16).view(256, 256)
    with _allowed():
        product = factor @ factor
    return torch.allclose(product.double(), factor.double() @ factor.double(), 1e-5, 0)
