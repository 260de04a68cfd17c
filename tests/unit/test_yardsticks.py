"""Yardsticks: baselines as recipes, and cross-encoders with the papers' losses and evidence."""

import itertools
import math
import sys

import numpy as np
import pytest
import torch
from tiny_encoders import make_encoder

from qasel.cli import main
from qasel.datasets import load_dataset
from qasel.datasets.base import Candidate, Question, Split
from qasel.errors import QaselError
from qasel.layers.pair_encoder import PairEncoder
from qasel.papers.yardsticks import MAIN, ROOM, recipe
from qasel.papers.yardsticks.ranker import cut_lists, others
from qasel.papers.yardsticks.recipes import BASELINES, COSINE, EVIDENCE, GIVEN, READY, SCHEMES
from qasel.rankers import BM25, RandomRanker
from qasel.text import Vectors
from qasel.text.encoders import load_encoder
from qasel.training.batching import PairedSplit
from qasel.training.losses import ap_loss, lambda_ap_loss, ndcg_loss
from qasel.training.trainer import Schedule

CPU = torch.device("cpu")
NONE = Vectors.empty("")
TEXTS = {
    "when was it built": ["a tower was built in paris", "by an engineer", "long towers , it"],
    "who": ["an engineer ."],
    "who was a long long long question , was it ?": [
        "paris",
        "a tower is a tower in paris , a long tower built by an engineer in a tower",
        "built ?",
        "",
        "engineers in paris",
    ],
    "is it in paris ?": ["a question", "in paris", "who is it"],
}


def question(i, text, candidates):
    made = tuple(Candidate(f"{i}-{j}", c, (j + i) % 2, j) for j, c in enumerate(candidates))
    return Question(f"q{i}", text, made)


SPLIT = Split("tiny", tuple(question(i, *pair) for i, pair in enumerate(TEXTS.items())))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return str(make_encoder(tmp_path_factory.mktemp("encoder")))


def make(folder, variant=MAIN, **changes):
    settings = {"encoder": folder, "epochs": 1, "batch": 2, "learning_rate": 1e-3} | changes
    return ROOM.ranker(recipe(variant).change(**settings), NONE, CPU)


@pytest.mark.parametrize("variant", SCHEMES)
def test_every_cross_encoder_learns_ranks_and_is_saved(variant, folder, tmp_path):
    system = make(folder, variant)
    history = system.fit(SPLIT, SPLIT)
    before = make(folder, variant)
    before.prepare(SPLIT)
    run = system.rank(SPLIT)
    assert math.isfinite(history.epochs[0]["loss"])
    assert run.scores != before.rank(SPLIT).scores
    system.save(tmp_path)
    again = ROOM.load(tmp_path, NONE, CPU)
    assert type(again) is type(system)
    assert again.rank(SPLIT).scores == run.scores


def near(found, wanted):
    assert found == {name: pytest.approx(value, abs=1e-5) for name, value in wanted.items()}


@pytest.mark.parametrize("variant", SCHEMES)
def test_company_padding_and_order_change_no_score(variant, folder):
    system = make(folder, variant, learning_rate=1e-2)
    system.fit(SPLIT, SPLIT)
    together = system.rank(SPLIT).scores
    for one in SPLIT:
        near(system.rank(Split("one", (one,))).scores[one.id], together[one.id])
        turned = Question(one.id, one.text, one.candidates[::-1])
        near(system.rank(Split("turned", (turned,))).scores[one.id], together[one.id])
    # Without its list-mates a candidate keeps its score, but where they are evidence.
    first = Question("q0", SPLIT[0].text, SPLIT[0].candidates[:1])
    alone = system.rank(Split("first", (first,))).scores["q0"]["0-0"]
    assert (abs(alone - together["q0"]["0-0"]) < 1e-5) is (variant != EVIDENCE)


def test_interrupted_training_resumes_to_the_same_scores(folder, tmp_path):
    whole = make(folder, epochs=3)
    history = whole.fit(SPLIT, SPLIT)

    class Stopped(Exception):
        pass

    def stop(epochs):
        raise Stopped

    with pytest.raises(Stopped):
        make(folder, epochs=3).fit(SPLIT, SPLIT, tmp_path, stop)
    resumed = make(folder, epochs=3)
    again = resumed.fit(SPLIT, SPLIT, tmp_path)
    assert [row["loss"] for row in again.epochs] == [row["loss"] for row in history.epochs]
    assert resumed.rank(SPLIT).scores == whole.rank(SPLIT).scores


