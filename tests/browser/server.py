"""A Chromium for the tests here, and servers on the loopback for it to open."""

import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
BROWSER = os.environ.get("QASEL_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
SECONDS = 60


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def serving(command: Sequence[str], url: str, settings: Mapping[str, str]) -> Iterator[None]:
    """Run a server until the block ends, which begins once `url` answers."""
    quiet = subprocess.DEVNULL
    server = subprocess.Popen(command, env=os.environ | settings, stdout=quiet, stderr=quiet)
    try:
        _wait_for(url, server)
        yield
    finally:
        server.terminate()
        server.wait(30)


def _wait_for(url: str, server: subprocess.Popen[bytes]) -> None:
    for _ in range(SECONDS):
        assert server.poll() is None, "the server did not start"
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(1)
    pytest.fail(f"no answer of the server in {SECONDS} s")
