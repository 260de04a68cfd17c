"""The learners of paper 2: a perceptron step by hand, a QP by hand, folds, cutting, saving."""

import itertools

import numpy as np
import pytest
import torch
from torch.nn import functional as F

import qasel
from qasel.datasets.base import Candidate, Question, Split
from qasel.errors import QaselError
from qasel.evaluation import Run
from qasel.papers.latent_structured import ROOM, PairCNN, StructuredRanker, recipe
from qasel.papers.latent_structured.cnn import PairNetwork
from qasel.papers.latent_structured.learners import (
    Cuts,
    KernelSvm,
    Lists,
    first_candidates,
    large_margin,
    one_epoch,
    perceptron,
    structural_svm,
)
from qasel.papers.latent_structured.recipes import FOLDS, fold_of
from qasel.text import Vectors, Vocabulary, tokenize
from qasel.text.features import documents
from qasel.training import checkpoint
from qasel.training.batching import EncodedSplit
from qasel.training.loss_augmented import CORRECT, EXACT, position_weights

CPU = torch.device("cpu")


def question(name, labels):
    candidates = tuple(
        Candidate(f"{name}-{i}", f"text {i}", label, i) for i, label in enumerate(labels)
    )
    return Question(name, f"what is {name}", candidates)


def toy(questions=60, noise=0.05, seed=0):
    """Lists whose positives are those with the highest hidden linear score, and the score."""
    rng = np.random.default_rng(seed)
    hidden = np.array([1.0, -2.0, 0.5])
    features, labels = [], []
    for _ in range(questions):
        rows = rng.random((int(rng.integers(4, 9)), 3))
        order = np.argsort(-(rows @ hidden + rng.normal(size=len(rows)) * noise))
        label = np.zeros(len(rows), int)
        label[order[: int(rng.integers(1, 3))]] = 1
        features.append(rows)
        labels.append(label)
    split = Split("toy", tuple(question(f"q{i}", y.tolist()) for i, y in enumerate(labels)))
    return split, Lists.of(split, features)


def map_of(split, lists):
    def score(weights):
        run = Run.from_scores(split, lists.scores(weights), "t")
        return qasel.evaluate(run, split).map

    return score


def test_one_step_of_the_perceptron_by_hand():
    # Positive (1, 0) and negative (0, 1); at w = 0 all rankings tie, so the negative goes first.
    # w += 1 · (1, 0) + 1/2 · (0, 1) − 1 · (0, 1) − 1/2 · (1, 0).
    features, positive = np.eye(2), np.array([True, False])
    weights, total = np.zeros(2), np.zeros(2)
    arguments = (features, positive, np.array([0, 2]), np.array([0]))
    updates = one_epoch(*arguments, 0.0, EXACT, weights, total)
    assert updates == 1
    assert weights.tolist() == [0.5, -0.5]
    assert total.tolist() == [0.5, -0.5]
    # Now the ranking is right: no update, but the average goes on.
    assert one_epoch(*arguments, 0.0, EXACT, weights, total) == 0
    assert total.tolist() == [1.0, -1.0]


@pytest.mark.parametrize("search", ["none", "greedy", "exact"])
def test_perceptrons_learn(search):
    split, lists = toy()
    learnt = perceptron(lists, map_of(split, lists), search=search, C=1.0, epochs=15, seed=0)
    assert learnt.dev_map == max(row["dev_map"] for row in learnt.epochs) > 0.97
    assert learnt.dev_map == learnt.epochs[learnt.best_epoch - 1]["dev_map"]
    again = perceptron(lists, map_of(split, lists), search=search, C=1.0, epochs=15, seed=0)
    assert again.weights.tolist() == learnt.weights.tolist()


def test_the_quadratic_programme_by_hand():
    # One cut (d, l) = (2, 1): minimise w²/2 + s · max(0, 1 − 2 w). For large s: w = 1/2, else 2 s.
    for scale, expected in ((10.0, 0.5), (0.1, 0.2)):
        cuts = Cuts(1)
        cuts.add(np.array([-2.0]), 1.0)
        weights, slack = cuts.solve(np.zeros(1), scale)
        assert weights[0] == pytest.approx(expected, abs=1e-6)
        assert slack == pytest.approx(max(0, 1 - 2 * expected), abs=1e-6)


