"""The explorer of the distances: parts computed by hand, strips, typed pairs and odd texts."""

import base64
import re
from html import unescape
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from explorers import pick, plain, tables, told, write_own

from qasel.datasets.base import Candidate, Question, Split
from qasel.errors import QaselError
from qasel.papers.question_relevancy import RelevancyRanker, recipe
from qasel.papers.question_relevancy.explorer import (
    BINS,
    LISTED,
    PLACES,
    REPRESENTATIONS,
    DistanceExplorer,
    Verdict,
    log_odds,
    marked,
    parts,
    representation,
    strips,
)
from qasel.papers.question_relevancy.recipes import FOURTEEN
from qasel.text import Vectors
from qasel.text.features.distances import NAMES, TFIDF_NAMES
from qasel.widgets.base import short

TWO = ("manhattan unigram", "jaccard unigram")


class Fake:
    """A network whose log odds are a function of the standardised distances."""

    def __init__(self, odds, mean=0.0, deviation=1.0, features=2):
        self.odds, self.training = odds, True
        self.mean = torch.full((features,), mean)
        self.deviation = torch.full((features,), deviation)

    def __call__(self, pairs):
        assert not self.training, "dropout is on"
        odds = self.odds(pairs.features)
        return torch.stack([torch.zeros_like(odds), odds], 1).log_softmax(-1)

    def eval(self):
        self.training = False


def linear(features):
    return 0.25 + features @ torch.tensor([-0.5, 1.0])


def fake(
    network, features=TWO, words="all", lstm_layers=0, known="abcdeijz", name="tiny", corpus=()
):
    matrix = np.random.default_rng(0).standard_normal((len(known), 3)).astype(np.float32)
    return SimpleNamespace(
        recipe=SimpleNamespace(
            features=features, words=words, trigrams="characters", lstm_layers=lstm_layers
        ),
        vectors=Vectors(name, {word: i for i, word in enumerate(known)}, matrix),
        network=network,
        corpus=corpus,
    )


def question(id, text, texts, labels):
    pairs = enumerate(zip(texts, labels, strict=True))
    return Question(id, text, tuple(Candidate(f"{id}-{i}", t, y, i) for i, (t, y) in pairs))


SPLIT = Split(
    "dev",
    (
        question("hand", "a b", ["c d", "b c", "a b"], [0, 1, 1]),
        question("bad", "<script>1 & 2", ["<b>bold</b><img src=x onerror=y>", "z"], [None, 0]),
        question("long", "a " * 3000, ["x" * 3000, "b"], [0, 1]),
        question("many", "a", [f"b {i}" for i in range(60)], [i == 40 for i in range(60)]),
    ),
)


@pytest.fixture
def explorer():
    rankers = {
        "line": fake(Fake(linear, 1.0, 2.0)),
        "<one>": fake(
            Fake(lambda x: -x[:, 0], features=2),
            ("cosine tf-idf trigram", "jaccard trigram"),
            corpus=("a b", "b c"),
        ),
    }
    return DistanceExplorer(rankers, SPLIT)


def drawn(explorer):
    """The sources of the strips."""
    codes = re.findall(r"base64,([^\"]*)", explorer.picture.value)
    return [base64.b64decode(code).decode("utf-8") for code in codes]


def test_parts_of_a_line_are_its_terms():
    network = Fake(linear)
    pair = torch.tensor([2.0, 3.0])
    assert log_odds(network, pair[None]) == pytest.approx([0.25 - 1 + 3])
    assert parts(network, pair) == pytest.approx([-1, 3])


def test_parts_of_a_product_do_not_add_up():
    network = Fake(lambda x: x[:, 0] * x[:, 1])
    assert parts(network, torch.tensor([2.0, 3.0])) == pytest.approx([6, 6])


def test_a_verdict_by_hand():
    systems = DistanceExplorer({"line": fake(Fake(linear, 1.0, 2.0))}, SPLIT)
    table = systems.distances(["a b"] * 3, ["c d", "b c", "a b"])
    # Manhattan 4, 2, 0 and Jaccard 0, 1/3, 1; standardised (x − 1) / 2.
    verdict = systems.verdicts(table, 1)["line"]
    assert verdict.odds == pytest.approx([0.25 - 0.75 - 0.5, 0.25 - 0.25 - 1 / 3, 0.25 + 0.25])
    assert verdict.parts == pytest.approx(dict(zip(TWO, (-0.25, -1 / 3), strict=True)))
    assert [verdict.place(pair) for pair in range(3)] == [3, 2, 1]
    assert verdict.probability(0) == pytest.approx(1 / (1 + np.e))


def test_ties_stay_in_the_lists_order_and_large_odds_are_no_error():
    verdict = Verdict(np.array([0.5, -2000.0, 0.5]), {})
    assert [verdict.place(pair) for pair in range(3)] == [1, 3, 2]
    assert verdict.probability(1) == 0


