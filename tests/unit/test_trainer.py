"""Training: repeats bit for bit, resumes after a kill, keeps its best epoch."""

import dataclasses

import pytest
import torch
from safetensors import SafetensorError

from qasel.datasets import load_dataset
from qasel.datasets.base import Split
from qasel.errors import QaselError
from qasel.evaluation import evaluate
from qasel.papers.hierarchical_ranking import HierarchicalRanker, recipe
from qasel.results.ledger import Row, code_revision, read_ledger
from qasel.text import load_vectors
from qasel.training import checkpoint, resolve_device
from qasel.training.trainer import KEEP, _State, copied

TINY = {"hidden": 8, "channels": 4, "epochs": 3, "batch": 20}
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def data():
    return load_dataset("sample")


@pytest.fixture(scope="module")
def vectors():
    return load_vectors("sample")


def make(vectors, variant="PRI(list)", **changes):
    settings = recipe(variant, "sample", scale="quick").change(**{**TINY, **changes})
    return HierarchicalRanker(settings, vectors, CPU)


def test_another_seed_gives_other_scores(data, vectors):
    one, other = make(vectors), make(vectors, seed=1)
    one.fit(data.train, data.dev)
    other.fit(data.train, data.dev)
    assert one.rank(data.dev).scores != other.rank(data.dev).scores


def test_ends_with_the_weights_of_the_best_epoch(data, vectors):
    ranker = make(vectors, epochs=6, learning_rate=0.05)
    history = ranker.fit(data.train, data.dev)
    values = [row["dev_map"] for row in history.epochs]
    assert history.best_epoch == values.index(max(values)) + 1
    assert evaluate(ranker.rank(data.dev), data.dev).map == pytest.approx(max(values), abs=1e-12)


def test_ends_with_the_weights_that_are_to_be_kept(data, vectors):
    weights = {}
    for keep in KEEP:
        ranker = make(vectors, epochs=3, keep=keep)
        seen: list[dict[str, torch.Tensor]] = []
        ranker.fit(data.train, data.dev, on_epoch=lambda _: seen.append(copied(ranker.network)))  # noqa: B023
        weights[keep] = copied(ranker.network)
    for name, last in seen[-1].items():
        assert torch.equal(weights["last"][name], last)
        mean = torch.stack([epoch[name] for epoch in seen]).mean(0)
        torch.testing.assert_close(weights["mean"][name], mean)
    assert any(not torch.equal(weights["mean"][name], weights["last"][name]) for name in seen[-1])


def test_the_history_has_the_mean_loss_of_an_item(data, vectors):
    # Nothing is learnt at rate 0, so the losses of small batches and of one large one are the same.
    still = {"epochs": 1, "learning_rate": 0.0, "vectors_rate": 0.0, "dropout": 0.0}
    runs = [make(vectors, "CA(point)", batch=batch, **still) for batch in (7, 10_000)]
    small, large = (run.fit(data.train, data.dev).epochs[0]["loss"] for run in runs)
    assert small == pytest.approx(large, rel=1e-5)


def test_patience_ends_training(data, vectors):
    # Nothing is learnt at rate 0, so the first epoch stays the best.
    history = make(vectors, epochs=9, patience=2, learning_rate=0.0, vectors_rate=0.0).fit(
        data.train, data.dev
    )
    assert len(history.epochs) == 3
    assert history.best_epoch == 1


def test_interrupted_training_resumes_to_the_same_scores(data, vectors, tmp_path):
    whole = make(vectors, epochs=4)
    expected = whole.fit(data.train, data.dev)

    class Stopped(Exception):
        pass

    def stop(epochs):
        if len(epochs) == 2:
            raise Stopped

    with pytest.raises(Stopped):
        make(vectors, epochs=4).fit(data.train, data.dev, tmp_path, stop)
    resumed = make(vectors, epochs=4)
    history = resumed.fit(data.train, data.dev, tmp_path)
    assert resumed.rank(data.test).scores == whole.rank(data.test).scores

    def losses(h):
        return [{k: v for k, v in row.items() if k != "seconds"} for row in h.epochs]

    assert losses(history) == losses(expected)


@pytest.mark.filterwarnings("ignore:.*copying from a non-meta parameter")
def test_weights_read_from_a_file_lie_where_the_network_is(tmp_path):
    def state(device):
        network = torch.nn.Linear(2, 1, device=device)
        return _State(network, torch.optim.Adam(network.parameters()), tmp_path / "last", "")

    state("cpu").add({"dev_map": 0.5})
    read = state("meta")  # stands for a GPU: a tensor there and one on the CPU do not mix
    for kept in (read.best, read.mean):
        assert {weight.device.type for weight in kept.values()} == {"meta"}


def test_a_folder_of_other_data_or_vectors_is_refused(data, vectors, tmp_path):
    make(vectors, epochs=1).fit(data.train, data.dev, tmp_path)
    fewer = Split("train", data.train[1:])
    other = dataclasses.replace(vectors, matrix=vectors.matrix + 1)
    for words, train in ((vectors, fewer), (other, data.train)):
        with pytest.raises(QaselError, match="learns from other data or word vectors"):
            make(words, epochs=1).fit(train, data.dev, tmp_path)


