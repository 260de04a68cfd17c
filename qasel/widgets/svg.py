"""Figures within explorers, as images that also stand in a saved page."""

from io import BytesIO

import matplotlib as mpl
from matplotlib.figure import Figure

from qasel.figures.style import STYLE, image


def of_figure(figure: Figure, told: str) -> str:
    """An `<img>` of a figure, one pixel per point; `told` says in words what it shows."""
    source = BytesIO()
    with mpl.rc_context(STYLE | {"svg.fonttype": "none"}):  # text stays text
        figure.savefig(source, format="svg", metadata={"Date": None})
    width, height = figure.get_size_inches() * 72
    return image(source.getvalue(), "svg+xml", width, height, told)
