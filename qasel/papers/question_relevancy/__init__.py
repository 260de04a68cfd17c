"""Paper 4: a strong baseline for question relevancy ranking (González-Garduño et al. 2018)."""

from pathlib import Path

import torch

from qasel.papers.question_relevancy.ranker import Reference, RelevancyRanker
from qasel.papers.question_relevancy.recipes import (
    BASELINES,
    MAIN,
    VARIANTS,
    RelevancyRecipe,
    recipe,
)
from qasel.results import Room
from qasel.text import Vectors
from qasel.training.recipe import read_recipe

__all__ = ["MAIN", "ROOM", "VARIANTS", "Reference", "RelevancyRanker", "load", "ranker", "recipe"]


def ranker(
    settings: RelevancyRecipe, vectors: Vectors, device: torch.device
) -> RelevancyRanker | Reference:
    """The ranker of a variant, untrained."""
    kind = Reference if settings.variant in BASELINES else RelevancyRanker
    return kind(settings, vectors, device)


def load(folder: Path, vectors: Vectors, device: torch.device) -> RelevancyRanker | Reference:
    """A ranker that was saved in a folder."""
    kind = Reference if read_recipe(folder)["variant"] in BASELINES else RelevancyRanker
    return kind.load(folder, vectors, device)


def figures() -> dict:
    """The paper's figures by name, from the ledger."""
    from qasel.papers.question_relevancy import report  # drawing is imported only here

    return report.figures()


ROOM = Room(
    name="question-relevancy",
    title="A Strong Baseline for Question Relevancy Ranking "
    "(González-Garduño, Augenstein and Søgaard 2018)",
    variants=tuple(VARIANTS),
    main=MAIN,
    recipe=recipe,
    ranker=ranker,
    load=load,
    published=Path(__file__).with_name("published.csv"),
    figures=figures,
)
