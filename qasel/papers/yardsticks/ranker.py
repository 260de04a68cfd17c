"""Yardsticks as rankers: fine-tuned cross-encoders, published models as they are, baselines."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from qasel.datasets.base import Question, Split
from qasel.errors import QaselError
from qasel.layers import masked_softmax
from qasel.layers.pair_encoder import PairEncoder
from qasel.papers.yardsticks.recipes import (
    EVIDENCE,
    BaselineRecipe,
    CrossEncoderRecipe,
    ReadyRecipe,
)
from qasel.rankers import History
from qasel.text.encoders import Encoder
from qasel.training import neural
from qasel.training.batching import Batch
from qasel.training.losses import Scheme, joint_loss
from qasel.training.trainer import TrainingData

LORA_RANK = 8
"""Rank of the weight updates that LoRA learns; they are scaled by 2 (`lora_alpha / r`)."""


class CrossEncoder(nn.Module):
    """Encodes `[CLS] question [SEP] candidate [SEP]` as one vector per pair, which heads score.

    The vector is the mean over the pair's word pieces or the state of [CLS] (`recipe.averages`).
    """

    def __init__(self, vectors: Tensor, encoder: Encoder, recipe: CrossEncoderRecipe) -> None:
        super().__init__()
        self.vectors = nn.Parameter(vectors.clone(), requires_grad=False)  # no word vectors needed
        self.averages = recipe.averages
        self.pairs = PairEncoder(encoder)
        heads = EvidenceHeads if recipe.variant == EVIDENCE else Heads
        self.heads = heads(encoder.size, recipe.scheme, recipe.dropout)
        if recipe.head_start == "pooler":
            pooler: Any = getattr(encoder.model("pooler"), "pooler", None)
            if not hasattr(pooler, "dense"):
                told = f"encoder {encoder.name!r} has no pooler to start the heads from"
                raise QaselError(f"{told}; set head_start=new")
            for own in self.heads.own.values():
                own.load_state_dict(pooler.dense.state_dict())
        if recipe.tune == "heads":
            self.pairs.requires_grad_(False)
        elif recipe.tune == "lora":
            add_adapters(self.pairs.model)
        self.dropout = nn.Dropout(recipe.dropout)

    def forward(self, batch: Batch) -> dict[str, Tensor]:
        """Scores by head, `[questions, candidates]`, 0 at padding."""
        pairs = torch.cat([self.pairs.vectors(tile.pairs, self.averages) for tile in batch.tiles])
        return self.heads(self.dropout(pairs), batch)


def add_adapters(model: nn.Module) -> None:
    """Freeze an encoder and add trainable low-rank updates to its linear layers (LoRA).

    Hu et al. (2022), by the library `peft`; raises `QaselError` if that is not installed.
    """
    try:
        import peft
    except ImportError as error:
        told = f"tune=lora needs {error.name or 'peft'}"
        raise QaselError(f'{told}; install it: pip install "qasel[transformers]"') from error
    low = peft.LoraConfig(r=LORA_RANK, lora_alpha=2 * LORA_RANK, target_modules="all-linear")
    peft.inject_adapter_in_model(low, model)


class Heads(nn.Module):
    """The heads of a `Scheme` on pair vectors x.

    Each head has its own features r = tanh(W x), as in BERT's classifiers, and a linear score of
    r̂: the features of the heads that it reads, followed by its own, as in paper 1.
    """

    def __init__(self, size: int, scheme: Scheme, dropout: float) -> None:
        super().__init__()
        self.scheme = scheme
        names = [head.name for head in scheme.heads]
        self.own = nn.ModuleDict({name: nn.Linear(size, size) for name in names})
        inputs = {name: size * len(scheme.sources(name)) for name in names}
        self.score = nn.ModuleDict({name: nn.Linear(inputs[name], 1) for name in names})
        self.dropout = nn.Dropout(dropout)

    def forward(self, pairs: Tensor, batch: Batch) -> dict[str, Tensor]:
        """Scores by head, `[questions, candidates]`, from pair vectors `[P, d]`."""
        features: dict[str, Tensor] = {}
        scores: dict[str, Tensor] = {}
        for name, score in self.score.items():
            features[name] = self.features(name, pairs, scores, batch)
            read = torch.cat([features[source] for source in self.scheme.sources(name)], dim=-1)
            scores[name] = batch.as_lists(score(self.dropout(read))[:, 0].float())
        return scores

    def features(self, name: str, pairs: Tensor, scores: dict[str, Tensor], batch: Batch) -> Tensor:
        """Features of one head, `[P, d]`; `scores` are those of the heads before it."""
        return self.own[name](pairs).tanh()


class EvidenceHeads(Heads):
    """Two heads: what the first one finds in a list is evidence for the second.

    The simplest form of MS-Ranker's idea, without an agent: nothing is sampled. As in the paper,
    the probability of being relevant decides how much of a candidate becomes evidence (equation
    21), and a gate how much of that is let in (equation 22). Evidence is the mean vector of the
    *other* candidates, weighted by the softmax of their first scores. It enters before the tanh
    with weights that start at 0, so that the second head starts as a plain one.
    """

    def __init__(self, size: int, scheme: Scheme, dropout: float) -> None:
        super().__init__(size, scheme, dropout)
        self.of_pair = nn.Linear(size, size, bias=False)
        self.of_evidence = nn.Linear(size, size, bias=False)
        self.enter = nn.Linear(size, size, bias=False)
        nn.init.zeros_(self.enter.weight)

    def features(self, name: str, pairs: Tensor, scores: dict[str, Tensor], batch: Batch) -> Tensor:
        """Features of one head, `[P, d]`; the second's include evidence from the first's scores."""
        if not scores:
            return super().features(name, pairs, scores, batch)
        (first,) = scores.values()
        lists = others(first, batch.mask) @ batch.as_lists(pairs).float()
        evidence = lists.flatten(0, 1)[batch.slot]
        gate = (self.of_pair(pairs) + self.of_evidence(evidence)).sigmoid()
        return (self.own[name](pairs) + gate * self.enter(evidence)).tanh()


def others(scores: Tensor, mask: Tensor) -> Tensor:
    """Attention of each candidate over the others of its list, `[Q, N, N]`, from scores `[Q, N]`.

    Row i is the softmax over all real candidates but i, or 0 if there is no other.
    """
    same = torch.eye(mask.shape[1], dtype=torch.bool, device=mask.device)
    return masked_softmax(scores[:, None].expand(-1, len(same), -1), mask[:, None] & ~same)


class Reference(neural.Reference):
    """A baseline of this room."""

    recipe_type = BaselineRecipe


def depth(name: str, layers: int) -> int:
    """Return the layer of a `CrossEncoder` parameter: 0 for embeddings, `layers` + 1 for heads."""
    if not name.startswith("pairs."):
        return layers + 1
    layer = re.search(r"layers?\.(\d+)\.", name)
    return int(layer[1]) + 1 if layer else 0


def cut_lists(split: Split, most: int, seed: int) -> Split:
    """Cut the lists of a split to at most `most` candidates, keeping their order; 0 keeps all.

    All relevant candidates stay, however many; `seed` draws the others, at least one per list.
    """
    generator = np.random.default_rng(seed)

    def cut(question: Question) -> Question:
        if not most or len(question.candidates) <= most:
            return question
        right = question.labels == 1
        kept = generator.permutation(np.flatnonzero(~right))[: max(most - right.sum(), 1)]
        chosen = np.sort(np.concatenate([np.flatnonzero(right), kept]))
        return replace(question, candidates=tuple(question.candidates[i] for i in chosen))

    return Split(split.name, tuple(cut(question) for question in split))


class CrossEncoderRanker(neural.NeuralRanker):
    """Any fine-tuned cross-encoder of this room; they differ only in heads and losses."""

    recipe_type = CrossEncoderRecipe
    recipe: CrossEncoderRecipe
    network: CrossEncoder
    encoder: Encoder
    probe: "CrossEncoderRanker | None" = None  # provides the heads to start from

    def build(self, vectors: Tensor) -> CrossEncoder:
        """Return the pre-trained encoder with the variant's heads, which are untrained."""
        return CrossEncoder(vectors, self.encoder, self.recipe)

    def first_stage(self, train_split: Split, dev_split: Split, folder: Path | None) -> None:
        """With `head_start="probe"`, train the heads alone."""
        if self.recipe.head_start == "probe":
            alone = self.recipe.change(head_start="new", tune="heads")
            stage = type(self)(alone, self.vectors, self.device)
            self.probe = stage.as_stage(train_split, dev_split, folder)

    def prepare(self, *splits: Split) -> None:
        """Build the network as it is before training."""
        super().prepare(*splits)
        if self.probe:
            self.network.heads.load_state_dict(self.probe.network.heads.state_dict())
            self.probe = None  # frees its encoder

    def training_data(self, split: Split) -> TrainingData:
        """The lists of a split, the longest ones cut (see `cut_lists`)."""
        return super().training_data(cut_lists(split, self.recipe.cut, self.recipe.seed))

    def optimizer(self) -> torch.optim.Optimizer:
        """AdamW, with no weight decay for biases and norms, and lower rates for lower layers."""
        r, layers = self.recipe, self.encoder.layers
        groups: dict[tuple[float, float], list[nn.Parameter]] = {}
        for name, weights in self.network.named_parameters():
            if weights.requires_grad:
                rate = self.rate * r.layer_decay ** (layers + 1 - depth(name, layers))
                decay = r.weight_decay if weights.ndim > 1 else 0.0
                groups.setdefault((rate, decay), []).append(weights)
        return torch.optim.AdamW(
            {"params": weights, "lr": rate, "weight_decay": decay}
            for (rate, decay), weights in groups.items()
        )

    def losses(self, batch: Batch) -> dict[str, Tensor]:
        """The loss of each head, and their weighted sum."""
        r, scores = self.recipe, self.network(batch)
        weights = dict(zip(("point", "pair", "list"), r.weights, strict=True))
        how = {"margin": r.margin, "pairs": r.pairs}
        return joint_loss(r.scheme.heads, scores, batch.labels, batch.mask, weights, **how)

    def scores(self, batch: Batch) -> Tensor:
        """Scores of the head that ranks."""
        return self.network(batch)[self.recipe.scheme.ranks]


