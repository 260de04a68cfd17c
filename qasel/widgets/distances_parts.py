"""What systems that know a pair by its distances make of it (paper 4), and why: no drawing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Protocol

import numpy as np
import torch
from scipy.special import expit
from torch import Tensor

from qasel.errors import QaselError
from qasel.text import Vectors
from qasel.text.features.bags import WORDS
from qasel.text.features.by_name import COLUMN, distances_by_name, is_tfidf

REPRESENTATIONS = {
    "embedding": "Mean of the word vectors",
    "unigram": "Set of words",
    "tf-idf unigram": "Words, weighted by tf-idf",
    "tf-idf trigram": "Trigrams, weighted by tf-idf",
    "trigram": "Set of trigrams",
}
"""What a distance compares, the end of its name → a title, in the order of showing."""


def representation(name: str) -> str:
    """What a distance compares."""
    return name.partition(" ")[2]


class KnowsDistances(Protocol):
    """A trained ranker whose network sees distances of two texts, and nothing else of them.

    `recipe` has the `features` (names of distances) that the network sees, the `words` and
    `trigrams` they are made of, and `lstm_layers`; the network has their `mean` and `deviation`.
    `corpus` are the texts that idf is counted in, if a distance needs it.
    """

    recipe: Any
    vectors: Vectors
    corpus: Sequence[str]
    network: Any


@dataclass(frozen=True)
class Known:
    """All that such a network reads of pairs: standardised distances `[pairs, features]`."""

    features: Tensor


@torch.inference_mode()
def log_odds(network: Any, features: Tensor) -> np.ndarray:
    """Log odds of "relevant" `[pairs]` by standardised distances `[pairs, features]`."""
    network.eval()
    log_p = network(Known(features))
    return (log_p[:, 1] - log_p[:, 0]).double().cpu().numpy()


def parts(network: Any, features: Tensor) -> np.ndarray:
    """What each standardised distance `[features]` of a pair does to its log odds, `[features]`.

    Log odds as they are, less those with this one distance at its mean in training, 0. The parts
    of a network that is not linear need not add up to anything.
    """
    changed = features.repeat(len(features), 1).fill_diagonal_(0)
    return log_odds(network, features[None]) - log_odds(network, changed)


@dataclass(frozen=True)
class Verdict:
    """What a system makes of a list: `odds` `[pairs]`, log odds; of one pair, `parts`.

    `parts` is distance → part, for the distances that the system sees.
    """

    odds: np.ndarray
    parts: Mapping[str, float]

    def probability(self, pair: int) -> float:
        """The probability that a pair of the list is relevant."""
        return float(expit(self.odds[pair]))

    def place(self, pair: int) -> int:
        """A pair's place in the list, from 1; ties stay in the list's order."""
        return int(np.argsort(-self.odds, kind="stable").tolist().index(pair)) + 1


@dataclass(frozen=True)
class Wording:
    """The different words of two texts that count: those shared, all, and those without vector."""

    shared: frozenset[str]
    all: frozenset[str]
    unknown: frozenset[str]


class Systems:
    """Rankers by name that read the same distances, or some of them.

    `names` are the distances that any of them sees. Raises `QaselError` when there is no ranker,
    when one is not trained or reads anything but distances, and when they read different ones.
    """

    def __init__(self, rankers: Mapping[str, KnowsDistances]) -> None:
        for name, ranker in rankers.items():
            if getattr(ranker, "network", None) is None:
                raise QaselError(f"{name} has no trained network to explore")
            if ranker.recipe.lstm_layers:
                raise QaselError(f"{name} also reads the texts; give systems on distances alone")
        sources = {(r.recipe.words, r.recipe.trigrams, r.vectors.name) for r in rankers.values()}
        corpora = {tuple(r.corpus) for r in rankers.values() if is_tfidf(r.recipe.features)}
        if len(sources) != 1 or len(corpora) > 1:
            what = "read different distances (words, trigrams, idf or vectors); explore them apart"
            raise QaselError(f"the systems {what}" if rankers else "no ranker to explore; give one")
        self.rankers = dict(rankers)
        ((self.words, self.trigrams, _),) = sources
        self.corpus = next(iter(corpora), ())
        order = list(REPRESENTATIONS)
        self.names = sorted(
            set(chain.from_iterable(r.recipe.features for r in rankers.values())),
            key=lambda name: (order.index(representation(name)), COLUMN[name]),
        )
        # The same vectors may have been cut to the words of different tasks. With the widest cut
        # for all, a pair has one set of distances.
        self.vectors = max((r.vectors for r in rankers.values()), key=lambda v: len(v.rows))

    def distances(self, left: Sequence[str], right: Sequence[str]) -> np.ndarray:
        """The distances of pairs of texts, `[pairs, names]`."""
        return distances_by_name(
            self.names,
            (left, right),
            self.vectors,
            self.corpus,
            words=self.words,
            trigrams=self.trigrams,
        )

    def verdicts(self, table: np.ndarray, pair: int) -> dict[str, Verdict]:
        """System → verdict on a list with these distances, with parts of one pair."""
        column = {name: column for column, name in enumerate(self.names)}
        return {
            system: _verdict(
                ranker, table[:, [column[name] for name in ranker.recipe.features]], pair
            )
            for system, ranker in self.rankers.items()
        }

    def tokens(self, text: str) -> tuple[str, ...]:
        """The words of a text that count."""
        return WORDS[self.words](text)

    def wording(self, left: str, right: str) -> Wording:
        """The words of two texts."""
        one, other = frozenset(self.tokens(left)), frozenset(self.tokens(right))
        unknown = frozenset(word for word in one | other if word not in self.vectors)
        return Wording(one & other, one | other, unknown)


def _verdict(ranker: KnowsDistances, seen: np.ndarray, pair: int) -> Verdict:
    """Of a list by the distances that a ranker sees, `[pairs, features]`."""
    network = ranker.network
    features = torch.from_numpy(seen.astype(np.float32)).to(network.mean.device)
    features = (features - network.mean) / network.deviation
    found = parts(network, features[pair]).tolist()
    return Verdict(
        log_odds(network, features), dict(zip(ranker.recipe.features, found, strict=True))
    )
