"""The figures of each paper: `qasel figures PAPER`."""

from collections.abc import Callable, Mapping

from qasel.figures.style import HouseFigure
from qasel.papers.ap_mpcnn import report as ap_mpcnn
from qasel.papers.hierarchical_ranking import report as hierarchical_ranking
from qasel.papers.latent_structured import report as latent_structured
from qasel.papers.ms_ranker import report as ms_ranker
from qasel.papers.question_relevancy import report as question_relevancy

FIGURES: Mapping[str, Callable[..., Mapping[str, HouseFigure]]] = {
    "hierarchical-ranking": hierarchical_ranking.figures,
    "latent-structured": latent_structured.figures,
    "ms-ranker": ms_ranker.figures,
    "question-relevancy": question_relevancy.figures,
    "ap-mpcnn": ap_mpcnn.figures,
}
"""Paper → function that draws its figures from the ledger, by name."""
