"""The house style: sizes, a colour-blind-safe palette, one colour a system, and saving.

Colours are those of Okabe and Ito (2008), and a few darker ones for what stands beside the papers'
systems. Figures belong to no window: a notebook
shows the one that a cell ends with, and nothing is left open.
"""

import hashlib
import io
import warnings
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from PIL import Image

from qasel.locations import FIGURES

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILLION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
INDIGO, WINE, OLIVE, BROWN = "#332288", "#882255", "#999933", "#8C564B"  # where eight are too few
INK, GREY, PALE = "#222222", "#767676", "#E6E6E6"

STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib, so the same everywhere
    "font.size": 12,
    "axes.titlesize": 13,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 12,
    "xtick.labelsize": 11,
    "ytick.labelsize": 11,
    "legend.fontsize": 11,
    "figure.titlesize": 15,
    "figure.titleweight": "bold",
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": GREY,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": PALE,
    "grid.linewidth": 0.8,
    "lines.linewidth": 2,
    "legend.frameon": False,
    "figure.facecolor": "white",
    "figure.constrained_layout.w_pad": 0.1,
    "figure.constrained_layout.h_pad": 0.1,
    "savefig.facecolor": "white",
    "pdf.fonttype": 42,  # text stays text
    "svg.hashsalt": "qasel",  # the same ids in each file
    "svg.fonttype": "path",
}

house_style = mpl.rc_context(STYLE)
"""Decorator of functions that draw."""

FAMILIES = {
    "PRI": BLUE,
    "RI": GREEN,
    "MTL": ORANGE,
    "CA": VERMILLION,
    "DCA": PURPLE,
    "PRI ablation": SKY,
    "LSP": BLUE,
    "LSP-AP": ORANGE,
    "LSP-AP*": VERMILLION,
    "LSSVM-AP": GREEN,
    "LSSVM-AP*": PURPLE,
    "SVMmap": SKY,
    "SVM": WINE,
    "CNN": INDIGO,
    "MS-Ranker": BLUE,
    "Pre-Ranker": WINE,
    "w/o Rewards": ORANGE,
    "w/o Pre-Ranker": GREEN,
    "w/o Evidence": VERMILLION,
    "w/o RL action": PURPLE,
    "w/o the Gate": SKY,
    "AP-MPCNN": BLUE,
    "Attention only": ORANGE,
    "Wide convolution only": GREEN,
    "Sparse feature vector only": PURPLE,
    "Pairwise ranking only": VERMILLION,
    "BM25": BLACK,
    "bm25": BLACK,
    "word overlap": OLIVE,
    "word-overlap": OLIVE,
    "IDF overlap": BROWN,
    "idf overlap": BROWN,
    "idf-overlap": BROWN,
    "random": GREY,
}
"""A family of systems has one colour, in every figure; others get one by their name."""

_LINES = {"point": ":", "pair": "--", "list": "-"}
_MARKERS = {"point": "o", "pair": "s", "list": "D"}


def family(system: str) -> str:
    """The family of a system: `PRI(list)` → `PRI`; a changed one is an ablation.

    What follows a comma (its vectors, say) does not matter.
    """
    system = system.partition(",")[0]
    if system.startswith("PRI(") and system not in ("PRI(point)", "PRI(pair)", "PRI(list)"):
        return "PRI ablation"
    return system.partition("(")[0].strip()


def colour(system: str) -> str:
    """The colour of a system, the same in every figure and every session."""
    name = family(system)
    if name in FAMILIES:
        return FAMILIES[name]
    others = sorted(set(FAMILIES.values()) - {GREY})
    return others[hashlib.sha256(name.encode()).digest()[0] % len(others)]


def line(system: str) -> str:
    """The line style of a system: dotted for `(point)`, dashed for `(pair)`, else solid."""
    return _LINES.get(_level(system), "-")


def marker(system: str) -> str:
    """The marker of a system, by its level: circle, square, diamond."""
    return _MARKERS.get(_level(system), "D")


def _level(system: str) -> str:
    return system.partition("(")[2].partition(")")[0]


class HouseFigure(Figure):
    """A figure that a notebook shows with or without `%matplotlib inline`."""

    def _repr_png_(self) -> bytes:
        return _png(self, 100)


def new_figure(width: float, height: float) -> HouseFigure:
    """An empty figure of this many inches, its parts laid out without overlaps."""
    return HouseFigure(figsize=(width, height), layout="constrained")


DPI = 200
"""Pixels an inch of a saved figure, and of the images within PDF and SVG."""

_METADATA = {
    "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
    "svg": {"Date": None, "Creator": None},
}


def save(figure: Figure, name: str, folder: Path | None = None) -> list[Path]:
    """Write NAME.pdf, NAME.svg and NAME.png (into `figures/`); the same bytes each time."""
    folder = Path(folder or FIGURES)
    folder.mkdir(parents=True, exist_ok=True)
    *vectors, pixels = (folder / f"{name}.{kind}" for kind in (*_METADATA, "png"))
    with mpl.rc_context(STYLE):
        for path, metadata in zip(vectors, _METADATA.values(), strict=True):
            figure.savefig(path, dpi=DPI, metadata=metadata)
    pixels.write_bytes(_png(figure, DPI))
    return [*vectors, pixels]


def svg(figure: Figure) -> str:
    """The figure as SVG source in which text stays text, for pictures drawn again and again."""
    source = io.StringIO()
    with mpl.rc_context(STYLE | {"svg.fonttype": "none"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # the reader's fonts may have it
        figure.savefig(source, format="svg", metadata=_METADATA["svg"])
    return source.getvalue()


def _png(figure: Figure, dpi: int) -> bytes:
    """The figure in 256 colours, those of its areas nearly as they were: a third of the bytes."""
    buffer, small = io.BytesIO(), io.BytesIO()
    with mpl.rc_context(STYLE):
        figure.savefig(buffer, format="png", dpi=dpi)
    whole = Image.open(buffer).convert("RGB")
    few = whole.quantize(256, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    few.save(small, "PNG", optimize=True)
    return small.getvalue()
