"""The explorer of AP-MPCNN: effects computed by hand, maps, switches, typed and odd texts."""

import base64
import re
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from explorers import pick, plain, tables, write_own

from qasel.datasets.base import Candidate, Question, Split
from qasel.errors import QaselError
from qasel.papers.ap_mpcnn import APMPCNNRanker, recipe
from qasel.papers.ap_mpcnn.explorer import (
    CELLS,
    ENTRIES,
    PerspectiveExplorer,
    cells,
    differences,
    exchanged,
    sentence,
    strongest,
    switched,
    window,
)
from qasel.text import Vectors
from qasel.widgets.base import number, short

KNOWN = ["when", "was", "it", "built", "in", "the", "iron", "tower"]


def question(id, text, texts, labels):
    pairs = enumerate(zip(texts, labels, strict=True))
    return Question(id, text, tuple(Candidate(f"{id}-{i}", t, y, i) for i, (t, y) in pairs))


SPLIT = Split(
    "dev",
    (
        question("wrong", "who", ["it", "the"], [0, 0]),
        question(
            "tower",
            "when was it built",
            ["the iron tower", "built in 1889", "it was", "when it was built", "in iron"],
            [0, 1, 0, 0, 1],
        ),
        question("right", "when", ["in 1889", "then"], [1, 1]),
        question("odd", "<script>1 & $2 $3", ["<b>$</b> it $", "", "\x00\x01 ]]>"], [0, 1, 0]),
        question("long", "it " * 300, ["tower " * 299 + "iron", "was"], [0, 1]),
        question("unknown", "when", ["in 1889", "then"], [None, None]),
    ),
)


def make(variant="AP-MPCNN"):
    matrix = np.random.default_rng(0).standard_normal((len(KNOWN), 5)).astype(np.float32)
    vectors = Vectors("tiny", {word: i for i, word in enumerate(KNOWN)}, matrix)
    ranker = APMPCNNRanker(
        recipe(variant).change(filters=5, hidden=6), vectors, torch.device("cpu")
    )
    ranker.prepare(SPLIT)
    return ranker


@pytest.fixture(scope="module")
def ranker():
    return make()


@pytest.fixture
def explorer(ranker):
    return PerspectiveExplorer(ranker, SPLIT)


def rows(explorer):
    """The cells of the two sides: score, question and candidate, each right and wrong."""
    body = re.search("<tbody>(.*?)</tbody>", explorer.picture.value, re.DOTALL).group(1)
    found = [re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL) for row in body.split("<tr>")[1:]]
    return {plain(name): (right, wrong) for name, right, wrong in found}


def drawn(explorer):
    """The sources of the drawings, which must be well-formed: a scale, and strips."""
    codes = re.findall(r"base64,([^\"]*)", explorer.picture.value)
    found = [base64.b64decode(code).decode("utf-8") for code in codes]
    for source in found:
        ElementTree.fromstring(source)
        assert "nan" not in source
    assert len(found) == 1 + 2 * 3 * 3
    return found


def chosen(explorer):
    return [pick.value and pick.value.text for pick in explorer.picks.values()]


def test_effects_in_a_linear_network_are_its_terms():
    right, wrong = np.array([1.0, 2.0, 5.0]), np.array([3.0, -1.0, 5.0])
    weights = np.array([0.5, 2.0, 1.0])
    found = exchanged(lambda x: x @ weights, right, wrong, np.eye(3, dtype=bool))
    assert found == pytest.approx([-1, 6, 0])
    assert found.sum() == pytest.approx((right - wrong) @ weights)


def test_effects_in_a_product_are_the_mean_of_both_ways():
    right, wrong = np.array([1.0, 2.0]), np.array([3.0, 5.0])
    which = np.array([[True, False], [True, True]])
    found = exchanged(lambda x: x[:, 0] * x[:, 1], right, wrong, which)
    # 1·2 falls to 3·2, 3·5 rises to 1·5; and all of it is the difference.
    assert found == pytest.approx([((2 - 6) + (5 - 15)) / 2, 2 - 15])


def test_the_largest_differences_come_first(ranker):
    right, wrong = (
        ranker.inside("when was it built", text).compared for text in ("built in 1889", "it was")
    )
    kinds, entries = differences(ranker, right, wrong)
    sizes = entries["effect"].abs()
    assert len(sizes) == len(ranker.entries)
    assert sizes.is_monotonic_decreasing
    assert dict(zip(kinds["name"], kinds["entries"], strict=True)) == {
        "cosine of filters": 5,
        "Euclid of filters": 5,
        "cosine of widths": 9,
        "Euclid of widths": 9,
        "|x − y| of widths": 9,
        "sparse features": 4,
    }
    names = [entry.name for entry in ranker.entries]
    for row in entries.itertuples():
        place = names.index(row.name)
        assert (row.right, row.wrong) == (right[place], wrong[place])
    every = np.ones((1, len(names)), dtype=bool)
    (whole,) = exchanged(ranker.log_odds, right, wrong, every)
    odds = ranker.log_odds(np.stack([right, wrong]))
    assert whole == pytest.approx(odds[0] - odds[1], abs=1e-6)