def test_cutting_planes_reach_the_minimum():
    _, lists = toy(20)

    def find(weights, search=EXACT):
        arguments = (lists.positive, lists.first, search, True)
        found, losses = position_weights(lists.features @ weights, *arguments)
        return found @ lists.features / len(lists), float(losses.mean())

    correct, _ = find(np.zeros(3), CORRECT)
    cuts = Cuts(3)
    weights, objective = structural_svm(cuts, correct, find, 50.0, 1e-4)
    # No other point is better under the same cuts.
    gaps, losses = correct - cuts.features, cuts.losses
    rng = np.random.default_rng(0)
    for _ in range(300):
        other = weights + rng.normal(size=3) * rng.choice([0.01, 0.1, 1.0])
        slack = max(0.0, (losses - gaps @ other).max())
        assert 0.5 * other @ other + 50.0 * slack >= objective - 1e-4


@pytest.mark.parametrize("search", ["greedy", "exact"])
def test_large_margin_learners_learn(search):
    split, lists = toy()
    learnt = large_margin(lists, map_of(split, lists), search=search, C=10.0)
    assert learnt.dev_map > 0.9
    objectives = [row["objective"] for row in learnt.epochs]
    assert all(b <= a + 1e-3 for a, b in itertools.pairwise(objectives))


def test_svm_map_learns():
    split, lists = toy()
    assert large_margin(lists, map_of(split, lists), search="pairs", C=1000.0).dev_map > 0.95


def test_the_norm_of_features():
    lists = Lists(np.array([[3.0, 4.0], [0.0, 1.0]]), np.array([True, False]), np.array([0, 2]))
    assert lists.norm == pytest.approx(np.sqrt(13))
    assert Lists(np.zeros((2, 1)), np.array([True, False]), np.array([0, 2])).norm == 1.0


def test_lists_are_cut_in_the_order_of_the_file():
    split = Split("s", (question("a", [1, 0, 1, 0]), question("b", [0, 0, 1])))
    shuffled = split.shuffled()
    cut = first_candidates(shuffled, 2)
    # b loses its only positive, so it is no longer mixed.
    assert [q.id for q in cut] == ["a"]
    assert sorted(c.place for c in cut[0].candidates) == [0, 1]
    assert [q.id for q in first_candidates(shuffled, None)] == ["a", "b"]


def test_C_of_the_svm_by_hand():
    # K(x, y) = x y + 1, so the distances from 0 are x: 1 and 2, and C = 1 / 1.5².
    lists = Lists(np.array([[1.0], [2.0]]), np.array([False, True]), np.array([0, 2]))
    svm = KernelSvm.fit(lists, 1)
    # Both lie within the margin: the dual's free optimum, 2 / (2 + 5 − 2 · 3) = 2, is above C.
    assert np.sort(svm.coefficients).tolist() == pytest.approx([-4 / 9, 4 / 9])


def test_an_svm_of_features_that_say_nothing():
    lists = Lists(np.zeros((4, 3)), np.array([1, 0, 1, 0], bool), np.array([0, 2, 4]))
    svm = KernelSvm.fit(lists, 3)
    assert np.ptp(svm.scores(lists.features)) == 0
    lists.features[0] = np.nan
    with pytest.raises(QaselError, match="features are not finite"):
        KernelSvm.fit(lists, 3)


@pytest.mark.parametrize("degree", [100, 400])  # a coefficient is not finite; C is 0
@pytest.mark.filterwarnings("error")
def test_a_kernel_that_is_too_large_is_told(degree):
    _, lists = toy(15)
    lists.features[:] += 10
    with pytest.raises(QaselError, match=f"setting degree: the kernel of degree {degree} is too"):
        KernelSvm.fit(lists, degree)


