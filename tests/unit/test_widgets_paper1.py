"""The explorers of paper 1 on a tiny untrained network, and what its notebook counts."""

import numpy as np
import pytest
import torch
from explorers import tables, write_own
from ledger_rows import PAGES, runs_of

from qasel.datasets.base import Candidate, Question, Split
from qasel.errors import QaselError
from qasel.papers.hierarchical_ranking import ROOM, HierarchicalRanker, recipe
from qasel.papers.hierarchical_ranking import report as claims
from qasel.papers.hierarchical_ranking.explorer import AttentionExplorer, IntegrationExplorer
from qasel.papers.lesson import chosen_recipes
from qasel.results.claims import Claim, claims_table, judged, summary
from qasel.results.claims import claims as stated_claims
from qasel.results.compare import compared, significance
from qasel.results.ledger import Row
from qasel.text import Vectors, tokenize
from qasel.widgets.base import OWN
from qasel.widgets.live import LiveCurves

CPU = torch.device("cpu")


def make_split():
    lists = {
        "when was the tower built": [
            ("the tower is tall", 0),
            ("it was finished in 1889", 1),
            ("when they built it <b>nobody</b> & no one cared", 0),
        ],
        "who drew it": [("two engineers drew it", 1), ("it is made of iron", 0)],
    }
    return Split(
        "test",
        tuple(
            Question(
                f"q{i}",
                text,
                tuple(Candidate(f"c{i}-{j}", t, y, j) for j, (t, y) in enumerate(answers)),
            )
            for i, (text, answers) in enumerate(lists.items())
        ),
    )


def make_ranker(variant, split):
    words = sorted({w for q in split for c in q.candidates for w in c.text.split()})
    matrix = np.random.default_rng(0).standard_normal((len(words), 5)).astype(np.float32)
    vectors = Vectors("tiny", {word: i for i, word in enumerate(words)}, matrix)
    settings = recipe(variant).change(hidden=4, channels=2, kernels=(1, 2), k_max=0)
    ranker = HierarchicalRanker(settings, vectors, CPU)
    ranker.prepare(split)
    ranker.network.eval()
    return ranker


@pytest.fixture(scope="module")
def split():
    return make_split()


@pytest.fixture
def attention(split):
    return AttentionExplorer(make_ranker("PRI(list)", split), split)


@pytest.fixture
def integration(split):
    variants = ("CA(list)", "MTL(list)", "PRI(list)")
    return IntegrationExplorer({name: make_ranker(name, split) for name in variants}, split)


@pytest.fixture(params=["attention", "integration"])
def explorer(request):
    return request.getfixturevalue(request.param)


def test_an_explorer_opens_with_a_right_answer_and_leaves_a_static_picture(explorer):
    assert explorer.picks[0].value.label == 1
    bundle = explorer._repr_mimebundle_()
    assert "finished" in bundle["text/html"]
    assert "when was the tower built" in bundle["text/html"]


def test_a_change_of_the_candidate_changes_the_picture(explorer):
    before = explorer.picture.value
    explorer.picks[0].index = 0
    assert explorer.picks[0].value.text == "the tower is tall"
    assert explorer.picture.value != before


def test_a_change_of_the_question_offers_its_own_candidates(explorer):
    explorer.picks[0].index = 2
    explorer.choice.value = 1
    assert [label for label, _ in explorer.picks[0].options] == [
        "✓ two engineers drew it",
        "✗ it is made of iron",
    ]
    assert explorer.picks[0].value.text == "two engineers drew it"
    assert "who drew it" in explorer.picture.value
    assert "tower" not in explorer.picture.value


def test_an_explorer_can_open_with_a_question_by_its_id(split):
    explorer = AttentionExplorer(make_ranker("CA(list)", split), split, first="q1")
    assert explorer.question.text == "who drew it"


def test_text_of_the_data_is_escaped(explorer):
    explorer.picks[0].index = 2
    assert "<b>nobody" not in explorer.picture.value
    assert "&lt;b&gt;nobody" in explorer.picture.value


def test_typed_text_is_escaped_and_may_have_unknown_words(explorer):
    write_own(explorer, "is 1 < 2 & <script>", "+zyzzyva <i>x</i> & y\nplain words")
    assert "<script>" not in explorer.picture.value
    assert "<i>x" not in explorer.picture.value
    assert "&lt;i&gt;x&lt;/i&gt; &amp; y" in explorer.picture.value
    assert "zyzzyva" in explorer.picture.value


