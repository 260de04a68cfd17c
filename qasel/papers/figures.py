"""The figures of each paper: `qasel figures PAPER`."""

from collections.abc import Callable

import pandas as pd

from qasel.figures.style import HouseFigure
from qasel.papers import ROOMS
from qasel.papers.ap_mpcnn import report as ap_mpcnn
from qasel.papers.hierarchical_ranking import report as hierarchical_ranking
from qasel.papers.latent_structured import report as latent_structured
from qasel.papers.ms_ranker import report as ms_ranker
from qasel.papers.question_relevancy import report as question_relevancy
from qasel.results.runs import read_runs

REPORTS = (hierarchical_ranking, latent_structured, ms_ranker, question_relevancy, ap_mpcnn)
FIGURES: dict[str, Callable[[pd.DataFrame], dict[str, HouseFigure | None]]] = {
    report.ROOM.name: report.figures for report in REPORTS
}


def figures(
    paper: str, runs: pd.DataFrame | None = None, note: Callable[[str], None] = print
) -> dict[str, HouseFigure]:
    """Return a paper's figures by name; `note` gets a line about each one that has no runs."""
    found = {}
    for name, figure in FIGURES[paper](read_runs([ROOMS[paper]]) if runs is None else runs).items():
        if figure is None:
            note(f"{paper}-{name}: skipped, the ledger has no runs at the paper's scale for it")
        else:
            found[f"{paper}-{name}"] = figure
    return found
