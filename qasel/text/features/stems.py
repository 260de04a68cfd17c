"""Words for comparing texts: stems, so that `caves` meets `cave`."""

from functools import lru_cache

from nltk.stem.snowball import SnowballStemmer

from qasel.text.tokens import tokenize

_stem = lru_cache(maxsize=200_000)(SnowballStemmer("english").stem)


@lru_cache(maxsize=50_000)
def stems(text: str) -> tuple[str, ...]:
    """The words of `tokenize`, each cut to its stem (Porter's second stemmer, Snowball).

    On WikiQA's training questions, cross-validated, stems rank a little better than words, and
    words better than either without stop words.
    """
    return tuple(_stem(word) for word in tokenize(text))
