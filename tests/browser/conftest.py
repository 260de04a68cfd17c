"""The browser of all tests here."""

from collections.abc import Iterator
from typing import Any

import pytest
from server import BROWSER, SECONDS

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        context = driver.chromium.launch_persistent_context(
            str(tmp_path_factory.mktemp("profile")),
            executable_path=BROWSER,
            args=FLAGS,
            viewport={"width": 1400, "height": 1600},
        )
        context.set_default_timeout(1000 * SECONDS)
        playwright.expect.set_options(timeout=1000 * SECONDS)
        yield context
        context.close()