def test_long_texts_are_cut_in_the_picture(attention):
    write_own(attention, "tower " * 31, "+" + "built " * 61)
    told = "the first 30 of 31 question words, the first 60 of 61 answer words"
    assert attention.picture.value.count(told) == 2


def test_typed_text_without_a_right_answer_has_no_precision(integration):
    write_own(integration, "who", "one\ntwo")
    assert "average precision" in integration.picture.value
    assert "<td" in integration.picture.value
    assert "–" in integration.picture.value


def test_an_unfinished_question_asks_for_more(explorer):
    explorer.choice.value = OWN
    assert "Type a question" in explorer.picture.value


def test_weights_of_both_directions_sum_to_one(attention):
    texts = attention.question.text, attention.picks[0].value.text
    asked, told = map(list, map(tokenize, texts))
    over_answer, over_question = attention.ranker.attention(*texts)
    for weights, rows, columns in ((over_answer, asked, told), (over_question, told, asked)):
        assert (list(weights.index), list(weights.columns)) == (rows, columns)
        assert weights.sum(axis=1).to_numpy() == pytest.approx(np.ones(len(rows)))
    assert attention.picture.value.count("<img") == 2


def test_places_and_precisions_are_those_of_the_runs(integration):
    places = integration.places(integration.question)
    assert list(places) == [
        "CA(list)\nlist ★",
        *("MTL(list)\npoint", "MTL(list)\npair", "MTL(list)\nlist ★"),
        *("PRI(list)\npoint", "PRI(list)\npair", "PRI(list)\nlist ★"),
    ]
    assert integration.picture.value.count("★") == 3 + 1  # three heads, and the caption
    assert sorted(places.iloc[:-1, 0]) == [1, 2, 3]
    place = places.loc["c0-1", "CA(list)\nlist ★"]
    assert places.loc["average precision", "CA(list)\nlist ★"] == f"{1 / place:.2f}"
    (_, _, _, last) = tables(integration)[0]
    assert last[2:] == places.loc["average precision"].tolist()


def test_integration_needs_a_ranker(split):
    with pytest.raises(QaselError, match="at least one"):
        IntegrationExplorer({}, split)


def test_live_curves_grow():
    curves = LiveCurves()
    empty = curves.picture.value
    follow = curves.follow("CA(list) <1>")
    epochs = [{"epoch": 1.0, "loss": 0.5, "dev_map": 0.4, "seconds": 1.0}]
    follow(epochs)
    one = curves.picture.value
    follow([*epochs, {"epoch": 2.0, "loss": 0.4, "dev_map": 0.6, "seconds": 1.0}])
    assert len({empty, one, curves.picture.value}) == 3
    assert "best dev MAP 0.600 after epoch 2" in curves.picture.value
    assert "CA(list) &lt;1&gt;" in curves.picture.value


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"variants": " , "}, "at least one"),
        ({"variants": "CA(list),CA(list)"}, "once"),
        ({"variants": "XX"}, "unknown variant"),
        ({"scale": "huge"}, "unknown scale"),
        ({"epochs": -1}, "setting epochs"),
        ({"epochs": 1.5}, "setting epochs"),
        ({"seed": "one"}, "seed"),
        ({"settings": "margn=1"}, "did you mean 'margin'"),
    ],
)
def test_bad_parameters_are_refused(changes, message):
    good = {"variants": "CA(list)", "dataset": "sample", "scale": "quick", "seed": 0}
    with pytest.raises(QaselError, match=message):
        chosen_recipes(ROOM.name, **(good | changes))


def test_parameters_become_recipes():
    found = chosen_recipes(
        ROOM.name,
        "CA(list), PRI(list) w/o pair-level",
        "wikiqa",
        scale="paper",
        seed=3,
        epochs=2,
        settings="margin=0.2 k_max=0",
    )
    assert list(found) == ["CA(list)", "PRI(list) w/o pair-level"]
    changed = {(r.seed, r.epochs, r.margin, r.k_max) for r in found.values()}
    assert changed == {(3, 2, 0.2, 0)}


def make_row(variant, seed, values):
    per_question = {"map": {f"q{i}": value for i, value in enumerate(values)}}
    settings = recipe(variant, "wikiqa", seed=seed)
    return Row(
        recipe=settings.as_dict(),
        hash=settings.hash,
        slug=settings.slug,
        scores={"test": {"map": float(np.mean(values)), "mrr": 0.5}},
        questions={"test": len(values)},
        per_question={"test": per_question},
        history=[{"list": 0.2 if variant == "PRI(list)" else 0.3}] * 2,
        best_epoch=2,
        seconds=1.0,
        device="a machine",
        vectors={"name": settings.vectors, "coverage": 1.0},
        versions={},
        revision="",
        finished="",
    )


