"""Paper 4: tasks in one training, the network, its recipes and its baselines."""

import math
import os

import numpy as np
import pytest
import torch

from qasel.datasets import Pair, PairTask
from qasel.datasets.base import Candidate, Question, Split
from qasel.errors import QaselError
from qasel.evaluation import Run, evaluate
from qasel.papers import ROOMS
from qasel.papers.question_relevancy import ROOM, recipe
from qasel.papers.question_relevancy.model import (
    MAIN_TASK,
    MultiTask,
    Pairs,
    TaskBatch,
    TaskData,
    Texts,
    moments,
)
from qasel.papers.question_relevancy.recipes import (
    BASELINES,
    FOURTEEN,
    LATER_TEST,
    MAIN,
    OURS,
    SIM,
    STL,
    VARIANTS,
)
from qasel.results.measure import vectors_for
from qasel.results.tables import published
from qasel.text import Vectors
from qasel.text.features import distances as by_name
from qasel.text.features.distances import (
    NAMES,
    TFIDF_NAMES,
    VERSION,
    distances,
    distances_by_name,
)

CPU = torch.device("cpu")
WORDS = ["cat", "dog", "fish", "bird", "red", "blue", "green", "food", "house"]
VECTORS = Vectors(
    "toy",
    {word: i for i, word in enumerate(WORDS)},
    np.random.default_rng(0).normal(size=(9, 4)).astype(np.float32),
)
real_data = pytest.mark.skipif("QASEL_DATA" not in os.environ, reason="QASEL_DATA is not set")


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("QASEL_CACHE", str(tmp_path / "cache"))


def toy(name, seed, questions=12, labelled=True):
    """Lists of four, in which the relevant ones share a word with the question."""
    generator = np.random.default_rng(seed)
    words = list(VECTORS.rows)
    made = []
    for q in range(questions):
        asked = generator.choice(words, 3, replace=False)
        found = []
        for place in range(4):
            label = int(generator.random() < 0.5)
            text = generator.choice([w for w in words if w not in asked], 2, replace=False)
            text = [*text, asked[0]] if label else list(text)
            found.append(
                Candidate(f"{q}-{place}", " ".join(text), label if labelled else None, place)
            )
        made.append(Question(f"q{q}", " ".join(asked), tuple(found)))
    return Split(name, tuple(made))


OTHER = PairTask(
    "colours",
    ("same", "other", "none"),
    tuple(Pair(a, b, i % 3) for i, (a, b) in enumerate([("red cat", "blue dog")] * 5)),
)


def test_every_row_has_a_recipe_of_its_own():
    made = [recipe(name, "semeval-cqa") for name in VARIANTS]
    assert len({one.hash for one in made}) == len(VARIANTS) == 11 + 12 + 14 + 4
    own = published(ROOMS["question-relevancy"]).query("kind == 'own'")
    assert set(own["row"]) == set(VARIANTS) - set(OURS)
    assert published(ROOMS["question-relevancy"])["table"].value_counts().to_dict() == {
        "table-1": 12 * 8 - 4,
        "table-2": 24,
        "table-3": 28,
    }


def test_what_the_rows_of_tables_2_and_3_see():
    some = recipe(f"{STL}, Unigrams+MeanEmb", "semeval-cqa")
    assert len(some.features) == 9
    assert not any("trigram" in name for name in some.features)
    assert some.auxiliary == ()
    less = recipe(f"{MAIN} w/o jaccard trigram", "semeval-cqa")
    assert set(FOURTEEN) - set(less.features) == {"jaccard trigram"}
    other = recipe(f"{MAIN} w/o cosine trigram", "semeval-cqa")
    assert set(FOURTEEN) - set(other.features) == {"cosine tf-idf trigram"}
    assert less.auxiliary == ("QA",)
    assert recipe("MTL-MLP (ALL)").auxiliary == ("QA", "FNC", "NLI")
    assert recipe(f"STL{SIM}").lstm_layers == 3
    assert recipe(STL).lstm_layers == 0


