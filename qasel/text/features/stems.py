"""Words for comparing texts: stems, so that `caves` meets `cave`."""

from collections.abc import Iterable
from functools import lru_cache

from nltk.stem.snowball import SnowballStemmer

from qasel.text.tokens import content_words, tokenize

_stem = lru_cache(maxsize=200_000)(SnowballStemmer("english").stem)


@lru_cache(maxsize=50_000)
def stems(text: str) -> tuple[str, ...]:
    """The words of `tokenize`, each cut to its stem (Porter's second stemmer, Snowball).

    On WikiQA's training questions, cross-validated, stems rank a little better than words.
    """
    return _stems(tokenize(text))


@lru_cache(maxsize=50_000)
def content_stems(text: str) -> tuple[str, ...]:
    """The stems of `content_words`: without stop words and punctuation.

    Barrón-Cedeño et al. (2016) take their similarities after stop words are removed. Alone, words
    without stop words rank worse on WikiQA; beside all words they are neutral there (LSP-AP with
    C = 10: mean MAP of held-out training questions .632 → .623, dev with two seeds
    .668 and .660 → .685 and .688) and help on TREC-QA (every third training list: held-out
    .895 → .914, dev .742 → .803). So features are computed of both.
    """
    return _stems(content_words(text))


def _stems(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(_stem, words))
