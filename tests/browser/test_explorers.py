"""The explorers in a real browser: JupyterLab on the loopback, clicked through by Playwright.

Skipped where Playwright (`pip install playwright`), JupyterLab or a Chromium is missing;
`$QASEL_CHROMIUM` names the browser's file where it is not on the path.
"""

import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from server import BROWSER, SECONDS, free_port, serving

from qasel.cli.notebooks import find

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("jupyterlab", reason="jupyterlab is not installed")

pytestmark = pytest.mark.skipif(not BROWSER, reason="no Chromium on this machine")

TOKEN = "explorers"
SETUP = """\
from qasel import load_dataset
from qasel.rankers import BM25, WordOverlap
from qasel.widgets.ranking import MeasureExplorer, RankingExplorer
data = load_dataset("sample")
rankers = {"word overlap": WordOverlap(), "BM25": BM25()}
history = [ranker.fit(data.train) for ranker in rankers.values()]
"""
WALK = """\
import pandas as pd
from qasel.papers.ms_ranker.explorer import EvidenceExplorer

def walk(question, gather):
    rows = []
    for i, c in enumerate(question.candidates):
        alone = 0.6 - 0.05 * i
        p = alone + 0.1 if gather and i else alone
        ap = float("nan") if c.label is None else 1 / (i + 1)
        gate = 0.25 if gather and p > 0.5 else 0.0
        rows.append([c.id, c.text, c.label, p, alone, gate, ap, 0.1])
    names = ["id", "text", "label", "p", "p_alone", "gate", "ap", "reward"]
    return pd.DataFrame(rows, columns=names)

"""
UNTRAINED = """\
import torch
from qasel.papers.question_relevancy import ROOM, recipe
from qasel.results.measure import vectors_for
from qasel.papers.question_relevancy.explorer import DistanceExplorer

systems = {}
for name in ("STL-MLP", "STL-MLP, Unigrams"):
    chosen = recipe(name, "sample")
    data = chosen.load()
    systems[name] = ROOM.ranker(chosen, vectors_for(chosen, data), torch.device("cpu"))
    systems[name].prepare(data.train, data.tasks)

"""
PREPARED = """\
import torch
from qasel.papers.ap_mpcnn import APMPCNNRanker, recipe
from qasel.results.measure import vectors_for
from qasel.papers.ap_mpcnn.explorer import PerspectiveExplorer

chosen = recipe("AP-MPCNN", "sample", scale="quick")
data = chosen.load()
untrained = APMPCNNRanker(chosen, vectors_for(chosen, data), torch.device("cpu"))
untrained.prepare(data.train)

"""
CELLS = {
    "distances": UNTRAINED + "DistanceExplorer(systems, data.test)",
    "evidence": WALK + "EvidenceExplorer(walk, data.dev)",
    "measure": "MeasureExplorer([0, 1, 0, 0, 1, 0])",
    "perspectives": PREPARED + "PerspectiveExplorer(untrained, data.dev)",
    "ranking": "RankingExplorer(rankers, data.dev)",
    "side_by_side": (
        "from qasel.widgets.comparison import SideBySideExplorer\n"
        "runs = {name: ranker.rank(data.test) for name, ranker in rankers.items()}\n"
        "SideBySideExplorer(runs, data.test)"
    ),
    "violating": (
        "from qasel.papers.latent_structured.explorer import ViolatingExplorer\n"
        "ViolatingExplorer([1, 0], [1, 0], C=1.0)"
    ),
}


