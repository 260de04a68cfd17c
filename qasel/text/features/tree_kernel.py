"""The partial tree kernel of Moschitti (2006).

It counts the fragments that two trees share. A fragment is a node with any, or none, of its
children, in order, each the root of a fragment in turn. In one tree, an occurrence of a
fragment weighs √μ a node, λ a leaf of the fragment, and λ a child skipped between two that
were taken; the kernel sums, over pairs of occurrences, the product of both weights.

By recursion over pairs of nodes n, m with children c and d:

    Δ(n, m) = 0 where the labels differ, else μ (λ² + Σ over p of Σ over i, j of S_p(i, j))
    S_1(i, j) = Δ(c_i, d_j)
    S_p(i, j) = Δ(c_i, d_j) · D_{p-1}(i - 1, j - 1)
    D_p(i, j) = S_p(i, j) + λ D_p(i - 1, j) + λ D_p(i, j - 1) - λ² D_p(i - 1, j - 1)

S_p(i, j) sums the pairs of subsequences of p children that end at c_i and d_j.
"""

import math

import numpy as np
from numba import njit

from qasel.text.features.trees import Tree

DECAY = 0.4
"""λ: makes fragments count less the more leaves and gaps they have."""
DEPTH = 0.4
"""μ: makes fragments count less the more nodes they have, so the deeper they are."""


def ptk(a: Tree, b: Tree, decay: float = DECAY, depth: float = DEPTH) -> float:
    """The kernel, normalised: K(a, b) / √(K(a, a) K(b, b)), in [0, 1].

    1 for equal trees, 0 where no label is shared or a tree is empty; symmetric.
    """
    own = partial_tree_kernel(a, a, decay, depth) * partial_tree_kernel(b, b, decay, depth)
    shared = partial_tree_kernel(a, b, decay, depth)
    # Rounding may lift the ratio of nearly equal trees a little over 1.
    return min(shared / math.sqrt(own), 1.0) if own else 0.0


def partial_tree_kernel(a: Tree, b: Tree, decay: float = DECAY, depth: float = DEPTH) -> float:
    """K(a, b), at least 0: Δ summed over all pairs of nodes."""
    number: dict[str, int] = {}
    labels = [
        np.array([number.setdefault(label, len(number)) for label in tree.labels], dtype=np.int64)
        for tree in (a, b)
    ]
    children = [np.array(tree.children, dtype=np.int64) for tree in (a, b)]
    return _kernel(*labels, *children, decay, depth)


@njit(cache=True)
def _kernel(a, b, a_children, b_children, decay, depth):  # pragma: no cover
    """K from labels `[nodes]` and numbers of children `[nodes]`, in level order.

    In level order children come after their parents, and a node's lie side by side, so one
    pass from the end has each Δ ready when it is needed.
    """
    delta = np.zeros((len(a), len(b)))
    total = 0.0
    first = len(a)
    for i in range(len(a) - 1, -1, -1):
        first -= a_children[i]
        other = len(b)
        for j in range(len(b) - 1, -1, -1):
            other -= b_children[j]
            if a[i] == b[j]:
                below = delta[first : first + a_children[i], other : other + b_children[j]]
                delta[i, j] = depth * (decay * decay + _subsequences(below, decay))
                total += delta[i, j]
    return total


@njit(cache=True)
def _subsequences(delta, decay):  # pragma: no cover
    """Σ over p, i and j of S_p(i, j), from Δ of the children, `[children, children]`."""
    rows, columns = delta.shape
    ending = delta.copy()
    total = ending.sum()
    sums = np.zeros((rows + 1, columns + 1))
    found = total
    while found > 0.0:  # nothing of length p means nothing longer
        found = 0.0
        for i in range(rows):
            for j in range(columns):
                sums[i + 1, j + 1] = (
                    ending[i, j]
                    + decay * (sums[i, j + 1] + sums[i + 1, j])
                    - decay * decay * sums[i, j]
                )
                # Read before this cell of the next length is needed by a later one.
                ending[i, j] = delta[i, j] * sums[i, j]
                found += ending[i, j]
        total += found
    return total
