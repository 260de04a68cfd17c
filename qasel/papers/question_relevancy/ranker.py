"""Paper 4 as rankers: an MLP on distances, alone or with other tasks, and two baselines."""

from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from qasel.datasets import PairTask, pairs_of
from qasel.datasets.base import Split
from qasel.evaluation import Run, evaluate
from qasel.papers.question_relevancy.model import (
    MAIN_TASK,
    MultiTask,
    PairLSTM,
    Pairs,
    TaskBatch,
    TaskData,
    Texts,
    moments,
)
from qasel.papers.question_relevancy.recipes import RelevancyRecipe
from qasel.rankers.base import History
from qasel.text import Vectors, tokenize
from qasel.text.features import memory
from qasel.text.features.distances import Sides, distances_by_name, is_tfidf
from qasel.training import neural
from qasel.training.devices import seed_all
from qasel.training.trainer import Schedule, train


class Reference(neural.Reference):
    """A baseline under its name in table 1."""

    recipe_type = RelevancyRecipe


VECTORS = "vectors"
"""Name of the word vectors among the model's weights."""
RANK_BATCH = 500
"""Pairs a batch when only ranking."""
EVEN = 0.0
"""Log odds of an even chance: a candidate above it counts as relevant."""


class RelevancyRanker(neural.RecipeRanker):
    """The MLP on distances, alone or with auxiliary tasks, with or without a BiLSTM."""

    recipe_type = RelevancyRecipe
    recipe: RelevancyRecipe
    network: MultiTask

    def __init__(
        self, recipe: RelevancyRecipe, vectors: Vectors, device: torch.device | str
    ) -> None:
        super().__init__(recipe, vectors, device)
        self.words: tuple[str, ...] = ()  # of the texts that it learnt from
        self.corpus: tuple[str, ...] = ()  # the texts that idf is counted in, if it is needed

    def fit(
        self,
        train_split: Split,
        dev_split: Split,
        folder: Path | None = None,
        on_epoch: Callable[[list[dict[str, float]]], None] | None = None,
        tasks: Mapping[str, PairTask] | None = None,
    ) -> History:
        """Train on one split and the auxiliary `tasks`, choose the epoch on the other split."""
        r = self.recipe
        data = self.prepare(train_split, tasks or {})
        dev = self.encode(dev_split)
        read = [part.fingerprint for part in (train_split, dev_split, self.vectors)]
        read += [task.fingerprint for task in (tasks or {}).values()]
        return train(
            self.network,
            torch.optim.SGD(self.network.parameters(), lr=r.learning_rate, momentum=r.momentum),
            self.losses,
            data,
            lambda: evaluate(self._run(dev, dev_split), dev_split).map,
            Schedule(r.epochs, r.patience, r.batch, r.seed),
            folder,
            on_epoch,
            " ".join((*read, r.hash)),
        )

    @property
    def parameter_count(self) -> int:
        """The numbers that training sets, those of the auxiliary tasks among them."""
        return sum(tensor.numel() for tensor in self.network.parameters())

    def prepare(self, train_split: Split, tasks: Mapping[str, PairTask]) -> TaskData:
        """The training data of all tasks, and the network as it is before training."""
        learnt = {MAIN_TASK: pairs_of(train_split), **tasks}
        words = (word for text in train_split.texts for word in tokenize(text))
        self.words = tuple(dict.fromkeys(words))
        sides = {name: _sides(task) for name, task in learnt.items()}
        if is_tfidf(self.recipe.features):
            self.corpus = tuple(dict.fromkeys(chain(*sides[MAIN_TASK])))
        features = {name: self.features(both) for name, both in sides.items()}
        seed_all(self.recipe.seed, 0)
        self.network = self.build({name: len(task.labels) for name, task in learnt.items()})
        self.network.mean, self.network.deviation = moments(features[MAIN_TASK])
        texts = self._texts(sides.values())
        data = {}
        for name, task in learnt.items():
            labels = torch.tensor([pair.label for pair in task.pairs], device=self.device)
            # Each task by its own mean and deviation: news are ten times as long as questions,
            # and would all lie at one end of the main task's scale.
            own = moments(features[name])
            data[name] = _pairs(features[name], *own, texts, sides[name], labels)
        return TaskData(data, self.device)

    def build(self, classes: Mapping[str, int]) -> MultiTask:
        """The untrained network for tasks with these numbers of classes."""
        r = self.recipe
        encoder = None
        if r.lstm_layers:
            encoder = PairLSTM(self.vectors.size, r.lstm_hidden, r.lstm_layers, r.dropout)
        size = len(r.features)
        network = MultiTask(size, classes, width=r.width, dropout=r.dropout, encoder=encoder)
        return network.to(self.device)

    def losses(self, batch: TaskBatch) -> dict[str, Tensor]:
        """Cross entropy of each task, and `loss`: the main one's and, weighted, the others'."""
        parts = {}
        for name, pairs in batch.parts.items():
            assert pairs.labels is not None  # as these are training pairs
            parts[name] = F.nll_loss(self.network(pairs, name), pairs.labels)
        others = sum(loss for name, loss in parts.items() if name != MAIN_TASK)
        return parts | {"loss": parts[MAIN_TASK] + self.recipe.auxiliary_weight * others}

    def features(self, sides: Sides) -> Tensor:
        """The recipe's distances of pairs of texts, float32 `[pairs, features]`.

        Kept in the cache, where other rows find them. Those of tf-idf vectors have the idf of
        the training pairs.
        """
        r = self.recipe
        how = {"words": r.words, "trigrams": r.trigrams, "memory": memory()}
        table = distances_by_name(r.features, sides, self.vectors, self.corpus, **how)
        return torch.from_numpy(table.astype(np.float32)).to(self.device)

    def rank(self, split: Split) -> Run:
        """Score every candidate of `split` by the log odds of "relevant"."""
        self.network.eval()
        return self._run(self.encode(split), split)

    def encode(self, split: Split) -> Pairs:
        """The pairs of a split, list after list, for the trained network."""
        left = [question.text for question in split for _ in question.candidates]
        right = [candidate.text for question in split for candidate in question.candidates]
        texts, features = self._texts([(left, right)]), self.features((left, right))
        mean, deviation = self.network.mean, self.network.deviation
        return _pairs(features, mean, deviation, texts, (left, right))

    @torch.inference_mode()
    def _run(self, pairs: Pairs, split: Split) -> Run:
        index = torch.arange(len(pairs), device=self.device)
        log_p = torch.cat([self.network(pairs.of(part)) for part in index.split(RANK_BATCH)])
        scores = (log_p[:, 1] - log_p[:, 0]).double().cpu().numpy()
        ends = np.cumsum([len(question.candidates) for question in split])
        lists = np.split(scores, ends)[:-1]
        return Run.from_scores(split, lists, self.recipe.slug, relevant_above=EVEN)

    def _texts(self, sides: Iterable[Sides]) -> Texts | None:
        """The texts, if the network reads them."""
        if not self.recipe.lstm_layers:
            return None
        texts = (text for both in sides for side in both for text in side)
        return Texts(texts, self.vectors, self.recipe.longest, self.device)

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Weights, the tasks' sizes, the texts of idf, and the vectors of the words learnt from."""
        words = [word for word in self.words if word in self.vectors]
        tensors = {VECTORS: torch.from_numpy(self.vectors.of(words)), **self.network.state_dict()}
        return tensors, {"classes": self.network.classes, "corpus": self.corpus, "words": words}

    def restore(self, tensors: dict[str, Tensor], values: dict[str, Any]) -> None:
        """Take what `state` gave; the vectors at hand serve words that are not among those."""
        rows = {word: row for row, word in enumerate(values["words"])}
        own = Vectors(self.recipe.vectors, rows, tensors.pop(VECTORS).numpy())
        self.vectors = own.extended(self.vectors)
        self.words, self.corpus = tuple(values["words"]), tuple(values["corpus"])
        self.network = self.build(values["classes"])
        self.network.load_state_dict(tensors)
        self.network.eval()


def _sides(task: PairTask) -> Sides:
    return [pair.left for pair in task.pairs], [pair.right for pair in task.pairs]


def _pairs(
    features: Tensor,
    mean: Tensor,
    deviation: Tensor,
    texts: Texts | None,
    sides: Sides,
    labels: Tensor | None = None,
) -> Pairs:
    """Pairs with standardised features, and their texts where the network reads them."""
    left, right = (texts.numbers(side) if texts else None for side in sides)
    return Pairs((features - mean) / deviation, left, right, labels, texts)