@pytest.mark.parametrize("variant", ["STL-MLP", "STL-MLP, Unigrams", "STL-MLP, tf-idf"])
def test_scores_are_those_of_the_ranker(variant):
    vectors = fake(None).vectors
    ranker = RelevancyRanker(recipe(variant), vectors, torch.device("cpu"))
    ranker.prepare(Split("train", SPLIT[:1]), {})
    ranked = ranker.rank(SPLIT)
    systems = DistanceExplorer({variant: ranker}, SPLIT)
    for asked in SPLIT[:3]:
        texts = [c.text for c in asked.candidates]
        table = systems.distances([asked.text] * len(texts), texts)
        verdict = systems.verdicts(table, 0)[variant]
        expected = [ranked.scores[asked.id][c.id] for c in asked.candidates]
        assert verdict.odds == pytest.approx(expected, abs=1e-5)
        assert tuple(verdict.parts) == ranker.recipe.features


def test_strips_by_hand():
    table = np.array([[0.0, 5.0], [1.0, 5.0], [1.0, 5.0], [3.0, 5.0]])
    varied, constant = strips(table, np.array([1, 0, 0, None], dtype=object))
    assert (varied.low, varied.high) == pytest.approx((0.03, 2.94))
    assert varied.heights[1].tolist() == [1.0] + [0.0] * (BINS - 1)
    assert varied.heights[0].argmax() == 10
    assert varied.heights[0].sum() == 1
    assert (constant.low, constant.high) == (4.5, 5.5)


def test_of_one_kind_there_may_be_none():
    (strip,) = strips(np.array([[1.0], [2.0]]), np.array([0, 0], dtype=object))
    assert strip.heights[1].sum() == 0


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.12345, "0.123"), (-2.5, "−2.5"), (-0.0, "0"), (7, "7"), (1234.5, "1234")],
)
def test_numbers_are_short(value, shown):
    assert short(value) == shown


def test_words_are_marked_as_they_are_counted():
    html = marked('The cat’s "Cat" <cat>, can\u00adnot.', frozenset({"cat"}))
    assert plain(html) == 'The cat’s "Cat" <cat>, cannot.'
    assert [plain(word) for word in re.findall("<b>(.*?)</b>", html)] == ["cat", "Cat", "cat"]
    assert plain(marked("İ İstanbul cat", frozenset({"cat"}))).endswith("cat")


def test_it_opens_with_a_relevant_pair_and_leaves_a_picture(explorer):
    assert explorer.candidate.text == "b c"
    picture = explorer._repr_mimebundle_()["text/html"]
    assert "1 of 3 different words that count (Jaccard 0.333): b" in picture
    for banned in ("<script", "<style", "<svg"):
        assert banned not in picture
    assert DistanceExplorer(explorer.rankers, SPLIT, first="long").question.id == "long"


def test_the_pair_in_words_by_hand(explorer):
    assert told(explorer) == {
        "original": "a b",
        "✓ relevant": "b c",
        "shared words": "1 of 3 different words that count (Jaccard 0.333): b",
        "word vectors": "for all 3 words",
    }


def test_the_fourteen_and_what_they_are_of():
    untrained = fake(Fake(lambda x: x[:, 0], features=14), FOURTEEN, corpus=("a",))
    systems = DistanceExplorer({"untrained": untrained}, SPLIT)
    assert systems.names == list(FOURTEEN)
    assert {representation(name) for name in (*NAMES, *TFIDF_NAMES)} == set(REPRESENTATIONS)


def test_all_distances_and_parts_are_shown(explorer):
    assert explorer.names == [*TWO, "cosine tf-idf trigram", "jaccard trigram"]
    rows = tables(explorer)[1]
    assert rows[0] == ["Set of words", *[""] * 6]
    assert [*rows[1][:2], *rows[1][5:]] == ["manhattan", "2", "−0.250", "–"]
    assert [*rows[2][:2], *rows[2][5:]] == ["jaccard", "0.333", "−0.333", "–"]
    assert rows[3][0] == "Trigrams, weighted by tf-idf"
    assert (rows[4][0], rows[4][5]) == ("cosine", "–")
    assert re.fullmatch(r"[+−]\d\.\d{3}", rows[4][6])
    assert [row[0] for row in rows[5:]] == ["Set of trigrams", "jaccard"]
    head = plain(re.findall("<thead>(.*?)</thead>", explorer.picture.value)[0])
    for label in ("line", "P(relevant) 0.417", "place 2 of 3", "log odds −0.333"):
        assert label in head
    assert "above: 4 relevant pairs" in head
    assert "below: 62 irrelevant pairs" in head
    assert [strip.count("<polygon") for strip in drawn(explorer)] == [2] * 4
    alternatives = re.findall('alt="([^"]*)"', explorer.picture.value)
    assert unescape(alternatives[0]).startswith("this pair's 2, where most are from ")


def test_the_list_has_labels_places_and_probabilities(explorer):
    rows = tables(explorer)[2]
    assert [row[:3] for row in rows] == [
        ["1", "✗ irrelevant", "3 0.269"],
        ["2", "✓ relevant", "2 0.417"],
        ["3", "✓ relevant", "1 0.622"],
    ]
    assert [row[4] for row in rows] == ["c d", "▶ b c", "a b"]