def test_products_are_onednns_forward_backward_and_in_ranking(folder, monkeypatch):
    matmul = getattr(torch.backends.mkldnn, "matmul", None)
    if matmul is None:
        pytest.skip("this torch has no choice of a library for float32 products")
    monkeypatch.setattr("qasel.onednn._exact", lambda: True)
    before = matmul.fp32_precision
    system, seen = make(folder), {}
    build = system.build

    def note(when):
        seen[when] = matmul.fp32_precision

    def watched(vectors):
        network = build(vectors)
        layer = next(m for m in network.pairs.model.modules() if isinstance(m, torch.nn.Linear))
        layer.register_forward_hook(lambda *_: note("learning" if network.training else "ranking"))
        layer.register_full_backward_hook(lambda *_: note("backward"))
        return network

    monkeypatch.setattr(system, "build", watched)
    system.fit(SPLIT, SPLIT)
    assert seen == dict.fromkeys(("learning", "backward", "ranking"), "bf16")
    assert matmul.fp32_precision == before
    seen.clear()
    system.rank(SPLIT)
    assert seen == {"ranking": "bf16"}
    assert matmul.fp32_precision == before


def test_rates_rise_and_fall_in_straight_lines(folder):
    schedule = Schedule(epochs=4, patience=4, batch=1, seed=0, warmup=0.25)
    found = [schedule.rate(epochs) for epochs in (0, 0.5, 1, 2.5, 4)]
    assert found == pytest.approx([0, 0.5, 1, 0.5, 0])
    steps = Schedule(epochs=4, patience=4, batch=1, seed=0, decay=0.1, decay_every=2)
    assert [steps.rate(epochs) for epochs in (0, 1.99, 2, 3.5)] == pytest.approx([1, 1, 0.1, 0.1])
    # Four questions, two a batch, two epochs: the rate at each step, by the middle of its batch.
    system = make(folder, epochs=2, warmup=0.5, learning_rate=1.0)
    seen = []
    optimizer = system.optimizer

    def spied():
        made = optimizer()
        made.register_step_pre_hook(lambda o, *_: seen.append([g["lr"] for g in o.param_groups]))
        return made

    system.optimizer = spied
    system.fit(SPLIT, SPLIT)
    assert seen == [pytest.approx([rate] * 2) for rate in (0.25, 0.75, 0.75, 0.25)]


def test_optimiser_has_every_trained_number_once_and_decays_matrices_only(folder):
    system = make(folder)
    system.prepare(SPLIT)
    decaying, plain = system.optimizer().param_groups
    assert (decaying["weight_decay"], plain["weight_decay"]) == (0.01, 0.0)
    assert all(p.ndim == 2 for p in decaying["params"])
    trained = [p for name, p in system.network.named_parameters() if name != "vectors"]
    assert {id(p) for p in trained} == {id(p) for p in decaying["params"] + plain["params"]}
    system.losses(system.encode(SPLIT).batch(torch.arange(4)))["loss"].backward()
    assert all(p.grad is not None for p in trained)


def test_lower_layers_learn_more_slowly(folder):
    system = make(folder, learning_rate=1.0, layer_decay=0.5)
    system.prepare(SPLIT)
    rates = {
        id(p): group["lr"] for group in system.optimizer().param_groups for p in group["params"]
    }
    model, layers = system.network.pairs.model, system.encoder.layers
    assert len(model.encoder.layer) == layers > 1
    assert {rates[id(p)] for p in system.network.heads.parameters()} == {1.0}
    for number, layer in enumerate(model.encoder.layer):
        assert {rates[id(p)] for p in layer.parameters()} == {0.5 ** (layers - number)}
    assert {rates[id(p)] for p in model.embeddings.parameters()} == {0.5 ** (layers + 1)}


def test_the_papers_losses_and_heads(folder):
    made = recipe("cross-encoder (PRI)", "wikiqa")
    assert (made.pairs, made.margin, made.weights) == ("all", 0.8, (2.0, 1.0, 1.0))
    trecqa = recipe("cross-encoder (PRI)", "trecqa")
    assert (trecqa.pairs, trecqa.margin, trecqa.weights) == ("hardest", 1.0, (1.0, 1.0, 1.0))
    system = make(folder, "cross-encoder (PRI)")
    system.prepare(SPLIT)
    found = system.network.heads.score
    assert {name: layer.in_features // 16 for name, layer in found.items()} == {
        "point": 1, "pair": 2, "list": 3,
    }  # fmt: skip
    system.network.eval()
    parts = system.losses(system.encode(SPLIT).batch(torch.arange(4)))
    wanted = 2 * parts["point"] + parts["pair"] + parts["list"]
    torch.testing.assert_close(parts["loss"], wanted)
    # All systems, one budget: their recipes differ in nothing but the variant.
    made = [recipe(variant, "wikiqa") for variant in SCHEMES]
    assert {one.change(variant=MAIN) for one in made} == {recipe(MAIN, "wikiqa")}


