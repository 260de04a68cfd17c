"""The explorer of AP-MPCNN: weights, windows, switches, typed and odd texts."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from explorers import pick, plain, tables, write_own

from qasel.datasets.base import Candidate, Question, Split
from qasel.errors import QaselError
from qasel.papers.ap_mpcnn import APMPCNNRanker, recipe
from qasel.papers.ap_mpcnn.explorer import (
    FILTERS,
    PerspectiveExplorer,
    strongest,
    switched,
    switched_figure,
    weighted,
)
from qasel.text import Vectors
from qasel.widgets.base import number

WRONG = 1
"""The dropdown of the wrong candidates: the second."""
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


def chosen(explorer):
    return [pick.value and pick.value.text for pick in explorer.picks]


def test_filters_that_differ_most():
    right, wrong = (
        SimpleNamespace(maps=(None, pd.DataFrame([[-1.0] * 4, values], columns=range(1, 5))))
        for values in ([0.1, 0.9, -0.5, 0.3], [0.2, 0.5, 0.5, 0.3])
    )
    assert strongest(right, wrong, 2) == [3, 2, 1]


def test_scores_with_each_part_off(ranker):
    found = switched(ranker, "when was it built", "built in 1889", "it was")
    assert list(found.index) == ["", "attention", "wide", "sparse"]
    for part, odds in found.iterrows():
        for value, text in zip(odds, ("built in 1889", "it was"), strict=True):
            assert value == ranker.inside("when was it built", text, part).log_odds
    assert found["right"].nunique() == 4
    (axes,) = switched_figure(found).axes
    names = [label.get_text() for label in axes.get_yticklabels()][::-1]
    parts = ["all parts on", "attention off", "wide convolution off", "sparse features off"]
    margins = [number(gap, "+") for gap in found["right"] - found["wrong"]]
    expected = [f"{part}\nmargin {gap}" for part, gap in zip(parts, margins, strict=True)]
    assert names == expected
    f = 1 / (1 + np.exp(-found["right"].iloc[0]))
    assert f"{f:.3f} right" in [text.get_text() for text in axes.texts]
    lacking = switched(make("Sparse feature vector only"), "when", "built", "was")
    assert list(lacking.index) == ["", "sparse"]


def test_words_have_their_weights():
    words = ("a", "$", "<", "b", "c", "d")
    weights = np.array([0.3, 0.5, 0.1, 0.05, 0.04999, 1e-5])
    html = weighted(SimpleNamespace(words=words, weights=weights))
    assert plain(html) == "a 0.300 $ 0.500 < 0.100 b 0.050 c 0.050 d"
    assert ">$<" in html
    assert plain(weighted(SimpleNamespace(words=words, weights=None))) == "a $ < b c d"


def test_it_opens_with_the_best_right_and_wrong_one_of_a_question_with_both(explorer, ranker):
    assert explorer.question.id == "tower"
    scores = ranker.rank(SPLIT).scores["tower"]
    ranked = sorted(explorer.question.candidates, key=lambda c: -scores[c.id])
    best = [next(c for c in ranked if c.label == label) for label in (1, 0)]
    assert [pick.value for pick in explorer.picks] == best
    for side, candidate in enumerate(best):
        told = plain(rows(explorer)["score"][side])
        assert f"log odds {number(scores[candidate.id], '+')}" in told
        assert told.endswith(f"place {ranked.index(candidate) + 1} of 5")
    picture = explorer._repr_mimebundle_()["text/html"]
    for banned in ("<script", "<style", "<svg"):
        assert banned not in picture
    assert PerspectiveExplorer(ranker, SPLIT, first="long").question.id == "long"


def test_the_strongest_windows(explorer, ranker):
    shown = tables(explorer)[1]
    right, wrong = (ranker.inside("when was it built", text) for text in chosen(explorer))
    for width in (1, 2, 3):
        title, *rows = shown[(FILTERS + 1) * (width - 1) : (FILTERS + 1) * width]
        assert title[0] == f"Windows of {width} word{'s' if width > 1 else ''}"
        filters = strongest(right.answer, wrong.answer, width)
        assert [row[0] for row in rows] == [f"filter {filter}" for filter in filters]
        for cell, side in zip(rows[0][1:], (right, wrong), strict=True):
            for found in (side.answer, side.question):
                values = found.maps[width - 1][filters[0]]
                assert f"“{values.idxmax()}” {number(values.max())}" in cell


def test_other_candidates_and_another_question_change_the_picture(explorer):
    before = explorer.picture.value
    other = next(c for _, c in explorer.picks[WRONG].options if c.text == "it was")
    explorer.picks[WRONG].value = other
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
    for picked in explorer.picks[WRONG].options:
        explorer.picks[WRONG].value = picked[1]
        picture = explorer.static()
        for markup in ("<script", "<b>$", "]]>"):
            assert markup not in picture
        shown = re.sub("<.*?>", "<>", picture)
        assert shown.count("$") == shown.count(">$<") > 0
        assert plain(rows(explorer)["candidate"][0]) == "(no word)"


def test_typed_questions_with_typed_candidates(explorer):
    for text, lines in (("", ""), ("a", ""), ("a", " \n+\n"), (" ", "b")):
        write_own(explorer, text, lines)
        assert "Type a question" in explorer.picture.value
    write_own(explorer, "who", "it\nthe tower")
    assert "the lines of the right ones beginning with +" in explorer.picture.value
    explorer.lines.value = "+eiffel <i>x</i>\nit"
    assert chosen(explorer) == ["eiffel <i>x</i>", "it"]
    assert "place 1 of 2" in explorer.picture.value


def test_a_recipe_without_parts_says_so():
    explorer = PerspectiveExplorer(make("Sparse feature vector only"), SPLIT)
    assert "This recipe has no attention" in explorer.picture.value


def test_what_cannot_be_explored_is_refused(ranker):
    untrained = APMPCNNRanker(recipe(), ranker.vectors, torch.device("cpu"))
    with pytest.raises(QaselError, match="AP-MPCNN: not trained"):
        PerspectiveExplorer(untrained, SPLIT)
    with pytest.raises(QaselError, match="dev has no question to explore"):
        PerspectiveExplorer(ranker, Split("dev", ()))
    with pytest.raises(QaselError, match="no question 'q9'"):
        PerspectiveExplorer(ranker, SPLIT, first="q9")
    unanswered = PerspectiveExplorer(ranker, Split("dev", SPLIT[:1]))
    assert "no right candidate" in unanswered.static()
