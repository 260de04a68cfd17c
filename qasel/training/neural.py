"""Rankers made from a recipe: their base class, baselines, and networks that score whole lists."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn

from qasel.datasets.base import Candidate, Question, Split
from qasel.errors import QaselError
from qasel.evaluation import Run, evaluate
from qasel.onednn import by_onednn
from qasel.rankers import BASELINES, History, RandomRanker, as_split
from qasel.text import Vectors, Vocabulary, tokenize
from qasel.text.encoders import Encoder, contextual_vectors, load_encoder, own_fingerprint
from qasel.training import checkpoint
from qasel.training.batching import Batch, EncodedSplit, PairedSplit, Tile
from qasel.training.devices import seed_all
from qasel.training.recipe import Recipe, of_this_version, read_recipe, recipe_from, write_recipe
from qasel.training.trainer import LAST, OnEpoch, Schedule, TrainingData, train

MODEL = "model.safetensors"
RANK_BATCH, RANK_PAIRS = 60, 6_000
"""Questions per batch when only ranking, and pairs if lists are long (a list is never cut)."""


class RecipeRanker(ABC):
    """Base class of the papers' rankers, made from a recipe, word vectors and a device."""

    recipe_type: type[Recipe]
    recipe: Any  # of type `recipe_type`

    def __init__(self, recipe: Recipe, vectors: Vectors, device: torch.device | str) -> None:
        self.recipe, self.vectors, self.device = recipe, vectors, torch.device(device)

    @abstractmethod
    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """All that `rank` needs besides the recipe: tensors, and values that JSON can hold."""

    @abstractmethod
    def restore(self, tensors: dict[str, Tensor], values: dict[str, Any]) -> None:
        """Restore what `state` returned."""

    def require_trained(self, trained: bool) -> None:
        """Raise `QaselError` unless `trained`."""
        if not trained:
            raise QaselError(f"{self.recipe.variant}: not trained; call fit before rank")

    def save(self, folder: Path) -> None:
        """Save recipe and model to a folder; nothing is pickled."""
        tensors, values = self.state()
        # The model last: a folder that has one counts as complete.
        write_recipe(folder, self.recipe)
        checkpoint.save(Path(folder) / MODEL, tensors, {"recipe": self.recipe.as_dict(), **values})

    @classmethod
    def load(cls, folder: Path, vectors: Vectors, device: torch.device | str) -> Self:
        """Load what `save` wrote; `vectors` serve unseen words. Raises `QaselError` on failure."""
        tensors, values = checkpoint.load(Path(folder) / MODEL)
        with of_this_version(folder):
            ranker = cls(recipe_from(values["recipe"], cls.recipe_type), vectors, device)
            ranker.restore(tensors, values)
        return ranker


class Reference:
    """The recipe's `baseline`, a ranker of `qasel.rankers`; vectors and device are not used."""

    recipe_type: type[Recipe]

    def __init__(self, recipe: Any, vectors: Vectors, device: torch.device | str) -> None:
        self.recipe, kind = recipe, BASELINES[recipe.baseline]
        self.ranker = kind(recipe.seed) if kind is RandomRanker else kind()

    def fit(self, train_split: Split, dev_split: Split, folder: Path | None = None) -> History:
        """Learn word counts, if the baseline needs any; labels are not used."""
        return self.ranker.fit(train_split, dev_split)

    def rank(self, split: Split) -> Run:
        """Score every candidate."""
        return self.ranker.rank(split)

    def save(self, folder: Path) -> None:
        """Save the recipe and what was learnt to a folder."""
        write_recipe(folder, self.recipe)
        self.ranker.save(folder)

    @classmethod
    def load(cls, folder: Path, vectors: Vectors, device: torch.device | str) -> Self:
        """Load what `save` wrote."""
        found = cls(recipe_from(read_recipe(folder), cls.recipe_type), vectors, device)
        found.ranker = type(found.ranker).load(folder)
        return found