def rankings(scores, labels):
    """The objective of every permutation, and of the correct ones, term by term."""
    for order in itertools.permutations(range(len(labels))):
        right = [labels[i] for i in order]
        precisions = [sum(right[: j + 1]) / (j + 1) for j in range(len(right)) if right[j]]
        ap = sum(precisions) / len(precisions) if precisions else 1.0
        weighed = sum(scores[i] / (j + 1) for j, i in enumerate(order))
        yield weighed + (1 - ap), weighed, right == sorted(right, reverse=True)


def test_ap_loss_against_all_permutations():
    kinds = [labels for n in (3, 4) for labels in itertools.product([0.0, 1.0], repeat=n)]
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(len(kinds), 6, generator=generator).requires_grad_()
    told = torch.tensor([[*labels, *[0.0] * (6 - len(labels))] for labels in kinds])
    mask = torch.arange(6) < torch.tensor([[len(labels)] for labels in kinds])
    hinges = []
    for row, labels in zip(scores, kinds, strict=True):
        found = list(rankings(row, labels))
        most = torch.stack([objective for objective, _, _ in found]).max()
        best = torch.stack([weighed for _, weighed, correct in found if correct]).max()
        hinges.append(most - best)
    loss, wanted = ap_loss(scores, told, mask), torch.stack(hinges).mean()
    torch.testing.assert_close(loss, wanted)
    torch.testing.assert_close(*(torch.autograd.grad(one, scores)[0] for one in (loss, wanted)))


def test_lambda_loss_has_the_values_of_allrank():
    """`lambdaLoss` of allRank 1.4.3 with `lambdaRank_scheme`, a mean over the two lists."""
    scores = torch.tensor([[0.3, -0.2, 1.1, 0.4, 0.1], [2.0, -1.0, 0.5, 9.0, 9.0]])
    labels = torch.tensor([[1.0, 0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0]])
    mask = torch.arange(5) < torch.tensor([[5], [3]])
    for k, wanted in {10: 1.8376942, 3: 1.6993020, 2: 0.1800807}.items():
        assert ndcg_loss(scores, labels, mask, k).item() == pytest.approx(wanted, abs=1e-6)


def average_precision(ranked):
    return sum(sum(ranked[: i + 1]) / (i + 1) for i, right in enumerate(ranked) if right)


def test_lambda_loss_of_average_precision_swaps_each_pair():
    for labels in itertools.product([0, 1], repeat=5):
        scores = [0.3, -0.2, 1.1, 0.4, 0.1]
        order = sorted(range(5), key=lambda i: -scores[i])
        ranked = [labels[i] for i in order]
        wanted = 0.0
        for i, j in itertools.permutations(range(5), 2):
            if ranked[i] > ranked[j]:
                swapped = list(ranked)
                swapped[i], swapped[j] = 0, 1
                change = abs(average_precision(swapped) - average_precision(ranked)) / sum(labels)
                gap = scores[order[i]] - scores[order[j]]
                wanted += change * math.log2(1 + math.exp(-gap))
        found = lambda_ap_loss(
            torch.tensor([[*scores, 7.0]]),
            torch.tensor([[*labels, 0]], dtype=torch.float),
            torch.arange(6)[None] < 5,
        )
        assert found.item() == pytest.approx(wanted, abs=1e-5)


def test_heads_may_start_as_the_encoders_pooler(folder):
    system = make(folder, "cross-encoder (PRI)", head_start="pooler")
    system.prepare(SPLIT)
    wanted = system.encoder.model("pooler").pooler.dense
    for own in system.network.heads.own.values():
        assert torch.equal(own.weight, wanted.weight)
        assert torch.equal(own.bias, wanted.bias)


