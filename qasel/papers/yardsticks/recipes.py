"""Recipes of the yardsticks: baselines, published models and fine-tuned cross-encoders."""

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from qasel.errors import QaselError
from qasel.text.encoders import STANDIN
from qasel.training.losses import LIST, PAIR, POINT, PROGRESSIVE, Head, Scheme
from qasel.training.recipe import (
    Amount,
    Count,
    Natural,
    Parts,
    Positive,
    Recipe,
    Share,
    one_of,
    usual_protocol,
)
from qasel.training.trainer import Keep, Precision

PAPER = "yardsticks"

GIVEN = "given order"
"""File order: that of the document on WikiQA, that of the thread on SemEval-2016 A."""
BASELINES = {
    "random": "random",
    "word overlap": "word-overlap",
    "IDF overlap": "idf-overlap",
    "BM25": "bm25",
    GIVEN: "file-order",
}
"""Variant → its name in `qasel.rankers.BASELINES`."""
LEAKS = {"trecqa": "its files list the right answers first"}
"""Data set → why its file order is no yardstick."""

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
"""Variant → its heads: paper 1's losses and progressive heads, paper 2's AP, NDCG and LambdaLoss,
and two passes over a list, the second with evidence from the first (paper 3)."""
READY = "ready cross-encoder"
"""A published sequence classifier, which is not trained on our data."""
COSINE = "sentence encoder (cosine)"
"""The cosine of two texts' mean word-piece vectors, by a published encoder without training."""
VARIANTS = (*BASELINES, *SCHEMES, READY, COSINE)


class BaselineRecipe(Recipe):
    """A baseline that reads no labels; raises `QaselError` where "given order" leaks them."""

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
        """Name in `qasel.rankers.BASELINES`."""
        return BASELINES[self.variant]

    @property
    def seeded(self) -> bool:
        """Whether the seed matters: only to the random baseline."""
        return self.variant == "random"


class ReadyRecipe(Recipe):
    """A published model that ranks without training, by its name on the hub or its folder."""

    paper: str = PAPER
    variant: Annotated[str, one_of([READY, COSINE])]
    encoder: str = "cross-encoder/ms-marco-MiniLM-L6-v2"
    longest: Count = 512  # word pieces per pair, special tokens included
    seeded: ClassVar = False  # nothing is drawn

    @property
    def frozen(self) -> bool:
        """Whether question and candidate are read separately."""
        return self.variant == COSINE


class CrossEncoderRecipe(Recipe):
    """A transformer fine-tuned on question and candidate; variants differ only in heads and loss.

    Settings are the usual ones for models like BERT; only the epochs on WikiQA and TREC-QA were
    chosen, on held-out questions. `margin`, `pairs` and `weights` are from Gao et al. (2020).
    `pooling="auto"` is the mean over word pieces for sentence encoders (`sentence-transformers/…`
    and the stand-in), which were trained with it, else [CLS].
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
    # What is trained: all weights, the heads alone, or the heads and low-rank updates (LoRA).
    tune: Literal["all", "heads", "lora"] = "all"
    # Start of a head's own layer: random, or the encoder's pre-trained pooler; with "probe", whole
    # heads start from those trained on the frozen encoder.
    head_start: Literal["new", "pooler", "probe"] = "new"
    # The vector of a pair: the state of [CLS] ("first") or the mean over its word pieces.
    pooling: Literal["auto", "first", "mean"] = "auto"
    longest: Count = 128  # word pieces per pair, special tokens included
    dropout: Share = 0.1  # before each layer of a head; the encoder has its own
    # λ of the point, pair and list losses where they are trained jointly.
    weights: Annotated[Parts[Positive], Field(min_length=3, max_length=3)] = (1.0, 1.0, 1.0)
    pairs: Literal["all", "hardest"] = "hardest"  # "all" squashes scores by a sigmoid
    margin: Amount = 1.0
    learning_rate: Amount = 5e-5
    # Factor of the learning rate from one layer of the encoder to the one below it.
    layer_decay: Annotated[float, Field(gt=0, le=1)] = 1.0
    weight_decay: Amount = 0.01  # of weight matrices; biases and norms have none
    warmup: Share = 0.1  # share of steps in which the learning rate rises; then it falls to 0
    batch: Count = 10  # questions
    # Candidates per training list (see `cut_lists`); 0 keeps all, for which 15 GiB of memory are
    # not enough on TREC-QA: a list there has up to 761.
    cut: Natural = 30
    epochs: Count = 2  # on WikiQA and TREC-QA four (docs/notes/yardsticks.md)
    keep: Keep = "best"  # which weights are tested (`training.trainer.KEEP`)
    # Of matrix products in training: on a CPU with AMX, bfloat16 takes 36 to 62 % of the time.
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
        """Whether a pair's vector is the mean over its word pieces, not the state of [CLS]."""
        if self.pooling == "auto":
            return self.encoder == STANDIN or self.encoder.startswith("sentence-transformers/")
        return self.pooling == "mean"


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
    """Return the recipe of a yardstick; raises `QaselError` for an unknown variant or scale.

    There are no word vectors: `vectors`, if given, names the encoder.
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
        if dataset != "trecqa":  # paper 1's settings on WikiQA
            settings |= {"pairs": "all", "margin": 0.8, "weights": (2.0, 1.0, 1.0)}
        if dataset in ("wikiqa", "trecqa"):
            settings["epochs"] = 4
        if scale == "quick":
            settings |= QUICK
    return kind(variant=variant, dataset=dataset, scale=scale, seed=seed, **settings)
