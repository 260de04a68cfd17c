"""Run the notebooks with parameters, refusing what a notebook does not have."""

import ast
import os
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import TypeAdapter

from qasel.errors import QaselError
from qasel.files import require_writable
from qasel.locations import NOTEBOOKS


def find(names: list[str]) -> list[Path]:
    """Notebooks by path, file name, stem or leading number; all of them for an empty list."""
    known = sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))
    if not names:
        return known
    chosen = []
    for name in names:
        own, stem = Path(name).resolve(), name.removesuffix(".ipynb")
        matches = [p for p in known if p.resolve() == own or stem in (p.stem, p.stem[:2])]
        if not matches:
            stems = ", ".join(path.stem for path in known)
            raise QaselError(f"no notebook {name!r}; there are {stems}")
        chosen += matches
    return chosen


def parameters_of(path: Path) -> dict[str, Any]:
    """The names and values in the cell tagged `parameters`, all of them literals."""
    known = _papermill().inspect_notebook(str(path))
    return {name: ast.literal_eval(parameter["default"]) for name, parameter in known.items()}


def parse(path: Path, assignments: list[str]) -> dict[str, Any]:
    """`key=value` texts as values of the notebook's parameters.

    Raises `QaselError` for a parameter that the notebook does not have, and for a value of another
    type than the parameter's; a whole number may stand for a float.
    """
    known = parameters_of(path)
    chosen: dict[str, Any] = {}
    for assignment in assignments:
        key, text = _split(assignment)
        if key not in known:
            raise QaselError(f"{path.stem} has no parameter {key!r}; it has {', '.join(known)}")
        if key in chosen:
            raise QaselError(f"parameter {key!r} is given twice")
        kind = type(known[key])
        try:
            value = text if kind is str else ast.literal_eval(text)
            # Strictly: otherwise `epochs=2.0` would run as 2 and `seed=True` as 1.
            chosen[key] = TypeAdapter(kind).validate_python(value, strict=True)
        except (ValueError, SyntaxError, TypeError) as error:
            hint = f"give one of type {kind.__name__}, e.g. {key}={known[key]}"
            raise QaselError(f"{assignment!r} is no value for {path.stem}; {hint}") from error
    return chosen


def _split(assignment: str) -> tuple[str, str]:
    key, sign, text = assignment.partition("=")
    if not sign:
        raise QaselError(f"{assignment!r} is not of the form key=value")
    return key, text


def plan(names: list[str], assignments: list[str]) -> dict[Path, dict[str, Any]]:
    """Notebook → its parameters, all of them checked before the first notebook runs.

    Notebooks that are named must each have every parameter. Where none is named, each notebook
    takes the parameters that it has. Raises `QaselError` for an unknown notebook, for a parameter
    that a named notebook (or, without names, every notebook) lacks, and for values of a wrong type.
    """
    paths = find(names)
    if names:
        return {path: parse(path, assignments) for path in paths}
    keys = {assignment: _split(assignment)[0] for assignment in assignments}
    known = {path: parameters_of(path) for path in paths}
    anywhere = dict.fromkeys(key for parameters in known.values() for key in parameters)
    for key in keys.values():
        if key not in anywhere:
            there = ", ".join(anywhere)
            raise QaselError(f"no notebook has a parameter {key!r}; there are {there}")
    return {path: parse(path, [a for a in keys if keys[a] in known[path]]) for path in paths}


def execute(path: Path, out: Path, parameters: dict[str, Any]) -> Path:
    """Run one notebook into the folder `out`; relative paths count from the working folder.

    Raises `QaselError` when a cell fails or the kernel dies, telling where, when `out` is the
    notebook's own folder or cannot be written to, and without the `notebooks` extra.
    """
    papermill = _papermill()
    target = out / path.name
    if target.exists() and target.samefile(path):
        raise QaselError(f"{target} is the notebook itself; give another folder: --out DIR")
    require_writable(out)
    # The kernels' debugger warns about frozen modules otherwise.
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    try:
        papermill.execute_notebook(
            str(path),
            str(target),
            parameters=parameters,
            kernel_name="python3",
            # Kernels only listen on this machine, and would warn that they do so in plain text.
            extra_arguments=["--IPKernelApp.log_level=40"],
            store_widget_state=False,  # the explorers' pictures are saved instead
        )
    except papermill.PapermillExecutionError as error:
        where = f"{path.name}, code cell {error.exec_count}"
        raise QaselError(f"{where}: {error.ename}: {error.evalue} (see {target})") from error
    # nbclient's `DeadKernelError`, or jupyter_client's plain one for a kernel that does not start.
    except RuntimeError as error:
        # Not by the cells' `status`: the end of a run turns "pending" into "completed".
        cells = papermill.iorw.load_notebook_node(str(target)).cells
        reached = sum(c.cell_type == "code" for c in cells if c.metadata.papermill.start_time)
        raise QaselError(
            f"{path.name}, code cell {reached}: {error}; if memory was short, free some or choose "
            f"parameters that need less (see {target})"
        ) from error
    return target


def _papermill() -> ModuleType:
    """papermill; raises `QaselError` where the `notebooks` extra is not installed."""
    try:
        import ipykernel  # noqa: F401
        import papermill
    except ImportError as error:
        reason = f"notebooks need {error.name}"
        raise QaselError(f'{reason}; install it with: pip install "qasel[notebooks]"') from error
    return papermill