def test_another_pair_changes_the_picture(explorer):
    before = drawn(explorer)
    explorer.pick.value = 0
    assert told(explorer)["✗ irrelevant"] == "c d"
    assert told(explorer)["shared words"] == "0 of 4 different words that count (Jaccard 0.000)"
    assert drawn(explorer) != before
    pick(explorer, SPLIT, "long")
    assert explorer.candidate.text == "b"


def test_of_a_long_list_the_top_and_the_relevant_are_shown(explorer):
    pick(explorer, SPLIT, "many")
    explorer.pick.value = 50
    places = [int(row[0]) for row in tables(explorer)[2]]
    assert places == [*range(1, PLACES + 1), 41, 51]
    assert f"{60 - len(places)} irrelevant ones left out" in explorer.picture.value


def test_typed_questions_and_words_without_a_vector(explorer):
    write_own(explorer, "a e zyzzyva", "+e <i>f</i>\nz")
    assert told(explorer)["✓ relevant"] == "e <i>f</i>"
    unknown = "none for 5 of 8 words, which count as zeros in the mean: /i, <, >, f, zyzzyva"
    assert told(explorer)["word vectors"] == unknown
    assert "<i>" not in explorer.picture.value
    assert "place 1 of 2" in explorer.picture.value
    explorer.pick.value = 1
    assert told(explorer)["✗ irrelevant"] == "z"
    explorer.lines.value = "z"
    assert told(explorer)["? not known"] == "z"


def test_what_is_missing_is_told_in_place_of_the_picture(explorer):
    for text, lines in (("", ""), ("a", ""), ("a", " \n+\n"), (" ", "b")):
        write_own(explorer, text, lines)
        assert "Type a question" in explorer.picture.value
        assert "<img" not in explorer.picture.value
    explorer.lines.value, explorer.text.value = "b", "a"
    assert "<img" in explorer.picture.value


def test_typed_texts_without_words_and_very_long_ones(explorer):
    rankers = {"content": fake(Fake(linear), words="content")}
    content = DistanceExplorer(rankers, SPLIT)
    write_own(content, "the of", "is ?")
    assert told(content)["shared words"] == "no word that counts, in either text"
    assert told(content)["word vectors"] == "–"
    numbers = " ".join(f"w{i}" for i in range(2000))
    write_own(explorer, numbers, numbers)
    assert f"and {2000 - LISTED} more" in told(explorer)["shared words"]
    assert "nan" not in "".join(drawn(explorer)) + plain(explorer.picture.value)


def test_texts_are_escaped_and_labels_may_be_missing(explorer):
    pick(explorer, SPLIT, "bad")
    picture = explorer.static()
    for markup in ("<script", "<b>bold", "<img src=x", "<one>"):
        assert markup not in picture
    assert told(explorer)["original"] == "<script>1 & 2"
    assert told(explorer)["? not known"].startswith("<b>bold")
    assert "nan" not in "".join(drawn(explorer)) + plain(explorer.picture.value)


def test_vectors_may_be_cut_to_the_words_of_other_tasks():
    rankers = {"narrow": fake(Fake(linear), known="ab"), "wide": fake(Fake(linear))}
    explorer = DistanceExplorer(rankers, SPLIT)
    assert "z" in explorer.vectors
    write_own(explorer, "a", "z y")
    assert told(explorer)["word vectors"].startswith("none for 1 of 3 words")


@pytest.mark.parametrize(
    ("rankers", "message"),
    [
        ({}, "no ranker to explore"),
        ({"IR": fake(None)}, "IR has no trained network"),
        ({"LSTM": fake(Fake(linear), lstm_layers=1)}, "LSTM also reads the texts"),
        (
            {
                "one": fake(Fake(linear), ("cosine tf-idf trigram",), corpus=("a",)),
                "other": fake(Fake(linear), ("cosine tf-idf trigram",), corpus=("b",)),
            },
            "different distances",
        ),
        (
            {"one": fake(Fake(linear)), "other": fake(Fake(linear), words="content")},
            "different distances",
        ),
        (
            {"one": fake(Fake(linear)), "other": fake(Fake(linear), name="large")},
            "different distances",
        ),
    ],
)
def test_rankers_that_do_not_fit_are_refused(rankers, message):
    with pytest.raises(QaselError, match=message):
        DistanceExplorer(rankers, SPLIT)


def test_an_untrained_ranker_and_an_empty_split_are_refused():
    untrained = RelevancyRanker(recipe("STL-MLP"), fake(None).vectors, torch.device("cpu"))
    with pytest.raises(QaselError, match="STL-MLP has no trained network"):
        DistanceExplorer({"STL-MLP": untrained}, SPLIT)
    with pytest.raises(QaselError, match="dev has no question to explore"):
        DistanceExplorer({"line": fake(Fake(linear))}, Split("dev", ()))
    with pytest.raises(QaselError, match="no question 'q9'"):
        DistanceExplorer({"line": fake(Fake(linear))}, SPLIT, first="q9")


def test_it_prints_nothing(capsys, explorer):
    explorer.pick.value = 0
    pick(explorer, SPLIT, "many")
    assert capsys.readouterr() == ("", "")