def test_words_are_binary_trigrams_weighted_and_our_rows_read_them_otherwise():
    weighted = [
        f"{d} tf-idf trigram" for d in ("cosine", "manhattan", "bhattacharyya", "euclidean")
    ]
    assert recipe(STL).features == FOURTEEN == (*NAMES[:9], *weighted, "jaccard trigram")
    alone, both, *binary = (recipe(name, "semeval-cqa") for name in OURS)
    assert [one.variant for one in (alone, both)] == ["STL-MLP, tf-idf", "MTL-MLP (QA), tf-idf"]
    assert {one.features for one in binary} == {NAMES}
    assert len(alone.features) == 14
    assert set(TFIDF_NAMES) | {name for name in NAMES if "embedding" in name} == set(
        alone.features
    ) - {"jaccard unigram", "jaccard trigram"}
    assert (alone.auxiliary, both.auxiliary) == ((), ("QA",))


def test_a_bilstm_needs_its_sizes():
    with pytest.raises(QaselError, match="setting lstm_hidden: must be at least 1"):
        recipe().change(lstm_layers=1)


def pairs(count, start=0.0):
    values = torch.arange(count, dtype=torch.float32)[:, None] + start
    return Pairs(values, labels=torch.arange(count) % 2)


def test_an_epoch_is_all_of_the_main_task_and_as_much_of_the_others():
    data = TaskData({MAIN_TASK: pairs(10), "long": pairs(25), "short": pairs(4)}, CPU)
    shuffle = torch.Generator().manual_seed(3)
    batches = list(data.batches(4, shuffle))
    assert [len(batch.index) for batch in batches] == [4, 4, 2]
    seen = {
        name: torch.cat([b.parts[name].features[:, 0] for b in batches]).tolist()
        for name in data.tasks
    }
    assert sorted(seen[MAIN_TASK]) == list(range(10)) != seen[MAIN_TASK]
    assert len(set(seen["long"])) == 10  # no pair twice
    counts = np.bincount(np.array(seen["short"], dtype=int))
    assert counts.min() >= 2  # each twice or three times
    again = list(data.batches(4, torch.Generator().manual_seed(3)))
    assert all(torch.equal(a.index, b.index) for a, b in zip(batches, again, strict=True))


def test_the_network_by_hand():
    network = MultiTask(2, {MAIN_TASK: 2, "x": 3}, width=1, dropout=0.5).eval()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.fill_(0.0)
        network.shared[0].weight[:] = torch.tensor([[1.0, -1.0]])
        network.own[MAIN_TASK][0].weight[:] = 2.0
        network.own[MAIN_TASK][3].weight[:] = torch.tensor([[0.0], [0.5]])
    # relu(3 − 1) = 2, relu(2 · 2) = 4, logits (0, 2); then relu(1 − 3) = 0, logits (0, 0).
    found = network(Pairs(torch.tensor([[3.0, 1.0], [1.0, 3.0]]))).tolist()
    assert found[0][1] - found[0][0] == pytest.approx(2.0)
    assert found[1] == pytest.approx([-math.log(2)] * 2)
    assert network(Pairs(torch.ones(1, 2)), "x")[0].tolist() == pytest.approx([-math.log(3)] * 3)


def test_losses_are_weighted_and_tasks_share_one_layer():
    model = ROOM.ranker(recipe(MAIN).change(auxiliary_weight=0.25, dropout=0.0), VECTORS, CPU)
    model.network = model.build({MAIN_TASK: 2, "x": 3})
    parts = {
        name: Pairs(torch.randn(5, 14), labels=torch.arange(5) % size)
        for name, size in ((MAIN_TASK, 2), ("x", 3))
    }
    found = model.losses(TaskBatch(torch.arange(5), parts))
    log_p = model.network(parts[MAIN_TASK])
    expected = -log_p[torch.arange(5), torch.arange(5) % 2].mean()
    assert found[MAIN_TASK].item() == pytest.approx(expected.item(), abs=1e-6)
    total = found[MAIN_TASK].item() + 0.25 * found["x"].item()
    assert found["loss"].item() == pytest.approx(total, abs=1e-6)
    found["x"].backward()
    assert model.network.shared[0].weight.grad.abs().sum() > 0
    assert all(p.grad is None for p in model.network.own[MAIN_TASK].parameters())


