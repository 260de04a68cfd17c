"""The app in a real browser: every page from the start page, and every control of each.

Skipped where Playwright, Voila or a Chromium is missing, and before the models are trained
(`make demo` or `make app` does that once). `QASEL_SCREENSHOTS=FOLDER` keeps a picture of each.
"""

import os
import runpy
import sys
import time
from collections.abc import Iterator

import pytest
from server import BROWSER, free_port, serving

from qasel.locations import ROOT

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("voila", reason="the extra 'app' is not installed")
APP = runpy.run_path(str(ROOT / "tools" / "app.py"))
MODELS = APP["FOLDER"] / "models"
pytestmark = [
    pytest.mark.skipif(not BROWSER, reason="no Chromium on this machine"),
    pytest.mark.skipif(
        len(list(MODELS.glob("*/recipe.json"))) < len(APP["SYSTEMS"]),
        reason="the app's models are not trained: run `make app` once",
    ),
]
WAIT = 4.0
"""Seconds after which a control counts as one that changes nothing: a step back from the first."""
OWN = "✎ type your own question …"
CONTROLS = "select, input[type=text], textarea, input[type=checkbox], [role=slider], button"


@pytest.fixture(scope="module")
def app() -> Iterator[str]:
    """Address of the app."""
    port = free_port()
    command = [sys.executable, str(ROOT / "tools" / "app.py"), f"--port={port}"]
    address = f"http://localhost:{port}/voila"
    with serving(command, f"{address}/tree", {}):
        yield f"{address}/render/start.ipynb"


def change(control) -> None:
    """Give a control another value, as a reader would."""
    kind = control.evaluate("e => e.tagName == 'INPUT' ? e.type : e.getAttribute('role') || e.type")
    if kind == "select-one":
        others = control.locator("option:not(:checked)")
        if others.count():
            control.select_option(label=others.last.text_content())
    elif kind in ("text", "textarea"):
        typed = "who painted the wall"
        control.fill(typed if kind == "text" else "+she painted the wall\nit rained all day")
        control.press("Tab")
    elif kind == "slider":
        control.press("ArrowLeft")
    else:
        control.click()


def change_all(controls, picture) -> int:
    """Change one visible control after the other: how many gave a new picture."""
    answers = 0
    for number in range(controls.count()):
        control = controls.nth(number)
        if control.is_visible() and control.is_enabled():
            before, until = picture.inner_html(), time.monotonic() + WAIT
            change(control)
            while picture.inner_html() == before and time.monotonic() < until:
                time.sleep(0.05)
            answers += picture.inner_html() != before
    return answers


@pytest.mark.parametrize("name", APP["PAGES"])
def test_every_control_is_answered(browser, app, name):
    page, errors, remote = browser.new_page(), [], []
    page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda r: remote.append(r.url) if "//localhost" not in r.url else None)
    page.goto(app)
    page.get_by_role("link", name=APP["PAGES"][name].title, exact=True).click()
    picture = page.locator(".widget-html-content").last
    picture.wait_for()
    assert page.locator(".jp-CodeCell .jp-InputArea").count() == 0  # no code
    explorer = page.locator(".widget-vbox").first
    if folder := os.environ.get("QASEL_SCREENSHOTS"):
        page.set_viewport_size({"width": 860, "height": 1200})
        explorer.screenshot(path=f"{folder}/explorer-{name}.png")
    controls = explorer.locator(CONTROLS)
    answers = change_all(controls, picture)
    choice = controls.locator(f"xpath=self::select[option[text()='{OWN}']]")
    if choice.count():
        choice.select_option(label=OWN)
        answers += change_all(controls.and_(page.locator("input, textarea, button")), picture)
        playwright.expect(picture).to_contain_text("painted")
    assert answers
    assert not errors
    assert not [url for url in remote if not url.startswith(("data:", "blob:"))]
    page.close()