@pytest.mark.parametrize("tune", ["heads", "lora"])
def test_what_is_not_tuned_stays_as_it_was(tune, folder, tmp_path):
    system = make(folder, tune=tune)
    system.fit(SPLIT, SPLIT)
    base = system.encoder.model().state_dict()
    now = {
        k.replace(".base_layer", ""): v for k, v in system.network.pairs.model.state_dict().items()
    }
    assert all(torch.equal(now.pop(name), weights) for name, weights in base.items())
    assert {name.split(".")[-2] for name in now} == ({"default"} if tune == "lora" else set())
    assert all(weights.any() for weights in now.values())  # the second matrix starts at 0
    assert system.parameter_count < make_all(folder).parameter_count
    system.save(tmp_path)
    assert ROOM.load(tmp_path, NONE, CPU).rank(SPLIT).scores == system.rank(SPLIT).scores


def test_products_in_bfloat16_learn_nearly_the_same(folder):
    exact, rough = make(folder), make(folder, precision="bfloat16")
    (one, *_), (other, *_) = exact.fit(SPLIT, SPLIT).epochs, rough.fit(SPLIT, SPLIT).epochs
    assert one["loss"] != other["loss"] == pytest.approx(one["loss"], rel=0.01)
    assert all(weights.dtype == torch.float32 for weights in rough.network.parameters())


def make_all(folder):
    system = make(folder)
    system.prepare(SPLIT)
    return system


def test_heads_may_start_as_learnt_on_the_frozen_encoder(folder, tmp_path):
    system = make(folder, head_start="probe", learning_rate=1e-9)
    probe = make(folder, tune="heads", learning_rate=1e-9)
    probe.fit(SPLIT, SPLIT)
    history = system.fit(SPLIT, SPLIT, tmp_path / "run")
    assert (tmp_path / probe.recipe.slug / "model.safetensors").exists()
    for name, weights in probe.network.heads.state_dict().items():
        torch.testing.assert_close(
            system.network.heads.state_dict()[name], weights, atol=1e-6, rtol=0
        )
    again = make(folder, head_start="probe", learning_rate=1e-9)
    assert again.fit(SPLIT, SPLIT, tmp_path / "run").epochs == history.epochs


def test_the_cosine_of_mean_vectors(folder, tmp_path):
    system = ROOM.ranker(recipe(COSINE, vectors=folder), NONE, CPU)
    assert not system.fit(SPLIT, SPLIT).epochs
    found = system.rank(SPLIT).scores
    encoder = load_encoder(folder)
    model = encoder.model().eval()

    def vector(text):
        row = torch.tensor([encoder.pieces([text])["input_ids"][0]])
        return model(input_ids=row).last_hidden_state[0, 1:-1].mean(0)

    for question in SPLIT:
        for candidate in question.candidates:
            if candidate.text:
                wanted = torch.cosine_similarity(vector(question.text), vector(candidate.text), 0)
                assert found[question.id][candidate.id] == pytest.approx(wanted.item(), abs=1e-3)
    system.save(tmp_path / "saved")
    assert ROOM.load(tmp_path / "saved", NONE, CPU).rank(SPLIT).scores == found


@pytest.mark.parametrize("classes", [1, 2])
def test_a_ready_cross_encoder_ranks_as_the_library_does(classes, tmp_path):
    transformers = pytest.importorskip("transformers")
    place = make_encoder(tmp_path / "encoder")
    kind = transformers.AutoModelForSequenceClassification
    kind.from_pretrained(place, num_labels=classes).save_pretrained(place)
    system = ROOM.ranker(recipe(READY, vectors=str(place)), NONE, CPU)
    assert not system.fit(SPLIT, SPLIT).epochs
    found = system.rank(SPLIT).scores
    model = kind.from_pretrained(place).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(place)
    for question in SPLIT:
        for candidate in question.candidates:
            texts = [question.text], [candidate.text]
            pair = tokenizer(*texts, return_tensors="pt", max_length=64, truncation=True)
            logits = model(**pair).logits[0].tolist()
            wanted = logits[-1] - (logits[0] if classes == 2 else 0)
            assert found[question.id][candidate.id] == pytest.approx(wanted, abs=1e-5)
    system.save(tmp_path / "saved")
    assert ROOM.load(tmp_path / "saved", NONE, CPU).rank(SPLIT).scores == found


