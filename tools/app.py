"""Serve the explorers as web pages without code: `make app`, `python tools/app.py [--port N]`.

The models are trained once on the bundled sample and kept in `runs/app`, by `make demo` (`python
tools/app.py --train`) or else by the first start. Voila then serves a start page and one page per
explorer, from kernels that are started before a page is opened.
"""

import argparse
import os
import sys
import warnings
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
import torch

from qasel import evaluate, load_dataset
from qasel.datasets import Dataset
from qasel.evaluation import TieWarning
from qasel.files import write_whole
from qasel.locations import ROOT
from qasel.papers import ROOMS
from qasel.papers.ap_mpcnn.explorer import PerspectiveExplorer
from qasel.papers.hierarchical_ranking.explorer import AttentionExplorer, IntegrationExplorer
from qasel.papers.latent_structured.explorer import ViolatingExplorer
from qasel.papers.ms_ranker.explorer import EvidenceExplorer
from qasel.papers.ms_ranker.lesson import walk
from qasel.papers.question_relevancy.explorer import DistanceExplorer
from qasel.rankers import BM25, Ranker, WordOverlap
from qasel.results.measure import measure, vectors_for
from qasel.widgets.base import Explorer
from qasel.widgets.comparison import SideBySideExplorer
from qasel.widgets.ranking import MeasureExplorer, RankingExplorer

FOLDER = ROOT / "runs" / "app"
SYSTEMS = {
    "CA(list)": "hierarchical-ranking",
    "PRI(list)": "hierarchical-ranking",
    "LSP-AP*": "latent-structured",
    "MS-Ranker": "ms-ranker",
    "STL-MLP": "question-relevancy",
    "MTL-MLP (QA)": "question-relevancy",
    "AP-MPCNN": "ap-mpcnn",
}
"""Variant → its paper."""
TEMPLATE = """\
{%- extends 'voila/templates/lab/index.html.j2' -%}
{%- block notebook_css -%}
{{ super() | replace("https://cdn.jsdelivr.net/npm/@fortawesome/", "data:text/css,") }}
{%- endblock -%}
"""
"""Voila's own page without the icons that it would fetch from a server."""


@cache
def trained(variant: str) -> tuple[Any, Dataset]:
    """Return the ranker of a variant, trained at the quick scale if it is not yet, and its data."""
    room, device = ROOMS[SYSTEMS[variant]], torch.device("cpu")
    recipe = room.configured(variant, "sample", {"scale": "quick"})
    measure(recipe, room.ranker, device, FOLDER / "models", ledger=False)
    data = recipe.load()
    return room.load(FOLDER / "models" / recipe.slug, vectors_for(recipe, data), device), data


def simple(data: Dataset) -> dict[str, Ranker]:
    """Return the rankers that learn no weights, by name."""
    rankers: dict[str, Ranker] = {"word overlap": WordOverlap(), "BM25": BM25()}
    for ranker in rankers.values():
        ranker.fit(data.train)
    return rankers


def most_gained(ranker: Ranker, data: Dataset) -> str:
    """Return the id of the dev question on which a ranker gains most over BM25."""
    systems = ranker, simple(data)["BM25"]
    ours, plain = (
        evaluate(system.rank(data.dev), data.dev, data.scoring).per_question["map"]
        for system in systems
    )
    return max(ours, key=lambda question: ours[question] - plain[question])


def ranking() -> Explorer:
    """Two simple rankers side by side."""
    data = load_dataset("sample")
    rankers = simple(data)
    return RankingExplorer(rankers, data.dev, first=most_gained(rankers["word overlap"], data))


def attention() -> Explorer:
    """What the words of a pair attend to in the network of the first paper."""
    ranker, data = trained("PRI(list)")
    return AttentionExplorer(ranker, data.dev, first=most_gained(ranker, data))


def heads() -> Explorer:
    """Ranks by the heads of two networks of the first paper."""
    rankers = {name: trained(name)[0] for name in ("CA(list)", "PRI(list)")}
    data = trained("PRI(list)")[1]
    return IntegrationExplorer(rankers, data.dev, first=most_gained(rankers["PRI(list)"], data))


def evidence() -> Explorer:
    """The agent of the third paper, step by step."""
    ranker, data = trained("MS-Ranker")
    first, threshold = most_gained(ranker, data), ranker.recipe.threshold
    return EvidenceExplorer(partial(walk, ranker), data.dev, threshold=threshold, first=first)


def distances() -> Explorer:
    """What two networks of the fourth paper make of a pair's distances."""
    rankers = {name: trained(name)[0] for name in ("STL-MLP", "MTL-MLP (QA)")}
    data = trained("STL-MLP")[1]
    return DistanceExplorer(rankers, data.dev, first=most_gained(rankers["STL-MLP"], data))


def perspectives() -> Explorer:
    """What the parts of the fifth paper's network find in two candidates."""
    ranker, data = trained("AP-MPCNN")
    return PerspectiveExplorer(ranker, data.dev, first=most_gained(ranker, data))


