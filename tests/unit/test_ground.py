"""The ground of the house: files that must agree with each other, and rooms that point one way."""

import ast
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "qasel"

# Each room may import itself and those before it.
ORDER = [
    ("errors", "paths", "files"),
    ("datasets",),
    ("text",),
    ("evaluation", "interleaving"),
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
    # The table of a paper beside ours needs the paper's published numbers: the registry of
    # papers, looked up by name at run time.
    if room == "results":
        later.discard("papers")
    assert not later, f"{room} imports {later}"


def test_no_paper_imports_another():
    papers = {p.name for p in (PACKAGE / "papers").iterdir() if p.is_dir()}
    for path in (PACKAGE / "papers").rglob("*.py"):
        own = path.relative_to(PACKAGE / "papers").parts[0]
        text = path.read_text(encoding="utf-8")
        others = {p for p in papers - {own} if f"qasel.papers.{p}" in text}
        assert not others, f"{path} imports {others}"


def test_environment_is_what_pyproject_gives():
    written = (ROOT / "environment.yml").read_text(encoding="utf-8")
    assert written == runpy.run_path(str(ROOT / "tools" / "environment.py"))["environment"]()


def test_constraints_pin_every_dependency():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
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
