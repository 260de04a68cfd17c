"""Paper 3: the batched agent against one that goes candidate by candidate, rewards, training."""

import math
from dataclasses import replace

import pytest
import torch
from ms_ranker_reference import slow_walk
from tiny_encoders import make_encoder
from torch.nn import functional as F

from qasel.datasets import load_dataset
from qasel.datasets.base import Candidate, Question, Split
from qasel.errors import QaselError
from qasel.evaluation import Run
from qasel.papers.ms_ranker import ROOM, MSRanker, PreRanking, recipe
from qasel.papers.ms_ranker import lesson as teaching
from qasel.papers.ms_ranker.model import (
    Agent,
    PairReader,
    PreRanker,
    Walk,
    WordReader,
    prefix_precisions,
    rewards,
)
from qasel.papers.ms_ranker.ranker import CollapseWarning, advantages, calibration
from qasel.papers.ms_ranker.recipes import ABLATIONS, MAIN, PRE_RANKER
from qasel.text import Vectors, Vocabulary, load_vectors
from qasel.text.encoders import load_encoder
from qasel.training.batching import Batch, EncodedSplit, PairedSplit

CPU = torch.device("cpu")
TEXTS = {
    "when was it built": ["it was built in 1889", "a tower", "the city of light is far away today"],
    "who": ["the engineer"],
    "what is a very long question about towers": [
        "iron",
        "gustave eiffel built it with his own firm in two years",
        "a tower is a tall building",
        "it was a firm",
        "what a question",
    ],
}
EVIDENCE = [{}, {"action": False}, {"gate": False}, {"threshold": 0.0}]


def make_batch():
    questions = tuple(
        Question(f"q{i}", text, tuple(Candidate(f"{i}-{j}", a, j % 2, j) for j, a in enumerate(c)))
        for i, (text, c) in enumerate(TEXTS.items())
    )
    split = Split("tiny", questions)
    words = [w for q in split for t in (q.text, *(c.text for c in q.candidates)) for w in t.split()]
    vocabulary = Vocabulary(words)
    return split, vocabulary, EncodedSplit(split, vocabulary, CPU)


def make_agent(vocabulary, **changes):
    torch.manual_seed(3)
    vectors = torch.randn(len(vocabulary), 5)
    reader = WordReader(5, 4, 0.5)
    agent = Agent(vectors, reader, recipe().change(**changes)).eval()
    for parameter in agent.parameters():  # far from 0, so that every term counts
        parameter.data *= 3
    return agent


@pytest.mark.parametrize("changes", [*EVIDENCE, {"evidence": False}])
@torch.no_grad()
def test_the_batched_agent_equals_one_candidate_at_a_time(changes):
    split, vocabulary, data = make_batch()
    agent = make_agent(vocabulary, **changes)
    batch = data.batch(torch.tensor([2, 0, 1]))
    walk = agent(batch)
    gates = set()
    for row, number in enumerate(batch.index.tolist()):
        wanted = slow_walk(agent, vocabulary, split[number])
        for step, (p, gate) in enumerate(wanted):
            assert walk.p_post[row, step] == pytest.approx(p.item(), abs=1e-5)
            assert walk.gate[row, step] == pytest.approx(gate.item(), abs=1e-5)
            gates.add(gate.item() > 0)
        assert not walk.gate[row, len(wanted) :].any()
    if not changes:
        assert gates == {True, False}  # some candidates became evidence, some did not


@torch.no_grad()
def test_evidence_switched_off_is_the_first_evidence_throughout():
    _, vocabulary, data = make_batch()
    agent = make_agent(vocabulary)
    batch = data.batch(torch.arange(3))
    alone = agent(batch, gather=False).p_post
    assert not torch.allclose(alone, agent(batch).p_post)
    torch.testing.assert_close(alone[:, 0], agent(batch).p_post[:, 0])
    never = make_agent(vocabulary, threshold=0.999999)
    torch.testing.assert_close(alone, never(batch).p_post)