def test_filters_that_differ_most():
    right, wrong = (
        SimpleNamespace(pooled=np.array([[0.0] * 4, values]))
        for values in ([0.1, 0.9, -0.5, 0.3], [0.2, 0.5, 0.5, 0.3])
    )
    assert strongest(right, wrong, 2) == [2, 1, 0]


def test_scores_with_each_part_off(ranker):
    found = switched(ranker, "when was it built", "built in 1889", "it was")
    assert list(found) == ["", "attention", "wide", "sparse"]
    for part, odds in found.items():
        for value, text in zip(odds, ("built in 1889", "it was"), strict=True):
            assert value == ranker.inside("when was it built", text, part).log_odds
    assert len({right for right, _ in found.values()}) == 4
    lacking = switched(make("Sparse feature vector only"), "when", "built", "was")
    assert [part for part, odds in lacking.items() if odds is None] == ["attention", "wide"]


def test_long_maps_keep_their_maximum_and_windows_are_cut():
    values = np.arange(200.0)
    values[17] = 500
    found = cells(values)
    assert len(found) == CELLS
    assert (found.max(), found.argmax()) == (500, next(i for i in range(CELLS) if found[i] == 500))
    assert cells(values[:7]).tolist() == values[:7].tolist()
    assert window(["", "a", "b"], 40) == "– a b"
    assert window(["abcdefghijkl", "xyz"], 11) == "abcd… xyz"
    assert window(["a\x00b"], 11) == "a\ufffdb"


def test_words_have_their_weights():
    words, weights = ("a", "$", "<", "b", "c", "d"), np.array([0.3, 0.5, 0.1, 0.05, 0.04999, 1e-5])
    html = sentence(SimpleNamespace(words=words, weights=weights))
    told = ("0.300", "0.500", "0.100", "0.050", "0.050", "1.0e−05")
    assert re.findall('title="(.*?)"', html) == list(told)
    assert plain(html) == "a 0.300 $ 0.500 < 0.100 b 0.050 c 0.050 d"
    assert ">$<" in html
    assert "title" not in sentence(SimpleNamespace(words=words, weights=None))


def test_it_opens_with_the_best_right_and_wrong_one_of_a_question_with_both(explorer, ranker):
    assert explorer.question.id == "tower"
    scores = ranker.rank(SPLIT).scores["tower"]
    ranked = sorted(explorer.question.candidates, key=lambda c: -scores[c.id])
    best = [next(c for c in ranked if c.label == label) for label in (1, 0)]
    assert [pick.value for pick in explorer.picks.values()] == best
    for side, candidate in enumerate(best):
        told = plain(rows(explorer)["score"][side])
        assert f"log odds {number(scores[candidate.id], '+')}" in told
        assert told.endswith(f"place {ranked.index(candidate) + 1} of 5")
    picture = explorer._repr_mimebundle_()["text/html"]
    for banned in ("<script", "<style", "<svg"):
        assert banned not in picture
    assert PerspectiveExplorer(ranker, SPLIT, first="long").question.id == "long"


def test_the_pictures_say_what_they_show(explorer, ranker):
    _, maps, entries, scores = tables(explorer)
    right, wrong = (ranker.inside("when was it built", text) for text in chosen(explorer))
    for width in (1, 2, 3):
        title, *shown = maps[4 * (width - 1) : 4 * width]
        assert title[0] == f"Windows of {width} word{'s' if width > 1 else ''}"
        filters = strongest(right.answer, wrong.answer, width)
        assert [row[0] for row in shown] == [f"filter {filter + 1}" for filter in filters]
        for cell, side in zip(shown[0][1:], (right, wrong), strict=True):
            for found in (side.answer, side.question):
                words = " ".join(w or "–" for w in found.winner(width, filters[0])[1])
                assert f"“{words}” {short(found.pooled[width - 1, filters[0]])}" in cell
    kinds, single = differences(ranker, right.compared, wrong.compared)
    names = ["All entries of a kind together", *kinds["name"], "Single entries", *single["name"]]
    assert [row[0] for row in entries] == names[: 1 + len(kinds) + 1 + ENTRIES]
    effects = [number(effect, "+") for effect in single["effect"]]
    assert [row[4] for row in entries[-ENTRIES:]] == effects[:ENTRIES]
    margin = number(right.log_odds - wrong.log_odds, "+")
    assert f"the difference is {margin}." in plain(explorer.picture.value)
    assert scores[0][3] == margin
    offs = ["all parts on", "attention off", "wide convolution off", "sparse features off"]
    assert [row[0] for row in scores] == offs
    for row in scores:
        assert re.fullmatch(r"✓ +0\.\d{3}✗ +0\.\d{3}", row[1])


