"""What must hold for every notebook as it is saved; `pytest --nbval-lax notebooks` runs them."""

import ast
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from papermill import inspect_notebook

from qasel import load_dataset
from qasel.cli.notebooks import find, parameters_of, parse
from qasel.errors import QaselError
from qasel.locations import NOTEBOOKS, ROOT

_SPEC = importlib.util.spec_from_file_location("rerun", ROOT / "tools" / "rerun_notebooks.py")
rerun = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(rerun)

COMMENT = re.compile(r"^\s*#\s*NBVAL_CHECK_OUTPUT", re.MULTILINE)
TAG = "nbval-check-output"
CELL_LINES = 15
CODE_CELLS, WORDS, PREDICTIONS = 45, 2500, 5
MEGABYTES = 5
PATHS = sorted(NOTEBOOKS.glob("*.ipynb"))
SOLUTIONS = sorted((NOTEBOOKS / "solutions").glob("*.ipynb"))
LESSONS = [NOTEBOOKS / path.name for path in SOLUTIONS]

each = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
each_saved = pytest.mark.parametrize(
    "path", [*PATHS, *SOLUTIONS], ids=lambda path: f"{path.parent.name}/{path.stem}"
)


def read(path: Path) -> NotebookNode:
    return nbformat.read(path, as_version=4)


def code(path: Path) -> list[NotebookNode]:
    return [cell for cell in read(path).cells if cell.cell_type == "code"]


def is_checked(cell: NotebookNode) -> bool:
    """Whether nbval compares the outputs of a cell: a tag says so, or a comment."""
    return TAG in cell.metadata.get("tags", []) or bool(COMMENT.search(cell.source))


def ends_in_expression(source: str) -> bool:
    """Whether the last line shows a value; assignments and what `;` or `%%` hides do not."""
    if source.startswith("%%"):
        return False
    body = ast.parse(source).body
    if not body or source.rstrip().endswith(";"):
        return False
    last = body[-1]
    return isinstance(last, ast.Expr) and not isinstance(last.value, ast.Constant)


def shows_nothing(source: str) -> bool:
    """Whether the value of the last line is that of a call known to return None."""
    last = ast.parse(source).body[-1].value
    name = ast.unparse(last.func) if isinstance(last, ast.Call) else ""
    return name.endswith((".update", ".simplefilter", ".append", ".filterwarnings", ".use"))


def test_there_are_notebooks():
    assert find([]) == PATHS
    assert "00_start_here" in [path.stem for path in PATHS]


@each_saved
def test_valid_and_small(path):
    notebook = read(path)
    nbformat.validate(notebook)
    assert path.stat().st_size < MEGABYTES * 2**20
    assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)


@each
def test_one_parameters_cell_of_literals(path):
    parameters = parameters_of(path)  # raises for anything but literals
    assert parameters
    cell = next(c for c in code(path) if "parameters" in c.metadata.get("tags", []))
    lines = [line for line in cell.source.splitlines() if line.strip()]
    assert len(lines) == len(parameters), "one assignment a line"
    for name, shown in inspect_notebook(str(path)).items():
        assert shown["inferred_type_name"] == type(parameters[name]).__name__, "in the help page"
    assert {type(value) for value in parameters.values()} <= {str, int, float, bool}


def test_papermill_alone_runs_one_on_ones_own_data(tmp_path):
    for name, split in load_dataset("sample").splits.items():
        lines = [f"{q.text}\t{c.text}\t{c.label}" for q in split for c in q.candidates]
        text = "\n".join(["question\tcandidate\tlabel", *lines])
        (tmp_path / f"{name}.tsv").write_text(text, encoding="utf-8")
    out = tmp_path / "out.ipynb"
    papermill = [sys.executable, "-m", "papermill", "--no-progress-bar"]
    run = [*papermill, NOTEBOOKS / "00_start_here.ipynb", out, "-p", "dataset", tmp_path]
    assert subprocess.run(run, check=False, capture_output=True).returncode == 0
    assert any(str(tmp_path) in c.source for c in code(out) if "injected" in str(c.metadata))