@torch.no_grad()
def test_pre_ranker_reads_each_pair_on_its_own():
    split, vocabulary, data = make_batch()
    torch.manual_seed(1)
    vectors = torch.randn(len(vocabulary), 5)
    network = PreRanker(vectors, WordReader(5, 4, 0.5), recipe()).eval()
    together = network(data.batch(torch.arange(3)))
    torch.testing.assert_close(
        together.exp().sum(-1)[0], torch.ones(5).where(torch.arange(5) < 3, torch.tensor(2.0))
    )  # padding: exp(0) twice
    for number, question in enumerate(split):
        alone = network(data.batch(torch.tensor([number])))[0]
        torch.testing.assert_close(together[number, : len(question.candidates)], alone)


@torch.no_grad()
def test_what_a_pre_ranker_reads_is_the_match_of_the_whole_reading(tmp_path):
    split, vocabulary, data = make_batch()
    encoder = load_encoder(str(make_encoder(tmp_path / "encoder")))
    torch.manual_seed(1)
    words = WordReader(5, 4, 0.5), data, torch.randn(len(vocabulary), 5)
    pieces = PairReader(encoder), PairedSplit(split, encoder, CPU), torch.empty(0, 0)
    for reader, read, vectors in (words, pieces):
        batch = read.batch(torch.tensor([2, 0, 1]))
        match = reader.eval()(batch, vectors).match
        assert match.std() > 0.01
        alone = [reader.match_of(tile, vectors) for tile in batch.tiles]
        torch.testing.assert_close(torch.cat(alone), match)


def test_average_precision_of_the_growing_list_by_hand():
    keys = torch.tensor([[0.3, 0.9, 0.9, 0.5, 0.1]])
    labels = torch.tensor([[0.0, 1.0, 0.0, 1.0, 1.0]])
    mask = torch.ones(1, 5, dtype=torch.bool)
    # L: [0]  [1 0]  [1 2 0] (the tie goes below)  [1 2 3 0]  [1 2 3 0 4]
    wanted = [0, 1, 1, (1 + 2 / 3) / 2, (1 + 2 / 3 + 3 / 5) / 3]
    found = prefix_precisions(keys, labels, mask)[0]
    torch.testing.assert_close(found, torch.tensor(wanted, dtype=torch.float64))
    steps = rewards(keys, labels, mask, 0.1)[0]
    changes = [0.1, 1, 0.1, wanted[3] - 1, wanted[4] - wanted[3]]
    torch.testing.assert_close(steps, torch.tensor(changes))


def test_rewards_of_many_long_lists_are_those_of_each(monkeypatch):
    keys = torch.rand(7, 5)
    labels, mask = (keys > 0.6).float(), torch.rand(7, 5) > 0.2
    whole = rewards(keys, labels, mask, 0.1)
    monkeypatch.setattr("qasel.papers.ms_ranker.model.NUMBERS", 2 * 5**2)
    assert torch.equal(rewards(keys, labels, mask, 0.1), whole)