class Classifier(nn.Module):
    """A published sequence classifier with one class or two; raises `QaselError` for more."""

    def __init__(self, vectors: Tensor, encoder: Encoder) -> None:
        super().__init__()
        self.vectors = nn.Parameter(vectors.clone(), requires_grad=False)
        self.pairs = PairEncoder(encoder, "classifier")
        if (classes := self.pairs.model.config.num_labels) > 2:
            told = f"encoder {encoder.name!r} tells {classes} classes apart"
            raise QaselError(f"{told}; a ranker needs one, or irrelevant and relevant")

    def forward(self, batch: Batch) -> Tensor:
        """Log odds of "relevant", `[questions, candidates]`, 0 at padding."""
        logits = torch.cat([self.pairs(tile.pairs).logits for tile in batch.tiles]).float()
        odds = logits[:, 1] - logits[:, 0] if logits.shape[1] == 2 else logits[:, 0]
        return batch.as_lists(odds)


class Cosine(nn.Module):
    """The cosine of a question's and a candidate's vector, each the mean over its word pieces."""

    def __init__(self, vectors: Tensor) -> None:
        super().__init__()
        self.vectors = nn.Parameter(vectors.clone(), requires_grad=False)  # no word vectors needed

    def forward(self, batch: Batch) -> Tensor:
        """Cosines, `[questions, candidates]`, 0 at padding."""

        def vectors(numbers: Tensor, real: Tensor) -> Tensor:
            assert batch.vectors is not None
            return (batch.vectors[numbers].float() * real[..., None]).sum(1)  # scale-free

        pairs = [
            torch.cosine_similarity(
                vectors(tile.question, tile.real_question)[tile.question_of],
                vectors(tile.answer, tile.real_answer),
            )
            for tile in batch.tiles
        ]
        return batch.as_lists(torch.cat(pairs))


class ReadyRanker(neural.NeuralRanker):
    """A published model that ranks without any training."""

    recipe_type = ReadyRecipe
    recipe: ReadyRecipe
    encoder: Encoder
    parameter_count = 0  # none is trained

    def build(self, vectors: Tensor) -> Classifier | Cosine:
        """The published model."""
        return Cosine(vectors) if self.frozen else Classifier(vectors, self.encoder)

    def fit(self, train_split: Split, dev_split: Split, *_: Any, **more: Any) -> History:
        """Load the model; nothing is trained."""
        self.prepare(train_split, dev_split)
        return History()

    def losses(self, batch: Batch) -> dict[str, Tensor]:
        """Raise `QaselError`, as nothing is trained."""
        raise QaselError(f"{self.recipe.variant} is not trained")