class NeuralRanker(RecipeRanker):
    """Base class of rankers with a network that scores whole lists.

    Subclasses define the network (`build`) and what it minimises (`losses`); some also how it
    scores (`scores`) and how long it trains (`schedule`). The network keeps its word vectors in a
    parameter `vectors` `[words, size]`, row 0 for padding. If the recipe names an `encoder`, texts
    are its pieces instead, read in pairs (`PairedSplit`), and `vectors` is empty. A `frozen`
    encoder is not part of the network: its vectors of the pieces come with the batches.
    """

    rate_name: str = "learning_rate"  # the recipe's setting for `rate`
    network: Any  # what `build` returns
    vocabulary: Vocabulary  # empty where an encoder reads the texts
    encoder: Encoder | None
    learnt_from: str = ""  # a fingerprint of the data and the word vectors

    def __init__(self, recipe: Recipe, vectors: Vectors, device: torch.device | str) -> None:
        super().__init__(recipe, vectors, device)
        name = getattr(recipe, "encoder", "")
        self.frozen = getattr(recipe, "frozen", False)
        self.encoder = load_encoder(name) if name or self.frozen else None
        self.vocabulary = Vocabulary()

    @abstractmethod
    def build(self, vectors: Tensor) -> nn.Module:
        """The untrained network, given word vectors `[words, size]`."""

    @abstractmethod
    def losses(self, batch: Batch) -> dict[str, Tensor]:
        """Named losses of a batch; `loss` is the one to minimise."""

    def scores(self, batch: Batch) -> Tensor:
        """The scores to rank by, `[questions, candidates]`; by default the network's output."""
        return self.network(batch)

    def schedule(self) -> Schedule:
        """How long to train, by the recipe's settings; without `patience`, for all its epochs."""
        r = self.recipe
        names = ("decay", "decay_every", "warmup", "keep", "precision")
        how = {name: getattr(r, name) for name in names if hasattr(r, name)}
        return Schedule(r.epochs, getattr(r, "patience", r.epochs), r.batch, r.seed, **how)

    @property
    def rate(self) -> float:
        """Learning rate of all parameters but the word vectors."""
        return getattr(self.recipe, self.rate_name)

    def optimizer(self) -> torch.optim.Optimizer:
        """Adam; the word vectors have a learning rate of their own, and are fixed if it is 0."""
        rest = [p for name, p in self.network.named_parameters() if name != "vectors"]
        groups = [{"params": rest, "lr": self.rate}]
        if self.recipe.vectors_rate > 0:
            groups.append({"params": [self.network.vectors], "lr": self.recipe.vectors_rate})
        return torch.optim.Adam(groups)

    @property
    def parameter_count(self) -> int:
        """Number of trained parameters; word vectors that stay fixed are not counted."""
        return sum(x.numel() for group in self.optimizer().param_groups for x in group["params"])

    def fit(
        self,
        train_split: Split,
        dev_split: Split,
        folder: Path | None = None,
        on_epoch: OnEpoch = None,
    ) -> History:
        """Train on one split, choose the epoch on the other; see `trainer.train`."""
        for split in (train_split, dev_split):
            as_split(split).require_labels()
        self.first_stage(train_split, dev_split, folder)
        self.prepare(train_split, dev_split)
        data, dev = self.training_data(train_split), self._on_device(dev_split)
        place, source = Path(folder) if folder else None, f"{self.learnt_from} {self.recipe.hash}"
        with self._products():
            return train(
                self.network, self.optimizer(), self.losses, data,
                lambda: evaluate(self.run_of(dev, self.scores, "dev"), dev_split).map,
                self.schedule(), place, on_epoch, source, self.rate_name,
            )  # fmt: skip

    def first_stage(self, train_split: Split, dev_split: Split, folder: Path | None) -> None:
        """Train what the network starts from (see `as_stage`); by default there is nothing."""

    def training_data(self, split: Split) -> TrainingData:
        """What an epoch iterates over: whole lists, in batches of questions."""
        return self._on_device(split)

    def prepare(self, *splits: Split) -> None:
        """Take the words of some splits, and make the untrained network."""
        words = () if self.encoder else (word for split in splits for word in _words(split))
        self.vocabulary = Vocabulary(words)
        seed_all(self.recipe.seed, 0)
        matrix = torch.from_numpy(self.vectors.of(self._known()))
        self.network = self.build(matrix).to(self.device)
        self.learnt_from = self._inputs(*splits)

    def as_stage(self, train_split: Split, dev_split: Split, folder: Path | None) -> Self:
        """This ranker, trained, as a first stage of another that works in `folder`.

        It is kept in a sibling folder named by its recipe's slug, and trained once for all runs
        that start from it. Raises `QaselError` if the stage there was learnt from other data.
        """
        place = Path(folder).parent / self.recipe.slug if folder else None
        if place and (place / MODEL).exists():
            stage = self.load(place, self.vectors, self.device)
            checkpoint.require_same(place, stage.learnt_from, self._inputs(train_split, dev_split))
            return stage
        self.fit(train_split, dev_split, place)
        if place:
            self.save(place)
            (place / LAST).unlink(missing_ok=True)
        return self

    def _inputs(self, *splits: Split) -> str:
        known = [split.fingerprint for split in splits]
        if self.vectors.size:
            words = dict.fromkeys(word for split in splits for word in _words(split))
            known.append(hashlib.sha256(self.vectors.of(list(words)).tobytes()).hexdigest()[:16])
        if encoder := own_fingerprint(getattr(self.recipe, "encoder", "")):
            known.append(encoder)
        return " ".join(known)

    def rank(self, split: Split) -> Run:
        """Score every candidate of `split`; raises `QaselError` if neither trained nor loaded."""
        return self.run_of(self.encode(as_split(split)), self.scores, self.recipe.slug)

    def encode(self, split: Split) -> EncodedSplit:
        """Encode a split for the trained network; new words get their pre-trained vectors.

        Raises `QaselError` if neither trained nor loaded.
        """
        self.require_trained(hasattr(self, "network"))
        if not self.encoder:
            self._extend(_words(split))
        self.network.eval()
        return self._on_device(split)

    def pair(self, question: str, answer: str) -> Tile:
        """Encode one pair, typed or taken from the data, for the trained network."""
        asked = Question("q", question, (Candidate("c", answer, None, 0),))
        data = self.encode(Split("pair", (asked,)))
        (tile,) = data.batch(torch.tensor([0], device=self.device)).tiles
        return tile

    def _on_device(self, split: Split) -> EncodedSplit:
        if not self.encoder:
            return EncodedSplit(split, self.vocabulary, self.device)
        if not self.frozen:
            longest = getattr(self.recipe, "longest", None)
            return PairedSplit(split, self.encoder, self.device, longest)
        found = contextual_vectors(self.encoder, split.texts, device=self.device)
        return EncodedSplit(split, found, self.device, torch.from_numpy(found.matrix))

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Weights and vocabulary."""
        values = {"words": self._known()[1:], "learnt_from": self.learnt_from}
        return self.network.state_dict(), values

    def restore(self, tensors: dict[str, Tensor], values: dict[str, Any]) -> None:
        """Rebuild the network as it was saved."""
        self.vocabulary = Vocabulary(values["words"])
        self.network = self.build(tensors["vectors"]).to(self.device)
        self.network.load_state_dict(tensors)
        self.network.eval()
        self.learnt_from = values.get("learnt_from", "")

    def _known(self) -> list[str]:
        return [] if self.encoder else self.vocabulary.words

    def _extend(self, words: list[str]) -> None:
        if all(word in self.vocabulary for word in words):
            return
        old = self.network.vectors
        if (size := self.vectors.size) not in (0, old.shape[1]):
            told = f"word vectors {self.vectors.name!r} have {size} numbers each now, and the model"
            raise QaselError(f"{told} was trained with {old.shape[1]}; train it again")
        new = self.vocabulary.extend(words)
        # Leave inference mode, if called in it: the vectors must stay trainable.
        with torch.inference_mode(False), torch.no_grad():
            rows = old.new_zeros(len(new), old.shape[1])
            if size:
                rows += torch.from_numpy(self.vectors.of(new)).to(old)
            self.network.vectors = nn.Parameter(torch.cat([old.data, rows]), old.requires_grad)

    def run_of(self, data: EncodedSplit, scores: Callable[[Batch], Tensor], tag: str) -> Run:
        """A run from the scores `[questions, candidates]` that a function returns per batch."""
        with self._products():
            return Run.from_scores(data.split, self.rows_of(data, scores), tag)

    @torch.inference_mode()
    def rows_of(self, data: EncodedSplit, values: Callable[[Batch], Tensor]) -> list[np.ndarray]:
        """A function's values for each batch, `[questions, candidates, …]`, without the padding.

        Returns one float64 array `[candidates, …]` per question.
        """
        rows: list[np.ndarray] = []
        for batch in data.batches(RANK_BATCH, pairs=RANK_PAIRS):
            table = values(batch).double().cpu().numpy()
            counts = batch.mask.sum(1).tolist()
            rows += [row[:count] for row, count in zip(table, counts, strict=True)]
        return rows

    def _products(self) -> AbstractContextManager[None]:
        """Use oneDNN for a transformer's matrix products; other networks have too many shapes."""
        tuned = self.encoder and not self.frozen and self.device.type == "cpu"
        return by_onednn() if tuned else nullcontext()


def _words(split: Split) -> list[str]:
    return [word for text in split.texts for word in tokenize(text)]
