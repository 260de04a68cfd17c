"""The `Ranker` interface that all systems share, and baselines that every system should beat.

Baselines read the words of `qasel.text.tokenize`, lower-cased, with punctuation and stop words.
"""

import hashlib
import json
import math
import time
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np

from qasel.datasets.base import Dataset, Question, Split
from qasel.datasets.tables import from_frame
from qasel.errors import QaselError
from qasel.evaluation.run import Run
from qasel.files import FilePath, write_whole
from qasel.text import tokenize

if TYPE_CHECKING:
    import pandas as pd
    import pyterrier


@dataclass(frozen=True)
class History:
    """The record of a fit.

    `epochs` has one dict per epoch, with keys such as "epoch", "loss" and "dev_map"; it is empty
    for a ranker that does not train in epochs. `best_epoch` is the epoch with the highest dev MAP.
    `chosen` holds values picked on dev, such as {"C": 10.0}. `weights` maps each rule of
    `training.trainer.KEEP` to the network weights that it would keep.
    """

    epochs: list[dict[str, float]] = field(default_factory=list)
    best_epoch: int | None = None
    seconds: float = 0.0
    chosen: dict[str, float] = field(default_factory=dict)
    weights: dict[str, dict[str, Any]] = field(default_factory=dict, repr=False, compare=False)


@runtime_checkable
class Ranker(Protocol):
    """Anything that is fitted to one split, if it needs to be, and ranks the candidates of another.

    A paper's rankers are made from a recipe, word vectors and a device; their `load` takes vectors
    and device too. Their `fit` requires a dev split. It also takes a folder for checkpoints, from
    which a killed run resumes, and auxiliary `tasks` and `articles` if the data set has them.
    """

    def fit(self, train: Split, *args: Any, **more: Any) -> History:
        """Learn from `train`; any choice among epochs or settings is made on a dev split."""

    def rank(self, split: Split) -> Run:
        """Score every candidate of `split`, without looking at labels."""

    def save(self, folder: Path) -> None:
        """Save everything that `rank` needs to a folder; nothing is pickled."""

    @classmethod
    def load(cls, folder: Path, *args: Any) -> Self:
        """Load the ranker saved in a folder."""


def as_split(given: Split) -> Split:
    """Return the split itself; raises `QaselError` for anything else, such as a whole data set."""
    if not isinstance(given, Split):
        hint = ", such as data.train" if isinstance(given, Dataset) else ""
        raise QaselError(f"a ranker takes a split{hint}, not a {type(given).__name__}")
    return given


class Baseline:
    """Base class of the baselines. `state` holds everything that `rank` needs, as JSON values."""

    name: ClassVar[str]
    file: ClassVar[str] = "ranker.json"  # name and state of a saved baseline

    def __init__(self) -> None:
        self.state: dict[str, Any] = {}

    def fit(self, train: Split, dev: Split | None = None) -> History:
        """Learn from the texts of `train`, if there is anything to learn; labels are not used."""
        start = time.perf_counter()
        self.state = self.learn(as_split(train))
        return History(seconds=time.perf_counter() - start)

    def learn(self, train: Split) -> dict[str, Any]:
        """The state after training; most baselines have nothing to learn."""
        return self.state

    def rank(self, split: Split) -> Run:
        """Score every candidate of `split`."""
        return Run.from_scores(split, self.scores(as_split(split)), self.name)

    def scores(self, split: Split) -> list[Any]:
        """Scores of a split's candidates, one array `[candidates]` per question."""
        return [self.of_question(question) for question in split]

    def of_question(self, question: Question) -> Any:
        """Scores `[candidates]` of one question, for baselines that score each one by itself."""
        raise NotImplementedError

    def save(self, path: FilePath) -> None:
        """Write `ranker.json` into the folder `path`."""
        saved = {"ranker": self.name, "state": self.state}
        write_whole(Path(path) / self.file, json.dumps(saved, ensure_ascii=False) + "\n")

    @classmethod
    def load(cls, path: FilePath) -> Self:
        """Load the ranker saved in the folder `path`; raises `QaselError` for another kind."""
        file = Path(path) / cls.file
        try:
            saved = json.loads(file.read_text(encoding="utf-8"))
            name, state = saved["ranker"], dict(saved["state"])
        except OSError as error:
            raise QaselError(f"{file}: cannot be read: {error.strerror or error}") from None
        except (ValueError, KeyError, TypeError):
            raise QaselError(f"{file}: not a saved ranker; train it again") from None
        if name != cls.name:
            raise QaselError(f"{file}: holds the ranker {name!r}, not {cls.name!r}")
        ranker = cls()
        ranker.state = state
        return ranker


