"""The documents of ESA, by what a recipe's `corpus` says."""

from qasel.datasets import load_dataset
from qasel.datasets.registry import COLLECTIONS, QUESTION_PROTOCOLS
from qasel.errors import QaselError
from qasel.files import FilePath
from qasel.text.features import documents

WIKIPEDIA = "wikiqa"
"""The collection whose candidates are articles: also those of TREC-QA's texts, which come in no
articles of their own."""


def articles(
    corpus: str, dataset: str, protocol: str, data_dir: FilePath | None = None
) -> tuple[str, ...]:
    """The articles of a collection's training split, or the documents of a file or folder.

    `corpus` names either; "" is the data set that is learnt from. The training split is whole,
    for an article without a right answer is about as much as any: WikiQA's has 2,118 questions,
    of which 857 count under `mixed`. Raises `QaselError` for a corpus that is not there.
    """
    if corpus and not _named(corpus):
        return documents(corpus)
    name = corpus or dataset
    kept = protocol if name == dataset else COLLECTIONS[name].default
    if kept in QUESTION_PROTOCOLS:
        kept = "all"
    try:
        return documents(load_dataset(name, kept, data_dir).train)
    except QaselError as error:
        raise QaselError(f"setting corpus: the articles of {name} serve ESA; {error}") from None


def _named(corpus: str) -> bool:
    return corpus in COLLECTIONS and bool(COLLECTIONS[corpus].protocols)
