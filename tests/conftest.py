"""What all tests share."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of the real data; tests that need it are skipped where it is not named."""
    folder = os.environ.get("QASEL_DATA")
    if not folder:
        pytest.skip("set QASEL_DATA to a folder with the real data")
    return Path(folder)
