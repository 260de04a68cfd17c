"""One room a paper, and one for what papers are measured against; no room imports another.

Each room offers `VARIANTS` (names of the rows that can be run), `MAIN` (the
paper's own system), `recipe(variant, dataset, …)`, and two ways to a ranker:
`ranker(recipe, vectors, device)` and `load(folder, vectors, device)`. A
paper's `published.csv` has its numbers, its module `figures` draws.
"""

import difflib
import importlib
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from qasel.errors import QaselError

if TYPE_CHECKING:
    from qasel.training.recipe import Recipe

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
OPTIONS = {"paper": "paper", "variant": "variant", "dataset": "dataset", "seed": "seeds"}
"""Field of a recipe that says which run it is, never among its settings → the option it has."""
ROOMS = PAPERS | {"yardsticks": "What needs no paper: baselines and fine-tuned cross-encoders"}
"""All that can be run: the papers, and a room that has no published numbers."""


def paper(name: str) -> ModuleType:
    """The room of a paper, or one of the other `ROOMS`; raises `QaselError` for an unknown name."""
    if name not in ROOMS:
        close = difflib.get_close_matches(name, ROOMS, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(ROOMS)}"
        raise QaselError(f"unknown paper {name!r}; {hint}")
    return importlib.import_module(f"qasel.papers.{name.replace('-', '_')}")


def configured(
    name: str, variant: str, dataset: str, settings: Mapping[str, Any], vectors: str = ""
) -> "Recipe":
    """The recipe of a row with some settings changed; raises `QaselError` for what it cannot take.

    The scale comes first: it is no setting beside others, but has settings of its own. `vectors`
    are for a row that reads any, and left alone by others, where a setting of that name is
    refused. Files of one's own are named by their whole path, so that what two folders call
    alike is two recipes, and one that moves on finds them.
    """
    for key in OPTIONS:
        if key in settings:
            raise QaselError(f"{key!r} is no setting of a run: name it by --{OPTIONS[key]}")
    # Heavy, and not needed to name the papers.
    from qasel.datasets.load import full_name, full_path
    from qasel.text.encoders import full_encoder_name
    from qasel.text.vectors import full_vectors_name

    whole = {"vectors": full_vectors_name, "encoder": full_encoder_name, "corpus": full_path}
    others = {
        key: whole[key](value) if key in whole and isinstance(value, str) else value
        for key, value in settings.items()
    }
    scale = others.pop("scale", "paper")
    words = full_vectors_name(vectors) or None
    own = paper(name).recipe(variant, full_name(dataset), scale=scale, vectors=words)
    return own.change(**others)


def published_path(name: str) -> Path:
    """The file with every number that a paper prints; raises `QaselError` for no paper's room."""
    (folder,) = _printed(name).__path__
    return Path(folder) / "published.csv"


def figures_of(name: str) -> dict[str, Any]:
    """The figures of a paper, by name, from the ledger; drawing is imported only here."""
    return importlib.import_module(f"{_printed(name).__name__}.figures").figures()


def _printed(name: str) -> ModuleType:
    """The room of a paper, and of nothing else."""
    found = paper(name)
    if name not in PAPERS:
        raise QaselError(
            f"{name!r} is no paper: it has no published numbers to set ours beside; "
            "`qasel compare` sets its runs beside those of the papers"
        )
    return found
