"""Pre-trained encoders: what is refused, and what they make of texts against the library."""

import contextlib
import json
import socket
import subprocess
import sys
import time
from itertools import chain

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_encoders import make_encoder

from qasel.datasets.base import Candidate, Question, Split
from qasel.errors import QaselError
from qasel.training.batching import PairedSplit

pytest.importorskip("transformers", reason="needs the extra `transformers`")

from qasel.layers.pair_encoder import PairEncoder, part_of
from qasel.text.encoders import FAMILIES, STANDIN, Pieces, contextual_vectors, load_encoder

CPU = torch.device("cpu")
TEXTS = {
    "When was the tower built?": ["a tower was built in Paris", "by an engineer, in towns.", ""],
    "who": ["built by an engineer in paris . a tower is a tower , a long tower", "[SEP] a"],
    "\u00ad": ["a question", ""],  # a control character: to BERT an empty text
}
# 44 pieces and more in words, many more in bytes.
LONG = " ".join(["who was by the tower ?"] * 8)


def as_split(texts):
    questions = tuple(
        Question(f"q{i}", q, tuple(Candidate(f"{i}-{j}", c, j % 2, j) for j, c in enumerate(cs)))
        for i, (q, cs) in enumerate(texts.items())
    )
    return Split("tiny", questions)


