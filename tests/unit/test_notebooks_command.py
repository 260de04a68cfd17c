"""`qasel notebooks` on small notebooks of its own: where they run, and what is refused."""

import sys

import nbformat
import pytest
from jupyter_client.kernelspec import KernelSpec

from qasel.cli import main, notebooks

FIRST = ["dataset = 'sample'\nseed = 0", "open(dataset).read()"]
SECOND = ["dataset = 'sample'\nseed = 0\nepochs = 1\nmargin = 0.5\nmixed = False"]


def write(folder, name, sources):
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in sources])
    book.metadata["language_info"] = {"name": "python"}
    book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    book.cells[0].metadata["tags"] = ["parameters"]
    book.cells.insert(0, nbformat.v4.new_markdown_cell("# A title"))
    nbformat.write(book, folder / name)


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """A folder of two notebooks beside the working folder."""
    folder = tmp_path / "sources"
    folder.mkdir()
    write(folder, "00_first.ipynb", FIRST)
    write(folder, "01_second.ipynb", SECOND)
    monkeypatch.setattr(notebooks, "NOTEBOOKS", folder)
    (tmp_path / "desk").mkdir()
    monkeypatch.chdir(tmp_path / "desk")
    return folder


@pytest.fixture
def executed(monkeypatch):
    """Notebook → its parameters, of what would have run."""
    seen = {}

    def execute(path, out, parameters):
        seen[path.stem] = parameters
        return out / path.name

    monkeypatch.setattr(notebooks, "execute", execute)
    return seen


def refused(capsys, *arguments):
    """The one line in which the command refuses its arguments."""
    assert main(["notebooks", *arguments]) == 2
    *before, line = capsys.readouterr().err.strip().splitlines()
    assert line.startswith("qasel: error: ")
    assert "Traceback" not in "".join(before)
    return line


def test_relative_paths_count_from_the_working_folder(sources, tmp_path):
    (tmp_path / "desk" / "mine.txt").write_text("found in the working folder")
    assert main(["notebooks", "00", "-p", "dataset=mine.txt", "--out", "done"]) == 0
    assert "found in the working folder" in (tmp_path / "desk/done/00_first.ipynb").read_text()


def test_a_dead_kernel_is_told(sources, capsys):
    write(sources, "00_first.ipynb", ["seed = 0", "import os; os._exit(1)", "'never'"])
    line = refused(capsys, "00")
    for word in ("00_first.ipynb, code cell 2:", "Kernel died", "memory", "runs/notebooks"):
        assert word in line


def test_a_kernel_that_cannot_start_is_told(sources, capsys, monkeypatch):
    arguments = [sys.executable, "-c", "raise SystemExit(1)"]
    monkeypatch.setattr(
        "jupyter_client.kernelspec.KernelSpecManager.get_kernel_spec",
        lambda *_: KernelSpec(argv=arguments),
    )
    assert "01_second.ipynb, code cell 0: Kernel died" in refused(capsys, "01")


@pytest.mark.parametrize("missing", ["papermill", "ipykernel"])
def test_a_missing_extra_is_named(missing, sources, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    line = refused(capsys, "00")
    assert missing in line
    assert 'pip install "qasel[notebooks]"' in line


@pytest.mark.parametrize(
    "assignment",
    [
        *("epochs=2.9", "epochs=True", "epochs='3'", "epochs=None", "epochs=", "seed=True"),
        *("margin=True", "margin=half", "mixed=1", "mixed=true"),
    ],
)
def test_values_of_another_type_are_refused(assignment, sources, executed, capsys):
    line = refused(capsys, "01", "-p", assignment)
    assert repr(assignment) in line
    assert "type" in line
    assert not executed


def test_a_whole_number_may_stand_for_a_float(sources):
    chosen = notebooks.parse(sources / "01_second.ipynb", ["margin=2", "mixed=True", "dataset=7"])
    assert chosen == {"margin": 2.0, "mixed": True, "dataset": "7"}
    assert type(chosen["margin"]) is float


def test_all_named_notebooks_are_checked_before_one_runs(sources, executed, capsys):
    assert "00_first" in refused(capsys, "01", "00", "-p", "epochs=1")
    assert not executed


def test_without_names_each_takes_the_parameters_it_has(sources, executed):
    assert main(["notebooks", "-p", "epochs=2", "-p", "seed=1"]) == 0
    assert executed == {"00_first": {"seed": 1}, "01_second": {"epochs": 2, "seed": 1}}


@pytest.mark.parametrize("assignment", ["epoch=2", "epochs"])
def test_without_names_some_notebook_must_have_it(assignment, sources, executed, capsys):
    assert repr(assignment.removesuffix("=2")) in refused(capsys, "-p", assignment)
    assert not executed


def test_a_notebook_is_not_written_over(sources, capsys):
    before = (sources / "00_first.ipynb").read_text()
    assert "--out" in refused(capsys, "00", "--out", "../desk/../sources")
    assert (sources / "00_first.ipynb").read_text() == before


def test_a_failing_cell_is_told(sources, capsys):
    assert "00_first.ipynb, code cell 2: FileNotFoundError" in refused(capsys, "00")
