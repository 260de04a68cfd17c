"""All features of all pairs of a split (0 if a text has no words), in parallel and cached."""

import math
import os
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from difflib import Match, SequenceMatcher
from functools import lru_cache
from itertools import chain
from multiprocessing import current_process
from pathlib import Path

import numpy as np
import pooch
from joblib import Memory, Parallel, delayed
from nltk.stem.snowball import SnowballStemmer
from scipy.sparse import csr_matrix, diags
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize
from tqdm.auto import tqdm

from qasel.datasets.base import Split
from qasel.datasets.lines import read_lines
from qasel.errors import QaselError
from qasel.files import FilePath, require_writable
from qasel.text.features.trees import Tree, find_parser, parse, ptk
from qasel.text.tokens import content_words, tokenize

_stem = lru_cache(maxsize=200_000)(SnowballStemmer("english").stem)


@lru_cache(maxsize=50_000)
def stems(text: str) -> tuple[str, ...]:
    """The stems of the words of `tokenize` (Porter's second stemmer, Snowball)."""
    return tuple(map(_stem, tokenize(text)))


@lru_cache(maxsize=50_000)
def content_stems(text: str) -> tuple[str, ...]:
    """The stems of `content_words`, the only words that Barrón-Cedeño et al. (2016) compare.

    Adding features of all words ranks better on TREC-QA (docs/notes/latent-structured.md).
    """
    return tuple(map(_stem, content_words(text)))


def cosine(question: Sequence[str], candidate: Sequence[str]) -> float:
    """Cosine of the two vectors of word counts; 1 for equal bags of words."""
    asked, given = Counter(question), Counter(candidate)
    # Whole numbers up to the single root, so that equal bags give exactly 1.
    shared = sum(count * given[word] for word, count in asked.items())
    lengths = math.prod(sum(n * n for n in counts.values()) for counts in (asked, given))
    return shared / math.sqrt(lengths) if lengths else 0.0


def jaccard(question: Sequence[str], candidate: Sequence[str]) -> float:
    """Number of distinct words in both texts, divided by that in either (Jaccard 1901)."""
    asked, given = frozenset(question), frozenset(candidate)
    return len(asked & given) / max(len(asked | given), 1)


def containment(question: Sequence[str], candidate: Sequence[str]) -> float:
    """Share of the question's distinct words that the candidate has (Broder 1997); one-sided."""
    asked = frozenset(question)
    return len(asked.intersection(candidate)) / max(len(asked), 1)


SHORTEST_TILE = 3
"""Fewest words in a tile: runs of two (`of the`) are found in unrelated texts too."""


def longest_common_substring(question: Sequence[str], candidate: Sequence[str]) -> float:
    """Length of the longest run of words in both texts, divided by the shorter text's length."""
    return _longest_match(question, candidate).size / _shorter(question, candidate)


def longest_common_subsequence(question: Sequence[str], candidate: Sequence[str]) -> float:
    """Length of the longest common sequence of words, gaps allowed, by the shorter text's length.

    The usual table is computed row by row in bit vectors (Hyyrö 2004): a bit of `row` is 0 where
    the length grows at that word of the candidate.
    """
    places: dict[str, int] = {}
    for place, word in enumerate(candidate):
        places[word] = places.get(word, 0) | 1 << place
    row = full = (1 << len(candidate)) - 1
    for word in question:
        shared = row & places.get(word, 0)
        row = ((row + shared) | (row - shared)) & full
    return (len(candidate) - row.bit_count()) / _shorter(question, candidate)


def greedy_string_tiling(question: Sequence[str], candidate: Sequence[str]) -> float:
    """Number of words covered by tiles, divided by the shorter text's length (Wise 1996).

    A tile is a run of at least `SHORTEST_TILE` words in both texts; the longest is laid first (of
    equally long ones, the first in the question), and no word is covered twice. Moved blocks count
    in full, unlike in the longest common subsequence.
    """
    left: list[str | int] = [*question]
    right: list[str | int] = [*candidate]
    covered = 0
    while (tile := _longest_match(left, right)).size >= SHORTEST_TILE:
        covered += tile.size
        # Covered words equal nothing any more, not even each other.
        left[tile.a : tile.a + tile.size] = [0] * tile.size
        right[tile.b : tile.b + tile.size] = [1] * tile.size
    return covered / _shorter(question, candidate)


