"""The ground of the house: files that must agree with each other, and rooms that point one way."""

import os
import re
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

graph = runpy.run_path(str(ROOT / "tools" / "import_graph.py"))
EDGES = graph["graph"]()
PLACE = {room: place for place, rooms in enumerate(graph["ORDER"]) for room in rooms}


def test_rooms_import_only_rooms_before_them():
    rooms = {name: graph["room"](name) for name in EDGES}
    assert set(rooms.values()) - {""} == PLACE.keys()
    up = [
        f"{module} imports {other}"
        for module, others in EDGES.items()
        for other in others
        if rooms[module] and PLACE.get(rooms[other], -1) > PLACE[rooms[module]]
    ]
    assert not up


def test_no_module_imports_itself_by_way_of_others():
    assert not graph["cycle"](EDGES)


def test_no_paper_imports_another():
    papers = {path.name for path in (PACKAGE / "papers").iterdir() if path.is_dir()}

    def paper(module):
        return papers.intersection(module.removeprefix("qasel.papers.").split(".")[:1])

    for module, others in EDGES.items():
        if own := paper(module):
            assert all(paper(other) <= own for other in others), module


def test_a_hidden_import_is_refused(tmp_path):
    file = tmp_path / "module.py"
    file.write_text("import importlib\nimportlib.import_module('qasel.text')\n")
    assert graph["imports"](file, {"qasel.text"}) == {"qasel.text"}
    file.write_text("from importlib import import_module\nimport_module(f'qasel.{name}')\n")
    with pytest.raises(ValueError, match="hides an edge"):
        graph["imports"](file, {"qasel.text"})


def test_environment_is_what_pyproject_gives():
    written = (ROOT / "environment.yml").read_text(encoding="utf-8")
    assert written == runpy.run_path(str(ROOT / "tools" / "environment.py"))["environment"]()


def test_binder_installs_what_there_is_and_trains_what_the_app_shows():
    lines = (ROOT / "binder" / "requirements.txt").read_text(encoding="utf-8").splitlines()
    (extras,) = re.findall(r"-e \.\[(.*)\]", lines[-1])
    assert set(extras.split(",")) <= set(PYPROJECT["project"]["optional-dependencies"])
    assert lines[-2] in (ROOT / "Makefile").read_text(encoding="utf-8")  # the same torch
    start = ROOT / "binder" / "postBuild"
    assert os.access(start, os.X_OK)
    assert "python tools/app.py --train" in start.read_text(encoding="utf-8")


def test_an_installed_package_carries_the_sample_the_ledger_and_the_notebooks(tmp_path):
    wheel = PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    for package in wheel["packages"]:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / package, tmp_path / package, ignore=ignored)
    for source, target in wheel["force-include"].items():
        (tmp_path / target).parent.mkdir(exist_ok=True)
        (tmp_path / target).symlink_to(ROOT / source)
    script = """
import qasel, qasel.cli.notebooks, qasel.locations
from qasel.datasets.registry import COLLECTIONS
from qasel.results.ledger import code_revision, read_ledger
print(qasel.locations.ROOT, qasel.locations.FIGURES)
print(len(qasel.load_dataset("sample").test), len(qasel.load_vectors("sample").rows) > 0)
print(len(read_ledger("ap-mpcnn")) > 0, len(qasel.cli.notebooks.find([])), code_revision())
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


def test_the_package_shows_what_it_offers():
    code = "import qasel; print([name for name in dir(qasel) if name[0] != '_'])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "['evaluate', 'load_dataset', 'load_vectors']"
