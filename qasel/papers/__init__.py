"""One room a paper; no room imports another.

Each room offers `VARIANTS` (names of the rows that can be run), `MAIN` (the
paper's own system), `recipe(variant, dataset, …)`, and two ways to a ranker:
`ranker(recipe, vectors, device)` and `load(folder, vectors, device)`. Its
`published.csv` has the paper's numbers, its module `figures` draws.
"""

import difflib
import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

from qasel.errors import QaselError

PAPERS = {
    "hierarchical-ranking": "Hierarchical Ranking for Answer Selection (Gao et al. 2020)",
    "latent-structured": "A Study of Latent Structured Prediction Approaches to Passage Reranking "
    "(Haponchyk and Moschitti 2019)",
    "ms-ranker": "MS-Ranker: Accumulating Evidence from Potentially Correct Candidates for Answer "
    "Selection (Zhang et al. 2020)",
    "question-relevancy": "A Strong Baseline for Question Relevancy Ranking "
    "(González-Garduño, Augenstein and Søgaard 2018)",
    "ap-mpcnn": "Attention-based Pairwise Multi-Perspective Convolutional Neural Network for "
    "Answer Selection in Question Answering (Mozafari, Nematbakhsh and Fatemi)",
}


def paper(name: str) -> ModuleType:
    """The room of a paper; raises `QaselError` for an unknown name."""
    if name not in PAPERS:
        close = difflib.get_close_matches(name, PAPERS, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(PAPERS)}"
        raise QaselError(f"unknown paper {name!r}; {hint}")
    return importlib.import_module(f"qasel.papers.{name.replace('-', '_')}")


def published_path(name: str) -> Path:
    """The file with every number that a paper prints."""
    return Path(paper(name).__file__).with_name("published.csv")


def figures_of(name: str) -> dict[str, Any]:
    """The figures of a paper, by name, from the ledger; drawing is imported only here."""
    return importlib.import_module(f"{paper(name).__name__}.figures").figures()
