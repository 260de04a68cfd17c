"""Recipes for the paper's own rows of tables 2 to 4, with its settings unless said otherwise."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from qasel.training.recipe import (
    Amount,
    Count,
    Recipe,
    Share,
    one_of,
    usual_protocol,
    usual_vectors,
)
from qasel.training.trainer import Keep, Precision

MAIN = "MS-Ranker"
PRE_RANKER = "Pre-Ranker"

ABLATIONS = {
    "w/o Rewards": "rewards",
    "w/o Pre-Ranker": "pre_ranker",
    "w/o Evidence": "evidence",
    "w/o RL action": "action",
    "w/o the Gate": "gate",
}
"""Row of table 4 → setting that it turns off."""
OF_AGENT = (
    "agent_rate", "decay", "calibrate", "evidence_start", "threshold", "no_change", "list_by",
    "credit", "walks", "ce_weight", "patience", "epochs",
)  # fmt: skip
"""Settings that the pre-ranker does not have."""
ENCODERS = {
    "BERT_BASE": {"encoder": "bert-base-uncased", "learning_rate": 2e-5},
    "BERT_LARGE": {"encoder": "bert-large-uncased", "learning_rate": 1e-5, "pre_epochs": 4},
    "MiniLM": {"encoder": "all-MiniLM-L6-v2", "learning_rate": 2e-5},
    "MPNet": {"encoder": "sentence-transformers/all-mpnet-base-v2", "learning_rate": 2e-5},
}
"""Row of table 3 → its settings (section 4.5).