def test_a_ready_cross_encoder_scores_as_sentence_transformers_does(tmp_path):
    library = pytest.importorskip("sentence_transformers", reason="needs the extra `interop`")
    transformers = pytest.importorskip("transformers")
    place = str(make_encoder(tmp_path))
    kind = transformers.AutoModelForSequenceClassification
    kind.from_pretrained(place, num_labels=1).save_pretrained(place)
    system = ROOM.ranker(recipe(READY, vectors=place), NONE, CPU)
    system.fit(SPLIT, SPLIT)  # reads the folder; trains nothing
    found = system.rank(SPLIT).scores
    model = library.CrossEncoder(place, max_length=64, device="cpu")
    for question in SPLIT:
        pairs = [(question.text, candidate.text) for candidate in question.candidates]
        wanted = model.predict(pairs, activation_fn=torch.nn.Identity())
        assert list(found[question.id].values()) == pytest.approx(wanted.tolist(), abs=1e-5)


def test_an_encoder_without_a_classifier_is_not_ready(folder):
    with pytest.raises(QaselError, match="no weights for"):
        ROOM.ranker(recipe(READY, vectors=folder), NONE, CPU).fit(SPLIT, SPLIT)


def test_the_weights_of_list_mates_by_hand():
    scores = torch.tensor([[0.0, math.log(3.0), 9.0], [5.0, 7.0, 7.0]])
    mask = torch.tensor([[True, True, False], [True, False, False]])
    found = others(scores, mask)
    torch.testing.assert_close(found[0], torch.tensor([[0, 1, 0], [1, 0, 0], [0.25, 0.75, 0]]))
    assert not found[1, 0].any()  # no other candidate, no evidence


def test_evidence_counts_nothing_before_it_has_learnt(folder):
    system = make(folder, EVIDENCE)
    system.prepare(SPLIT)
    batch = system.encode(SPLIT).batch(torch.arange(4))
    heads = system.network.heads
    plain = heads.own["second"]
    with torch.inference_mode():
        pairs = torch.cat([system.network.pairs.vectors(tile.pairs) for tile in batch.tiles])
        features = torch.cat([heads.own["first"](pairs), plain(pairs)], dim=-1).tanh()
        wanted = batch.as_lists(heads.score["second"](features)[:, 0])
        torch.testing.assert_close(heads(pairs, batch)["second"], wanted)
        torch.nn.init.eye_(heads.enter.weight)
        assert not torch.allclose(heads(pairs, batch)["second"], wanted)


def test_a_pair_is_its_first_piece_or_the_mean_of_all(folder):
    encoder = load_encoder(folder)
    reader = PairEncoder(encoder).eval()
    data = PairedSplit(SPLIT, encoder, CPU)
    batch = data.batch(torch.arange(4))
    (tile,) = batch.tiles
    with torch.inference_mode():
        states = reader(tile.pairs).last_hidden_state
        torch.testing.assert_close(reader.vectors(tile.pairs), states[:, 0])
        means = batch.as_lists(reader.vectors(tile.pairs, mean=True))
        pieces = encoder.tokenizer(SPLIT[0].text, TEXTS[SPLIT[0].text][1], return_tensors="pt")
        alone = reader.model(**pieces).last_hidden_state[0]
    torch.testing.assert_close(means[0, 1], alone.mean(0), atol=1e-5, rtol=0)


def test_the_encoder_decides_what_is_a_pairs_vector():
    made = recipe(MAIN, "wikiqa")
    assert made.averages
    assert recipe(MAIN, vectors="sentence-transformers/all-mpnet-base-v2").averages
    assert not recipe(MAIN, vectors="bert-base-uncased").averages
    assert recipe(MAIN, vectors="bert-base-uncased").change(pooling="mean").averages
    assert not made.change(pooling="first").averages


