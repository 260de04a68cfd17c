"""Paper 4 as rankers: an MLP on distances, alone or with other tasks, and two baselines."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from qasel.datasets import PairTask, pairs_of
from qasel.datasets.base import Split
from qasel.errors import QaselError
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
from qasel.rankers import History, as_split
from qasel.text import Vectors, tokenize
from qasel.text.features import memory
from qasel.text.features.distances import Sides, distances_by_name, is_tfidf
from qasel.training import neural
from qasel.training.devices import seed_all
from qasel.training.trainer import OnEpoch, Schedule, train


class Reference(neural.Reference):
    """A baseline under its name in table 1."""

    recipe_type = RelevancyRecipe


VECTORS = "vectors"  # name of the word vectors among the model's weights
RANK_BATCH = 500  # pairs per batch when ranking


class RelevancyRanker(neural.RecipeRanker):
    """The MLP on distances, alone or with auxiliary tasks, with or without a BiLSTM."""

    recipe_type = RelevancyRecipe
    recipe: RelevancyRecipe
    network: MultiTask
    words: tuple[str, ...] = ()  # of the training questions and candidates
    corpus: tuple[str, ...] = ()  # the texts that idf is computed from, if needed

    def fit(
        self,
        train_split: Split,
        dev_split: Split,
        folder: Path | None = None,
        on_epoch: OnEpoch = None,
        tasks: Mapping[str, PairTask] | None = None,
    ) -> History:
        """Train on one split and the auxiliary `tasks`; choose the epoch on the other split.

        Raises `QaselError` unless `tasks` are those that the recipe names.
        """
        r, tasks = self.recipe, tasks or {}
        if set(tasks) != set(r.auxiliary):
            named, given = (", ".join(names) or "none" for names in (r.auxiliary, tasks))
            raise QaselError(f"{r.variant}: learns from the tasks {named}; got {given}")
        as_split(train_split).require_labels()
        data = self.prepare(train_split, tasks)
        dev = self.encode(as_split(dev_split))
        read = [part.fingerprint for part in (train_split, dev_split, self.vectors)]
        read += [task.fingerprint for task in tasks.values()]
        return train(
            self.network,
            torch.optim.SGD(self.network.parameters(), lr=r.learning_rate, momentum=r.momentum),
            self.losses,
            data,
            lambda: evaluate(self.run_of(dev, dev_split), dev_split).map,
            Schedule(r.epochs, r.patience, r.batch, r.seed, keep=r.keep),
            Path(folder) if folder else None,
            on_epoch,
            " ".join((*read, r.hash)),
        )

    @property
    def parameter_count(self) -> int:
        """Number of trained parameters, those of the auxiliary tasks included."""
        return sum(tensor.numel() for tensor in self.network.parameters())

    def prepare(self, train_split: Split, tasks: Mapping[str, PairTask]) -> TaskData:
        """Build the untrained network; return the training data of all tasks."""
        learnt = {MAIN_TASK: pairs_of(train_split), **tasks}
        sides = {
            name: ([pair.left for pair in task.pairs], [pair.right for pair in task.pairs])
            for name, task in learnt.items()
        }
        texts = tuple(dict.fromkeys(train_split.texts))
        self.words = tuple(dict.fromkeys(word for text in texts for word in tokenize(text)))
        self.corpus = texts if is_tfidf(self.recipe.features) else ()
        seed_all(self.recipe.seed, 0)
        self.network = self.build({name: len(task.labels) for name, task in learnt.items()})
        read = self._texts(*sides.values())
        data = {}
        for name, task in learnt.items():
            features = self.features(sides[name])
            # Standardise each task by itself: news are ten times as long as questions.
            mean, deviation = moments(features)
            if name == MAIN_TASK:
                self.network.mean, self.network.deviation = mean, deviation
            labels = torch.tensor([pair.label for pair in task.pairs], device=self.device)
            numbers = read.pairs(sides[name]) if read else None
            data[name] = Pairs((features - mean) / deviation, labels, numbers, read)
        return TaskData(data, self.device)

    def build(self, classes: Mapping[str, int]) -> MultiTask:
        """Return the untrained network; `classes` maps task → number of classes."""
        r, encoder = self.recipe, None
        if r.lstm_layers:
            encoder = PairLSTM(self.vectors.size, r.lstm_hidden, r.lstm_layers, r.dropout)
        how: dict[str, Any] = {"width": r.width, "dropout": r.dropout, "encoder": encoder}
        return MultiTask(len(r.features), classes, **how).to(self.device)

    def losses(self, batch: TaskBatch) -> dict[str, Tensor]:
        """Cross entropy of each task, and `loss`: the main task's plus the weighted others."""
        parts = {}
        for name, pairs in batch.parts.items():
            assert pairs.labels is not None  # as these are training pairs
            parts[name] = F.nll_loss(self.network(pairs, name), pairs.labels)
        others = sum(loss for name, loss in parts.items() if name != MAIN_TASK)
        return parts | {"loss": parts[MAIN_TASK] + self.recipe.auxiliary_weight * others}

    def features(self, sides: Sides) -> Tensor:
        """Return the recipe's distances of pairs of texts, float32 `[pairs, features]`, cached.

        Those of tf-idf vectors use the idf of the training pairs.
        """
        r = self.recipe
        how = {"words": r.words, "trigrams": r.trigrams, "memory": memory()}
        table = distances_by_name(r.features, sides, self.vectors, self.corpus, **how)
        return torch.from_numpy(table.astype(np.float32)).to(self.device)

    def encode(self, split: Split) -> Pairs:
        """Return the pairs of a split, list after list, as the network reads them.

        Raises `QaselError` if neither trained nor loaded.
        """
        self.require_trained(hasattr(self, "network"))
        sides = sides_of(split)
        features = (self.features(sides) - self.network.mean) / self.network.deviation
        read = self._texts(sides)
        return Pairs(features, None, read.pairs(sides) if read else None, read)

    def rank(self, split: Split) -> Run:
        """Score every candidate of `split` by the log odds of "relevant".

        Raises `QaselError` if neither trained nor loaded.
        """
        return self.run_of(self.encode(as_split(split)), split)

    def run_of(self, pairs: Pairs, split: Split) -> Run:
        """Return the run of a split from its pairs, which are in the split's order."""
        ends = np.cumsum([len(question.candidates) for question in split])
        lists = np.split(self.log_odds(pairs), ends)[:-1]
        # At log odds of 0, both classes are equally likely.
        return Run.from_scores(split, lists, self.recipe.slug, relevant_above=0.0)

    @torch.inference_mode()
    def log_odds(self, pairs: Pairs) -> np.ndarray:
        """Return the log odds of "relevant", float64 `[pairs]`."""
        self.network.eval()
        index = torch.arange(len(pairs), device=self.device)
        log_p = torch.cat([self.network(pairs.of(part)) for part in index.split(RANK_BATCH)])
        return (log_p[:, 1] - log_p[:, 0]).double().cpu().numpy()

    def _texts(self, *sides: Sides) -> Texts | None:
        """Return the texts if the network reads them, else None."""
        if not self.recipe.lstm_layers:
            return None
        texts = (text for both in sides for side in both for text in side)
        return Texts(texts, self.vectors, self.recipe.longest, self.device)

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Return weights, numbers of classes, texts for idf, and vectors of the training words."""
        words = [word for word in self.words if word in self.vectors]
        tensors = {VECTORS: torch.from_numpy(self.vectors.of(words)), **self.network.state_dict()}
        return tensors, {"classes": self.network.classes, "corpus": self.corpus, "words": words}

    def restore(self, tensors: dict[str, Tensor], values: dict[str, Any]) -> None:
        """Restore what `state` returned; other words keep the vectors given to the constructor."""
        rows = {word: row for row, word in enumerate(values["words"])}
        own = Vectors(self.recipe.vectors, rows, tensors.pop(VECTORS).numpy())
        self.vectors = own.extended(self.vectors)
        self.words, self.corpus = tuple(values["words"]), tuple(values["corpus"])
        self.network = self.build(values["classes"])
        self.network.load_state_dict(tensors)


def sides_of(split: Split) -> Sides:
    """Return the questions and the candidates of all pairs of a split, list after list."""
    return [q.text for q in split for _ in q.candidates], split.texts[len(split) :]