def test_a_constant_distance_is_standardised_to_zero():
    mean, deviation = moments(torch.tensor([[1.0, 5.0], [3.0, 5.0]]))
    assert mean.tolist() == [2.0, 5.0]
    assert deviation.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("variant", [STL, MAIN, f"STL{SIM}", *OURS])
def test_fit_rank_save_load(variant, tmp_path):
    settings = recipe(variant, scale="quick").change(epochs=4, words="all")
    tasks = {"QA": OTHER} if settings.auxiliary else {}
    train, dev = toy("train", 1), toy("dev", 2)
    model = ROOM.ranker(settings, VECTORS, CPU)
    history = model.fit(train, dev, None, None, tasks)
    assert len(history.epochs) == 4
    assert {"loss", MAIN_TASK, "dev_map", *tasks} <= history.epochs[0].keys()
    run = model.rank(dev)
    best = max(epoch["dev_map"] for epoch in history.epochs)
    assert evaluate(run, dev).map == pytest.approx(best, abs=1e-12)
    assert "acc" in evaluate(run, dev, "semeval").mean
    again = ROOM.ranker(settings, VECTORS, CPU)
    again.fit(train, dev, None, None, tasks)
    assert again.rank(dev).scores == run.scores  # bit for bit
    model.save(tmp_path / "model")
    kept = ROOM.load(tmp_path / "model", VECTORS, CPU)
    assert kept.rank(dev).scores == run.scores
    assert kept.rank(toy("dev", 2, labelled=False)).scores == run.scores
    one = kept.rank(Split("dev", dev.questions[3:4]))  # alone in its batch
    assert one.scores["q3"] == pytest.approx(run.scores["q3"], abs=1e-5)


def test_it_learns():
    settings = recipe(STL, scale="quick").change(words="all", learning_rate=0.05)
    model = ROOM.ranker(settings, VECTORS, CPU)
    model.fit(toy("train", 1, 60), toy("dev", 2, 30))
    test = toy("test", 3, 40)
    perfect = Run.from_scores(test, [question.labels for question in test])
    # A shared word is all there is to know.
    assert evaluate(model.rank(test), test).map > 0.97 * evaluate(perfect, test).map


def test_texts_are_cut_and_numbered():
    texts = Texts(["cat dog fish", "bird", "cat dog fish", ""], VECTORS, 2, CPU)
    assert texts.pairs((["bird", ""], ["cat dog fish", "bird"])).tolist() == [[1, 2], [0, 1]]
    words, length = texts.words(torch.tensor([0, 1, 2]))
    assert length.tolist() == [2, 1, 1]
    assert torch.equal(words[0], torch.from_numpy(VECTORS.of(["cat", "dog"])))
    assert not words[2].any()


def test_the_distances_are_those_of_the_recipe():
    settings = recipe(f"{STL}, Trigrams").change(words="all")
    model = ROOM.ranker(settings, VECTORS, CPU)
    pair, model.corpus = (["red cat"], ["blue cat"]), ("red cat", "a dog")
    found = model.features(pair)
    table = distances(*pair, VECTORS, model.corpus)
    expected = np.hstack([table[:, 18:], table[:, 13:14]])
    assert found.numpy() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("variant", [STL, OURS[0], f"STL{SIM}"])
def test_a_model_brings_the_vectors_of_the_words_that_it_learnt_from(variant, tmp_path):
    settings = recipe(variant, scale="quick").change(epochs=1, words="all")
    model = ROOM.ranker(settings, VECTORS, CPU)
    model.fit(toy("train", 1), toy("dev", 2))
    model.save(tmp_path)
    without = ROOM.load(tmp_path, Vectors.empty("toy"), CPU)
    assert without.rank(toy("dev", 2)).scores == model.rank(toy("dev", 2)).scores
    # Others' count where the model has none, and only there.
    others = Vectors("toy", {"purrs": 0, "cat": 1}, np.ones((2, 4), dtype=np.float32))
    found = ROOM.load(tmp_path, others, CPU)
    assert found.vectors.of(["purrs"]).tolist() == [[1.0] * 4]
    assert (found.vectors.of(["cat"]) == VECTORS.of(["cat"])).all()
    assert "purrs" not in without.vectors
    found.save(tmp_path / "again")
    assert ROOM.load(tmp_path / "again", others, CPU).vectors.rows == found.vectors.rows
    with pytest.raises(QaselError, match="have 3 numbers each, not 4"):
        ROOM.load(tmp_path, Vectors("toy", {"new": 0}, np.ones((1, 3), dtype=np.float32)), CPU)