def tile_of(encoder, texts):
    """The one tile of some lists, and its pairs in order."""
    data = PairedSplit(as_split(texts), encoder, CPU)
    batch = data.batch(torch.arange(len(data)))
    (tile,) = batch.tiles
    places = [[(q, c) for c in cs] for q, cs in texts.items()]
    pairs = [places[s // batch.mask.shape[1]][s % batch.mask.shape[1]] for s in batch.slot.tolist()]
    return tile, pairs


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_encoder(tmp_path_factory.mktemp("bert"))


@pytest.fixture
def copy(folder, tmp_path):
    """A folder to spoil."""
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


@pytest.fixture(scope="module")
def encoder(folder):
    return load_encoder(str(folder))


@pytest.fixture
def reader(encoder):
    return PairEncoder(encoder).eval()


# --- loading ---------------------------------------------------------------


def test_only_loading_imports_transformers():
    code = (
        "import sys, qasel.cli, qasel.text.encoders, qasel.layers.pair_encoder;"
        "sys.exit('transformers' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_copies_are_fresh_and_leave_the_seed_alone(encoder):
    torch.manual_seed(1)
    wanted = torch.rand(1)
    torch.manual_seed(1)
    first, second = encoder.model(), encoder.model()
    assert torch.equal(torch.rand(1), wanted)
    pairs = list(zip(first.parameters(), second.parameters(), strict=True))
    assert all(torch.equal(a, b) and a.dtype == torch.float32 and a is not b for a, b in pairs)
    assert (encoder.longest, encoder.size) == (64, 16)


def spoil_config(folder, **values):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def pickled(folder):
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()


SPOILERS = {
    "no config.json": lambda f: (f / "config.json").unlink(),
    "cannot be read": lambda f: (f / "config.json").write_text("{"),
    "model type 'gpt2'": lambda f: spoil_config(f, model_type="gpt2"),
    "Unrecognized model": lambda f: (f / "config.json").write_text("[1]"),
    "it is a decoder": lambda f: spoil_config(f, is_decoder=True),
    "Field 'hidden_size' expected int": lambda f: spoil_config(f, hidden_size="big"),
    "the tokenizer has": lambda f: spoil_config(f, vocab_size=7),
    "no weights in safetensors form": pickled,
    "it has no tokenizer": lambda f: (f / "tokenizer.json").unlink(),
    "unreadable tokenizer": lambda f: (f / "tokenizer.json").write_text("{}"),
}


@pytest.mark.parametrize("reason", SPOILERS)
def test_a_folder_that_is_no_encoder_is_refused_in_one_line(copy, reason, capfd):
    SPOILERS[reason](copy)
    with pytest.raises(QaselError, match=reason) as caught:
        load_encoder(str(copy))
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def lacking(folder):
    weights = load_file(folder / "model.safetensors")
    weights.pop("encoder.layer.0.output.dense.weight")
    save_file(weights, folder / "model.safetensors", {"format": "pt"})


def cut_off(folder):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1000])


SPOILED_WEIGHTS = {
    "no weights for encoder.layer.0.output": lacking,
    "unreadable weights": cut_off,
    "unreadable weights ": lambda f: spoil_config(f, intermediate_size=30),
}


@pytest.mark.parametrize("reason", SPOILED_WEIGHTS)
def test_weights_that_do_not_fit_are_refused(copy, reason, capfd):
    SPOILED_WEIGHTS[reason](copy)
    encoder = load_encoder(str(copy))
    with pytest.raises(QaselError, match=reason.strip()) as caught:
        encoder.model()
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_code_of_a_model_is_never_run(copy, tmp_path):
    (copy / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Evil: pass\n")
    spoil_config(copy, auto_map={"AutoModel": "evil.Evil", "AutoConfig": "evil.Evil"})
    with contextlib.suppress(QaselError):
        load_encoder(str(copy)).model()
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", ["bert-base-nowhere", "../up/and/away", "", "a b", "no/such"])
def test_a_name_that_is_nowhere(name, monkeypatch, tmp_path):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(QaselError) as caught:
        load_encoder(name)
    assert "\n" not in str(caught.value)
    if name:
        assert STANDIN in str(caught.value)
        assert name in str(caught.value)


def test_the_local_cache_serves_without_network(copy, monkeypatch, tmp_path_factory):
    cache = tmp_path_factory.mktemp("hub")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(cache))
    revision = "0" * 40
    stored = cache / "models--some--encoder"
    (stored / "refs").mkdir(parents=True)
    (stored / "refs" / "main").write_text(revision)
    (stored / "snapshots").mkdir()
    copy.rename(stored / "snapshots" / revision)
    assert load_encoder("some/encoder").model().config.hidden_size == 16
    # A download that died before the weights is no encoder.
    (stored / "snapshots" / revision / "model.safetensors").unlink()
    with pytest.raises(QaselError, match="not found"):
        load_encoder("some/encoder")


def test_a_network_that_swallows_packets_is_given_up(monkeypatch, tmp_path):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(0)
        # Its queue is full, so that the next connection is neither taken nor refused.
        callers = [socket.socket() for _ in range(3)]
        for caller in callers:
            caller.setblocking(False)
            caller.connect_ex(silent.getsockname())
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", address)
        monkeypatch.setattr("huggingface_hub.hf_api.constants.ENDPOINT", address)
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
        monkeypatch.setattr("qasel.text.encoders._ANSWER_SECONDS", 0.3)
        began = time.monotonic()
        with pytest.raises(QaselError, match="not found"):
            load_encoder("bert-base-uncased")
        for caller in callers:
            caller.close()
    assert time.monotonic() - began < 30  # the system's own limit is over two minutes


@pytest.mark.parametrize("name", [STANDIN, "sentence-transformers/all-mpnet-base-v2"])
@torch.inference_mode()
def test_real_encoders_find_the_similarities_that_sentence_transformers_finds(name, monkeypatch):
    library = pytest.importorskip("sentence_transformers", reason="needs the extra `interop`")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)  # see tools/mpnet.py
    try:
        encoder = load_encoder(name)
    except QaselError:
        pytest.skip(f"{name} is not on this machine")
    texts = ["Where is the Eiffel Tower?", "The Eiffel Tower stands in Paris.", "I like cheese."]
    rows = encoder.tokenizer(texts, padding=True, return_tensors="pt")
    types = rows.get("token_type_ids", torch.zeros_like(rows.input_ids))
    pieces = Pieces(rows.input_ids, types, rows.attention_mask.bool())
    means = PairEncoder(encoder).eval().vectors(pieces, mean=True)
    like = torch.cosine_similarity(means[0], means[1:])
    model = library.SentenceTransformer(str(encoder.folder), device="cpu")
    near(like, model.similarity(*model.encode(texts, convert_to_tensor=True).split([1, 2]))[0])
    assert like[0] > like[1] + 0.3


