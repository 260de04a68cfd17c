"""Run notebooks in place with their defaults: `python tools/rerun_notebooks.py [NAME...]`.

The saved file omits what would differ between two machines: times, the kernel's version and the
state of widgets (their pictures stay). A hash of the sources in the metadata lets a test recognise
outputs that are older than their source.
"""

import argparse
import hashlib
import json
import os
import re
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from qasel.cli.notebooks import find
from qasel.errors import QaselError
from qasel.files import write_whole

SECONDS_A_CELL = 600
WIDGET = "application/vnd.jupyter.widget-view+json"
MACHINE = re.compile(
    r"(?<![\w.:/])(?:/(?:home|root|tmp|work|Users|private|var|opt)/\S*)|\b[A-Z]:\\\\?\w\S*"
    r"|\bat 0x[0-9a-f]{6,}"
)
"""Matches an absolute path or a memory address in a cell or its output."""


def source_hash(notebook: NotebookNode) -> str:
    """Return the SHA-256 of the kinds and sources of all cells."""
    cells = [[cell.cell_type, cell.source] for cell in notebook.cells]
    return hashlib.sha256(json.dumps(cells).encode("utf-8")).hexdigest()


def texts(cell: NotebookNode) -> list[str]:
    """Return the cell's source and all text in its outputs, without pictures."""
    found = [cell.source]
    for output in cell.get("outputs", []):
        found += [output.get("text", ""), *output.get("traceback", [])]
        data = output.get("data", {})
        found += [str(value) for kind, value in data.items() if not kind.startswith("image/p")]
    return found


def strip(notebook: NotebookNode) -> None:
    """Remove what depends on the machine or the time of a run."""
    notebook.metadata = NotebookNode(
        kernelspec={"display_name": "python3", "language": "python", "name": "python3"},
        language_info={"name": "python"},
        qasel={"source": source_hash(notebook)},
    )
    for cell in notebook.cells:
        tags = cell.metadata.get("tags")
        cell.metadata = NotebookNode(tags=tags) if tags else NotebookNode()
        # Progress bars are widgets with nothing to show when no kernel runs.
        if "outputs" in cell:
            cell.outputs = [output for output in cell.outputs if not _bar(output)]
        for output in cell.get("outputs", []):
            if "data" in output:
                # Without its model a widget shows as an error; the text/html beside it suffices.
                output.data.pop(WIDGET, None)
            if "metadata" in output:
                output.metadata = NotebookNode()


def _bar(output: NotebookNode) -> bool:
    data = output.get("data", {})
    return WIDGET in data and "text/html" not in data


def rerun(path: Path) -> None:
    """Execute a notebook in place; raises `QaselError` for a failing cell or a machine's path."""
    notebook = nbformat.read(path, as_version=4)
    os.environ["OMP_NUM_THREADS"] = "1"  # as in `make test`: two threads add in another order
    client = NotebookClient(
        notebook,
        timeout=SECONDS_A_CELL,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
        store_widget_state=False,
        record_timing=False,
        coalesce_streams=True,  # lines arrive at random times
    )
    try:
        client.execute()
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        raise QaselError(f"{path.name}: {error}") from error
    strip(notebook)
    for number, cell in enumerate(notebook.cells):
        for text in texts(cell):
            if leak := MACHINE.search(text):
                raise QaselError(f"{path.name}, cell {number}: {leak[0]!r} is of this machine only")
    write_whole(path, nbformat.writes(notebook) + "\n")


def with_solutions(paths: list[Path]) -> list[Path]:
    """Return each notebook, followed by the solutions of its exercises, if there are any."""
    both = [found for path in paths for found in (path, path.parent / "solutions" / path.name)]
    return [path for path in both if path.exists()]


def main() -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(description="Run notebooks in place, with their defaults.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="01 or 01_…; all if none is given")
    # Outputs must not depend on what this machine has.
    for name in ("QASEL_DATA", "QASEL_RESULTS"):
        os.environ.pop(name, None)
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    try:
        for path in with_solutions(find(parser.parse_args().names)):
            start = time.perf_counter()
            rerun(path)
            print(f"{path.name}: {time.perf_counter() - start:.0f} s")
    except QaselError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
