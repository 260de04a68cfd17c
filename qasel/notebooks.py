"""Run the notebooks with parameters, refusing what a notebook does not have."""

import ast
import os
from pathlib import Path
from typing import Any

from qasel.errors import QaselError
from qasel.paths import NOTEBOOKS


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
    import nbformat

    notebook = nbformat.read(path, as_version=4)
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
    """`key=value` texts as values of the notebook's parameters, of the same type."""
    known = parameters_of(path)
    chosen = {}
    for assignment in assignments:
        key, sign, text = assignment.partition("=")
        if not sign:
            raise QaselError(f"{assignment!r} is not of the form key=value")
        if key not in known:
            raise QaselError(f"{path.stem} has no parameter {key!r}; it has {', '.join(known)}")
        kind = type(known[key])
        try:
            chosen[key] = text if kind is str else kind(ast.literal_eval(text))
        except (ValueError, SyntaxError, TypeError):
            raise QaselError(f"{assignment!r}: {key} is a {kind.__name__}") from None
    return chosen


def execute(path: Path, out: Path, assignments: list[str]) -> Path:
    """Run one notebook into `out`; raises `QaselError` when a cell fails, naming its error."""
    import papermill

    chosen = parse(path, assignments)
    target = out / path.name
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
            parameters=chosen,
            kernel_name="python3",
            # Kernels only listen on this machine, and would warn that they do so in plain text.
            extra_arguments=["--IPKernelApp.log_level=40"],
            cwd=str(path.parent),
            store_widget_state=False,  # the explorers' pictures are saved instead
        )
    except papermill.PapermillExecutionError as error:
        raise QaselError(
            f"{path.name}, cell {error.exec_count}: {error.ename}: {error.evalue} (see {target})"
        ) from error
    return target
