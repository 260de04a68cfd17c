"""Stems, so that `caves` meets `cave`, and Explicit Semantic Analysis of texts by their stems."""

from collections.abc import Collection, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from nltk.stem.snowball import SnowballStemmer
from scipy.sparse import csr_matrix, diags
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize

from qasel.datasets.base import Split
from qasel.datasets.lines import read_lines
from qasel.errors import QaselError
from qasel.files import FilePath
from qasel.text.tokens import content_words, tokenize

_stem = lru_cache(maxsize=200_000)(SnowballStemmer("english").stem)


@lru_cache(maxsize=50_000)
def stems(text: str) -> tuple[str, ...]:
    """The words of `tokenize`, each cut to its stem (Porter's second stemmer, Snowball)."""
    return tuple(map(_stem, tokenize(text)))


@lru_cache(maxsize=50_000)
def content_stems(text: str) -> tuple[str, ...]:
    """The stems of `content_words`: without stop words and punctuation.

    Barrón-Cedeño et al. (2016) take their similarities of these alone; here features are computed
    of both, which ranks better on TREC-QA (docs/notes/latent-structured.md).
    """
    return tuple(map(_stem, content_words(text)))


ENDINGS = (".txt", ".txt.gz")
"""Ends of the names of a corpus folder's files."""


def documents(corpus: Split | tuple[str, ...] | FilePath) -> tuple[str, ...]:
    """The different documents of a corpus.

    Of a split: a question's candidates, in the order of the file, are one document (WikiQA's
    are the sentences of one article). A tuple holds them already. Of a path: each line of a
    file, or each `.txt` file in a folder and those below; gzipped ones are read too. Raises
    `QaselError` for a path that is missing or without text.
    """
    if isinstance(corpus, tuple):
        found = list(corpus)
    elif isinstance(corpus, Split):
        found = [_article(question.candidates) for question in corpus]
    elif Path(corpus).is_dir():
        paths = sorted(p for p in Path(corpus).rglob("*") if p.name.endswith(ENDINGS))
        found = ["\n".join(line for _, line in read_lines(path)) for path in paths]
    else:
        found = [line for _, line in read_lines(corpus)]
    if not found:
        raise QaselError(f"{corpus}: no documents here; name a text file or a folder of .txt files")
    return tuple(dict.fromkeys(found))


class Concepts:
    """The space whose axes are documents.

    A word's weight in a text or document is tf-idf: (1 + log of its count) · log(N / n) for a
    word in n of the N documents; documents have length 1. A text's place on an axis is the sum
    over its words of the weight in the text times that in the document. Words are those of
    `stems`; a word that is in no document, or in every one, counts nothing. Unlike in the
    paper, small weights are kept: corpora of this size need no pruning.
    """

    def __init__(self, documents: Sequence[str]) -> None:
        self._counter = CountVectorizer(analyzer=stems)
        counts = self._counter.fit_transform(documents)
        self._idf = diags(np.log(len(documents) / counts.getnnz(axis=0)))
        self._documents = normalize(self._weights(counts)).T.tocsr()
        self._holders: dict[str, set[int]] = {}
        for number, document in enumerate(documents):
            for line in document.split("\n"):
                self._holders.setdefault(line, set()).add(number)

    def vectors(self, texts: Sequence[str], without: Collection[int] = ()) -> csr_matrix:
        """Places of the texts, `[texts, documents]`, of length 1, or 0 if no word counts.

        The axes of the documents `without` are left out.
        """
        kept = np.ones(self._documents.shape[1])
        kept[list(without)] = 0.0
        counts = self._counter.transform(texts)
        return normalize(self._weights(counts) @ self._documents @ diags(kept))

    def similarity(self, question: str, candidates: Sequence[str]) -> np.ndarray:
        """Cosines of the places of question and candidates, `[candidates]`, in [0, 1].

        0 where no word of one text counts, even for equal texts. A document that holds all the
        candidates, line by line, is the list's own article and no axis for it: a list that is
        part of the corpus would be measured by other means than one that is not.
        """
        holders = [self._holders.get(text, set()) for text in candidates]
        places = self.vectors([question, *candidates], set.intersection(*holders))
        return np.minimum((places[1:] @ places[0].T).toarray()[:, 0], 1.0)

    def _weights(self, counts: csr_matrix) -> csr_matrix:
        weights = counts.astype(np.float64)
        weights.data = 1 + np.log(weights.data)
        return weights @ self._idf


def _article(candidates: Sequence) -> str:
    ordered = sorted(candidates, key=lambda candidate: candidate.place)
    return "\n".join(dict.fromkeys(candidate.text for candidate in ordered))
