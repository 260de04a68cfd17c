"""The book builds without a warning, and its links lead somewhere (skipped without Sphinx)."""

import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest

from qasel.locations import NOTEBOOKS, ROOT

for module in ("sphinx", "myst_nb", "sphinx_book_theme", "sphinx-mathjax-offline"):
    pytest.importorskip(module, reason="the extra 'book' is not installed")


class Page(HTMLParser):
    """What a page refers to, what it loads as it opens, its anchors, and its text."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links, self.loaded, self.anchors = set(), set(), {""}
        self.text = path.read_text(encoding="utf-8")
        self.feed(self.text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.anchors |= {values[key] for key in ("id", "name") if values.get(key)}
        if tag == "a" and values.get("href"):
            self.links.add(values["href"])
        elif tag in ("script", "img", "iframe") and values.get("src"):
            self.loaded.add(values["src"])
        elif tag == "link" and values.get("rel") in ("stylesheet", "preload"):
            self.loaded.add(values["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Page]:
    """Each page of the book by its place in the site."""
    folder = tmp_path_factory.mktemp("book")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-c", "docs", "."]
    built = subprocess.run([*command, folder], cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    html = [path for path in folder.rglob("*.html") if "_static" not in path.parts]
    pages = {path.relative_to(folder).as_posix(): Page(path) for path in html}
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    return pages | dict.fromkeys(files - set(pages))


def test_every_notebook_and_page_is_in_the_book(site):
    sources = [*NOTEBOOKS.rglob("[0-9]*.ipynb"), *(ROOT / "docs").rglob("*.md")]
    sources = [path for path in sources if ".ipynb_checkpoints" not in path.parts]
    names = {path.relative_to(ROOT).with_suffix(".html").as_posix() for path in sources}
    assert len(names) > 20
    assert not names - set(site)


def test_tables_are_tables_also_in_the_outputs_of_notebooks(site):
    pages = {name: page.text for name, page in site.items() if page}
    assert not [name for name, text in pages.items() if "| :–" in text or "| :-" in text]
    assert "<th" in pages["notebooks/01_hierarchical_ranking.html"]


def test_pages_load_nothing_from_elsewhere(site):
    loaded = {(name, url) for name, page in site.items() if page for url in page.loaded}
    assert not {(name, url) for name, url in loaded if urlsplit(url).netloc}
    assert any("mathjax" in url for _, url in loaded)


def test_internal_links_lead_to_a_page_and_a_place_on_it(site):
    broken, seen = [], 0
    for name, page in site.items():
        for url in page.links | page.loaded if page else ():
            parts = urlsplit(url)
            if parts.scheme or parts.netloc:
                continue
            seen += 1
            target = unquote(urlsplit(urljoin(f"/{name}", url)).path).lstrip("/")
            found = site.get(target)
            anchored = found is None or unquote(parts.fragment) in found.anchors
            if target not in site or not anchored:
                broken.append((name, url))
    assert seen > 1000
    assert not broken