MiniLM and MPNet (the latter of BERT_BASE's size) stand in where the hub cannot be reached.
"""
FINE_TUNED = {
    "vectors": "", "dropout": 0.1, "pre_loss": "ce", "pre_decay": 0.99, "agent_rate": 1e-5,
    "epochs": 5, "patience": 5,
}  # fmt: skip
"""Settings of all `ENCODERS`: the paper's pre-ranker, BERT's usual dropout, a low agent rate."""
WITH_AGENT = f" + {MAIN}"
FROZEN = {f"{MAIN} + MiniLM (frozen)": "all-MiniLM-L6-v2", f"{MAIN} + ELMo": ""}
"""Row of table 3 → the encoder whose vectors replace GloVe's (section 4.5).

`transformers` has no ELMo, so the paper's row is left open: the user gives an encoder, by name or
folder, which tables mention. MiniLM stands in as a row of its own.
"""
VARIANTS = (
    MAIN,
    PRE_RANKER,
    *ABLATIONS,
    *ENCODERS,
    *(name + WITH_AGENT for name in ENCODERS),
    *FROZEN,  # the open row is last, so that its error stops no other row
)
ALONE = (PRE_RANKER, *ENCODERS)
"""Rows that are the pre-ranker alone."""


class MSRankerRecipe(Recipe):
    """Settings of a run of paper 3 (section 4.3).

    Not in the paper, so chosen by us (docs/notes/ms-ranker.md): `attention`, the pre-ranker's list
    loss, epochs and decay (the paper: 5 epochs, 0.99; its loss is not named), the agent's `decay`
    (0.99), `epochs` and `patience`, which weights are kept, where dropout is applied and
    `word_dropout` (0.5), that word vectors have 100 dimensions (300) and are frozen, that the agent
    takes over the pre-ranker's MLP too, `calibrate`, and how the rewards are used: `ce_weight`,
    `list_by`, `credit` and `walks`.

    `list_by` sorts the list whose average precision gives the rewards in training. With "score" it
    is sorted by P_post alone, as printed, so that no reward depends on an action. Otherwise it is
    sorted by the sampled action, with ties broken at "random" or, for "action", by P_post, which
    rewards taking nothing. `credit` gives an action the rewards of the "rest" of the walk (equation
    26) or of its own "step" (equation 27). A question's `walks` share one pass of the network; the
    baseline of each is the mean of the others (Williams 1992). One walk has none, as printed.

    An `encoder` reads pairs and is fine-tuned, as BERT is in the paper. A `frozen` one reads each
    text on its own; its last layer's vectors of word pieces take the place of word vectors.
    """

    added: ClassVar[dict[str, Any]] = {
        "attention": "noise",
        "word_dropout": None,
        "pre_loss": "ce",
        "pre_decay": 0.99,
        "ce_weight": 0.0,
        "evidence_start": "zero",
        "calibrate": False,
        "keep": "best",
        "precision": "float32",
    }

    paper: str = "ms-ranker"
    variant: Annotated[str, one_of(VARIANTS)]
    encoder: str = ""  # a transformer by name or folder; "": word vectors and a BiGRU
    frozen: bool = False  # the encoder feeds the BiGRU; False: is fine-tuned in its place
    hidden: Count = 128  # of a GRU, per direction
    attention: Literal["dot", "noise"] = "dot"  # initial v₃ and v₆
    word_dropout: Share | None = 0.2  # of word vectors; None: the same as `dropout`
    dropout: Share = 0.5  # of the MLP's input
    pre_loss: Literal["ce", "list"] = "list"  # of the pre-ranker: cross entropy or list loss
    pre_epochs: Count = 8
    pre_decay: Amount = 0.75  # of the pre-ranker's learning rate, per epoch
    learning_rate: Amount = 1e-3  # of the pre-ranker
    agent_rate: Amount = 1e-3  # of the agent
    calibrate: bool = True  # the pre-ranker's P_post, before the agent starts from it
    evidence_start: Literal["zero", "noise"] = "zero"  # initial weights of V_ec in the MLP
    decay: Amount = 0.75  # of the agent's learning rate, per epoch
    vectors_rate: Amount = 0.0  # learning rate of the word vectors; 0 freezes them
    batch: Count = 10  # questions
    threshold: Share = 0.5  # P_post above which a candidate becomes evidence
    # The reward of a step that does not change average precision.
    no_change: float = Field(0.1, ge=-1e30, le=1e30)
    rewards: bool = True  # False: cross entropy
    pre_ranker: bool = True  # sorts candidates; False: only initialises the agent
    evidence: bool = True
    action: bool = True  # P_post decides what becomes evidence; False: every candidate does, whole
    gate: bool = True  # False: half old, half new
    list_by: Literal["random", "action", "score"] = "random"
    credit: Literal["rest", "step"] = "rest"
    walks: Count = 32
    ce_weight: Amount = 10.0  # of cross entropy added to the rewards; 0: rewards alone
    patience: Count = 8  # epochs without a better dev MAP
    epochs: Count = 8
    keep: Keep = "last"  # which weights are tested (`training.trainer.KEEP`)
    precision: Precision = "float32"  # of matrix products in training

    @property
    def before(self) -> "MSRankerRecipe":
        """The recipe of the pre-ranker, which keeps its best epoch, shared by all its agents."""
        row = self.variant.removesuffix(WITH_AGENT)
        tuned = self.encoder and not self.frozen
        variant = row if tuned and row in ENCODERS else PRE_RANKER
        return self.with_defaults(*ABLATIONS.values(), *OF_AGENT).change(
            variant=variant, keep="best"
        )


QUICK = {
    "hidden": 48, "dropout": 0.3, "learning_rate": 2e-3,
    "batch": 5, "pre_epochs": 15, "pre_decay": 0.99, "epochs": 4, "patience": 4,
}  # fmt: skip
"""Small enough for a walkthrough, never for tables (docs/notes/ms-ranker.md)."""


def recipe(
    variant: str = MAIN,
    dataset: str = "sample",
    *,
    vectors: str | None = None,
    scale: str = "paper",
    seed: int = 0,
) -> MSRankerRecipe:
    """Return the recipe of a row of tables 2-4; raises `QaselError` for unknown variant or scale.

    If a row leaves its encoder open, `vectors` names it.
    """
    settings: dict = {
        "protocol": usual_protocol(dataset),
        "vectors": vectors or usual_vectors(dataset),
    }
    if variant in ABLATIONS:
        settings[ABLATIONS[variant]] = False
    if scale == "quick":
        settings |= QUICK
    if (name := variant.removesuffix(WITH_AGENT)) in ENCODERS:
        # At the scale "quick" the pre-ranker keeps its 15 epochs: the sample has few questions.
        settings = {"pre_epochs": 5} | settings | FINE_TUNED | ENCODERS[name]
    if variant in FROZEN:
        settings |= {"vectors": "", "encoder": FROZEN[variant] or vectors or "", "frozen": True}
    made = MSRankerRecipe(variant=variant, dataset=dataset, scale=scale, seed=seed, **settings)
    return made.before if variant in ALONE else made
