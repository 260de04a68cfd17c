"""Recipes for the paper's own rows of figure 11 and tables IV and V, with its settings."""

from typing import Annotated, ClassVar, Literal

from qasel.papers.ap_mpcnn.negatives import NEGATIVES
from qasel.training.recipe import (
    Amount,
    Count,
    Recipe,
    Share,
    one_of,
    usual_protocol,
    usual_vectors,
)
from qasel.training.trainer import Keep

MAIN = "AP-MPCNN"

PARTS = ("attention", "wide", "sparse", "pairwise")
ALONE = {
    "None of the four": "",
    "Attention only": "attention",
    "Wide convolution only": "wide",
    "Sparse feature vector only": "sparse",
    "Pairwise ranking only": "pairwise",
}
"""Bar of figure 11 → the only part that it has. The first is ours: what is one part worth?"""
RELEVANT = 8
"""Of so many training candidates of TREC-QA, one is relevant."""
SETTINGS = {
    f"{name} {value}": {setting: value // RELEVANT if setting == "batch" else value}
    for name, setting, values in (
        ("epochs", "epochs", (5, 7)),
        ("batch", "batch", (16, 64)),
        ("window", "widths", (2, 4)),
        ("filters", "filters", (200, 500)),
        ("hidden", "hidden", (150, 450)),
        ("negatives", "negatives", (5, 10)),
        ("regularization", "regularization", (0.0001, 0.001)),
        ("learning rate", "learning_rate", (0.0001, 0.001)),
    )
    for value in values
}
"""Column of table IV → the setting that it changes, and its value (`batch`: see the recipe)."""
CANDIDATES = {"paper": 32, "quick": 40}
"""Scale → candidates in a batch where ranking is not pairwise."""
VARIANTS = (MAIN, *ALONE, *SETTINGS)


class APMPCNNRecipe(Recipe):
    """Settings of a run of paper 5 (section 4.2).

    Not in the paper, so chosen by us: a batch of 32 counts candidates, as in the code of Rao et al.
    (2016). In TREC-QA's training split four of them are relevant, and a pairwise `batch` counts
    these (in whole lists). Also chosen: cross entropy if ranking is not pairwise, "nearest" by
    score (with dropout on, as in the loss), |x − y| as a sum (docs/notes/ap-mpcnn.md), and dropout
    after the hidden layer. Unlike in equation 24, the loss is a mean over triplets, not a sum, and
    the gradient of the penalty is λw, not 2λw.
    """

    added: ClassVar = {"hinge": "sigmoid", "keep": "best"}

    paper: str = "ap-mpcnn"
    variant: Annotated[str, one_of(VARIANTS)]
    attention: bool = True
    wide: bool = True
    sparse: bool = True
    pairwise: bool = True
    filters: Count = 300
    widths: Count = 3
    hidden: Count = 300
    dropout: Share = 0.5
    difference: Literal["sum", "mean", "vector"] = "sum"  # of |x − y| over filters, or all of it
    negatives: Count = 8
    negatives_by: Annotated[str, one_of(NEGATIVES)] = "nearest"
    margin: Amount = 1.0
    hinge: Literal["sigmoid", "raw"] = "sigmoid"  # on probabilities (equation 24) or log odds
    learning_rate: Amount = 0.00018
    vectors_rate: Amount = 0.0  # learning rate of the word vectors; 0 freezes them
    decay: Amount = 0.3  # of the learning rate, every `decay_every` epochs
    decay_every: Count = 2
    regularization: Share = 0.0006405  # Adam's weight decay
    batch: Count = 32 // RELEVANT  # relevant candidates; all candidates if ranking is not pairwise
    epochs: Count = 6
    keep: Keep = "best"  # which weights are tested (`training.trainer.KEEP`)


QUICK = {
    "filters": 100, "hidden": 100, "dropout": 0.2, "learning_rate": 2e-3, "decay": 0.5,
    "decay_every": 3, "batch": 8, "epochs": 8,
}  # fmt: skip
"""Small enough for a walkthrough, never for tables (docs/notes/ap-mpcnn.md)."""


def recipe(
    variant: str = MAIN,
    dataset: str = "sample",
    *,
    vectors: str | None = None,
    scale: str = "paper",
    seed: int = 0,
) -> APMPCNNRecipe:
    """Return the recipe of a row; raises `QaselError` for an unknown variant or scale.

    `vectors` defaults to GloVe 6B 100d (the paper's have 300 dimensions).
    """
    settings: dict = {
        "protocol": "raw" if dataset == "trecqa" else usual_protocol(dataset),
        "vectors": vectors or usual_vectors(dataset),
    }
    if scale == "quick":
        settings |= QUICK
    if variant in ALONE:
        settings |= {part: part == ALONE[variant] for part in PARTS}
    if not settings.get("pairwise", True):
        settings["batch"] = CANDIDATES[scale]
    settings |= SETTINGS.get(variant, {})
    return APMPCNNRecipe(variant=variant, dataset=dataset, scale=scale, seed=seed, **settings)