# --- pairs -----------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
@torch.inference_mode()
def test_pairs_and_questions_are_what_the_library_makes_of_them(family, tmp_path):
    encoder = load_encoder(str(make_encoder(tmp_path, family)))
    reader, model = PairEncoder(encoder).eval(), encoder.model().eval()
    lists = TEXTS | {LONG: [LONG + " a", "a", LONG]} | {"who built ?": [LONG * 3]}
    tile, pairs = tile_of(encoder, lists)
    limits = {"truncation": True, "max_length": encoder.longest, "return_tensors": "pt"}
    states, questions = reader(tile.pairs).last_hidden_state, reader.vectors(tile.question)
    candidates, real = part_of(states, tile.candidate_start, tile.candidate_length)
    for i, (question, candidate) in enumerate(pairs):
        # In lists: of a lone empty candidate the library makes no pair.
        inputs = encoder.tokenizer([question], [candidate], **limits)
        wanted = model(**inputs).last_hidden_state[0]
        near(states[i, : len(wanted)], wanted)
        assert int(tile.pairs.real[i].sum()) == len(wanted)
        # Of an empty candidate: the special token that follows it.
        owners = inputs.sequence_ids(0)
        own = [place for place, owner in enumerate(owners) if owner == 1] or [len(owners) - 1]
        near(candidates[i, : len(own)], wanted[own])
        assert real[i].sum() == real[i, : len(own)].sum() == len(own)
        assert not candidates[i, len(own) :].any()
        alone = model(**encoder.tokenizer(question, **limits)).last_hidden_state[0, 0]
        near(questions[tile.question_of[i]], alone)


def near(got, wanted):
    torch.testing.assert_close(got, wanted, atol=1e-5, rtol=0)


def test_the_longer_text_is_cut_first(encoder):
    short, long = "who", LONG
    room = 10  # of 13 pieces, three are special tokens
    for question, candidate in ((short, long), (long, short), (long, LONG * 2)):
        owners = encoder.pieces([question], [candidate], 13).sequence_ids(0)
        counts = owners.count(0), owners.count(1)
        assert counts == ((1, 9) if question == short else (9, 1) if candidate == short else (5, 5))
        assert sum(counts) == room
    with pytest.raises(QaselError, match="give 5"):
        encoder.pieces(["who"], ["who"], 4)
    assert len(encoder.pieces([LONG * 3], [LONG * 3], 1000)["input_ids"][0]) == 64


# --- contextual vectors ----------------------------------------------------


def test_contextual_vectors_are_the_last_layer_and_are_kept(encoder, reader, monkeypatch, tmp_path):
    monkeypatch.setenv("QASEL_CACHE", str(tmp_path))
    texts = ["a tower", "", "who built Towers?", LONG * 3, "a tower"]
    found = contextual_vectors(encoder, texts, batch=2)
    numbers = [encoder.pieces([text])["input_ids"][0] for text in texts]
    places = found.numbers_of(texts)
    assert [len(p) for p in places] == [max(len(n) - 2, 1) for n in numbers]
    # Each different text has rows of its own; row 0 is padding's.
    assert sorted(chain(*places[:-1])) == list(range(1, len(found.matrix)))
    assert (found.matrix.dtype, found.matrix.shape[1]) == (np.float16, 16)
    assert not found.matrix[0].any()
    for row, place in zip(numbers, places, strict=True):
        with torch.inference_mode():
            states = reader.model(input_ids=torch.tensor([row])).last_hidden_state[0, 1:]
        wanted = states[: len(place)].numpy()
        np.testing.assert_allclose(found.matrix[place], wanted, atol=4e-3)

    def never(*args):
        raise AssertionError("read again")

    monkeypatch.setattr(type(encoder), "model", never)
    again = contextual_vectors(encoder, reversed(texts), batch=3)
    assert np.array_equal(again.matrix, found.matrix)
    assert again.rows == found.rows
    with pytest.raises(AssertionError, match="read again"):  # another device rounds differently
        contextual_vectors(encoder, texts, device="cpu:0")


def test_contextual_vectors_go_by_the_weights(encoder, monkeypatch, tmp_path):
    monkeypatch.setenv("QASEL_CACHE", str(tmp_path / "cache"))
    other = load_encoder(str(make_encoder(tmp_path / "other", seed=1)))
    first, second = (contextual_vectors(e, ["a tower"]).matrix for e in (encoder, other))
    assert not np.allclose(first, second)