def side_by_side() -> Explorer:
    """All systems that rank answers, two at a time, on every test question."""
    data = load_dataset("sample")
    learnt = {name: trained(name) for name in SYSTEMS}
    same = {name: ranker for name, (ranker, own) in learnt.items() if own.name == data.name}
    rankers = simple(data) | same
    return SideBySideExplorer({n: r.rank(data.test) for n, r in rankers.items()}, data.test)


class Page(NamedTuple):
    """A page of the app."""

    title: str
    text: str
    explorer: Callable[[], Explorer]


PAGES = {
    "measures": Page(
        "Measures of a ranked list",
        "Mark answers as right or wrong and move them: see what AP, RR and P@1 make of it.",
        lambda: MeasureExplorer([0, 1, 0, 0, 1, 0]),
    ),
    "ranking": Page(
        "Word overlap and BM25",
        "Pick a question, or type one: see how two simple rankers order its candidates.",
        ranking,
    ),
    "attention": Page(
        "Hierarchical ranking: attention",
        "Pick a question and a candidate: see which words the network compares.",
        attention,
    ),
    "heads": Page(
        "Hierarchical ranking: points, pairs and lists",
        "See where each head of the network places the candidates of a question.",
        heads,
    ),
    "violating": Page(
        "Latent structured prediction: the most violating ranking",
        "Move the scores: see when the greedy search misses what the exact search finds.",
        lambda: ViolatingExplorer([1.0, 0.4, 0.2, -0.5], [0, 1, 0, 1]),
    ),
    "evidence": Page(
        "MS-Ranker: evidence",
        "Step through the candidates: see how the agent gathers evidence.",
        evidence,
    ),
    "distances": Page(
        "Question relevancy: distances",
        "Pick two questions: see their distances, and what the networks make of them.",
        distances,
    ),
    "perspectives": Page(
        "AP-MPCNN: what the parts find",
        "Pick a right and a wrong candidate: see what each part of the network finds in them.",
        perspectives,
    ),
    "side-by-side": Page(
        "All systems side by side",
        "Pick two systems: see on which questions one does better, and how both rank them.",
        side_by_side,
    ),
}
"""Name in the address → page."""


def explorer(name: str) -> Explorer:
    """Return the explorer of a page, which the page's only cell shows."""
    warnings.simplefilter("ignore", TieWarning)  # word overlap often ties
    return PAGES[name].explorer()


def write_pages(folder: Path) -> None:
    """Write one notebook per page, and `start.ipynb`, which links to them."""
    folder.mkdir(parents=True, exist_ok=True)
    new, text, code = (
        nbformat.v4.new_notebook, nbformat.v4.new_markdown_cell, nbformat.v4.new_code_cell
    )  # fmt: skip
    metadata = {"kernelspec": {"name": "python3", "display_name": "python3"}}
    lines = [f"- [{page.title}]({name}.ipynb): {page.text}" for name, page in PAGES.items()]
    start = (
        "# qasel: answer selection\n\nGiven a question and its candidate answers, put the right "
        "ones first. Each page lets you try one idea on a small sample.\n\n" + "\n".join(lines)
    )
    notebooks = {"start": new(cells=[text(start)], metadata=metadata)}
    for name, page in PAGES.items():
        told = f"# {page.title}\n\n{page.text} [All pages](start.ipynb)"
        cells = [text(told), code(f'from app import explorer\n\nexplorer("{name}")')]
        notebooks[name] = new(cells=cells, metadata=metadata)
    for name, notebook in notebooks.items():
        nbformat.write(notebook, folder / f"{name}.ipynb")


def main() -> None:
    """Train the models not trained yet, write the pages, and serve them until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=8866)
    parser.add_argument("--train", action="store_true", help="train the models and serve nothing")
    given = parser.parse_args()
    for variant in SYSTEMS:
        print(f"{variant} …", flush=True)
        trained(variant)
    if given.train:
        return
    write_pages(FOLDER / "pages")
    template = FOLDER / "jupyter" / "voila" / "templates" / "qasel"
    write_whole(template / "index.html.j2", TEMPLATE)
    write_whole(template / "conf.json", '{"base_template": "lab"}')
    paths = {"PYTHONPATH": Path(__file__).parent, "JUPYTER_PATH": FOLDER / "jupyter"}
    before = {name: os.environ.get(name) for name in paths}
    joined = {n: os.pathsep.join(filter(None, [str(paths[n]), before[n]])) for n in paths}
    command = [sys.executable, "-m", "voila", str(FOLDER / "pages"), "--no-browser"]
    command += [f"--port={given.port}", "--template=qasel"]
    command += ["--preheat_kernel=True", "--pool_size=1"]
    # A page that is closed asks to shut down its kernel, without an XSRF token.
    command += ["--Voila.tornado_settings={'disable_check_xsrf': True}"]
    print(f"Open http://localhost:{given.port}/voila/render/start.ipynb", flush=True)
    # Replace this process, so that ending it ends the kernels too.
    os.execve(sys.executable, command, os.environ | joined | {"OMP_NUM_THREADS": "1"})


if __name__ == "__main__":
    main()
