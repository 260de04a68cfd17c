"""Paper 2's learners as rankers: features, a learner, and C chosen on dev."""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor
from tqdm.auto import tqdm

from qasel.datasets.base import Split
from qasel.errors import QaselError
from qasel.evaluation import Run, evaluate
from qasel.papers.latent_structured.cnn import PairCNN
from qasel.papers.latent_structured.learners import (
    KernelSvm,
    Learnt,
    Lists,
    first_candidates,
    large_margin,
    perceptron,
)
from qasel.papers.latent_structured.recipes import StructuredRecipe
from qasel.rankers import History, as_split
from qasel.text import Vectors
from qasel.text.features import pair_features
from qasel.training.neural import RecipeRanker


class StructuredRanker(RecipeRanker):
    """A linear (or polynomial) model of pair features, for every variant but the CNN itself."""

    recipe_type = StructuredRecipe
    recipe: StructuredRecipe

    network: PairCNN | None = None  # provides the features of variants on CNN vectors
    scale = 1.0  # divisor of the network's vectors
    documents: tuple[str, ...] = ()  # of ESA features
    weights = np.zeros(0)
    svm: KernelSvm | None = None

    def fit(
        self, train: Split, dev: Split, folder: Path | None = None, articles: tuple[str, ...] = ()
    ) -> History:
        """Train on the mixed lists of `train`; C and the epoch, if any, are chosen on `dev`.

        A CNN that provides the features is trained first, or loaded (see `as_stage`). `articles`
        are ESA's documents, by default the recipe's. Raises `QaselError` if no list is mixed, or
        the documents are missing.
        """
        started = time.perf_counter()
        if self.recipe.on_cnn:
            network = PairCNN(self.recipe.cnn, self.vectors, self.device)
            self.network, self.scale = network.as_stage(train, dev, folder), 1.0
        else:
            self.documents = articles or self.recipe.articles()
        mixed = first_candidates(as_split(train), self.recipe.cut or None)
        if not mixed:
            raise QaselError(f"{train.name}: no question has both a right and a wrong candidate")
        lists = Lists.of(mixed, self.features(mixed))
        if self.network:
            self.scale = lists.norm
            lists = replace(lists, features=lists.features / self.scale)
        if self.recipe.learner == "svm":
            self.svm = KernelSvm.fit(lists, self.recipe.degree)
            return History(seconds=time.perf_counter() - started)
        dev_lists = Lists.of(as_split(dev), self.features(dev))

        def dev_map(weights: np.ndarray) -> float:
            return evaluate(Run.from_scores(dev, dev_lists.scores(weights), "dev"), dev).map

        r = self.recipe
        learn: Callable[..., Learnt] = large_margin
        if r.learner == "lsp":
            learn = partial(perceptron, epochs=r.epochs, seed=r.seed)
        costs = r.costs if r.search != "none" else (0.0,)  # plain LSP has no loss to scale
        steps = tqdm(costs, desc="C", unit="value", leave=False)
        models = {cost: learn(lists, dev_map, search=r.search, C=cost) for cost in steps}
        chosen = max(models, key=lambda cost: models[cost].dev_map)  # the first of equals
        best = models[chosen]
        self.weights = best.weights
        return History(best.epochs, best.best_epoch, time.perf_counter() - started, {"C": chosen})

    @property
    def parameter_count(self) -> int:
        """Number of weights, or of support vectors' entries and coefficients, plus a CNN's."""
        learnt = self.svm.support.size + self.svm.coefficients.size if self.svm else 0
        return self.weights.size + learnt + (self.network.parameter_count if self.network else 0)

    def features(self, split: Split) -> list[np.ndarray]:
        """Return the features of a split, float64 `[candidates, d]` per question.

        CNN vectors are divided by the root mean square norm of the training vectors, which suits
        the values of C (docs/notes/latent-structured.md).
        """
        if self.network is not None:
            return [rows / self.scale for rows in self.network.vectors_of(split)]
        return pair_features(split, corpus=self.documents)

    def rank(self, split: Split) -> Run:
        """Score every candidate of `split` without its labels; raises `QaselError` if untrained."""
        self.require_trained(self.svm is not None or self.weights.size > 0)
        score = self.svm.scores if self.svm else lambda rows: rows @ self.weights
        scores = [score(rows) for rows in self.features(as_split(split))]
        return Run.from_scores(split, scores, self.recipe.slug)

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Return the weights or support vectors, and what the features need."""
        arrays = {"weights": self.weights}
        if self.svm:
            arrays = {"support": self.svm.support, "coefficients": self.svm.coefficients}
        tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
        return tensors, {"documents": self.documents, "scale": self.scale}

    def restore(self, tensors: dict[str, Tensor], values: dict[str, Any]) -> None:
        """Restore what `state` returned."""
        self.documents, self.scale = tuple(values["documents"]), values["scale"]
        if self.recipe.learner == "svm":
            support, coefficients = tensors["support"].numpy(), tensors["coefficients"].numpy()
            self.svm = KernelSvm(support, coefficients, self.recipe.degree)
        else:
            self.weights = tensors["weights"].numpy()

    def save(self, folder: Path) -> None:
        """Write the model, and any CNN that provides its features, into a folder."""
        if self.network:
            self.network.save(Path(folder) / "cnn")
        super().save(folder)

    @classmethod
    def load(cls, folder: Path, vectors: Vectors, device: torch.device | str) -> Self:
        """Read what `save` wrote."""
        ranker = super().load(folder, vectors, device)
        if ranker.recipe.on_cnn:
            ranker.network = PairCNN.load(Path(folder) / "cnn", vectors, device)
        return ranker
