"""Recipes for every row of tables 1 to 3 and four rows of ours, with the paper's settings."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, model_validator

from qasel.datasets import Dataset, PairTask, load_dataset, load_pairs, pairs_of
from qasel.datasets.registry import COLLECTIONS
from qasel.errors import QaselError
from qasel.files import FilePath
from qasel.text.features.distances import NAMES, TFIDF_NAMES, TRIGRAMS, WORDS
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

TASKS = {"QA": "semeval-cqa", "FNC": "fnc-1", "NLI": "multinli"}
"""Auxiliary task, as named in the tables → its data set."""
AUXILIARY = {name: (name,) for name in TASKS} | {"ALL": tuple(TASKS)}
"""Heading of table 1 → its auxiliary tasks."""
STL, MTL, SIM = "STL-MLP", "MTL-MLP", "-BiLSTM-SIM"
MAIN, WITHOUT = f"{MTL} (QA)", " w/o "
BASELINES = {"IR baseline": "file-order", "Random baseline": "semeval-random"}
"""Row of table 1 → its name in `qasel.rankers.BASELINES`; neither is trained."""

BY_NAME = {
    name: name.replace(" trigram", " tf-idf trigram") if "jaccard" not in name else name
    for name in NAMES
}
"""The fourteen distances as the paper names them → as its rows compute them.

Words are binary, trigrams weighted by tf-idf, as in the authors' code (which also weights words);
Jaccard is that of sets. docs/notes/question-relevancy.md compares these interpretations.
"""
FOURTEEN = tuple(BY_NAME.values())


def _of(*representations: str) -> tuple[str, ...]:
    return tuple(name for name in FOURTEEN if name.endswith(representations))


FEATURE_SETS = {
    "Unigrams": _of("unigram"),
    "MeanEmb": _of("embedding"),
    "Trigrams": _of("trigram"),
    "Unigrams+Ngrams": _of("unigram", "trigram"),
    "Unigrams+MeanEmb": _of("unigram", "embedding"),
    "Emb+Trigrams": _of("embedding", "trigram"),
}
"""Row of table 2 → its distances."""
READINGS = {
    "tf-idf": (*_of("embedding"), *TFIDF_NAMES, "jaccard unigram", "jaccard trigram"),
    "binary trigrams": NAMES,
}
"""Other interpretations of the fourteen distances; in `tf-idf`, words are weighted too.