def _shorter(question: Sequence, candidate: Sequence) -> int:
    return max(min(len(question), len(candidate)), 1)


def _longest_match(question: Sequence, candidate: Sequence) -> Match:
    """The longest common run of words; of equally long ones, the first in the question."""
    return SequenceMatcher(None, question, candidate, autojunk=False).find_longest_match()


def documents(corpus: Split | tuple[str, ...] | FilePath) -> tuple[str, ...]:
    """The distinct documents of a corpus; a tuple holds documents already.

    In a split, a question's candidates, in file order, are one document (WikiQA's are the sentences
    of an article). A path gives each line of a file, or each `.txt` file in a folder and its
    subfolders, gzipped or not. Raises `QaselError` for a path that is missing or without text.
    """
    if isinstance(corpus, tuple):
        found = list(corpus)
    elif isinstance(corpus, Split):
        lists = [sorted(q.candidates, key=lambda candidate: candidate.place) for q in corpus]
        found = ["\n".join(dict.fromkeys(c.text for c in candidates)) for candidates in lists]
    elif Path(corpus).is_dir():
        paths = sorted(p for p in Path(corpus).rglob("*") if p.name.endswith((".txt", ".txt.gz")))
        found = ["\n".join(line for _, line in read_lines(path)) for path in paths]
    else:
        found = [line for _, line in read_lines(corpus)]
    if not found:
        where = f" in {corpus}" if corpus else ""
        raise QaselError(f"no documents{where}; name a text file or a folder of .txt files")
    return tuple(dict.fromkeys(found))


def _stems_of_lines(text: str) -> list[str]:
    # The tokeniser parts a full stop from a word at the end of a text only.
    return [stem for line in text.split("\n") for stem in stems(line)]


class Concepts:
    """The vector space of Explicit Semantic Analysis, whose axes are documents.

    A word's weight in a text or document is its tf-idf, (1 + log of its count) · log(N / n) for a
    word in n of the N documents; documents have length 1. A text's coordinate on an axis is the
    sum, over its words, of the weight in the text times the weight in the document. Words are those
    of `stems`; a word that is in no document, or in all, counts nothing. Unlike in the paper, small
    weights are kept: corpora of this size need no pruning.
    """

    def __init__(self, documents: Sequence[str]) -> None:
        self._counter = CountVectorizer(analyzer=_stems_of_lines)
        counts = self._counter.fit_transform(documents)
        self._idf = diags(np.log(len(documents) / counts.getnnz(axis=0)))
        self._documents = normalize(self._weights(counts)).T.tocsr()
        self._holders: dict[str, set[int]] = {}
        for number, document in enumerate(documents):
            for line in document.split("\n"):
                self._holders.setdefault(line, set()).add(number)

    def vectors(self, texts: Sequence[str], without: Collection[int] = ()) -> csr_matrix:
        """The vectors of the texts, `[texts, documents]`, of length 1, or 0 if no word counts.

        The axes of the documents `without` are left out.
        """
        kept = np.ones(self._documents.shape[1])
        kept[list(without)] = 0.0
        counts = self._counter.transform(texts)
        return normalize(self._weights(counts) @ self._documents @ diags(kept))

    def similarity(self, question: str, candidates: Sequence[str]) -> np.ndarray:
        """Cosines of the question's vector and each candidate's, `[candidates]`, in [0, 1].

        It is 0 if no word of a text counts, even for equal texts. A document that has all the
        candidates as lines is the list's own article, whose axis is left out: otherwise lists that
        are part of the corpus would be measured differently from lists that are not.
        """
        holders = [self._holders.get(text, set()) for text in candidates]
        places = self.vectors([question, *candidates], set.intersection(*holders))
        return np.minimum((places[1:] @ places[0].T).toarray()[:, 0], 1.0)

    def _weights(self, counts: csr_matrix) -> csr_matrix:
        weights = counts.astype(np.float64)
        weights.data = 1 + np.log(weights.data)
        return weights @ self._idf


