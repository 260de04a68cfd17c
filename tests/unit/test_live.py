"""Systems named in a text, trained on the sample and set side by side."""

import pandas as pd
import pytest
import torch

from qasel.errors import QaselError
from qasel.papers.lesson import chosen_systems, compete
from qasel.results.matrix import matrix

SETTINGS = {"scale": "quick", "seed": 0}
TWO = "latent-structured: LSP-AP*, LSP; question-relevancy: STL-MLP"


def test_systems_of_several_papers_under_one_protocol():
    found = chosen_systems(TWO, "sample", "related", **SETTINGS)
    assert [(r.paper, r.protocol, r.scale) for r in found.values()] == [
        ("latent-structured", "related", "quick"),
        ("latent-structured", "related", "quick"),
        ("question-relevancy", "related", "quick"),
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "two or more"),
        ("latent-structured: LSP", "two or more"),
        ("LSP", "paper: variant"),
        ("latent-structurd: LSP", "did you mean"),
        ("latent-structured: LPS", "LPS"),
        ("latent-structured: CNN; latent-structured: CNN", "twice"),
    ],
)
def test_what_is_not_valid_is_refused(text, words):
    with pytest.raises(QaselError, match=words):
        chosen_systems(text, "sample", "answered", **SETTINGS)


def test_they_compete_on_the_same_questions():
    recipes = chosen_systems(
        "question-relevancy: STL-MLP, Random baseline", "sample", "related", **SETTINGS
    )
    recipes["STL-MLP"] = recipes["STL-MLP"].change(epochs=1)
    found = compete(recipes, torch.device("cpu"))
    cells = matrix(pd.DataFrame([line for _, line in found.values()]))
    assert set(cells.index.get_level_values("target")) == {"sample/related"}
    assert cells["compared"].all()
    learnt = cells.loc[("sample/related", "STL-MLP")]
    assert learnt["parameters"] > 1_000
    assert found["STL-MLP"][0].scores.keys() == learnt["values"].keys()


def test_a_folder_of_ones_own_is_one_column_here_and_in_the_ledger(tmp_path, monkeypatch):
    lines = "question\tcandidate\tlabel\nwho built it\tEiffel\t1\nwho built it\tit is tall\t0\n"
    for name in ("train", "dev", "test"):
        (tmp_path / f"{name}.tsv").write_text(lines)
    monkeypatch.chdir(tmp_path.parent)
    text = "yardsticks: BM25, word overlap"
    recipes = chosen_systems(text, f"./{tmp_path.name}", "answered", **SETTINGS)
    (target,) = {line["target"] for _, line in compete(recipes, torch.device("cpu")).values()}
    assert target == f"{tmp_path}/answered"
