"""Recipes for the paper's own rows of tables 2 to 4; its settings by default."""

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

PAPER = "ms-ranker"
MAIN = "MS-Ranker"
PRE_RANKER = "Pre-Ranker"

ABLATIONS = {
    "w/o Rewards": "rewards",
    "w/o Pre-Ranker": "pre_ranker",
    "w/o Evidence": "evidence",
    "w/o RL action": "action",
    "w/o the Gate": "gate",
}
"""Row of table 4 → the setting that it turns off."""
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

MiniLM and MPNet, which is of BERT_BASE's size, stand in where no hub can be reached.
"""
FINE_TUNED = {
    "vectors": "", "dropout": 0.1, "pre_loss": "ce", "pre_decay": 0.99, "agent_rate": 1e-5,
    "epochs": 5, "patience": 5,
}  # fmt: skip
"""What they share: the paper's pre-ranker, BERT's usual dropout, and a low rate for the agent."""
WITH_AGENT = f" + {MAIN}"
FROZEN = {
    f"{MAIN} + MiniLM (frozen)": "all-MiniLM-L6-v2",
    f"{MAIN} + ELMo": "",
}
"""Row of table 3 → the encoder whose vectors replace GloVe's (section 4.5).

`transformers` has no ELMo, so the paper's row is left open: whoever runs it names an encoder, by
name or folder, and tables say which it was. MiniLM stands in under a name of its own.
"""
VARIANTS = (
    MAIN,
    PRE_RANKER,
    *ABLATIONS,
    *ENCODERS,
    *(name + WITH_AGENT for name in ENCODERS),
    *FROZEN,  # the open row last, so that it stops no other when all are run
)
BEST: Keep = "best"
"""The pre-ranker keeps its best epoch on dev, alone and as a first stage."""
ALONE = (PRE_RANKER, *ENCODERS)
"""Rows in which the pre-ranker is all there is."""


class MSRankerRecipe(Recipe):
    """Settings of a run of paper 3 (section 4.3).

    Not in the paper, so ours (docs/notes/ms-ranker.md): `attention`, the pre-ranker's list loss and
    falling rate (the paper: cross entropy, 5 epochs, 0.99), the agent's `agent_rate`,
    `epochs` and `patience`, where dropout is applied, that word vectors are fixed, that the agent
    takes over the pre-ranker's MLP too, and how the rewards are used.

    `list_by` is what sorts the list whose average precision makes the rewards in training: "score",
    P_post alone, as printed, so that no reward depends on an action; or the sampled action, with
    ties broken at "random" or, with "action", by P_post, which rewards taking nothing. `credit`
    gives an action the rewards of the "rest" of the walk (equation 26) or of its own "step"
    (equation 27). The `walks` of a question share one pass of the network, and the others' mean is
    the baseline of each (Williams 1992); with 1 there is none, as printed.

    An encoder reads pairs and is fine-tuned, as BERT is. A `frozen` one reads each text on its own
    and never learns: the last layer's vectors of its pieces stand where those of words would.
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

    paper: str = PAPER
    variant: Annotated[str, one_of(VARIANTS)]
    encoder: str = ""  # a transformer by name or folder; "": word vectors and a BiGRU
    frozen: bool = False  # the encoder gives the BiGRU its words; or is fine-tuned in its place
    hidden: Count = 128  # of a GRU, one direction
    attention: Literal["dot", "noise"] = "dot"  # the start of v₃ and v₆
    word_dropout: Share | None = 0.2  # of word vectors; None: as that of the MLP's input
    dropout: Share = 0.5  # of the MLP's input
    pre_loss: Literal["ce", "list"] = "list"  # of the pre-ranker: cross entropy, or the list loss
    pre_epochs: Count = 8
    pre_decay: Amount = 0.75  # of the pre-ranker's learning rate, per epoch
    learning_rate: Amount = 1e-3  # of the pre-ranker
    agent_rate: Amount = 1e-3  # of the agent
    calibrate: bool = True  # the pre-ranker's P_post, before the agent starts from it
    evidence_start: Literal["zero", "noise"] = "zero"  # the MLP's weights of V_ec
    decay: Amount = 0.75  # of the agent's learning rate, per epoch
    vectors_rate: Amount = 0.0  # 0 fixes the word vectors
    batch: Count = 10  # questions
    threshold: Share = 0.5  # P_post above which a candidate becomes evidence
    # The reward of a step that leaves the average precision as it is.
    no_change: float = Field(0.1, ge=-1e30, le=1e30)
    rewards: bool = True  # or cross entropy
    pre_ranker: bool = True  # or candidates enter in random order; the agent starts from it still
    evidence: bool = True
    action: bool = True  # P_post decides what becomes evidence; or every candidate does, whole
    gate: bool = True  # or half old, half new
    list_by: Literal["random", "action", "score"] = "random"
    credit: Literal["rest", "step"] = "rest"
    walks: Count = 32
    ce_weight: Amount = 10.0  # of cross entropy beside the rewards; 0: rewards alone
    patience: Count = 8  # epochs without a better dev MAP
    epochs: Count = 8
    keep: Keep = "last"  # which weights are tested (`training.trainer.KEEP`)
    precision: Precision = "float32"  # of products in training on a CPU

    @property
    def before(self) -> "MSRankerRecipe":
        """The recipe of the pre-ranker, the same for all agents that start from it."""
        row = self.variant.removesuffix(WITH_AGENT)
        tuned = self.encoder and not self.frozen
        variant = row if tuned and row in ENCODERS else PRE_RANKER
        return self.with_defaults(*ABLATIONS.values(), *OF_AGENT).change(variant=variant, keep=BEST)


QUICK = {
    "hidden": 48, "dropout": 0.3, "learning_rate": 2e-3, "agent_rate": 1e-3,
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
    """The recipe of a row of tables 2 to 4; raises `QaselError` for an unknown variant or scale.

    Where a row leaves its encoder open, `vectors` names that.
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
        settings = {"pre_epochs": 5} | settings | FINE_TUNED | ENCODERS[name]
    if variant in FROZEN:
        settings |= {"vectors": "", "encoder": FROZEN[variant] or vectors or "", "frozen": True}
    made = MSRankerRecipe(variant=variant, dataset=dataset, scale=scale, seed=seed, **settings)
    return made.before if variant in ALONE else made