@pytest.mark.parametrize("search", ["greedy", "exact"])
def test_C_of_the_large_margin_is_over_the_mean(search):
    # Every list twice: the mean slack is the same, and so are the weights.
    split, lists = toy(15)
    size = lists.first[-1]
    twice = Lists(
        np.vstack([lists.features] * 2),
        np.tile(lists.positive, 2),
        np.concatenate([lists.first, size + lists.first[1:]]),
    )
    score = map_of(split, lists)
    one, two = (large_margin(data, score, search=search, C=5.0).weights for data in (lists, twice))
    np.testing.assert_allclose(one, two, atol=1e-6)


def test_folds_are_disjoint_and_complete():
    split = Split("s", tuple(question(str(i), [1, 0]) for i in range(23)))
    splits = {"train": split, "dev": split, "test": split}
    folds = [fold_of(splits, fold) for fold in range(FOLDS)]
    for name in ("dev", "test"):
        ids = [q.id for fold in folds for q in fold[name]]
        assert sorted(ids) == sorted(q.id for q in split)
    for fold in folds:
        assert {q.id for q in fold["train"]} == {q.id for q in split} - {q.id for q in fold["test"]}


def test_a_window_may_start_before_its_sentence_and_end_after_it():
    texts = (("who ?", ("it was", "no one knew who that was")), ("why so late ?", ("because",)))
    split = Split(
        "train",
        tuple(
            Question(q, q, tuple(Candidate(a, a, 0, i) for i, a in enumerate(answers)))
            for q, answers in texts
        ),
    )
    vocabulary = Vocabulary(word for text in split.texts for word in tokenize(text))
    torch.manual_seed(1)
    sizes = recipe("CNN").change(filters=6, width=4, overlap=2, hidden=3)
    network = PairNetwork(torch.randn(len(vocabulary), 3), sizes)
    batch = next(EncodedSplit(split, vocabulary, CPU).batches(2))
    found = batch.as_lists(network.sentences(batch))

    def slow(encoder, words, others):
        same = torch.tensor([int(word in others) for word in words])
        numbers = torch.tensor(vocabulary.encode(words))
        inputs = torch.cat([network.vectors[numbers], network.shared(same)], dim=1)
        (convolution,) = encoder.convolutions
        windows = F.conv1d(inputs.T[None], convolution.weight, convolution.bias, padding=3)
        assert windows.shape[2] == len(words) + 3
        return windows[0].amax(1).relu()

    for i, asked in enumerate(batch.index.tolist()):
        q, answers = texts[asked]
        for j, a in enumerate(answers):
            q_words, a_words = tokenize(q), tokenize(a)
            expected = torch.cat(
                [
                    slow(network.question, q_words, a_words),
                    slow(network.answer, a_words, q_words),
                ]
            )
            torch.testing.assert_close(found[i, j], expected)


@pytest.fixture
def sample(monkeypatch, tmp_path):
    monkeypatch.setenv("QASEL_CACHE", str(tmp_path / "cache"))
    data = qasel.load_dataset("sample", "mixed")
    return {name: Split(name, split[:12]) for name, split in data.splits.items()}


@pytest.mark.parametrize("variant", ["LSP-AP*", "SVM", "LSSVM-AP (CNN)", "CNN"])
def test_a_saved_model_ranks_as_before(variant, sample, tmp_path):
    if "CNN" not in variant:
        pytest.importorskip("spacy", reason="the tree kernel needs a parser (extra: parse)")
    chosen = recipe(variant, "sample", scale="quick").change(cnn_epochs=2, epochs=3)
    vectors = qasel.load_vectors("sample") if chosen.on_cnn else Vectors.empty("")
    model = ROOM.ranker(chosen, vectors, CPU)
    history = model.fit(sample["train"], sample["dev"], tmp_path / chosen.slug)
    if isinstance(model, StructuredRanker) and chosen.learner != "svm":
        assert history.chosen["C"] in chosen.costs
    run = model.rank(sample["test"])
    model.fit(sample["train"], sample["dev"], tmp_path / chosen.slug)
    assert model.rank(sample["test"]).text() == run.text()  # a second fit starts anew
    model.save(tmp_path / "model")
    again = ROOM.load(tmp_path / "model", vectors, CPU)
    if variant.endswith("(CNN)"):
        # Vectors are as long as C's values expect, whatever the network makes.
        trained = Lists.of(sample["train"], model.features(sample["train"]))
        assert trained.norm == pytest.approx(1.0)
        assert again.scale == model.scale != 1.0
    assert isinstance(again, PairCNN if variant == "CNN" else StructuredRanker)
    assert again.rank(sample["test"]).text() == run.text()


