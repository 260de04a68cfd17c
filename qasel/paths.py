"""Where the project's own files lie: the bundled sample, the checksums, the ledger."""

import os
from pathlib import Path

from qasel.files import FilePath

ROOT = Path(__file__).resolve().parent.parent
"""The checkout's root folder (the package is installed editable)."""

DATA = ROOT / "data"
"""The bundled sample, the checksums of the public files and the ledger."""

FIGURES = ROOT / "figures"
NOTEBOOKS = ROOT / "notebooks"


def results_dir() -> Path:
    """The ledger's folder: `$QASEL_RESULTS`, else `data/results` of the checkout."""
    return Path(os.environ.get("QASEL_RESULTS") or DATA / "results")


def data_dirs(data_dir: FilePath | None = None) -> list[Path]:
    """Folders searched for data: the argument, `$QASEL_DATA`, `data/`, the user's cache."""
    import pooch

    named = [data_dir, os.environ.get("QASEL_DATA")]
    return [Path(folder) for folder in named if folder] + [DATA, Path(pooch.os_cache("qasel"))]
