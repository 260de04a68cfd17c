"""The ground of the house: files that must agree with each other, and rooms that point one way."""

import ast
import os
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "qasel"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

# Each room may import itself and those before it.
ORDER = [
    ("errors", "locations", "files", "products"),
    ("datasets",),
    ("text",),
    ("evaluation", "loss_augmented"),
    ("rankers",),
    ("layers",),
    ("training",),
    ("results",),
    ("figures",),
    ("papers",),
    ("widgets", "notebooks"),
    ("cli", "cli_compare", "cli_data", "cli_papers", "cli_rank", "cli_sweep"),
]
RANK = {room: place for place, rooms in enumerate(ORDER) for room in rooms}


def imported_rooms(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return {name.split(".")[1] for name in names if name.startswith("qasel.")} & RANK.keys()


def modules() -> list[Path]:
    return [p for p in sorted(PACKAGE.rglob("*.py")) if p != PACKAGE / "__init__.py"]


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_rooms_import_only_rooms_before_them(path):
    room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    later = {other for other in imported_rooms(path) if RANK[other] > RANK[room]}
    assert not later, f"{room} imports {later}"


def test_no_paper_imports_another():
    papers = {p.name for p in (PACKAGE / "papers").iterdir() if p.is_dir()}
    registry = PACKAGE / "papers" / "__init__.py"
    for path in set((PACKAGE / "papers").rglob("*.py")) - {registry}:
        own = path.relative_to(PACKAGE / "papers").parts[0]
        text = path.read_text(encoding="utf-8")
        others = {p for p in papers - {own} if f"qasel.papers.{p}" in text}
        assert not others, f"{path} imports {others}"


def test_environment_is_what_pyproject_gives():
    written = (ROOT / "environment.yml").read_text(encoding="utf-8")
    assert written == runpy.run_path(str(ROOT / "tools" / "environment.py"))["environment"]()


def test_an_installed_package_carries_the_sample_the_ledger_and_the_notebooks(tmp_path):
    wheel = PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    for package in wheel["packages"]:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / package, tmp_path / package, ignore=ignored)
    for source, target in wheel["force-include"].items():
        (tmp_path / target).parent.mkdir(exist_ok=True)
        (tmp_path / target).symlink_to(ROOT / source)
    script = """
import qasel, qasel.notebooks, qasel.locations
from qasel.datasets.registry import COLLECTIONS
from qasel.results.ledger import code_revision, read_ledger
print(qasel.locations.ROOT, qasel.locations.FIGURES)
print(len(qasel.load_dataset("sample").test), len(qasel.load_vectors("sample").rows) > 0)
print(len(read_ledger("ap-mpcnn")) > 0, len(qasel.notebooks.find([])), code_revision())
"""
    env = os.environ | {"PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-c", script]
    # Where a checkout of something else is, whose revision is not ours.
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    printed = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True)
    assert not printed.returncode, printed.stderr
    root, *found = printed.stdout.split()
    assert root == str(tmp_path / "qasel" / "carried")
    assert found == ["figures", "45", "True", "True", "7", "version", "0.1.0"]


def test_constraints_pin_every_dependency():
    project = PYPROJECT["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(p for extra in extras.values() for p in extra)]
    pinned = {
        line.split("==")[0].lower().replace("_", "-")
        for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
        if "==" in line
    }
    assert {package.split(">=")[0] for package in wanted} <= pinned


def test_help_does_not_wait_for_torch_or_dask():
    code = "import sys, qasel.cli; sys.exit(bool({'torch', 'dask'} & sys.modules.keys()))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_package_shows_what_it_offers():
    code = "import qasel; print([name for name in dir(qasel) if name[0] != '_'])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "['evaluate', 'load_dataset', 'load_vectors']"
