"""The worked examples of the guides run as they are printed."""

import re

from qasel.locations import ROOT
from qasel.papers.hierarchical_ranking import VARIANTS
from qasel.training.losses import LOSSES

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def test_the_examples_of_adding_something_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("QASEL_RESULTS", str(tmp_path / "results"))
    for registered in (LOSSES, VARIANTS):  # the examples add to them
        for name, value in registered.copy().items():
            monkeypatch.setitem(registered, name, value)
    text = (ROOT / "docs" / "guides" / "add.md").read_text(encoding="utf-8")
    blocks = BLOCK.findall(text)
    assert len(blocks) == text.count("\n## ")  # one for each part
    names = {}
    for block in blocks:
        exec(compile(block, "docs/guides/add.md", "exec"), names)
    assert not (tmp_path / "results").exists()
    monkeypatch.undo()
    LOSSES.pop("best")
    VARIANTS.pop("CA(best)")
