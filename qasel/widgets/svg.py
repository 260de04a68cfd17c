"""Small line drawings for the explorers, as one image that also stands in a saved page."""

from collections.abc import Iterable, Sequence
from html import escape
from io import BytesIO

import matplotlib as mpl
from matplotlib.figure import Figure

from qasel.figures.style import INK, STYLE, image

Point = tuple[float, float]
_FONT = "font-family='DejaVu Sans, Helvetica, Arial, sans-serif'"


def picture(shapes: Iterable[str], width: float, height: float, told: str) -> str:
    """An `<img>` of the shapes on white; `told` says in words what it shows."""
    source = (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{width:g}' height='{height:g}' "
        f"viewBox='0 0 {width:g} {height:g}'><rect width='100%' height='100%' fill='white'/>"
        f"{''.join(shapes)}</svg>"
    )
    return image(source.encode("utf-8"), "svg+xml", width, height, told)


def of_figure(figure: Figure, told: str) -> str:
    """An `<img>` of a figure, one pixel per point; `told` says in words what it shows."""
    source = BytesIO()
    with mpl.rc_context(STYLE | {"svg.fonttype": "none"}):  # text stays text
        figure.savefig(source, format="svg", metadata={"Date": None})
    width, height = figure.get_size_inches() * 72
    return image(source.getvalue(), "svg+xml", width, height, told)


def line(points: Sequence[Point], colour: str = INK, width: float = 1.5, dashes: str = "") -> str:
    """A line through the points; `dashes` as in SVG, e.g. `4 3`."""
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return (
        f"<polyline points='{path}' fill='none' stroke='{colour}' stroke-width='{width:g}' "
        f"stroke-linejoin='round' stroke-dasharray='{dashes or 'none'}'/>"
    )


def dot(at: Point, colour: str = INK, radius: float = 4.0, hollow: bool = False) -> str:
    """A dot, filled or hollow."""
    fill = "white" if hollow else colour
    return (
        f"<circle cx='{at[0]:.1f}' cy='{at[1]:.1f}' r='{radius:g}' fill='{fill}' "
        f"stroke='{colour}' stroke-width='1.5'/>"
    )


def text(
    at: Point,
    words: str,
    colour: str = INK,
    size: float = 12,
    anchor: str = "middle",
    bold: bool = False,
) -> str:
    """Words whose baseline is at a point; `anchor` is start, middle or end."""
    weight = "bold" if bold else "normal"
    return (
        f"<text x='{at[0]:.1f}' y='{at[1]:.1f}' {_FONT} font-size='{size:g}' fill='{colour}' "
        f"text-anchor='{anchor}' font-weight='{weight}'>{escape(words)}</text>"
    )
