"""The examples of the README and the guides: Python runs as printed, and every option is known."""

import re
import shlex
from unittest.mock import patch

import pytest

from qasel.cli import main
from qasel.locations import ROOT
from qasel.papers import ROOMS
from qasel.papers.hierarchical_ranking import VARIANTS
from qasel.results.sweep import read_grids
from qasel.training.losses import LOSSES

GUIDES = [ROOT / "README.md", *sorted((ROOT / "docs" / "guides").glob("*.md"))]
each = pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.stem)


def blocks(path, kind):
    text = path.read_text(encoding="utf-8")
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [block for name, block in found if name == kind]


@each
@pytest.mark.filterwarnings("ignore::qasel.evaluation.TieWarning")
def test_python_runs_as_printed(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("QASEL_RESULTS", str(tmp_path / "results"))
    names = {}
    with patch.dict(LOSSES), patch.dict(VARIANTS):  # the examples add to them
        for block in blocks(path, "python"):
            exec(compile(block, path.name, "exec"), names)
    assert not (tmp_path / "results").exists()


@each
def test_options_of_the_commands_are_known(path):
    for block in blocks(path, ""):
        for line in block.replace("\\\n", " ").splitlines():
            if line.startswith("qasel "):
                assert main([*shlex.split(line, comments=True)[1:], "--help"]) == 0, line


def test_the_grids_of_the_guide_are_read(tmp_path):
    (text,) = blocks(ROOT / "docs" / "guides" / "run.md", "yaml")
    (tmp_path / "grid.yaml").write_text(text, encoding="utf-8")
    papers = {recipe.paper for recipe in read_grids(tmp_path / "grid.yaml", ROOMS)}
    assert papers == {"hierarchical-ranking", "ms-ranker", "ap-mpcnn"}


def test_every_part_has_its_example():
    guide = ROOT / "docs" / "guides" / "add.md"
    assert len(blocks(guide, "python")) == guide.read_text(encoding="utf-8").count("\n## ")


def test_links_of_the_readme_lead_to_files():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!https?:)([^)#]+)", text)
    assert len(links) > 20
    assert not [link for link in links if not (ROOT / link).exists()]
