"""Where the project's own files are: the bundled sample, checksums, ledger and notebooks."""

import atexit
import os
import tempfile
from pathlib import Path

from qasel.files import FilePath

_PACKAGE = Path(__file__).resolve().parent
_CARRIED = _PACKAGE / "carried"  # only in a wheel: see pyproject.toml
ROOT = _CARRIED if _CARRIED.is_dir() else _PACKAGE.parent
"""The checkout's root folder, or the copy of its `data` and `notebooks` in an installed package."""
CHECKOUT = (ROOT / "pyproject.toml").exists()
DATA = ROOT / "data"
"""The folder of the bundled sample, the checksums of the public files and the ledger."""
FIGURES = ROOT / "figures" if CHECKOUT else Path("figures")
NOTEBOOKS = ROOT / "notebooks"


def results_dir() -> Path:
    """The ledger's folder: `$QASEL_RESULTS`, else `data/results`."""
    return Path(os.environ.get("QASEL_RESULTS") or DATA / "results")


def require_numba_cache() -> None:
    """Give numba a temporary cache folder if it can write to neither of its usual ones.

    Those are next to the code and in the user's cache. If both are read-only, as in some
    containers, functions with a numba cache cannot even be defined. Call this before numba is
    imported.
    """
    user = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    for usual in (Path(__file__).parent / "__pycache__", Path(user).expanduser()):
        there = next((part for part in (usual, *usual.parents) if part.exists()), usual)
        if there.is_dir() and os.access(there, os.W_OK):
            return
    if "NUMBA_CACHE_DIR" not in os.environ:
        folder = tempfile.TemporaryDirectory(prefix="numba-", ignore_cleanup_errors=True)
        atexit.register(folder.cleanup)
        os.environ["NUMBA_CACHE_DIR"] = folder.name


def misnamed() -> str:
    """A hint for errors about missing data: that QASEL_DATA is not a folder; otherwise empty."""
    named = os.environ.get("QASEL_DATA")
    wrong = named and not Path(named).is_dir()
    return f" (now it names {named}, which is no folder)" if wrong else ""


def data_dirs(data_dir: FilePath | None = None) -> list[Path]:
    """Folders searched for data, in order: `data_dir`, `$QASEL_DATA`, `data/`, the user's cache."""
    import pooch

    named = [data_dir, os.environ.get("QASEL_DATA")]
    return [Path(folder) for folder in named if folder] + [DATA, Path(pooch.os_cache("qasel"))]
