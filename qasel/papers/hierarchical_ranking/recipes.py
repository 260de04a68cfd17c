"""Recipes of paper 1, and its schemes as data: the `Head`s of every row."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from qasel.training.losses import LIST, PAIR, POINT, PROGRESSIVE, Head, Scheme
from qasel.training.recipe import (
    Amount,
    Count,
    Natural,
    Parts,
    Recipe,
    Share,
    one_of,
    usual_protocol,
    usual_vectors,
)
from qasel.training.trainer import Keep

Activation = Literal["relu", "tanh"]

SCHEMES: dict[str, Scheme] = {
    "CA(point)": Scheme((POINT,), "point"),
    "CA(pair)": Scheme((PAIR,), "pair"),
    "CA(list)": Scheme((LIST,), "list"),
    "MTL(point)": Scheme((POINT, PAIR, LIST), "point"),
    "MTL(pair)": Scheme((POINT, PAIR, LIST), "pair"),
    "MTL(list)": Scheme((POINT, PAIR, LIST), "list"),
    # Equations 11, 12 and 13.
    "RI(point)": Scheme((PAIR, LIST, Head("point", "point", ("pair", "list"))), "point"),
    "RI(pair)": Scheme((POINT, LIST, Head("pair", "pair", ("point", "list"))), "pair"),
    "RI(list)": Scheme((POINT, PAIR, Head("list", "list", ("point", "pair"))), "list"),
    # Equations 15 and 14.
    "PRI(point)": Scheme(
        (LIST, Head("pair", "pair", ("list",)), Head("point", "point", ("pair",))), "point"
    ),
    "PRI(list)": PROGRESSIVE,
    # Table 2.
    "PRI(list) w/o point-level": Scheme((PAIR, Head("list", "list", ("pair",))), "list"),
    "PRI(list) w/o pair-level": Scheme((POINT, Head("list", "list", ("point",))), "list"),
    "PRI(all list)": Scheme(
        (Head("point", "list"), Head("pair", "list", ("point",)), Head("list", "list", ("pair",))),
        "list",
    ),
}
# The rebuilt baseline (Bian et al. 2017) has the form of CA(list); its recipe sets k-max attention.
SCHEMES["DCA"] = SCHEMES["CA(list)"]

BEYOND: dict[str, Scheme] = {
    "CA(ap)": Scheme((Head("list", "ap"),), "list"),
    "PRI(list→ap)": Scheme(
        (POINT, Head("pair", "pair", ("point",)), Head("list", "ap", ("pair",))), "list"
    ),
}
"""Not in the paper: CA(list) and PRI(list) with the list level trained on AP itself."""
VARIANTS = SCHEMES | BEYOND

MAIN = "PRI(list)"


class HierarchicalRecipe(Recipe):
    """Settings of a run of paper 1 (section "Implementation details").

    Not in the paper, so chosen by us: `dropout`, the heads' `hidden` size (that of the hidden
    states), `k_max` (the paper names k-max attention on WikiQA, but not k), `wide`, `point_head`,
    `pair_head`, `list_mean` and the cap on `epochs`; each is explained in
    docs/notes/hierarchical-ranking.md.
    """

    added: ClassVar = {"point_head": "relu", "pair_head": "relu", "keep": "best"}

    paper: str = "hierarchical-ranking"
    variant: Annotated[str, one_of(VARIANTS)]
    hidden: Count = 300
    channels: Count = 150
    kernels: Annotated[Parts[Count], Field(min_length=1)] = (1, 2, 3, 4, 5)
    wide: bool = False  # windows of the CNN may start before the sentence
    k_max: Natural = 0  # words kept by k-max attention; 0 keeps all
    dropout: Share = 0.2
    point_weight: Amount = 1.0  # the λ of equation 10
    pair_weight: Amount = 1.0
    list_weight: Amount = 1.0
    point_head: Activation = "relu"  # what follows the hidden layer of a head
    pair_head: Activation = "relu"
    list_mean: Literal["batch", "list", "none"] = "batch"  # see `list_loss`
    pairs: Literal["all", "hardest"] = "hardest"  # "all" squashes scores by a sigmoid
    margin: Amount = 1.0
    learning_rate: Amount = 5e-4
    vectors_rate: Amount = 0.0  # learning rate of the word vectors; 0 freezes them
    batch: Count = 30  # questions
    patience: Count = 10  # epochs without a better dev MAP
    keep: Keep = "best"  # which weights are tested (`training.trainer.KEEP`)
    epochs: Count = 100

    @property
    def scheme(self) -> Scheme:
        """The heads of this variant."""
        return VARIANTS[self.variant]

    def activation(self, head: Head) -> Activation:
        """What follows the hidden layer of a head; ReLU for list losses."""
        return {"point": self.point_head, "pair": self.pair_head}.get(head.loss, "relu")

    @property
    def feature_size(self) -> int:
        """Size of a head's own matching vector r = [r^q; r^a]."""
        return 2 * len(self.kernels) * self.channels


K_MAX = 5

_WIKIQA = {
    "point_weight": 2.0, "pairs": "all", "margin": 0.8, "vectors_rate": 5e-5, "k_max": K_MAX,
    "wide": True,
}  # fmt: skip

QUICK = {
    "hidden": 100, "channels": 50, "dropout": 0.1, "learning_rate": 2e-3, "batch": 5, "epochs": 10,
}  # fmt: skip
"""Small enough for a walkthrough, never for tables (docs/notes/hierarchical-ranking.md)."""


def recipe(
    variant: str = MAIN,
    dataset: str = "sample",
    *,
    vectors: str | None = None,
    scale: str = "paper",
    seed: int = 0,
) -> HierarchicalRecipe:
    """Return the recipe of a row of table 1 or 2; raises `QaselError` for unknown variant or scale.

    TREC-QA has its own settings; any other data set gets those of WikiQA. `vectors` defaults to
    GloVe 6B 100d; for the paper's 840B 300d, pass their name.
    """
    settings: dict = {} if dataset == "trecqa" else dict(_WIKIQA)
    settings["protocol"] = usual_protocol(dataset)
    settings["vectors"] = vectors or usual_vectors(dataset)
    if dataset in ("wikiqa", "trecqa"):  # chosen on held-out training questions of both
        settings["keep"] = "mean"
    if variant == "DCA":
        settings["k_max"] = K_MAX
    heads = VARIANTS[variant].heads if variant in VARIANTS else ()
    if dataset == "trecqa" and any(head.loss == "pair" for head in heads):
        settings["pair_head"] = "tanh"
    if scale == "quick":
        settings |= QUICK
    return HierarchicalRecipe(variant=variant, dataset=dataset, scale=scale, seed=seed, **settings)