def test_rewards_at_padding_and_on_a_list_without_a_right_candidate():
    keys = torch.tensor([[0.3, 0.9, 7.0], [0.2, 0.1, 0.3]])
    labels = torch.tensor([[0.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
    mask = torch.tensor([[True, True, False], [True, True, True]])
    found = rewards(keys, labels, mask, 0.1)
    torch.testing.assert_close(found, torch.tensor([[0.1, 1.0, 0.0], [0.1, 0.1, 0.1]]))


def test_advantages_by_hand():
    earned = torch.tensor([[[0.1, 1.0, 0.2]], [[0.1, 0.0, 0.4]]])  # two walks of one question
    torch.testing.assert_close(advantages(earned[:1], "step"), earned[:1])
    torch.testing.assert_close(advantages(earned[:1], "rest"), torch.tensor([[[1.3, 1.2, 0.2]]]))
    # The baseline of either walk is what the other one earned.
    gains = advantages(earned, "step")
    torch.testing.assert_close(gains[0], torch.tensor([[0.0, 1.0, -0.2]]))
    torch.testing.assert_close(gains[1], -gains[0])


def test_many_walks_come_near_the_expected_gradient():
    system = MSRanker(
        recipe(scale="quick").change(walks=20_000, ce_weight=0.0), Vectors.empty(""), CPU
    )
    logits = torch.tensor([[0.4, -0.2, 0.1]], requires_grad=True)
    labels = torch.tensor([[1.0, 0.0, 1.0]])
    batch = Batch(torch.tensor([0]), (), torch.arange(3), labels, labels >= 0)
    log_p = torch.stack([(-logits).sigmoid().log(), logits.sigmoid().log()], dim=-1)
    system.network = lambda _: Walk(log_p, torch.zeros(1, 3))
    torch.manual_seed(0)
    loss = system.losses(batch)["loss"]
    (found,) = torch.autograd.grad(-loss, logits)
    wanted, _ = teaching.gradients([0.4, -0.2, 0.1], [1, 0, 1], "random", "rest")
    torch.testing.assert_close(found[0].double(), torch.tensor(wanted), atol=3e-3, rtol=0)
    assert wanted[1] < -0.03 < 0.03 < wanted[0]  # up for right candidates, down for the wrong one


@pytest.mark.parametrize(("list_by", "collapses"), [("action", True), ("random", False)])
def test_rewards_alone_collapse_by_the_shortcut_only(list_by, collapses):
    """Scores in the right order, all moved by one bias that rewards train: where does it go?"""
    chosen = recipe(scale="quick").change(ce_weight=0.0, list_by=list_by, walks=64)
    system = MSRanker(chosen, Vectors.empty(""), CPU)
    labels = torch.tensor([[1.0, 1.0, 0.0, 0.0]])
    batch = Batch(torch.tensor([0]), (), torch.arange(4), labels, labels >= 0)
    bias = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.Adam([bias], 0.05)

    def walk(_):
        odds = torch.tensor([[0.5, 0.0, -1.0, -2.0]]) + bias
        return Walk(torch.stack([F.logsigmoid(-odds), F.logsigmoid(odds)], -1), torch.zeros(1, 4))

    system.network = walk
    torch.manual_seed(0)
    for _ in range(300):
        losses = system.losses(batch)
        optimizer.zero_grad()
        losses["loss"].backward()
        optimizer.step()
    assert (losses["above"] == 0) == collapses
    assert (losses["p_right"] < 0.2) == collapses


def test_an_agent_that_takes_nothing_says_so(sample):
    data, vectors = sample
    with pytest.warns(CollapseWarning, match=r"MS-Ranker: P_post has collapsed: 0\.00% of"):
        make(vectors, threshold=0.999999).fit(data.train, data.dev)


def test_attention_as_a_scalar_product_finds_words_of_the_question(sample):
    data, vectors = sample
    facts = {}
    for start in ("dot", "noise"):
        system = PreRanking(recipe(PRE_RANKER, scale="quick").change(attention=start), vectors, CPU)
        system.prepare(data.dev)
        facts[start] = teaching.attention_facts(system, data.dev)
    dot, noise = facts["dot"], facts["noise"]
    assert noise["entropy"] > 0.99 > dot["entropy"]
    assert dot["finds itself"] > 2 * noise["finds itself"]
    assert dot["by chance"] == noise["by chance"]


@pytest.fixture(scope="module")
def sample():
    data = load_dataset("sample")
    few = {"train": Split("train", data.train[:12])}
    return replace(data, splits=data.splits | few), load_vectors("sample")


def make(vectors, variant="MS-Ranker", **changes):
    tiny = {"hidden": 6, "epochs": 2, "pre_epochs": 1, "batch": 20} | changes
    return ROOM.ranker(recipe(variant, "sample", scale="quick").change(**tiny), vectors, CPU)


@pytest.mark.parametrize("variant", [MAIN, PRE_RANKER, *ABLATIONS])
def test_every_variant_learns_ranks_and_is_saved(variant, sample, tmp_path):
    data, vectors = sample
    system = make(vectors, variant)
    history = system.fit(data.train, data.dev)
    assert all(math.isfinite(row["loss"]) for row in history.epochs)
    run = system.rank(data.test)
    system.save(tmp_path)
    again = ROOM.load(tmp_path, vectors, CPU)
    assert type(again) is type(system)
    assert again.rank(data.test).scores == run.scores


@pytest.mark.parametrize("vectors_rate", [0.0, 0.01])
def test_agent_starts_from_the_pre_ranker_and_takes_its_order(vectors_rate, sample):
    data, vectors = sample
    system = make(vectors, vectors_rate=vectors_rate, calibrate=False)
    system.fit(data.train, data.dev)
    scores = system.first.rank(data.test).scores
    for question in system.in_order(data.test):
        found = [scores[question.id][candidate.id] for candidate in question.candidates]
        assert found == sorted(found, reverse=True)
    agent = system.build(system.network.vectors.detach())
    for name, weight in system.first.network.reader.state_dict().items():
        assert torch.equal(agent.reader.state_dict()[name], weight)
    system.network = agent.eval()  # as good as the pre-ranker, before it has learnt anything
    ranked = system.rank(data.test).scores
    for question, row in scores.items():
        assert ranked[question] == pytest.approx(row, abs=1e-5)


def test_an_agent_starts_from_log_odds_at_their_level(sample):
    data, vectors = sample
    system = make(vectors, calibrate=True, pre_epochs=3)
    system.fit(data.train, data.dev)
    slope, intercept = system.level
    before = system.first.rank(data.dev).scores
    system.network = system.build(system.network.vectors.detach()).eval()
    after, odds, labels = system.rank(data.dev).scores, [], []
    for question in data.dev:
        scores = after[question.id]
        for candidate in question.candidates:
            wanted = slope * before[question.id][candidate.id] + intercept
            assert scores[candidate.id] == pytest.approx(wanted, abs=1e-4)
            odds.append(scores[candidate.id])
            labels.append(candidate.label)
    # Where logistic regression fits, P_post is right on average.
    assert torch.tensor(odds).sigmoid().mean() == pytest.approx(sum(labels) / len(labels), abs=1e-3)


def test_runs_beside_each_other_share_the_pre_ranker(sample, tmp_path):
    data, vectors = sample
    one, other = make(vectors), make(vectors, "w/o the Gate")
    one.fit(data.train, data.dev, tmp_path / one.recipe.slug)
    trained = []
    PreRanking_fit = PreRanking.fit
    try:
        PreRanking.fit = lambda self, *rest: trained.append(self) or PreRanking_fit(self, *rest)
        other.fit(data.train, data.dev, tmp_path / other.recipe.slug)
    finally:
        PreRanking.fit = PreRanking_fit
    assert not trained
    (place,) = {path.parent for path in tmp_path.glob("*/model.safetensors")}
    assert not (place / "last.safetensors").exists()
    assert (place / "model.safetensors").stat().st_mode & 0o777 == place.stat().st_mode & 0o666
    assert other.first.rank(data.dev).scores == one.first.rank(data.dev).scores


def test_a_pre_ranker_of_other_data_is_refused(sample, tmp_path):
    data, vectors = sample
    fewer = Split("train", data.train[1:])
    make(vectors).fit(fewer, data.dev, tmp_path / "one")
    with pytest.raises(QaselError, match="learns from other data or word vectors"):
        make(vectors, threshold=0.4).fit(data.train, data.dev, tmp_path / "other")


def test_labels_that_cannot_tell_leave_the_log_odds_as_they_are():
    def fitted(labels):
        candidates = [Candidate(str(i), "text", label, i) for i, label in enumerate(labels)]
        run = Run({"q": {str(i): float(i) for i in range(len(labels))}})
        return calibration(run, Split("dev", [Question("q", "text", tuple(candidates))]))

    assert fitted([1, 1, 1]) == fitted([0, 0, 0]) == fitted([1, 1, 0, 1, 0, 0]) == (1.0, 0.0)
    slope, intercept = fitted([0, 0, 1, 0, 1, 1])
    assert slope > 0 > intercept


def test_interrupted_training_resumes_to_the_same_scores(sample, tmp_path):
    data, vectors = sample
    whole = make(vectors, decay=0.5)
    whole.fit(data.train, data.dev)

    class Stopped(Exception):
        pass

    def stop(epochs):
        raise Stopped

    with pytest.raises(Stopped):
        make(vectors, decay=0.5).fit(data.train, data.dev, tmp_path / "run", stop)
    resumed = make(vectors, decay=0.5)
    history = resumed.fit(data.train, data.dev, tmp_path / "run")
    assert len(history.epochs) == 2
    assert resumed.rank(data.test).scores == whole.rank(data.test).scores


def test_near_ties_of_the_pre_ranker_are_no_other_data(sample, tmp_path, monkeypatch):
    data, vectors = sample
    begun, resumed = make(vectors, epochs=2), make(vectors, epochs=2)

    class Stopped(Exception):
        pass

    def stop(epochs):
        raise Stopped

    with pytest.raises(Stopped):
        begun.fit(data.train, data.dev, tmp_path / "run", stop)
    sort = MSRanker.in_order

    def otherwise(system, split):
        turned = [replace(q, candidates=q.candidates[::-1]) for q in sort(system, split)]
        return Split(split.name, tuple(turned))

    monkeypatch.setattr(MSRanker, "in_order", otherwise)
    assert len(resumed.fit(data.train, data.dev, tmp_path / "run").epochs) == 2
    # The checkpoint has word vectors by number.
    assert resumed.vocabulary.words == begun.vocabulary.words


def test_a_rate_at_which_the_agent_diverges_is_its_own(sample, monkeypatch):
    data, vectors = sample

    def diverged(system, batch):
        return {"loss": system.network(batch).log_p.sum() * math.nan}

    monkeypatch.setattr(MSRanker, "losses", diverged)
    with pytest.raises(QaselError, match=r"training diverged: .*; try a smaller agent_rate$"):
        make(vectors).fit(data.train, data.dev)


def test_a_transformer_reads_in_place_of_word_vectors(sample, tmp_path):
    data, _ = sample
    folder = make_encoder(tmp_path / "encoder")
    few = Split("few", data.train[:6])
    runs = []
    for variant in ("MiniLM", "MiniLM + MS-Ranker"):
        settings = recipe(variant).change(encoder=str(folder), epochs=1, pre_epochs=1)
        system = ROOM.ranker(settings, Vectors.empty(""), CPU)
        history = system.fit(few, few, tmp_path / "runs" / settings.slug)
        assert math.isfinite(history.epochs[0]["loss"])
        runs.append(system.rank(few).scores)
        system.save(tmp_path / variant)
        again = ROOM.load(tmp_path / variant, Vectors.empty(""), CPU)
        assert type(again) is type(system)
        assert again.rank(few).scores == runs[-1]
    # The agent's first stage is the row without it, trained once and found beside it.
    assert system.recipe.before.variant == "MiniLM"
    agent = system.build(system.network.vectors.detach())
    assert torch.equal(
        agent.reader.pairs.model.get_input_embeddings().weight,
        system.first.network.reader.pairs.model.get_input_embeddings().weight,
    )
    # A candidate's score does not depend on its company, but for the evidence.
    system.network = agent.eval()
    batch = system.encode(few).batch(torch.arange(6))
    with torch.inference_mode():
        together = system.network(batch, gather=False).p_post
        alone = system.network(system.encode(few).batch(torch.tensor([2])), gather=False).p_post
    torch.testing.assert_close(together[2, : alone.shape[1]], alone[0], atol=1e-5, rtol=0)


def test_the_papers_transformer_rows():
    base, large = recipe("BERT_BASE + MS-Ranker", "wikiqa"), recipe("BERT_LARGE", "wikiqa")
    assert (base.encoder, base.pre_epochs, base.learning_rate) == ("bert-base-uncased", 5, 2e-5)
    assert (large.encoder, large.pre_epochs, large.learning_rate) == ("bert-large-uncased", 4, 1e-5)
    assert base.agent_rate == 1e-5
    assert base.vectors == ""
    assert base.before == recipe("BERT_BASE", "wikiqa")  # one training serves both rows


@pytest.mark.parametrize("variant", [MAIN, "w/o Rewards", "MS-Ranker + ELMo"])
def test_an_encoder_of_ones_own_has_a_first_stage_of_its_own(variant):
    settings = recipe(variant).change(encoder="some/encoder", frozen=False)
    assert settings.before.variant == PRE_RANKER
    assert settings.before.slug != settings.slug


def test_each_ablation_is_a_setting_and_shares_one_pre_ranker():
    base = recipe("MS-Ranker", "wikiqa")
    assert (base.hidden, base.batch, base.dropout, base.pre_epochs) == (128, 10, 0.5, 8)
    for variant, name in ABLATIONS.items():
        other = recipe(variant, "wikiqa")
        assert other == base.change(variant=variant, **{name: False})
        assert other.before == base.before
    with pytest.raises(QaselError, match="unknown list_by 'both'"):
        base.change(list_by="both")
    with pytest.raises(QaselError, match="threshold"):
        base.change(threshold=1.5)
