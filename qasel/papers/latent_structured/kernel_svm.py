"""The baseline: an SVM with a polynomial kernel that classifies pairs (section 5.1.1)."""

from dataclasses import dataclass

import numpy as np
from sklearn.svm import SVC

from qasel.errors import QaselError
from qasel.papers.latent_structured.lists import Lists

BLOCK = 4096
"""Candidates scored at a time."""


@dataclass(frozen=True)
class KernelSvm:
    """What scoring needs: support vectors `[S, d]`, their coefficients `[S]`, and the kernel.

    Kept as arrays, because a saved scikit-learn model would have to be unpickled.
    """

    support: np.ndarray
    coefficients: np.ndarray
    degree: int

    @classmethod
    def fit(cls, train: Lists, degree: int) -> "KernelSvm":
        """Pairs as instances, kernel K(x, y) = (x · y + 1)^degree, C = 1 / mean of K(x, x).

        The paper names no C. This one is the default of SVM-light, in which the authors' group
        writes its kernels; with 1, the dev MAP of WikiQA is lower (.514 → .537, on the vectors of
        the CNN .619 → .659). Raises `QaselError` for a degree of which the kernel is too large.
        """
        with np.errstate(over="ignore"):  # told below
            own = ((train.features**2).sum(1) + 1.0) ** degree
        model = SVC(
            C=1.0 / own.mean(), kernel="poly", degree=degree, gamma=1.0, coef0=1.0, cache_size=1000
        )
        try:
            model.fit(train.features, train.positive)
        except ValueError as error:  # C is 0, or a coefficient is not finite
            told = f"setting degree: the kernel of degree {degree} is too large for these features"
            raise QaselError(f"{told}; try a smaller one") from error
        return cls(model.support_vectors_, model.dual_coef_[0], degree)

    def scores(self, features: np.ndarray) -> np.ndarray:
        """Decision values up to a constant, `[T]`."""
        blocks = np.array_split(features, max(1, -(-len(features) // BLOCK)))
        return np.concatenate(
            [((x @ self.support.T + 1.0) ** self.degree) @ self.coefficients for x in blocks]
        )