def test_a_model_of_another_version_is_told(tmp_path):
    chosen = recipe("LSP", "sample")
    values = {"recipe": chosen.as_dict(), "documents": ["one"]}
    checkpoint.save(tmp_path / "model.safetensors", {"weights": torch.zeros(8)}, values)
    with pytest.raises(QaselError, match="another version of qasel"):
        StructuredRanker.load(tmp_path, Vectors.empty(""), CPU)


def test_a_split_without_mixed_lists_is_refused(sample, tmp_path):
    split = Split("train", tuple(question(str(i), [0, 0]) for i in range(3)))
    chosen = recipe("LSP (CNN)", "sample", scale="quick").change(cnn_epochs=1)
    model = ROOM.ranker(chosen, qasel.load_vectors("sample"), CPU)
    with pytest.raises(QaselError, match="no question has both"):
        model.fit(split, sample["dev"], tmp_path / "m")


def test_articles_that_are_given_are_taken(sample):
    pytest.importorskip("spacy", reason="the tree kernel needs a parser (extra: parse)")
    chosen = recipe("LSP", "sample", scale="quick").change(epochs=1, corpus="no/such/corpus.txt")
    model = ROOM.ranker(chosen, Vectors.empty(""), CPU)
    given = ("an octopus has three hearts", "chess is a game")
    model.fit(sample["train"], sample["dev"], articles=given)
    assert model.documents == given


def test_a_corpus_that_is_not_there_is_told(sample):
    chosen = recipe("LSP", "sample", scale="quick").change(corpus="no/such/corpus.txt")
    with pytest.raises(QaselError, match=r"no/such/corpus\.txt"):
        ROOM.ranker(chosen, Vectors.empty(""), CPU).fit(sample["train"], sample["dev"])


def test_the_articles_are_those_of_the_whole_training_split(monkeypatch, tmp_path):
    whole = documents(qasel.load_dataset("sample", "all").train)
    chosen = recipe("LSP", "sample")
    data = chosen.load()
    assert data.articles == chosen.articles() == whole
    elsewhere = recipe("LSP", "semeval-cqa").change(corpus="sample")
    assert elsewhere.articles() == whole
    mine = tmp_path / "mine"
    mine.mkdir()
    lines = ["question\tcandidate\tlabel", "q\tone\t1", "q\ttwo\t0", "unanswered\tthree\t0"]
    for name in ("train", "dev", "test"):
        (mine / f"{name}.tsv").write_text("\n".join(lines) + "\n")
    assert recipe("LSP", str(mine)).load().articles == ("one\ntwo", "three")
    # In folds too; the vectors of a CNN need none.
    assert recipe("LSP (5-fold)", "sample").load().articles == whole
    assert recipe("LSP (CNN)", "sample").load().articles == ()
    # TREC-QA's texts come in no articles, so WikiQA's serve, which have to be there.
    assert {recipe("LSP", name).corpus for name in ("wikiqa", "trecqa")} == {"wikiqa"}
    assert recipe("LSP", "semeval-cqa").corpus == recipe("CNN", "wikiqa").corpus == ""
    monkeypatch.setenv("QASEL_DATA", str(tmp_path))
    monkeypatch.setattr("qasel.locations.DATA", tmp_path)
    monkeypatch.setattr("pooch.os_cache", lambda name: tmp_path)
    with pytest.raises(
        QaselError, match="setting corpus: the articles of wikiqa serve ESA; wikiqa"
    ):
        recipe("LSP", "trecqa").articles()
