"""Recipes of the yardsticks; what they need beyond the common fields, cross-encoders have."""

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from qasel.errors import QaselError
from qasel.text.encoders import STANDIN
from qasel.training.losses import LIST, PAIR, POINT, PROGRESSIVE, Head, Scheme
from qasel.training.recipe import (
    Amount,
    Count,
    Natural,
    Numbers,
    Positive,
    Recipe,
    Share,
    one_of,
    usual_protocol,
)
from qasel.training.trainer import Keep, Precision

PAPER = "yardsticks"

GIVEN = "given order"
"""The order of the files: the document's on WikiQA, the thread's on SemEval-2016 A."""
BASELINES = {
    "random": "random",
    "word overlap": "word-overlap",
    "IDF overlap": "idf-overlap",
    "BM25": "bm25",
    GIVEN: "file-order",
}
"""Variant → its name among `qasel.rankers.BASELINES`."""
LEAKS = {"trecqa": "its files list the right answers first"}
"""Data set → why the order of its files is no yardstick."""

MAIN = "cross-encoder (list)"
EVIDENCE = "cross-encoder (evidence)"
SCHEMES = {
    "cross-encoder (point)": Scheme((POINT,), "point"),
    "cross-encoder (pair)": Scheme((PAIR,), "pair"),
    MAIN: Scheme((LIST,), "list"),
    "cross-encoder (PRI)": PROGRESSIVE,
    "cross-encoder (AP loss)": Scheme((Head("list", "ap"),), "list"),
    "cross-encoder (NDCG)": Scheme((Head("list", "ndcg"),), "list"),
    "cross-encoder (lambda AP)": Scheme((Head("list", "lambda-ap"),), "list"),
    EVIDENCE: Scheme((Head("first", "list"), Head("second", "list", ("first",))), "second"),
}
"""Variant → its heads: the losses of paper 1 and its progressive heads, paper 2's AP, LambdaLoss,
and two passes over a list, the second of which knows what the first one found (paper 3)."""
READY = "ready cross-encoder"
"""A sequence classifier as it was published: it ranks, and learns nothing from our data."""
COSINE = "sentence encoder (cosine)"
"""The cosine of two texts' vectors, each the mean over its pieces, by an encoder as it is."""
VARIANTS = (*BASELINES, *SCHEMES, READY, COSINE)


class BaselineRecipe(Recipe):
    """A yardstick that reads no labels; `QaselError` for "given order" where it leaks them."""

    paper: str = PAPER
    variant: Annotated[str, one_of(BASELINES)]

    @model_validator(mode="after")
    def _no_leak(self) -> Self:
        if self.variant == GIVEN and self.dataset in LEAKS:
            told = f"{GIVEN!r} is no yardstick on {self.dataset}: {LEAKS[self.dataset]}"
            raise QaselError(f"{told}; name other variants, such as 'BM25'")
        return self

    @property
    def baseline(self) -> str:
        """Name among `qasel.rankers.BASELINES`."""
        return BASELINES[self.variant]

    @property
    def seeded(self) -> bool:
        """Only the random one draws."""
        return self.variant == "random"


class ReadyRecipe(Recipe):
    """A model that others have trained and that ranks as it is, by name of the hub or folder."""

    paper: str = PAPER
    variant: Annotated[str, one_of([READY, COSINE])]
    encoder: str = "cross-encoder/ms-marco-MiniLM-L6-v2"
    longest: Count = 512  # pieces of a pair, special tokens included

    @property
    def seeded(self) -> bool:
        """Nothing is drawn."""
        return False

    @property
    def frozen(self) -> bool:
        """Whether question and candidate are read apart."""
        return self.variant == COSINE


