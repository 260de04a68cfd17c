"""Disjoint five-fold cross-validation (section 5.1.1, after Tymoshenko et al. 2017)."""

from collections.abc import Mapping

import numpy as np

from qasel.datasets.base import Split
from qasel.errors import QaselError

FOLDS = 5
_SEED = 13


def fold_of(splits: Mapping[str, Split], fold: int) -> dict[str, Split]:
    """Fold `fold` of five: four fifths of train, and a fifth each of dev and test.

    The training questions of the fold are left out; dev and test have those of the fold only.
    So the folds share no dev and no test question. Questions are dealt out at random, the same
    way every time. Raises `QaselError` for a split with fewer questions than folds.
    """
    found = {}
    for name, split in splits.items():
        if len(split) < FOLDS:
            told = f"split {name} has {len(split)} questions that count: too few for {FOLDS} folds"
            raise QaselError(told)
        order = np.random.default_rng(_SEED).permutation(len(split))
        inside = set(order[fold::FOLDS].tolist())
        keep_inside = name != "train"
        questions = (q for i, q in enumerate(split) if (i in inside) == keep_inside)
        found[name] = Split(name, tuple(questions))
    return found