@each_saved
def test_enough_outputs_are_checked(path):
    told = [cell for cell in code(path) if cell.outputs]
    checked = [cell for cell in told if is_checked(cell)]
    assert len(checked) >= min(6, -(-len(told) // 4))
    silent = [c.source for c in code(path) if is_checked(c) and not c.outputs]
    assert not silent, "a checked cell without outputs compares nothing"


@each_saved
def test_run_once_in_order_without_errors(path):
    cells = code(path)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    kinds = [(output.output_type, output.get("name")) for c in cells for output in c.outputs]
    assert ("error", None) not in kinds
    assert ("stream", "stderr") not in kinds, "warnings hold machine paths; filter or show them"


@each_saved
def test_no_output_is_empty(path):
    for cell in code(path):
        if ends_in_expression(cell.source) and not shows_nothing(cell.source):
            assert cell.outputs, f"no output: {cell.source}"
        for output in cell.outputs:
            shown = output.get("text") or "".join(map(str, output.get("data", {}).values()))
            assert shown.strip(), f"empty output: {cell.source}"


@each_saved
def test_outputs_are_of_these_sources(path):
    notebook = read(path)
    told = notebook.metadata.get("qasel", {}).get("source")
    hint = f"run `python tools/rerun_notebooks.py {path.stem[:2]}`"
    assert told == rerun.source_hash(notebook), f"outputs older than their source; {hint}"


@each_saved
def test_nothing_of_the_machine(path):
    for number, cell in enumerate(read(path).cells):
        for text in rerun.texts(cell):
            leak = rerun.MACHINE.search(text)
            assert not leak, f"cell {number}: {leak[0]}"
        assert not {"execution", "papermill"} & set(cell.metadata), f"cell {number}: times"
    assert not {"papermill", "widgets"} & set(read(path).metadata)


@each_saved
def test_cells_are_short(path):
    for number, cell in enumerate(read(path).cells):
        if cell.cell_type == "code":
            assert len(cell.source.splitlines()) <= CELL_LINES, f"cell {number}"


@each
def test_every_widget_leaves_a_picture(path):
    for number, cell in enumerate(read(path).cells):
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            assert rerun.WIDGET not in data, f"cell {number}: an empty widget when no kernel runs"


@each_saved
def test_every_picture_is_described(path):
    for number, cell in enumerate(read(path).cells):
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            assert "text/html" in data or not any("image" in kind for kind in data), number
            for picture in re.findall("<(?:img|svg)[^>]*>", data.get("text/html", "")):
                assert re.search('(?:alt|aria-label)="[^"]', picture), f"cell {number}: {picture:.80}"


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_fits_into_an_hour(path):
    prose = [cell.source for cell in read(path).cells if cell.cell_type == "markdown"]
    assert sum(len(text.split()) for text in prose) <= WORDS
    assert len(code(path)) <= CODE_CELLS
    assert sum(text.count("<details>") for text in prose) >= PREDICTIONS
    assert any(f"solutions/{path.name}" in text for text in prose), "no link to the solutions"


@each
def test_each_notebook_shows_an_explorer(path):
    assert any("Explorer(" in cell.source and cell.outputs for cell in code(path))


@each
def test_parse_takes_the_defaults(path):
    defaults = parameters_of(path)
    assert parse(path, [f"{key}={value}" for key, value in defaults.items()]) == defaults


@pytest.mark.parametrize(
    "text", ["/home/me/x", "see /tmp/a.py:3", "C:\\Users", "<x at 0x7f00aa11>", "(/root/q)"]
)
def test_machine_paths_are_seen(text):
    assert rerun.MACHINE.search(text)


@pytest.mark.parametrize(
    "text", ["https://x.org/home/a", "question/answer", "and/or", "1/2 + 2/5", "data/sample"]
)
def test_other_slashes_are_not(text):
    assert not rerun.MACHINE.search(text)
