"""Horizontal and vertical comparison of two sentences (section 3.2), all pairs at once.

Shapes: P pairs, M window widths, F filters. A sentence is `[P, M, F]`: what its holistic
filters found, a vector of filters a width.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from qasel.text.features.overlap import FEATURES

TINY = 1e-8
"""Below this product of lengths two vectors have no angle; their cosine is 0 then."""


def _length(x: Tensor, dim: int) -> Tensor:
    # Bounded below, as the gradient of a root at 0 is not finite.
    return x.square().sum(dim).clamp(min=TINY**2).sqrt()


def _cosine(product: Tensor, x_length: Tensor, y_length: Tensor) -> Tensor:
    return product / (x_length * y_length).clamp(min=TINY)


def horizontal(x: Tensor, y: Tensor) -> Tensor:
    """Cosine and Euclidean distance of each filter's M numbers, `[P, 2·F]` (figure 6, comU₂).

    A filter's two numbers stand side by side.
    """
    cosine = _cosine((x * y).sum(1), _length(x, 1), _length(y, 1))
    return torch.stack([cosine, _length(x - y, 1)], dim=-1).flatten(1)


def vertical(x: Tensor, y: Tensor, difference: str = "sum") -> Tensor:
    """Cosine, Euclid and |x − y| of every pair of widths, `[P, 3·M²]` (figure 7, comU₁).

    |x − y| is one number, as the size of the vector says: the sum over the filters, or with
    `difference="mean"` their mean. The three numbers of a pair of widths stand side by side; the
    second sentence's width runs fastest.
    """
    product = (x[:, :, None] * y[:, None]).sum(-1)  # [P, M, M]; @ would be in half precision
    cosine = _cosine(product, _length(x, 2)[:, :, None], _length(y, 2)[:, None])
    gap = x[:, :, None] - y[:, None]  # [P, M, M, F]
    absolute = gap.abs().mean(-1) if difference == "mean" else gap.abs().sum(-1)
    return torch.stack([cosine, _length(gap, -1), absolute], dim=-1).flatten(1)


def compared_size(filters: int, widths: int, sparse: bool) -> int:
    """Entries of the comparison vector H_v (equation 21), 631 at the paper's sizes."""
    return 2 * filters + 3 * widths**2 + (4 if sparse else 0)


class Entry(NamedTuple):
    """What an entry of H_v is: its `kind`, which it shares with others, and its own `name`."""

    kind: str
    name: str


def entries(filters: int, widths: int, sparse: bool) -> tuple[Entry, ...]:
    """The entries of H_v in their order; filters and widths count from 1, the question's first."""
    found = [
        Entry(f"{measure} of filters", f"{measure} of filter {number}")
        for number in range(1, filters + 1)
        for measure in ("cosine", "Euclid")
    ]
    found += [
        Entry(f"{measure} of widths", f"{measure} of widths {one} and {other}")
        for one in range(1, widths + 1)
        for other in range(1, widths + 1)
        for measure in ("cosine", "Euclid", "|x − y|")
    ]
    if sparse:
        found += [Entry("sparse features", f"sparse: {name}") for name in FEATURES]
    return tuple(found)