class CrossEncoderRecipe(Recipe):
    """A fine-tuned transformer over question and candidate: all differ in heads and loss only.

    Settings are what is usual for BERT's family, not tuned here; `margin`, `pairs` and `weights`
    are those of Gao et al. 2020. `pooling` "auto" is the mean over the pieces for sentence encoders
    (`sentence-transformers/…`, the stand-in), which were trained for it, [CLS] for all others.
    """

    added: ClassVar = {
        "head_start": "new",
        "tune": "all",
        "layer_decay": 1.0,
        "keep": "best",
        "precision": "float32",
    }

    paper: str = PAPER
    variant: Annotated[str, one_of(SCHEMES)]
    encoder: str = STANDIN  # a transformer by name or folder
    # What training sets: all, the heads alone, or the heads and low-rank changes of the encoder.
    tune: Literal["all", "heads", "lora"] = "all"
    # A head's own layer starts at random, or as the encoder's pre-trained pooler; "probe": the
    # heads start as they have learnt on the frozen encoder.
    head_start: Literal["new", "pooler", "probe"] = "new"
    # What is a pair's vector.
    pooling: Literal["auto", "first", "mean"] = "auto"
    longest: Count = 128  # pieces of a pair, special tokens included
    dropout: Share = 0.1  # before each layer of a head; the encoder has its own
    # λ of point, pair and list where they learn together.
    weights: Annotated[Numbers[Positive], Field(min_length=3, max_length=3)] = (1.0, 1.0, 1.0)
    pairs: Literal["all", "hardest"] = "hardest"  # "all": with sigmoid scores
    margin: Amount = 1.0
    learning_rate: Amount = 5e-5
    # Factor of the rate from one layer of the encoder to the one below it.
    layer_decay: Annotated[float, Field(gt=0, le=1)] = 1.0
    weight_decay: Amount = 0.01  # of matrices; biases and norms have none
    warmup: Share = 0.1  # share of the steps in which the rate rises, before it falls to 0
    batch: Count = 10  # questions
    cut: Natural = 30  # training candidates a list: all right ones, wrong ones drawn; 0 keeps all
    epochs: Count = 2
    keep: Keep = "best"  # which weights are tested (`training.trainer.KEEP`)
    # Of products in training on a CPU: bfloat16 is 2 to 3 times as fast where it has AMX.
    precision: Precision = "float32"

    @model_validator(mode="after")
    def _can_run(self) -> Self:
        if not self.encoder:
            raise QaselError("no encoder is named; give the name or folder of one: --set encoder=…")
        if self.cut == 1:
            raise QaselError(f"setting cut: expected 0 (keep all) or 2 and more, got {self.cut}")
        return self

    @property
    def scheme(self) -> Scheme:
        """The heads of this variant."""
        return SCHEMES[self.variant]

    @property
    def averages(self) -> bool:
        """Whether a pair's vector is the mean over its pieces, or else the first one's state."""
        if self.pooling == "auto":
            return self.encoder == STANDIN or self.encoder.startswith("sentence-transformers/")
        return self.pooling == "mean"


_LISTS = {"pairs": "all", "margin": 0.8, "weights": (2.0, 1.0, 1.0)}
"""Paper 1's settings on WikiQA, taken for all data but TREC-QA."""

QUICK = {"epochs": 1, "learning_rate": 3e-4, "longest": 64, "cut": 5, "batch": 3}
"""Small enough for a walkthrough, never for tables (docs/notes/yardsticks.md)."""


def recipe(
    variant: str = MAIN,
    dataset: str = "sample",
    *,
    vectors: str | None = None,
    scale: str = "paper",
    seed: int = 0,
) -> BaselineRecipe | CrossEncoderRecipe | ReadyRecipe:
    """The recipe of a yardstick; raises `QaselError` for an unknown variant or scale.

    `vectors`, if any, names the encoder of a cross-encoder: there are no word vectors.
    """
    if variant not in VARIANTS:
        raise QaselError(f"unknown variant {variant!r} of {PAPER}; known: {', '.join(VARIANTS)}")
    settings: dict[str, Any] = {"protocol": usual_protocol(dataset), "vectors": ""}
    kind: type[BaselineRecipe | CrossEncoderRecipe | ReadyRecipe] = BaselineRecipe
    if variant in (READY, COSINE):
        kind = ReadyRecipe
        if vectors or variant == COSINE:
            settings["encoder"] = vectors or STANDIN
    if variant in SCHEMES:
        kind = CrossEncoderRecipe
        settings["encoder"] = vectors or STANDIN
        if dataset != "trecqa":
            settings |= _LISTS
        if scale == "quick":
            settings |= QUICK
    return kind(variant=variant, dataset=dataset, scale=scale, seed=seed, **settings)