def test_the_cache_goes_by_the_version_of_the_distances(monkeypatch):
    settings = recipe(OURS[0]).change(words="all")
    model = ROOM.ranker(settings, VECTORS, CPU)
    model.corpus = ("red cat", "blue cat")
    pair = ["red cat"], ["blue cat"]
    before = model.features(pair)
    monkeypatch.setattr(by_name, "distances", lambda *given, **how: distances(*given, **how) + 1)
    assert torch.equal(model.features(pair), before)
    monkeypatch.setattr(by_name, "VERSION", VERSION + 1)
    assert not torch.equal(model.features(pair), before)


def test_idf_is_that_of_the_training_pairs_wherever_the_model_goes(tmp_path):
    settings = recipe(OURS[1]).change(words="all", epochs=1, features=TFIDF_NAMES)
    train, other = toy("train", 1), toy("train", 2)
    pair = ["red cat unseen"], ["blue cat"]
    with pytest.raises(QaselError, match="no texts to count words in"):
        ROOM.ranker(settings, VECTORS, CPU).features(pair)
    model, second = (ROOM.ranker(settings, VECTORS, CPU) for _ in range(2))
    model.fit(train, toy("dev", 3), None, None, {"QA": OTHER})
    second.fit(other, toy("dev", 3), None, None, {"QA": OTHER})
    asked = [question.text for question in train]
    given = [candidate.text for question in train for candidate in question.candidates]
    expected = distances(*pair, VECTORS, asked + given)[:, len(NAMES) :]
    chosen = distances_by_name(TFIDF_NAMES[::-1], pair, VECTORS, asked + given)
    np.testing.assert_array_equal(chosen, expected[:, ::-1])
    with pytest.raises(QaselError, match="unknown distance 'cosine'"):
        distances_by_name(["cosine"], pair, VECTORS)
    model.save(tmp_path / "model")
    for one in (model, ROOM.load(tmp_path / "model", VECTORS, CPU)):
        assert one.features(pair).numpy() == pytest.approx(expected, abs=1e-6)
    # Another training split, another idf: the cache must not mix them.
    assert abs(second.features(pair).numpy() - expected).max() > 1e-3


@real_data
@pytest.mark.parametrize("name", BASELINES)
def test_baselines_are_the_published_numbers(name):
    data = recipe(name, "semeval-cqa").load()
    model = ROOM.ranker(recipe(name, "semeval-cqa"), Vectors.empty(""), CPU)
    known = published(ROOMS["question-relevancy"]).query("table == 'table-1' and row == @name")
    measures = {"MAP": "map", "MRR": "mrr", "AvgRec": "avgrec"}
    for line in known.itertuples():
        split, _, metric = line.metric.rpartition(" ")
        split = data[split or "test"]
        found = evaluate(model.rank(split), split, data.scoring).mean[measures[metric]]
        assert round(100 * found, 2) == round(100 * line.value, 2), line


@real_data
def test_what_the_real_recipe_learns_from():
    data = recipe("MTL-MLP (ALL)", "semeval-cqa").load()
    assert {name: len(split) for name, split in data.splits.items()} == {
        "train": 200,
        "dev": 50,
        "test": 70,
        LATER_TEST: 88,
    }
    assert {name: len(task) for name, task in data.tasks.items()} == {
        "QA": 27368,
        "FNC": 49972,
        "NLI": 20000,
    }
    half = recipe(STL, "semeval-cqa").change(share=0.5).load()
    assert len(half.train) == 100
    assert half.train.questions == data.train.questions[:100]


def test_the_sample_runs_as_it_is():
    settings = recipe(MAIN, scale="quick").change(epochs=2)
    data = settings.load()
    assert data.scoring == "semeval"
    assert data.tasks["QA"].labels == ("irrelevant", "relevant")
    model = ROOM.ranker(settings, vectors_for(settings, data), CPU)
    history = model.fit(data.train, data.dev, None, None, data.tasks)
    assert history.best_epoch in (1, 2)