def test_claims_without_runs():
    frame = stated_claims(ROOM, runs_of([]))
    assert set(frame["verdict"]) == {"not run"}
    assert summary(frame) == f"{len(frame)} comparisons, 0 of them run by us."
    for table in (
        PAGES["convergence"],
        claims.together,
        PAGES["judged_by_dev"],
        PAGES["pair_level"],
    ):
        assert table(runs_of([])).empty


def test_claims_are_judged_by_the_runs():
    better, worse = [0.9] * 20, [0.5] * 20
    rows = [make_row("PRI(list)", seed, better) for seed in (0, 1)]
    rows += [make_row("CA(list)", seed, worse) for seed in (0, 1)]
    rows += [make_row("RI(list)", 0, [*better[:-1], 0.96])]
    rows += [make_row("DCA", 1, better)]
    found = stated_claims(ROOM, runs_of(rows))
    frame = found.set_index(["systems", "data"])
    line = frame.loc["PRI(list) over CA(list)", "WikiQA"]
    assert line["verdict"] == "clearly the paper's way"
    assert (line["paper"], line["ours"], line["seeds"]) == ("+0.006", "+0.400", 2)
    line = frame.loc["PRI(list) over RI(list)", "WikiQA"]
    assert (line["ours"], line["verdict"]) == ("-0.003", "the other way, not clearly")
    assert frame.loc["PRI(list) over DCA", "WikiQA"]["verdict"] == "no difference"
    counts = "1 clearly the paper's way; 1 the paper's way, not clearly; 1 no difference; "
    counts += "1 the other way, not clearly"
    assert f"4 of them run by us. Of those: {counts} (" in summary(found)
    text = claims_table(found)
    assert "| --: |" in text
    assert "measure" not in text, "MAP in every line"
    found = PAGES["convergence"](runs_of(rows))
    assert found.to_dict("index") == {
        "WikiQA": {
            "epochs": 2,
            "PRI(list) lower in": 2,
            "best epoch, PRI(list)": "2.0",
            "best epoch, CA(list)": "2.0",
            "runs": "2 and 2",
        }
    }


def test_a_claim_of_less_is_seen_from_the_papers_side():
    rows = [make_row("PRI(list)", seed, [0.9] * 20) for seed in (0, 1)]
    rows += [make_row("CA(list)", seed, [0.5] * 20) for seed in (0, 1)]
    claim = Claim("", "CA(list)", "PRI(list)", "wikiqa")
    (line,) = judged(ROOM, [claim], runs_of(rows)).itertuples()
    assert (line.paper, line.ours, line.verdict) == ("-0.006", "-0.400", "clearly the paper's way")


def test_a_difference_that_one_seed_makes_is_not_clear():
    rows = [make_row("PRI(list)", seed, [0.9] * 20) for seed in (0, 1, 2)]
    rows += [make_row("CA(list)", seed, [value] * 20) for seed, value in enumerate((0.9, 0.9, 0.6))]
    claim = Claim("", "PRI(list)", "CA(list)", "wikiqa")
    (line,) = judged(ROOM, [claim], runs_of(rows)).to_dict("records")
    assert line["ours"] == "+0.100"
    low, high = map(float, line["95 % interval"].split(" to "))
    assert high - 0.1 == pytest.approx(
        0.430, rel=0.1
    )  # 0, 0 and 0.3: t(2) = 4.303, deviation 0.1732
    assert low + high == pytest.approx(0.2, abs=0.002)
    assert float(line["p"]) == pytest.approx(0.423, abs=0.03)
    assert line["verdict"] == "the paper's way, not clearly"


def test_tests_are_a_table():
    rows = [make_row("PRI(list)", 0, [0.9] * 20), make_row("DCA", 0, [0.5] * 20)]
    runs, asked = runs_of(rows), ("map", "PRI(list)", "DCA")
    found = [significance(ROOM, name, *asked, runs) for name in ("wikiqa", "trecqa")]
    (line,) = compared(found).to_dict("records")
    assert line["systems"] == "PRI(list) over DCA"
    assert (line["difference"], line["questions"], line["seeds"]) == (0.4, 20, 1)