def test_tiles_hold_pairs_of_about_one_length(folder):
    encoder = load_encoder(folder)
    many = Split("many", tuple(question(i, *pair) for i, pair in enumerate([*TEXTS.items()] * 20)))

    class Unsorted(PairedSplit):
        def _tile_slots(self, slot, pair):
            return slot.tensor_split(-(-len(slot) // self.tile_pairs["cpu"]))

    columns = {}
    for kind in (PairedSplit, Unsorted):
        batch = kind(many, encoder, CPU).batch(torch.arange(80))
        frames = [tile.pairs.real for tile in batch.tiles]
        columns[kind] = sum(frame.numel() for frame in frames)
        real = sum(int(frame.sum()) for frame in frames)
        assert sum(map(len, frames)) == many.pairs
    assert real <= columns[PairedSplit] < columns[Unsorted]


def test_a_cut_list_keeps_its_right_answers():
    labels = [0, 1, 0, 0, 1, 0, 0, 0]
    made = tuple(Candidate(str(i), "a", label, i) for i, label in enumerate(labels))
    split = Split("long", (Question("q", "a", made), Question("r", "a", made[:3])))
    for most, count in ((4, 4), (2, 3), (8, 8), (0, 8)):
        found, short = cut_lists(split, most, seed=0)
        ids = [c.id for c in found.candidates]
        assert {"1", "4"} <= set(ids)
        assert ids == sorted(ids)
        assert len(ids) == count
        assert len(short.candidates) == min(most, 3) or not most
    drawn = {tuple(c.id for c in cut_lists(split, 4, seed)[0].candidates) for seed in range(9)}
    assert len(drawn) > 3
    assert cut_lists(split, 4, 5) == cut_lists(split, 4, 5)
    only_right = Split("right", (Question("q", "a", (made[1], made[4])),))
    assert cut_lists(only_right, 1, 0) == only_right


def test_training_lists_are_cut_and_no_others(folder):
    system = make(folder, cut=2)
    system.prepare(SPLIT)
    assert [len(q.candidates) for q in system.training_data(SPLIT).split] == [2, 1, 3, 3]
    assert {q: len(row) for q, row in system.rank(SPLIT).scores.items()} == {
        "q0": 3, "q1": 1, "q2": 5, "q3": 3,
    }  # fmt: skip


@pytest.mark.parametrize("variant", BASELINES)
def test_every_baseline_ranks_and_is_saved(variant, tmp_path):
    data = load_dataset("sample")
    system = ROOM.ranker(recipe(variant, seed=3), NONE, CPU)
    history = system.fit(data.train, data.dev, tmp_path)
    run = system.rank(data.test)
    system.save(tmp_path)
    assert history.epochs == []
    assert ROOM.load(tmp_path, NONE, CPU).rank(data.test).scores == run.scores
    if variant == "random":
        assert run.scores == RandomRanker(3).rank(data.test).scores
    if variant == "BM25":
        wanted = BM25()
        wanted.fit(data.train)
        assert run.scores == wanted.rank(data.test).scores
    if variant == GIVEN:
        places = [c.place for c in data.test[0].candidates]
        assert [run.scores[data.test[0].id][c.id] for c in data.test[0].candidates] == list(
            -np.array(places)
        )


BAD = {
    "unknown variant 'BM26' of yardsticks": lambda f: recipe("BM26"),
    "unknown scale": lambda f: recipe("BM25", scale="huge"),
    "right answers first": lambda f: recipe(GIVEN, "trecqa"),
    "unknown setting 'epochs'": lambda f: recipe("BM25").change(epochs=2),
    "known: auto, first, mean": lambda f: recipe().change(pooling="max"),
    "setting cut": lambda f: recipe().change(cut=1),
    "setting weights": lambda f: recipe().change(weights=(1.0, 0.0, 1.0)),
    "too few for a pair": lambda f: make(f, longest=4).fit(SPLIT, SPLIT),
    "no encoder is named": lambda f: recipe().change(encoder=""),
    "is not an encoder": lambda f: make(str(sys.prefix)),
}


@pytest.mark.parametrize("reason", BAD)
def test_bad_settings_are_refused_in_one_line(reason, folder):
    with pytest.raises(QaselError, match=reason) as caught:
        BAD[reason](folder)
    assert "\n" not in str(caught.value)


def test_without_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers.utils.logging", None)
    with pytest.raises(QaselError, match=r'pip install "qasel\[transformers\]"'):
        ROOM.ranker(recipe(), NONE, CPU)
    ROOM.ranker(recipe("BM25"), NONE, CPU)


def test_the_command_runs_ranks_and_has_no_table(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("QASEL_RESULTS", str(tmp_path / "ledger"))
    arguments = ["run", "yardsticks", "--variant", "BM25", "--out", str(tmp_path / "runs")]
    assert main(arguments) == 0
    assert "test MAP" in capsys.readouterr().out
    assert len(list((tmp_path / "ledger" / "yardsticks").glob("bm25-0-*.json"))) == 1
    mine = tmp_path / "mine.tsv"
    mine.write_text("question\tcandidate\nwho built it?\tit is tall\nwho built it?\tshe built it\n")
    (model,) = (tmp_path / "runs").iterdir()
    assert main(["rank", str(model), str(mine)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    for command in ("table", "figures"):
        assert main([command, "yardsticks"]) == 2
        told = capsys.readouterr().err
        assert "no published numbers" in told
        assert "qasel compare" in told