Unlike in the authors' code, idf is that of the training pairs, and Jaccard is that of sets.
"""

Settings = dict[str, Any]
_QA: Settings = {"auxiliary": AUXILIARY["QA"]}
_LSTM: Settings = {"lstm_layers": 3, "lstm_hidden": 32, "longest": 40, "patience": 5}


def _rows(sets: Mapping[str, tuple[str, ...]]) -> dict[str, Settings]:
    """Return two rows per set of distances: the network alone, and with the QA task."""
    return {
        f"{system}, {name}": {"features": features, **others}
        for name, features in sets.items()
        for system, others in ((STL, {}), (MAIN, _QA))
    }


OURS = tuple(_rows(READINGS))  # rows of ours, without numbers in the paper
VARIANTS: dict[str, Settings] = {
    STL: {},
    **{f"{MTL} ({name})": {"auxiliary": tasks} for name, tasks in AUXILIARY.items()},
    f"STL{SIM}": _LSTM,
    **{f"MTL{SIM} ({name})": _LSTM | {"auxiliary": (name,)} for name in TASKS},
    **{name: {"vectors": ""} for name in BASELINES},
    **_rows(FEATURE_SETS),
    **{
        f"{MAIN}{WITHOUT}{name}": {"features": tuple(f for f in FOURTEEN if f != read), **_QA}
        for name, read in BY_NAME.items()
    },
    **_rows(READINGS),
}
"""Row of tables 1 to 3, or of ours → its settings."""

LATER_TEST = "test-2017"
"""The test split of SemEval-2017, which has the training data of 2016; `test` is that of 2016."""


class RelevancyRecipe(Recipe):
    """Settings of a run of paper 4 (figure 2 of the text).

    Not in the paper, so chosen by us (docs/notes/question-relevancy.md): `width`, how tasks are
    mixed (a batch of each in every step, the others' losses times `auxiliary_weight`), which
    `words` count, `trigrams` and their tf-idf, standardising features per task, `patience`, the
    BiLSTM's size, its fixed word vectors and its `longest` text.
    """

    added: ClassVar = {"keep": "best"}

    paper: str = "question-relevancy"
    variant: Annotated[str, one_of(VARIANTS)]
    # The distances that the network sees.
    features: Annotated[
        Parts[Annotated[str, one_of((*NAMES, *TFIDF_NAMES))]], Field(min_length=1)
    ] = FOURTEEN
    words: Annotated[str, one_of(WORDS)] = "content"  # the words of a text that count; or "all"
    trigrams: Annotated[str, one_of(TRIGRAMS)] = "characters"  # or "words"
    auxiliary: Parts[Annotated[str, one_of(TASKS)]] = ()
    auxiliary_weight: Amount = 0.1
    # Share of the training lists, the first in the file (for the learning curve).
    share: float = Field(1.0, gt=0, le=1)
    width: Count = 64  # of the shared layer and of each task's own
    dropout: Share = 0.02
    learning_rate: Amount = 1e-3
    momentum: Share = 0.9
    batch: Count = 100  # pairs
    epochs: Count = 100
    patience: Count = 100  # epochs without a better dev MAP
    keep: Keep = "best"  # which weights are tested (`training.trainer.KEEP`)
    lstm_layers: Natural = 0  # 0: no BiLSTM, the distances alone
    lstm_hidden: Natural = 0  # per direction
    longest: Natural = 0  # words of a text that the BiLSTM reads

    @model_validator(mode="after")
    def _lstm_has_sizes(self) -> Self:
        for name in ("lstm_hidden", "longest"):
            if self.lstm_layers and not getattr(self, name):
                raise QaselError(f"setting {name}: must be at least 1 with a BiLSTM, got 0")
        return self

    @property
    def baseline(self) -> str:
        """Name in `qasel.rankers.BASELINES`, for rows that are baselines."""
        return BASELINES[self.variant]

    @property
    def seeded(self) -> bool:
        """Whether the seed matters; not to baselines, as SemEval's random one has a fixed draw."""
        return self.variant not in BASELINES

    def load(self, data_dir: FilePath | None = None) -> Dataset:
        """Load the data set, with the test split of 2017 as a further one, and the auxiliary tasks.

        SemEval-2017 has the train and dev splits of 2016, so one training serves both tests. On
        the sample and on a user's own data, the QA task uses the questions of the sample.
        """
        data = load_dataset(self.dataset, self.protocol, data_dir)
        splits = dict(data.splits)
        train = splits["train"]
        kept = train.questions[: max(1, round(self.share * len(train)))]
        splits["train"] = replace(train, questions=kept)
        if (self.dataset, self.protocol) == ("semeval-cqa", "b-2016"):
            later = load_dataset(self.dataset, "b-2017", data_dir).test
            splits[LATER_TEST] = replace(later, name=LATER_TEST)
        tasks = {name: self._task(name, data_dir) for name in self.auxiliary}
        return replace(data, splits=splits, tasks=tasks)

    def _task(self, name: str, data_dir: FilePath | None) -> PairTask:
        if name != "QA":
            return load_pairs(TASKS[name], data_dir)
        if self.dataset == "sample" or self.dataset not in COLLECTIONS:
            return pairs_of(load_dataset("sample", "all").train)
        return pairs_of(load_dataset("semeval-cqa", "a-2016", data_dir).train)


QUICK = {"epochs": 40, "learning_rate": 1e-2}  # small enough for a walkthrough, never for tables


def recipe(
    variant: str = MAIN,
    dataset: str = "sample",
    *,
    vectors: str | None = None,
    scale: str = "paper",
    seed: int = 0,
) -> RelevancyRecipe:
    """Return the recipe of a row of tables 1-3 or `OURS`; raises `QaselError` for unknown rows."""
    protocols = {"semeval-cqa": "b-2016", "sample": "related"}
    settings: Settings = {
        "protocol": protocols.get(dataset) or usual_protocol(dataset),
        "vectors": vectors or usual_vectors(dataset),
        **VARIANTS.get(variant, {}),
    }
    if scale == "quick":
        settings |= QUICK
        if SIM in variant:
            settings |= {"lstm_layers": 1, "lstm_hidden": 16}
    return RelevancyRecipe(variant=variant, dataset=dataset, scale=scale, seed=seed, **settings)
