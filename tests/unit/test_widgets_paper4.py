"""The explorer of the distances: parts computed by hand, typed pairs and odd texts."""

import base64
import re
from html import unescape

import numpy as np
import pytest
import torch
from explorers import pick, plain, tables, told, write_own

from qasel.datasets.base import Candidate, Question, Split
from qasel.errors import QaselError
from qasel.papers.question_relevancy import RelevancyRanker, recipe
from qasel.papers.question_relevancy.explorer import LISTED, DistanceExplorer, parts
from qasel.papers.question_relevancy.model import Pairs
from qasel.papers.question_relevancy.recipes import FOURTEEN
from qasel.text import Vectors
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


def fake(network, features=TWO, words="all", known="abcdeijz", name="tiny", corpus=()):
    """A ranker whose network is a function."""
    matrix = np.random.default_rng(0).standard_normal((len(known), 3)).astype(np.float32)
    vectors = Vectors(name, {word: i for i, word in enumerate(known)}, matrix)
    chosen = recipe("STL-MLP").change(features=features, words=words)
    ranker = RelevancyRanker(chosen, vectors, torch.device("cpu"))
    ranker.network, ranker.corpus = network, corpus
    return ranker


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
    """The source of the figure."""
    (code,) = re.findall(r"base64,([^\"]*)", explorer.picture.value)
    return base64.b64decode(code).decode("utf-8")


def distances(explorer):
    """The pair's distances, by name, as the figure's description has them."""
    (alt,) = re.findall('alt="distances of this pair: ([^"]*)"', explorer.picture.value)
    return dict(part.split("  ") for part in unescape(alt).split(", "))


def test_parts_of_a_line_are_its_terms_and_those_of_a_product_do_not_add_up():
    pair = Pairs(torch.tensor([[2.0, 3.0]]))
    line = fake(Fake(linear))
    assert line.log_odds(pair) == pytest.approx([0.25 - 1 + 3])
    assert parts(line, pair).to_dict() == pytest.approx(dict(zip(TWO, (-1, 3), strict=True)))
    assert parts(fake(Fake(lambda x: x[:, 0] * x[:, 1])), pair).tolist() == pytest.approx([6, 6])


@pytest.mark.parametrize("variant", ["STL-MLP", "STL-MLP, tf-idf", "STL-BiLSTM-SIM"])
def test_scores_are_those_of_the_ranker(variant):
    chosen = recipe(variant, scale="quick")
    ranker = RelevancyRanker(chosen, fake(None).vectors, torch.device("cpu"))
    ranker.prepare(Split("train", SPLIT[:1]), {})
    ranked = ranker.rank(SPLIT)
    systems = DistanceExplorer({variant: ranker}, SPLIT)
    for asked in SPLIT[:3]:
        pick(systems, SPLIT, asked.id)
        odds = ranked.scores[asked.id][systems.picks[0].value.id]
        shown = re.search("log odds ([^,]*),", told(systems)[variant])[1].replace("−", "-")
        assert float(shown) == pytest.approx(odds, abs=6e-4)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.12345, "0.123"), (-2.5, "−2.5"), (-0.0, "0"), (7, "7"), (1234.5, "1234")],
)
def test_numbers_are_short(value, shown):
    assert short(value) == shown


def test_it_opens_with_a_relevant_pair_and_leaves_a_picture(explorer):
    assert explorer.picks[0].value.text == "b c"
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
        "line": "P(relevant) 0.417, log odds −0.333, place 2 of 3",
        "<one>": told(explorer)["<one>"],
    }


def test_all_distances_and_parts_are_shown(explorer):
    assert list(distances(explorer)) == [*TWO, "cosine tf-idf trigram", "jaccard trigram"]
    assert list(distances(explorer).values())[:2] == ["2", "0.333"]
    texts = re.findall("<text[^>]*>([^<]*)</text>", drawn(explorer))
    assert [texts.count(part) for part in ("−0.250", "−0.333", "–")] == [1, 1, 4]
    assert {"line", "&lt;one&gt;", "relevant", "non-relevant"} <= set(texts)
    untrained = fake(Fake(lambda x: x[:, 0], features=14), FOURTEEN, corpus=("a",))
    assert list(distances(DistanceExplorer({"untrained": untrained}, SPLIT))) == list(FOURTEEN)


def test_the_rankings_stand_beside_the_order_in_which_the_questions_were_found(explorer):
    head = re.findall("<thead>(.*?)</thead>", explorer.picture.value)[-1]
    assert re.match("as found.*line.*<one>", plain(head))
    first = tables(explorer)[1][0]
    assert [cell.split()[:2] for cell in first[1:3]] == [["c", "d"], ["✓", "a"]]


def test_another_pair_changes_the_picture(explorer):
    before = drawn(explorer)
    explorer.picks[0].index = 0
    assert told(explorer)["✗ non-relevant"] == "c d"
    assert told(explorer)["shared words"] == "0 of 4 different words that count (Jaccard 0.000)"
    assert drawn(explorer) != before
    pick(explorer, SPLIT, "long")
    assert explorer.picks[0].value.text == "b"


def test_typed_questions_and_words_without_a_vector(explorer):
    write_own(explorer, "a e zyzzyva", "+e <i>f</i>\nz")
    assert told(explorer)["✓ relevant"] == "e <i>f</i>"
    unknown = "none for 5 of 8 words, which count as zeros in the mean: /i, <, >, f, zyzzyva"
    assert told(explorer)["word vectors"] == unknown
    assert "<i>" not in explorer.picture.value
    assert "place 1 of 2" in explorer.picture.value
    explorer.picks[0].index = 1
    assert told(explorer)["✗ non-relevant"] == "z"
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
    assert "nan" not in drawn(explorer) + plain(explorer.picture.value)


def test_texts_are_escaped_and_labels_may_be_missing(explorer):
    pick(explorer, SPLIT, "bad")
    picture = explorer.static()
    for markup in ("<script", "<b>bold", "<img src=x", "<one>"):
        assert markup not in picture
    assert told(explorer)["original"] == "<script>1 & 2"
    assert told(explorer)["? not known"].startswith("<b>bold")
    assert "nan" not in drawn(explorer) + plain(explorer.picture.value)


def test_vectors_may_be_cut_to_the_words_of_other_tasks():
    rankers = {"narrow": fake(Fake(linear), known="ab"), "wide": fake(Fake(linear))}
    explorer = DistanceExplorer(rankers, SPLIT)
    write_own(explorer, "a", "z y")
    assert told(explorer)["word vectors"].startswith("none for 1 of 3 words")


@pytest.mark.parametrize(
    ("rankers", "message"),
    [
        ({}, "no ranker to explore"),
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
    with pytest.raises(QaselError, match="STL-MLP: not trained"):
        DistanceExplorer({"STL-MLP": untrained}, SPLIT)
    with pytest.raises(QaselError, match="dev has no question to explore"):
        DistanceExplorer({"line": fake(Fake(linear))}, Split("dev", ()))
    with pytest.raises(QaselError, match="no question 'q9'"):
        DistanceExplorer({"line": fake(Fake(linear))}, SPLIT, first="q9")