class Constant(Baseline):
    """The same score for all candidates: shows how ties are broken, and must never score well."""

    name = "constant"

    def of_question(self, question: Question) -> np.ndarray:
        """Zeros."""
        return np.zeros(len(question.candidates))


class FileOrder(Baseline):
    """File order: the document's on WikiQA, the search engine's on SemEval; a leak on TREC-QA."""

    name = "file-order"

    def of_question(self, question: Question) -> list[int]:
        """The negative of each candidate's place in the file."""
        return [-candidate.place for candidate in question.candidates]


class RandomRanker(Baseline):
    """Uniform random scores that depend only on the seed, the question id and the place."""

    name = "random"

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        if seed < 0:
            raise QaselError(f"seed {seed} is negative; give 0 or more")
        self.state = {"seed": seed}

    def of_question(self, question: Question) -> np.ndarray:
        """Uniform draws from [0, 1)."""
        digest = hashlib.sha256(question.id.encode("utf-8")).digest()
        generator = np.random.default_rng([self.state["seed"], int.from_bytes(digest[:8])])
        places = np.argsort([candidate.place for candidate in question.candidates], kind="stable")
        scores = np.empty(len(places))
        scores[places] = generator.random(len(places))
        return scores


class SemEvalRandom(Baseline):
    """SemEval Task 3's random baseline, draw for draw, so that it repeats the published scores.

    C's drand48, a 48-bit generator with seed 0, makes one draw per line of the gold file. A score
    therefore depends on all lines before it: rank whole splits, or use `RandomRanker`.
    """

    name = "semeval-random"

    def scores(self, split: Split) -> list[Any]:
        """Uniform draws from [0, 2)."""
        state = 0x330E  # drand48 after srand48(0); its draws are uniform on 0..1
        rows = []
        for question in split:
            drawn = {}
            for place in sorted(candidate.place for candidate in question.candidates):
                state = (0x5DEECE66D * state + 0xB) % 2**48
                drawn[place] = 2 * state / 2**48
            rows.append([drawn[candidate.place] for candidate in question.candidates])
        return rows


class WordOverlap(Baseline):
    """The number of distinct words that question and candidate share."""

    name = "word-overlap"

    def weight(self, words: Collection[str]) -> float:
        """The score of a set of shared words: their number."""
        return float(len(words))

    def of_question(self, question: Question) -> list[float]:
        """The weight of the words shared with each candidate."""
        asked = frozenset(tokenize(question.text))
        return [self.weight(asked.intersection(tokenize(c.text))) for c in question.candidates]


class IdfOverlap(WordOverlap):
    """The summed idf of the shared words; idf is learnt from the training split's candidates.

    idf = log((N + 1) / (n + 1)) for a word in n of the N distinct candidate sentences; n = 0 for an
    unseen word. Fit it before ranking.
    """

    name = "idf-overlap"

    def learn(self, train: Split) -> dict[str, Any]:
        """Count the distinct candidate sentences of `train` that contain each word."""
        sentences = _sentences(train)
        counts = Counter(word for text in sentences for word in set(tokenize(text)))
        return {"sentences": len(sentences), "counts": dict(sorted(counts.items()))}

    def weight(self, words: Collection[str]) -> float:
        """The sum of the words' idf; raises `QaselError` before `fit`."""
        if not self.state:
            raise QaselError("idf-overlap has no word counts yet; call fit(train, dev) first")
        counts, total = self.state["counts"], self.state["sentences"] + 1
        # fsum: a set has no reliable order, and the sum must not depend on it
        return math.fsum(math.log(total / (counts.get(word, 0) + 1)) for word in words)