FOLDERS = ("JUPYTERLAB_WORKSPACES_DIR", "JUPYTERLAB_SETTINGS_DIR", "JUPYTER_CONFIG_DIR")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a JupyterLab on a folder with one notebook an explorer."""
    folder: Path = tmp_path_factory.mktemp("lab")
    for name, source in CELLS.items():
        notebook = nbformat.v4.new_notebook(
            metadata={"kernelspec": {"name": "python3", "display_name": "python3"}},
            cells=[nbformat.v4.new_code_cell(SETUP + source)],
        )
        nbformat.write(notebook, folder / f"{name}.ipynb")
    shutil.copy(find(["00"])[0], folder)
    port = free_port()
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += ["--ip=127.0.0.1", f"--port={port}", f"--ServerApp.root_dir={folder}"]
    command += [f"--IdentityProvider.token={TOKEN}", "--LabApp.extension_manager=readonly"]
    command += ["--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    settings = {name: str(folder / f".{name}") for name in FOLDERS}
    address = f"http://127.0.0.1:{port}"
    with serving(command, f"{address}/api?token={TOKEN}", settings):
        yield address


def open_notebook(browser: "playwright.BrowserContext", lab: str, name: str) -> "playwright.Page":
    page = browser.new_page()
    page.goto(f"{lab}/lab/tree/{name}.ipynb?token={TOKEN}&reset")
    page.wait_for_selector(".jp-Notebook .jp-CodeCell")
    return page


def run_first_cell(page: "playwright.Page") -> "playwright.Locator":
    """The output of the first cell; asked again while the kernel, not yet there, loses the call."""
    output = page.locator(".jp-OutputArea-output:has(.widget-html)").first
    cell = page.locator(".jp-CodeCell").first
    for _ in range(SECONDS // 5):
        cell.locator(".cm-content").click()
        page.keyboard.press("Shift+Enter")
        page.wait_for_timeout(1000)
        if "[ ]" not in cell.locator(".jp-InputPrompt").inner_text():  # [*] or [1]
            break
        page.wait_for_timeout(4000)
        # Asked before there was a session, JupyterLab wants to know which kernel.
        if page.locator(".jp-Dialog").count():
            page.locator(".jp-Dialog .jp-mod-accept").click()
    output.wait_for()
    return output


@pytest.fixture
def explorer(browser, lab, request: pytest.FixtureRequest) -> Iterator["playwright.Locator"]:
    """The output of the cell that shows the explorer named by the parameter, run just now."""
    page = open_notebook(browser, lab, request.param)
    try:
        yield run_first_cell(page)
    finally:
        if folder := os.environ.get("QASEL_SCREENSHOTS"):
            page.screenshot(path=f"{folder}/{request.node.name}.png")
    assert page.locator(".jp-RenderedText[data-mime-type*=stderr]").count() == 0
    page.close()


distances = pytest.mark.parametrize("explorer", ["distances"], indirect=True)
evidence = pytest.mark.parametrize("explorer", ["evidence"], indirect=True)
measure = pytest.mark.parametrize("explorer", ["measure"], indirect=True)
perspectives = pytest.mark.parametrize("explorer", ["perspectives"], indirect=True)
ranking = pytest.mark.parametrize("explorer", ["ranking"], indirect=True)
side_by_side = pytest.mark.parametrize("explorer", ["side_by_side"], indirect=True)
violating = pytest.mark.parametrize("explorer", ["violating"], indirect=True)


def says(explorer: "playwright.Locator", text: str | re.Pattern[str]) -> None:
    playwright.expect(explorer.locator(".widget-html").last).to_contain_text(text)


@measure
def test_flip_answers(explorer):
    says(explorer, "1/2 · (1/2 + 2/5)")
    says(explorer, "0.4500")
    explorer.get_by_role("button", name="A ✗ wrong").click()
    says(explorer, "1/3 · (1/1 + 2/2 + 3/5)")
    says(explorer, "0.8667")
    playwright.expect(explorer.get_by_role("button", name="A ✓ right")).to_be_visible()


@measure
def test_move_answers_and_lose_all(explorer):
    explorer.get_by_title("one rank up").nth(1).click()
    says(explorer, "1/2 · (1/1 + 2/5)")
    playwright.expect(explorer.get_by_role("button", name="B ✓ right")).to_be_visible()
    for name in ("B ✓ right", "E ✓ right"):
        explorer.get_by_role("button", name=name).click()
    says(explorer, "No answer is right")


@ranking
def test_pick_another_question(explorer):
    says(explorer, "how far does an arctic tern fly each year")
    says(explorer, "AP 0.09")
    explorer.get_by_role("combobox").select_option(label="who invented braille")
    says(explorer, "AP 1.00, RR 1.00")
    playwright.expect(explorer.get_by_role("textbox").first).not_to_be_visible()


@ranking
def test_type_a_question(explorer):
    explorer.get_by_role("combobox").select_option(label="✎ type your own question …")
    says(explorer, "Type a question")
    explorer.get_by_role("textbox").nth(0).fill("who painted <b>this</b>")
    explorer.get_by_role("textbox").nth(1).fill("It rained.\n+She painted this <i>wall</i>.\n\n")
    explorer.get_by_role("button", name="Show").click()
    says(explorer, "AP 1.00, RR 1.00")
    says(explorer, "who painted <b>this</b>")  # shown as typed, not as a tag
    assert explorer.locator(".widget-html i").count() == 0


@side_by_side
def test_click_a_point_and_pick_from_the_list(explorer):
    says(explorer, "why did the government want the railway")  # the largest difference
    says(explorer, "BM25 better on")
    point = explorer.get_by_role("button").nth(3)
    box, grid = point.bounding_box(), explorer.locator(".widget-gridbox").bounding_box()
    assert grid["x"] < box["x"] < grid["x"] + grid["width"]
    assert grid["y"] < box["y"] < grid["y"] + grid["height"]
    point.click()
    says(explorer, "when was the rosetta stone found")
    explorer.get_by_role("combobox").nth(2).select_option(index=1)
    says(explorer, "what is love in tennis")
    explorer.get_by_role("combobox").nth(1).select_option(label="word overlap")
    says(explorer, "word overlap better on 0 of")


@violating
def test_slide_to_where_greedy_leaves_the_optimum(explorer):
    sliders = explorer.get_by_role("slider")
    sliders.nth(2).press("ArrowLeft")
    says(explorer, "Greedy finds the optimum")
    for _ in range(2):
        sliders.nth(2).press("ArrowRight")
    says(explorer, "Greedy misses the optimum by 0.0500")
    says(explorer, "1.0500")
    sliders.nth(3).press("ArrowLeft")
    says(explorer, "so far")


@evidence
def test_step_through_the_candidates(explorer):
    says(explorer, "Step 11 of 11")  # the whole walk
    explorer.get_by_role("button", name="First").click()
    says(explorer, "Step 1 of 11")
    explorer.get_by_role("button", name="Forward").press("Enter")
    says(explorer, "Step 2 of 11")
    says(explorer, "0.550 from the question alone, 0.650 with the evidence (+0.100)")
    explorer.get_by_role("button", name="Last").click()
    says(explorer, "Step 11 of 11")
    explorer.get_by_role("slider").press("ArrowLeft")
    says(explorer, "Step 10 of 11")
    explorer.get_by_role("button", name="Back").click()
    says(explorer, "Step 9 of 11")
    explorer.get_by_label("evidence on").press("Space")
    says(explorer, "0.200 from the question alone; evidence is off")


@evidence
def test_step_through_typed_candidates(explorer):
    explorer.get_by_role("combobox").select_option(label="✎ type your own question …")
    explorer.get_by_role("textbox").nth(0).fill("who painted <b>this</b>")
    explorer.get_by_role("textbox").nth(1).fill("one <i>only</i>")
    explorer.get_by_role("button", name="Show").click()
    says(explorer, "Step 1 of 1")
    says(explorer, "one <i>only</i>")
    says(explorer, "it is not known which candidates are right")
    explorer.get_by_role("textbox").nth(1).fill("one\n+two")
    explorer.get_by_role("button", name="Show").click()
    explorer.get_by_role("button", name="Forward").click()
    says(explorer, "Step 2 of 2: candidate 2 enters, ✓ right")
    assert explorer.locator(".widget-html i").count() == 0


def drawing(explorer: "playwright.Locator", number: int = 0) -> str:
    """The source of a drawing, once it is there."""
    return explorer.locator(".widget-html img").nth(number).get_attribute("src")


@distances
def test_pick_a_question_and_a_related_one(explorer):
    says(explorer, "Waiting for my deposit")  # the first relevant one found
    before = drawing(explorer)
    asked = "Toothache on a Sunday Half of my face is a pumpkin. Which dentist is open today?"
    explorer.get_by_role("combobox").nth(0).select_option(label=asked)
    says(explorer, "(Jaccard 0.308): dentist, open, sunday, toothache")
    after = drawing(explorer)
    assert after != before
    explorer.get_by_role("combobox").nth(1).select_option(index=1)
    says(explorer, "3 of 14 different words that count (Jaccard 0.214): open, sunday, today")
    says(explorer, "Bakeries open today")
    assert drawing(explorer) not in (before, after)


@distances
def test_type_two_questions(explorer):
    explorer.get_by_role("combobox").first.select_option(label="✎ type your own question …")
    says(explorer, "Type a question")
    explorer.get_by_role("textbox").nth(0).fill("who found the <b>rosetta</b> stone")
    explorer.get_by_role("button", name="Show").click()
    says(explorer, "Type a question")
    explorer.get_by_role("textbox").nth(1).fill("where did zyzzyva find the stone")
    explorer.get_by_role("button", name="Show").click()
    says(explorer, "who found the <b>rosetta</b> stone")
    says(explorer, "? not known")
    says(explorer, "none for 4 of 6 words")
    says(explorer, "zeros in the mean: /b, b, rosetta, zyzzyva")
    before = drawing(explorer)
    explorer.get_by_role("textbox").nth(1).fill("who found the stone\n+who lost it")
    explorer.get_by_role("button", name="Show").click()
    says(explorer, "✓ relevant")
    says(explorer, "who lost it")
    assert drawing(explorer) != before


BILL = "In summer its bill is blood red, and its tail streams out in two long points."
PECK = "Parents dive at intruders and may peck a careless visitor on the head."


@perspectives
def test_pick_a_right_and_a_wrong_candidate(explorer):
    says(explorer, "tern")
    playwright.expect(explorer.locator(".widget-html img")).to_have_count(1)
    wrong = explorer.get_by_role("combobox").nth(2)
    wrong.select_option(label=f"✗ {BILL}")
    says(explorer, "streams")
    before = drawing(explorer)
    wrong.select_option(label=f"✗ {PECK}")
    says(explorer, "peck")
    assert drawing(explorer) != before
    explorer.get_by_role("combobox").nth(0).select_option(label="who invented braille")
    says(explorer, "louis")  # the only right candidate
    playwright.expect(explorer.get_by_role("combobox").nth(1)).to_contain_text("✓ It was invented")


@perspectives
def test_ask_the_same_candidates_something_else(explorer):
    playwright.expect(explorer.locator(".widget-html img")).to_have_count(1)
    before = drawing(explorer)
    field = explorer.get_by_placeholder("another question for these two candidates")
    field.fill("how far is <b>zyzzyva</b> for $5")
    field.press("Enter")
    says(explorer, "zyzzyva")
    assert drawing(explorer) != before
    explorer.get_by_role("combobox").first.select_option(label="✎ type your own question …")
    says(explorer, "Type a question")
    explorer.get_by_role("textbox").nth(0).fill("who painted this")
    explorer.get_by_role("textbox").nth(1).fill("+She painted this <i>wall</i>.\n+He did.")
    explorer.get_by_role("button", name="Show").click()
    says(explorer, "There is no wrong candidate")
    explorer.get_by_role("textbox").nth(1).fill("+She painted this <i>wall</i>.\nHe did.")
    explorer.get_by_role("button", name="Show").click()
    says(explorer, "place 2 of 2")
    playwright.expect(field).to_have_value("")
    assert explorer.locator(".widget-html i").count() == 0


def test_saved_notebook_reads_without_a_kernel(browser, lab):
    page = open_notebook(browser, lab, "00_start_here")
    page.locator(".jp-OutputArea-output", has_text="precision up to here").first.wait_for()
    for words in ("Loading widget", "Error displaying widget"):
        assert page.get_by_text(words).count() == 0
    page.close()