def test_a_folder_of_other_settings_is_refused(data, vectors, tmp_path):
    first = make(vectors, epochs=1).fit(data.train, data.dev, tmp_path)
    for changes in ({"epochs": 2}, {"epochs": 1, "margin": 0.5}, {"epochs": 1, "seed": 7}):
        with pytest.raises(QaselError, match="by other settings"):
            make(vectors, **changes).fit(data.train, data.dev, tmp_path)
    again = make(vectors, epochs=1).fit(data.train, data.dev, tmp_path)
    assert again.epochs == first.epochs


def test_labels_that_are_not_known_are_not_learnt_from(data, vectors):
    question = data.train[0]
    blank = tuple(dataclasses.replace(c, label=None) for c in question.candidates)
    train = Split("train", (dataclasses.replace(question, candidates=blank), *data.train[1:]))
    with pytest.raises(QaselError, match="candidates without a label"):
        make(vectors).fit(train, data.dev)


def test_a_loss_that_is_not_finite_is_told(data, vectors):
    told = "training diverged: the loss of epoch 1 is .*; try a smaller learning_rate$"
    with pytest.raises(QaselError, match=told):
        make(vectors, learning_rate=1e30).fit(data.train, data.dev)
    # In an epoch of one step, the loss is still finite, but no longer the scores.
    told = "training diverged: after epoch 1, .* is not a finite number; try a smaller"
    with pytest.raises(QaselError, match=told):
        make(vectors, learning_rate=1e30, batch=1000).fit(data.train, data.dev)


def test_any_seed_will_do(data, vectors):
    make(vectors, epochs=1, seed=1_700_000_000_000_000_000).fit(data.train, data.dev)


def test_a_checkpoint_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "last.safetensors"
    checkpoint.save(path, {"a": torch.ones(1)}, {})

    def full(tensors, file, metadata):
        file.write_bytes(b"half")
        raise SafetensorError("No space left on device")

    monkeypatch.setattr(checkpoint, "save_file", full)
    with pytest.raises(QaselError, match=r"last\.safetensors: cannot be written \(No space"):
        checkpoint.save(path, {"a": torch.zeros(1)}, {})
    assert checkpoint.load(path)[0]["a"] == 1
    assert list(tmp_path.iterdir()) == [path]


def test_saved_model_ranks_as_before_and_knows_new_words(data, vectors, tmp_path):
    ranker = make(vectors)
    ranker.fit(data.train, data.dev)
    before = ranker.rank(data.test)
    ranker.save(tmp_path)
    loaded = HierarchicalRanker.load(tmp_path, vectors, CPU)
    assert loaded.recipe == ranker.recipe
    assert loaded.rank(data.test).scores == before.scores
    # Words met later get their pre-trained vectors, and change nothing for the others.
    fresh = make(vectors)
    fresh.fit(data.train, data.dev)
    fresh.rank(data.train)
    assert fresh.rank(data.test).scores == before.scores


def test_broken_checkpoint_is_told(tmp_path):
    path = tmp_path / "last.safetensors"
    path.write_bytes(b"not a checkpoint")
    with pytest.raises(QaselError, match=r"last\.safetensors"):
        checkpoint.load(path)


def test_devices():
    assert resolve_device("cpu").type == "cpu"
    with pytest.raises(QaselError, match="unknown device"):
        resolve_device("tpu")
    if not torch.cuda.is_available():
        with pytest.raises(QaselError, match="no CUDA"):
            resolve_device("cuda")


def test_ledger_rows_come_back_as_written(tmp_path):
    settings = recipe("CA(list)", "wikiqa", seed=2)
    row = Row(
        recipe=settings.as_dict(),
        hash=settings.hash,
        slug=settings.slug,
        scores={"test": {"map": 0.1 + 0.2}},
        questions={"test": 1},
        per_question={"test": {"map": {"Q1": 1 / 3}}},
        history=[{"epoch": 1.0, "loss": 0.1}],
        best_epoch=1,
        seconds=1.5,
        device="CPU",
        vectors={"name": "x"},
        versions={},
        revision=code_revision(),
        finished="2026-01-01T00:00:00+00:00",
    )
    row.write(tmp_path / settings.paper)
    dataclasses.replace(row, seconds=2.0).write(tmp_path / settings.paper)
    (found,) = read_ledger(folder=tmp_path)
    assert found == dataclasses.replace(row, seconds=2.0)
    (tmp_path / settings.paper / "broken.json").write_text("{")
    with pytest.raises(QaselError, match=r"broken\.json"):
        read_ledger(folder=tmp_path)


def test_what_a_ranker_takes_is_told(data, vectors, tmp_path):
    with pytest.raises(QaselError, match="not trained; call fit before rank"):
        make(vectors).rank(data.test)
    with pytest.raises(QaselError, match="not trained"):
        make(vectors).pair("who", "she")
    with pytest.raises(QaselError, match=r"takes a split, such as data\.train, not a Dataset"):
        make(vectors).fit(data, data.dev)
    with pytest.raises(QaselError, match=r"takes a split, such as data\.train, not a Dataset"):
        make(vectors).fit(data.train, data)
    named = HierarchicalRanker(make(vectors, epochs=1).recipe, vectors, "cpu")
    named.fit(data.train, data.dev, str(tmp_path))
    assert (tmp_path / "last.safetensors").exists()
