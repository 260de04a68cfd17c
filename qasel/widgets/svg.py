"""Figures in explorers, as images that also appear in a saved page."""

from io import BytesIO

import matplotlib as mpl
from matplotlib.figure import Figure

from qasel.figures.style import STYLE, image


def of_figure(figure: Figure, told: str) -> str:
    """Return an `<img>` of a figure, one pixel per point, with `told` as its alt text."""
    source = BytesIO()
    with mpl.rc_context(STYLE | {"svg.fonttype": "none"}):  # text stays text
        figure.savefig(source, format="svg", metadata={"Date": None})
    width, height = figure.get_size_inches() * 72
    return image(source.getvalue(), "svg+xml", width, height, told)