class BM25(Baseline):
    """BM25 as in Lucene (library bm25s), by default with k1 = 1.5 and b = 0.75.

    Idf and mean length come from the candidates of the ranked split, as if a search engine had
    indexed them, and after `fit` also from those of the training split. So a score depends on the
    texts, never the labels, of the whole ranked split; fit first if that split is small.
    """

    name = "bm25"

    def __init__(self, k1: float = 1.5, b: float = 0.75) -> None:
        super().__init__()
        if not (0 <= k1 < math.inf and 0 <= b <= 1):
            raise QaselError(f"BM25 takes k1 of 0 or more and b in 0..1, not {k1} and {b}")
        self.state = {"k1": k1, "b": b, "background": []}

    def learn(self, train: Split) -> dict[str, Any]:
        """Keep the distinct candidate sentences of `train`."""
        return {**self.state, "background": _sentences(train)}

    def scores(self, split: Split) -> list[Any]:
        """Index the distinct sentences, then score."""
        texts = list(dict.fromkeys([*_sentences(split), *self.state["background"]]))
        row = {text: number for number, text in enumerate(texts)}
        corpus = [tokenize(text) for text in texts]
        if not any(corpus):  # bm25s cannot index a collection without words
            return [np.zeros(len(question.candidates)) for question in split]
        # Not at the top: it imports JAX, if that is there, which takes most of a GPU's memory.
        import bm25s

        index = bm25s.BM25(k1=self.state["k1"], b=self.state["b"], dtype="float64")
        index.index(corpus, show_progress=False)
        scores = []
        for question in split:
            known = index.get_tokens_ids(tokenize(question.text))
            found = index.get_scores_from_ids(known) if len(known) else np.zeros(len(texts))
            scores.append(found[[row[candidate.text] for candidate in question.candidates]])
        return scores


def as_transformer(ranker: Ranker) -> "pyterrier.Transformer":
    """Wrap a ranker as a stage of a PyTerrier pipeline: it reranks rows of qid, query, docno, text.

    PyTerrier breaks ties by row, `qasel.evaluate` against the system. Raises `QaselError` if
    PyTerrier is not installed.
    """
    try:
        import pyterrier
    except ImportError as error:
        raise QaselError('this needs PyTerrier: pip install "qasel[interop]"') from error

    class Reranker(pyterrier.Transformer):  # type: ignore[misc]
        def transform(self, given: "pd.DataFrame") -> "pd.DataFrame":
            if given.empty:  # so PyTerrier inspects a stage
                return pyterrier.model.add_ranks(given.assign(score=0.0))
            names = {"query": "question", "docno": "candidate_id", "text": "candidate"}
            split = from_frame(given[["qid", *names]].rename(columns=names))
            scores = ranker.rank(split).scores
            pairs = zip(given["qid"].astype(str), given["docno"].astype(str), strict=True)
            scored = given.assign(score=[scores[qid][cid] for qid, cid in pairs])
            return pyterrier.model.add_ranks(scored)

    return Reranker()


def _sentences(split: Split) -> list[str]:
    """The distinct candidate texts of a split, in order."""
    return list(dict.fromkeys(c.text for question in split for c in question.candidates))


BASELINES: dict[str, type[Baseline]] = {
    ranker.name: ranker
    for ranker in (RandomRanker, SemEvalRandom, FileOrder, WordOverlap, IdfOverlap, BM25, Constant)
}
"""The baselines by name; each can be made without arguments."""
