"""Paper 3 over a frozen encoder: its vectors, made once, stand where those of words would."""

import math

import pytest
import torch
from ledger_rows import ledger_row, runs_of
from ms_ranker_reference import slow_walk
from tiny_encoders import make_encoder

from qasel.cli import main
from qasel.datasets import load_dataset
from qasel.datasets.base import Candidate, Question, Split
from qasel.errors import QaselError
from qasel.papers.ms_ranker import ROOM, recipe
from qasel.papers.ms_ranker.recipes import FROZEN
from qasel.results.tables import comparison, provenance
from qasel.text import Vectors
from qasel.text.encoders import Encoder, contextual_vectors, load_encoder

pytest.importorskip("transformers", reason="needs the extra `transformers`")

CPU = torch.device("cpu")
MINILM, ELMO = FROZEN
TINY = {"hidden": 6, "pre_epochs": 1, "epochs": 2, "batch": 3}


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("QASEL_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_encoder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture(scope="module")
def few():
    return Split("few", load_dataset("sample").train[:6])


def make(folder, variant=ELMO, **changes):
    settings = recipe(variant).change(encoder=str(folder), **TINY | changes)
    return ROOM.ranker(settings, Vectors.empty(""), CPU)


def untrained(folder, split, **changes):
    """An agent of which every part counts, and the split for it."""
    system = make(folder, **changes)
    system.prepare(split, split)
    for parameter in system.network.parameters():
        parameter.data *= 3
    return system.network.eval(), system.encode(split)


@pytest.mark.parametrize("changes", [{}, {"action": False}, {"gate": False}, {"evidence": False}])
@torch.no_grad()
def test_the_agent_equals_one_candidate_at_a_time(changes, folder):
    lists = {
        "When was it built?": ["a tower was built in Paris", "", "by an engineer, in towns."],
        "who": ["built by an engineer in paris . a tower is a tower , a long tower"],
    }
    split = Split(
        "tiny",
        tuple(
            Question(f"q{i}", q, tuple(Candidate(f"{i}-{j}", c, j % 2, j) for j, c in enumerate(a)))
            for i, (q, a) in enumerate(lists.items())
        ),
    )
    agent, data = untrained(folder, split, **changes)
    texts = [text for question, candidates in lists.items() for text in (question, *candidates)]
    found = contextual_vectors(load_encoder(str(folder)), texts)
    vectors = torch.from_numpy(found.matrix).float()
    walk = agent(data.batch(torch.arange(2)))
    for row, question in enumerate(split):
        for step, (p, gate) in enumerate(slow_walk(agent, found, question, vectors)):
            assert walk.p_post[row, step] == pytest.approx(p.item(), abs=1e-5)
            assert walk.gate[row, step] == pytest.approx(gate.item(), abs=1e-5)


@torch.no_grad()
def test_company_and_padding_change_nothing(folder, few):
    agent, data = untrained(folder, few)
    together = agent(data.batch(torch.arange(6))).p_post
    for number, question in enumerate(few):
        alone = agent(data.batch(torch.tensor([number]))).p_post[0]
        wanted = together[number, : len(question.candidates)]
        torch.testing.assert_close(alone, wanted, atol=1e-5, rtol=0)
    # Nor does the rest of the split, with which the encoder reads a text.
    _, single = untrained(folder, Split("one", few[:1]))
    alone = agent(single.batch(torch.tensor([0]))).p_post[0]
    torch.testing.assert_close(together[0, : len(alone)], alone, atol=1e-4, rtol=0)


def test_the_encoder_reads_each_split_once_and_never_learns(folder, few, monkeypatch, tmp_path):
    models, passes = [], []
    fresh = Encoder.model

    def watched(encoder):
        models.append(fresh(encoder))
        models[-1].register_forward_hook(lambda *_: passes.append(torch.is_grad_enabled()))
        return models[-1]

    monkeypatch.setattr(Encoder, "model", watched)
    dev = Split("dev", load_dataset("sample").dev[:2])
    system = make(folder)
    history = system.fit(few, dev, tmp_path / "run")
    assert len(history.epochs) == 2
    assert all(math.isfinite(row["loss"]) for row in history.epochs)
    # Six and two lists are a few batches of texts each; two networks learnt for three epochs.
    texts = [{q.text for q in s} | {c.text for q in s for c in q.candidates} for s in (few, dev)]
    assert len(models) == 2
    assert len(passes) == sum(-(-len(different) // 64) for different in texts)
    assert not any(passes)
    for name, weight in fresh(load_encoder(str(folder))).named_parameters():
        assert all(torch.equal(m.get_parameter(name), weight) for m in models)
        assert all(m.get_parameter(name).grad is None for m in models)
    # Neither the encoder nor its vectors are in the networks that learn.
    sizes = {name: tuple(w.shape) for name, w in system.network.state_dict().items()}
    assert sizes["vectors"] == (0, 0)
    assert sizes["reader.encode.gru.weight_ih_l0"] == (18, 16)
    assert not any("model" in name or "embeddings" in name for name in sizes)


@pytest.mark.parametrize("variant", [ELMO, MINILM, "Pre-Ranker"])
def test_a_saved_ranker_reads_new_texts_with_the_encoder(variant, folder, few, tmp_path):
    system = make(folder, variant, frozen=True)
    system.fit(few, few)
    new = Split("new", load_dataset("sample").test[:3])
    scores = system.rank(new).scores
    system.save(tmp_path / "model")
    again = ROOM.load(tmp_path / "model", Vectors.empty(""), CPU)
    assert again.rank(new).scores == scores
    assert type(again) is type(system)


def test_from_the_command_line_to_ones_own_questions(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("QASEL_RESULTS", str(tmp_path / "results"))
    settings = [f"--set={k}={v}" for k, v in (TINY | {"encoder": folder, "batch": 30}).items()]
    command = ["run", "ms-ranker", f"--variant={ELMO}", f"--out={tmp_path / 'runs'}", *settings]
    assert main(command) == 0
    (model,) = (tmp_path / "runs").glob("ms-ranker---elmo*")
    own = tmp_path / "own.tsv"
    own.write_text("question\tcandidate\nwho built it ?\tan engineer\nwho built it ?\tin paris\n")
    capsys.readouterr()
    assert main(["rank", str(model), str(own)]) == 0
    told = capsys.readouterr()
    assert len(told.out.splitlines()) == 2
    assert "qasel:" not in told.err  # no warning


def test_an_encoder_must_be_named_and_be_there(few, tmp_path):
    with pytest.raises(QaselError, match=r"no encoder is named; .*--set encoder=") as caught:
        ROOM.ranker(recipe(ELMO), Vectors.empty(""), CPU)
    assert "\n" not in str(caught.value)
    with pytest.raises(QaselError, match="is not an encoder"):
        make(tmp_path)


def test_the_papers_row_takes_any_encoder_and_tells_which():
    row = recipe(ELMO, "wikiqa", vectors="some/encoder", seed=2)
    assert row == recipe(ELMO, "wikiqa").change(encoder="some/encoder", seed=2)
    assert (row.vectors, row.frozen, row.learning_rate) == ("", True, 1e-3)
    standin = recipe(MINILM, "wikiqa", vectors="glove.6B.100d")
    assert (standin.encoder, standin.vectors, standin.frozen) == ("all-MiniLM-L6-v2", "", True)
    # Otherwise as with GloVe.
    other = recipe("MS-Ranker", "wikiqa")
    own = {"variant": MINILM, "vectors": "", "encoder": standin.encoder, "frozen": True}
    assert standin == other.change(**own)
    assert standin.before == other.before.change(**own | {"variant": "Pre-Ranker"})

    def scored(chosen):
        return ledger_row(chosen, {"map": 0.7}, {"map": 0.76, "mrr": 0.77}, {"q": 0.76})

    assert not comparison(ROOM, runs_of([scored(standin)]))["runs"].any()
    frame = comparison(ROOM, runs_of([scored(row), scored(row.change(dropout=0.1))]))
    line = frame[(frame["row"] == ELMO) & (frame["metric"] == "MAP")].iloc[0]
    assert (line["ours"], line["runs"], line["vectors"]) == (0.76, 1, "some/encoder")
    assert "word vectors some/encoder" in provenance(frame)