OF_WORDS = (
    cosine,
    jaccard,
    containment,
    longest_common_substring,
    longest_common_subsequence,
    greedy_string_tiling,
)
"""Computed over all words, and again over content words alone (see `content_stems`)."""
NAMES = (
    *(kind + feature.__name__ for kind in ("", "content_") for feature in OF_WORDS),
    *("ptk", "esa"),
)
"""The features, in the order of the columns."""

VERSION = 3
TREES = 1
"""Part of the caches' keys: raise `VERSION` when a feature changes, `TREES` when the trees do."""

List = tuple[str, tuple[str, ...]]
"""The texts of a question and its candidates."""


def pair_features(split: Split, *, corpus: Split | tuple[str, ...] | FilePath) -> list[np.ndarray]:
    """The features of all pairs: a float64 array `[candidates, len(NAMES)]` per question, 0 to 1.

    `corpus` gives the documents of `esa` (see `documents`). Texts are parsed in parallel, and trees
    and features are cached by `memory()`. Raises `QaselError` for a missing corpus or parser, or a
    cache that cannot be written.
    """
    package = find_parser()
    concepts = documents(corpus)
    lists = tuple((q.text, tuple(c.text for c in q.candidates)) for q in split)
    table = memory().cache(_features)(lists, concepts, package, (VERSION, TREES))
    ends = np.cumsum([len(candidates) for _, candidates in lists])
    return np.split(table, ends)[:-1]


def memory() -> Memory:
    """The joblib cache of results, in `features` under `$QASEL_CACHE` or the user's cache.

    It keeps pickles, which only this machine's own runs have written; the folder can be deleted at
    any time. Raises `QaselError` if it cannot be written.
    """
    folder = Path(os.environ.get("QASEL_CACHE") or pooch.os_cache("qasel")) / "features"
    require_writable(folder, "QASEL_CACHE")
    return Memory(folder, verbose=0)


def _features(
    lists: tuple[List, ...],
    concepts: tuple[str, ...],
    package: tuple[str, str],
    versions: tuple[int, int],
) -> np.ndarray:
    """Features of all pairs, one list after the other, float64 `[pairs, len(NAMES)]`."""
    trees = _parsed(lists, package, versions[1])
    space = Concepts(concepts)
    rows = [np.empty((0, len(NAMES)))]
    for question, candidates in tqdm(lists, desc="features", unit="question"):
        columns = [
            [feature(words(question), words(text)) for text in candidates]
            for words in (stems, content_stems)
            for feature in OF_WORDS
        ]
        columns.append([ptk(trees[question], trees[text]) for text in candidates])
        rows.append(np.column_stack([*columns, space.similarity(question, candidates)]))
    return np.concatenate(rows)


def _parsed(lists: Iterable[List], package: tuple[str, str], version: int) -> dict[str, Tree]:
    """The tree of each distinct text.

    Cached per question, for the texts that no earlier question has, so that a killed run, or part
    of a split, finds the trees already made.
    """
    blocks = []
    seen: set[str] = set()
    for question, candidates in lists:
        block = [text for text in dict.fromkeys([question, *candidates]) if text not in seen]
        seen.update(block)
        if block:
            blocks.append(block)
    cached = memory().cache(_trees)
    # A sweep's worker may not start processes (joblib would warn), and uses one core.
    workers = 1 if current_process().daemon else -1
    results = Parallel(n_jobs=workers, return_as="generator")(
        delayed(cached)(block, package, version) for block in blocks
    )
    trees = chain.from_iterable(tqdm(results, "parse", len(blocks), unit="question"))
    return dict(zip(chain.from_iterable(blocks), trees, strict=True))


def _trees(texts: list[str], package: tuple[str, str], version: int) -> list[Tree]:
    return parse(texts, package[0])
