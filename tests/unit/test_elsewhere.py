"""Networks on a device that is not the CPU: everything there that has to be, the same scores."""

import numpy as np
import pytest
import torch
from elsewhere import NAME, There, device
from tiny_encoders import make_encoder
from torch.nn.utils.rnn import pack_padded_sequence

from qasel import papers
from qasel.datasets import load_dataset
from qasel.datasets.base import Split
from qasel.results.measure import vectors_for
from qasel.training.batching import EncodedSplit, PairedSplit

CPU = torch.device("cpu")
SYSTEMS = [
    ("hierarchical-ranking", "PRI(list)"),
    ("hierarchical-ranking", "CA(ap)"),
    ("latent-structured", "CNN"),
    ("ms-ranker", "MS-Ranker"),
    ("ms-ranker", "MiniLM + MS-Ranker"),
    ("ms-ranker", "MS-Ranker + MiniLM (frozen)"),
    ("question-relevancy", "STL-MLP"),
    ("question-relevancy", "STL-BiLSTM-SIM"),
    ("ap-mpcnn", "AP-MPCNN"),
    ("yardsticks", "cross-encoder (PRI)"),
    ("yardsticks", "cross-encoder (evidence)"),
]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return str(make_encoder(tmp_path_factory.mktemp("encoder")))


def some(split, count):
    return Split(split.name, tuple(split)[:count])


@pytest.mark.parametrize(("paper", "variant"), SYSTEMS)
def test_a_network_learns_and_ranks_as_on_the_cpu(paper, variant, request, monkeypatch, tmp_path):
    for kind in (EncodedSplit, PairedSplit):
        monkeypatch.setitem(kind.tile_pairs, NAME, kind.tile_pairs["cpu"])
    data = load_dataset("sample")
    train, dev = some(data.train, 2), some(data.dev, 2)
    room = papers.ROOMS[paper]
    recipe = room.recipe(variant, "sample", scale="quick").change(epochs=1)
    if paper == "ms-ranker":
        # Else some gradients are nearly 0 (v₁ of a product, the level of a list loss): Adam turns
        # their rounding into steps, and a sampled action may differ. On two questions the
        # calibration has no finite optimum, and stops at a place that rounding decides.
        recipe = recipe.change(pre_epochs=1, attention="noise", pre_loss="ce", calibrate=False)
    if getattr(recipe, "encoder", ""):
        recipe = recipe.change(encoder=request.getfixturevalue("encoder"))
    vectors = vectors_for(recipe, data)

    def measured(place):
        folder = tmp_path / place.type
        ranker, resumed = (room.ranker(recipe, vectors, place) for _ in range(2))
        loss = ranker.fit(train, dev, folder / "run").epochs[0]["loss"]
        run = ranker.rank(dev)
        ranker.save(folder / "model")
        resumed.fit(train, dev, folder / "run")
        for again in (resumed, room.load(folder / "model", vectors, place)):
            assert again.rank(dev).scores == run.scores
        return ranker, loss, [list(scores.values()) for scores in run.scores.values()]

    _, loss, scores = measured(CPU)
    with device() as there:
        ranker, its_loss, its_scores = measured(there)
    assert all(isinstance(p.data, There) for p in ranker.network.parameters())
    assert its_loss == pytest.approx(loss, abs=1e-6)
    # Adam turns the rounding of a gradient that is nearly 0 into a step.
    for found, wanted in zip(its_scores, scores, strict=True):
        assert found == pytest.approx(wanted, abs=1e-3)


MISTAKES = {
    "two places": lambda x: x + torch.ones(3),
    "joined": lambda x: torch.cat([x, torch.ones(1)]),
    "an index from there": lambda x: torch.ones(3)[x.long()],
    "NumPy": np.asarray,
    "generator": lambda x: torch.rand(3, device=x.device, generator=torch.Generator()),
    "lengths": lambda x: pack_padded_sequence(x[None, :, None], x[:1].long(), batch_first=True),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_device_is_strict(mistake):
    with device() as there:
        x = torch.ones(3).to(there)
        with pytest.raises((RuntimeError, TypeError)):
            MISTAKES[mistake](x)


def test_the_device_does_what_it_should():
    with device() as there:
        x = torch.arange(3.0, device=there).requires_grad_()
        y = (x * torch.tensor(2.0))[torch.tensor([0, 2])]
        y.sum().backward()
        assert (y.device.type, y.tolist(), x.grad.cpu().tolist()) == (NAME, [0, 4], [2, 0, 2])
        with torch.no_grad():
            before = x.add_(1)
        assert before is x
        assert x.detach().cpu().numpy().tolist() == [1, 2, 3]
