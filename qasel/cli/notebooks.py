"""Run the notebooks with parameters, refusing what a notebook does not have."""

import ast
import os
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from qasel.errors import QaselError
from qasel.locations import NOTEBOOKS


def find(names: list[str]) -> list[Path]:
    """Notebooks by file name, stem or leading number; all of them for an empty list."""
    known = sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))
    if not names:
        return known
    chosen = []
    for name in names:
        stem = Path(name).name.removesuffix(".ipynb")
        matches = [path for path in known if stem in (path.stem, path.stem[:2])]
        if not matches:
            stems = ", ".join(path.stem for path in known)
            raise QaselError(f"no notebook {name!r}; there are {stems}")
        chosen += matches
    return chosen


def parameters_of(path: Path) -> dict[str, Any]:
    """The literals of the cell tagged `parameters`; raises `QaselError` without one."""
    notebook = _extra("nbformat").read(path, as_version=4)
    cells = [c for c in notebook.cells if "parameters" in c.metadata.get("tags", [])]
    if len(cells) != 1:
        raise QaselError(f"{path}: expected one cell tagged `parameters`, found {len(cells)}")
    found = {}
    for statement in ast.parse(cells[0].source).body:
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            raise QaselError(f"{path}: the parameters cell must hold plain assignments only")
        found[ast.unparse(statement.targets[0])] = ast.literal_eval(statement.value)
    return found


def parse(path: Path, assignments: list[str]) -> dict[str, Any]:
    """`key=value` texts as values of the notebook's parameters.

    Raises `QaselError` for a parameter that the notebook does not have, and for a value of another
    type than the parameter's; a whole number may stand for a float.
    """
    known = parameters_of(path)
    chosen = {}
    for assignment in assignments:
        key, text = _split(assignment)
        if key not in known:
            raise QaselError(f"{path.stem} has no parameter {key!r}; it has {', '.join(known)}")
        if key in chosen:
            raise QaselError(f"parameter {key!r} is given twice")
        chosen[key] = text if isinstance(known[key], str) else _literal(text)
        # Converted, `epochs=2.9` would run as 2 and `seed=True` as 1.
        kind = type(known[key])
        if kind is float and type(chosen[key]) is int:
            chosen[key] = float(chosen[key])
        if type(chosen[key]) is not kind:
            hint = f"give one of type {kind.__name__}, e.g. {key}={known[key]}"
            raise QaselError(f"{assignment!r} is no value for {path.stem}; {hint}")
    return chosen


def _split(assignment: str) -> tuple[str, str]:
    key, sign, text = assignment.partition("=")
    if not sign:
        raise QaselError(f"{assignment!r} is not of the form key=value")
    return key, text


def _literal(text: str) -> Any:
    """The value of a literal; None, the type of no parameter, for any other text."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError):
        return None


def plan(names: list[str], assignments: list[str]) -> dict[Path, dict[str, Any]]:
    """Notebook → its parameters, all of them checked before the first notebook runs.

    Notebooks that are named must each have every parameter. Where none is named, each notebook
    takes the parameters that it has. Raises `QaselError` for an unknown notebook, for a parameter
    that a named notebook (or, without names, every notebook) lacks, and for values of a wrong type.
    """
    paths = find(names)
    if names:
        return {path: parse(path, assignments) for path in paths}
    known = {path: parameters_of(path) for path in paths}
    anywhere = dict.fromkeys(key for parameters in known.values() for key in parameters)
    for key, _ in map(_split, assignments):
        if key not in anywhere:
            there = ", ".join(anywhere)
            raise QaselError(f"no notebook has a parameter {key!r}; there are {there}")
    return {
        path: parse(path, [text for text in assignments if _split(text)[0] in known[path]])
        for path in paths
    }


def execute(path: Path, out: Path, parameters: dict[str, Any]) -> Path:
    """Run one notebook into the folder `out`; relative paths count from the working folder.

    Raises `QaselError` when a cell fails or the kernel dies, telling where, when `out` is the
    notebook's own folder or cannot be written to, and without the `notebooks` extra.
    """
    papermill = _extra("papermill")
    _extra("ipykernel")
    target = out / path.name
    if target.exists() and target.samefile(path):
        raise QaselError(f"{target} is the notebook itself; give another folder: --out DIR")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise QaselError(f"cannot write to {out}: {error.strerror}") from error
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
        where = f"{path.name}, code cell {_reached(target)}"
        raise QaselError(
            f"{where}: {error}; if memory was short, free some or choose parameters that need less "
            f"(see {target})"
        ) from error
    return target


def _reached(executed: Path) -> int:
    """How many code cells of a notebook papermill has started; 0 if its kernel did not start."""
    cells = _extra("nbformat").read(executed, as_version=4).cells
    # Not by their `status`: the end of a run turns "pending" into "completed".
    started = [cell for cell in cells if cell.metadata.papermill.start_time]
    return sum(cell.cell_type == "code" for cell in started)


def _extra(module: str) -> ModuleType:
    """A module of the `notebooks` extra; raises `QaselError` where that is not installed."""
    try:
        return import_module(module)
    except ImportError as error:
        reason = f"notebooks need {error.name or module}"
        raise QaselError(f'{reason}; install it with: pip install "qasel[notebooks]"') from error