def test_strips_have_a_frame_and_say_where(explorer):
    pairs = re.findall(r'alt="([^"]*)"[^>]*base64,([^"]*)"', explorer.picture.value)[1:]
    for told, code in pairs:
        count, largest = map(int, re.findall(r"\d+", told))
        source = base64.b64decode(code).decode("utf-8")
        assert source.count("<rect x=") == count >= largest > 0
        assert source.count("<polyline") == 1


def test_other_candidates_and_another_question_change_the_picture(explorer):
    before = explorer.picture.value
    explorer.picks[0].value = explorer.picks[0].options[1][1]
    assert chosen(explorer)[1] == "it was"
    assert plain(rows(explorer)["candidate"][1]).startswith("it ")
    assert explorer.picture.value != before
    explorer.asked.value = "  the <i>tower</i>  "
    for side in rows(explorer)["question"]:
        assert re.sub(r" [\d.]+", "", plain(side)) == "the < i > tower < /i >"
    assert "<i>" not in explorer.picture.value
    pick(explorer, SPLIT, "long")
    assert explorer.asked.value == ""
    assert chosen(explorer) == ["was", "tower " * 299 + "iron"]
    drawn(explorer)
    assert len(explorer.picture.value) < 400_000


@pytest.mark.parametrize(
    ("id", "kind"), [("right", "wrong"), ("wrong", "right"), ("unknown", "right")]
)
def test_a_question_that_lacks_a_kind_says_so(explorer, id, kind):
    pick(explorer, SPLIT, id)
    assert f"no {kind} candidate: pick another" in explorer.picture.value
    explorer.asked.value = "when"
    assert "<img" not in explorer.picture.value
    pick(explorer, SPLIT, "tower")
    assert "<img" in explorer.picture.value


def test_odd_texts_are_escaped(explorer):
    pick(explorer, SPLIT, "odd")
    for picked in explorer.picks[0].options:
        explorer.picks[0].value = picked[1]
        picture = explorer.static()
        for markup in ("<script", "<b>$", "]]>"):
            assert markup not in picture
        shown = re.sub("<.*?>", "<>", picture)
        assert shown.count("$") == shown.count(">$<") > 0
        assert plain(rows(explorer)["candidate"][0]) == "(no word)"
        drawn(explorer)


def test_typed_questions_with_typed_candidates(explorer):
    for text, lines in (("", ""), ("a", ""), ("a", " \n+\n"), (" ", "b")):
        write_own(explorer, text, lines)
        assert "Type a question" in explorer.picture.value
    write_own(explorer, "who", "it\nthe tower")
    assert "begin the lines of the right ones with +" in explorer.picture.value
    explorer.lines.value = "+eiffel <i>x</i>\nit"
    assert chosen(explorer) == ["eiffel <i>x</i>", "it"]
    assert "place 1 of 2" in explorer.picture.value
    drawn(explorer)


def test_a_recipe_without_parts_says_so():
    explorer = PerspectiveExplorer(make("Sparse feature vector only"), SPLIT)
    assert "This recipe has no attention" in explorer.picture.value
    assert "title=" not in explorer.picture.value
    assert [row[1] for row in tables(explorer)[3]].count("not in this recipe") == 2


def test_what_cannot_be_explored_is_refused(ranker):
    untrained = APMPCNNRanker(recipe(), ranker.vectors, torch.device("cpu"))
    with pytest.raises(QaselError, match="no trained network"):
        PerspectiveExplorer(untrained, SPLIT)
    with pytest.raises(QaselError, match="dev has no question to explore"):
        PerspectiveExplorer(ranker, Split("dev", ()))
    with pytest.raises(QaselError, match="no question 'q9'"):
        PerspectiveExplorer(ranker, SPLIT, first="q9")
    unanswered = PerspectiveExplorer(ranker, Split("dev", SPLIT[:1]))
    assert "no right candidate" in unanswered.static()


def test_it_prints_nothing(capsys, explorer):
    pick(explorer, SPLIT, "long")
    explorer.asked.value = "it"
    assert capsys.readouterr() == ("", "")
