"""The house style: style sheet, colour-blind-safe palette, one colour per system, and saving.

Colours are those of Okabe and Ito (2008) and a few darker ones. Figures belong to no window: a
notebook shows the figure that a cell ends with, and none is left open.
"""

import hashlib
import io
from base64 import b64encode
from html import escape
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from PIL import Image

from qasel.locations import FIGURES

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILLION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
INDIGO, WINE, OLIVE, BROWN = "#332288", "#882255", "#999933", "#8C564B"  # where eight are too few
INK, GREY, PALE = "#222222", "#767676", "#E6E6E6"

STYLE: dict[Any, Any] = dict(
    mpl.rc_params_from_file(Path(__file__).with_name("house.mplstyle"), use_default_template=False)
)
"""The settings of `house.mplstyle`, for `rcParams.update`."""

house_style = mpl.rc_context(STYLE)
"""Decorator for functions that draw."""

FAMILIES = {
    "PRI": BLUE, "RI": GREEN, "MTL": ORANGE, "CA": VERMILLION, "DCA": PURPLE, "PRI ablation": SKY,
    "LSP": BLUE, "LSP-AP": ORANGE, "LSP-AP*": VERMILLION, "LSSVM-AP": GREEN, "LSSVM-AP*": PURPLE,
    "SVMmap": SKY, "SVM": WINE, "CNN": INDIGO,
    "MS-Ranker": BLUE, "Pre-Ranker": WINE, "w/o Rewards": ORANGE, "w/o Pre-Ranker": GREEN,
    "w/o Evidence": VERMILLION, "w/o RL action": PURPLE, "w/o the Gate": SKY,
    "AP-MPCNN": BLUE, "Attention only": ORANGE, "Wide convolution only": GREEN,
    "Sparse feature vector only": PURPLE, "Pairwise ranking only": VERMILLION,
    "None of the four": GREY,
    "STL-MLP": BLUE, "MTL-MLP": ORANGE, "STL-BiLSTM-SIM": GREEN, "MTL-BiLSTM-SIM": PURPLE,
    "IR baseline": BLACK, "Random baseline": GREY,
    "bm25": BLACK, "word overlap": OLIVE, "idf overlap": BROWN, "random": GREY,
}  # fmt: skip
"""Family of systems → its colour in every figure; other families get one from their name."""

_LINES = {"point": ":", "pair": "--"}
"""Level of a system, as in `CA(point)` → line style."""


def family(system: str) -> str:
    """Return the family of a system: `PRI(list)` → `PRI`, its variations → `PRI ablation`.

    Anything after a comma, such as the word vectors, is ignored.
    """
    system = system.partition(",")[0]
    if system.startswith("PRI(") and system not in ("PRI(point)", "PRI(pair)", "PRI(list)"):
        return "PRI ablation"
    return system.partition("(")[0].strip()


def colour(system: str) -> str:
    """Return the colour of a system, the same in every figure and every session."""
    name = family(system)
    baseline = name.lower().replace("-", " ")
    if known := FAMILIES.get(name) or FAMILIES.get(baseline):
        return known
    others = sorted(set(FAMILIES.values()) - {GREY})
    return others[hashlib.sha256(name.encode()).digest()[0] % len(others)]


def line_style(system: str) -> str:
    """Return the line style of a system's level, else a solid line."""
    return _LINES.get(system.partition("(")[2].partition(")")[0], "-")


class HouseFigure(Figure):
    """A figure that a notebook shows as an image, with titles, labels and legends as alt text."""

    def _repr_html_(self) -> str:
        pixels = _png(self, 100)
        width, height = self.get_size_inches() * 100
        return image(pixels, "png", width, height, _texts(self))

    def _ipython_display_(self) -> None:
        # By hand, because `%matplotlib inline` would add a second picture.
        from IPython.display import display

        display({"text/html": self._repr_html_(), "text/plain": repr(self)}, raw=True)


def new_figure(width: float, height: float) -> HouseFigure:
    """Return an empty figure of this size in inches, with a layout that avoids overlaps."""
    return HouseFigure(figsize=(width, height), layout="constrained")


def _texts(figure: Figure) -> str:
    """Return the titles, axis labels and legend entries of a figure."""
    told = [figure.get_suptitle(), figure.get_supxlabel()]
    for axes in figure.axes:
        told += [axes.get_title("left") or axes.get_title(), axes.get_xlabel(), axes.get_ylabel()]
    for legend in (*figure.legends, *(axes.get_legend() for axes in figure.axes)):
        told += [text.get_text() for text in legend.get_texts()] if legend else []
    return "; ".join(dict.fromkeys(" ".join(part.split()) for part in told if part)) or "a figure"


def embedded(figure: Figure, alt: str) -> str:
    """Return an `<img>` of a figure that stays in a saved page, one pixel per point."""
    source = io.BytesIO()
    with mpl.rc_context(STYLE | {"svg.fonttype": "none"}):  # text stays text
        figure.savefig(source, format="svg", metadata={"Date": None})
    width, height = figure.get_size_inches() * 72
    return image(source.getvalue(), "svg+xml", width, height, alt)


def image(source: bytes, kind: str, width: float, height: float, alt: str) -> str:
    """Return an `<img>` with its `source` (`png` or `svg+xml`) embedded and `alt` as alt text."""
    code = b64encode(source).decode("ascii")
    return (
        f'<img alt="{escape(alt)}" src="data:image/{kind};base64,{code}" '
        f'width="{width:g}" height="{height:g}" style="max-width:100%;height:auto">'
    )


DPI = 200
"""Pixels per inch of a saved PNG, and of images inside PDF and SVG files."""

_METADATA = {
    "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
    "svg": {"Date": None, "Creator": None},
}


def save(figure: Figure, name: str, folder: Path | None = None) -> list[Path]:
    """Write NAME.pdf, NAME.svg and NAME.png (default: to `figures/`), the same bytes each time."""
    folder = Path(folder or FIGURES)
    folder.mkdir(parents=True, exist_ok=True)
    *vectors, pixels = (folder / f"{name}.{kind}" for kind in (*_METADATA, "png"))
    with mpl.rc_context(STYLE):
        for path, metadata in zip(vectors, _METADATA.values(), strict=True):
            figure.savefig(path, dpi=DPI, metadata=metadata)
    pixels.write_bytes(_png(figure, DPI))
    return [*vectors, pixels]


def _png(figure: Figure, dpi: int) -> bytes:
    """Return the figure as a PNG of 256 colours: nearly the same look, a third of the bytes."""
    buffer, small = io.BytesIO(), io.BytesIO()
    with mpl.rc_context(STYLE):
        figure.savefig(buffer, format="png", dpi=dpi)
    whole = Image.open(buffer).convert("RGB")
    few = whole.quantize(256, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    few.save(small, "PNG", optimize=True)
    return small.getvalue()
