"""Recipes: hashes, settings, and the rows of the paper."""

import json
from typing import ClassVar

import pytest

from qasel.errors import QaselError
from qasel.locations import results_dir
from qasel.papers import ROOMS
from qasel.papers.hierarchical_ranking import SCHEMES, recipe
from qasel.training.recipe import Recipe, literal, recipe_from, settings, write_recipe


def test_hash_tells_every_difference():
    base = recipe("PRI(list)", "wikiqa")
    others = [
        base.change(seed=1),
        base.change(margin=0.7),
        base.change(kernels=(1, 2)),
        recipe("RI(list)", "wikiqa"),
        recipe("PRI(list)", "trecqa"),
        recipe("PRI(list)", "wikiqa", vectors="glove.840B.300d"),
    ]
    assert len({base.hash, *(other.hash for other in others)}) == len(others) + 1


def test_settings_of_the_paper():
    wikiqa, trecqa = recipe("PRI(list)", "wikiqa"), recipe("PRI(list)", "trecqa")
    assert (wikiqa.protocol, trecqa.protocol) == ("answered", "clean")
    assert (wikiqa.pairs, wikiqa.margin, wikiqa.point_weight) == ("all", 0.8, 2.0)
    assert (trecqa.pairs, trecqa.margin, trecqa.point_weight) == ("hardest", 1.0, 1.0)
    assert (wikiqa.vectors_rate, trecqa.vectors_rate) == (5e-5, 0.0)
    assert wikiqa.k_max > 0 == trecqa.k_max
    assert recipe("DCA", "trecqa").k_max == wikiqa.k_max
    for one in (wikiqa, trecqa):
        assert (one.hidden, one.channels, one.kernels) == (300, 150, (1, 2, 3, 4, 5))
        assert (one.learning_rate, one.batch, one.patience) == (5e-4, 30, 10)


def test_values_from_the_command_line():
    changed = recipe("CA(list)").change(
        **settings(["hidden=20", "dropout=0", "kernels=[1,2]", "pairs=hardest"])
    )
    assert (changed.hidden, changed.dropout, changed.kernels) == (20, 0.0, (1, 2))
    assert changed.change(kernels=3).kernels == (3,)
    assert changed.pairs == "hardest"


def test_names_from_the_command_line():
    changed = (
        ROOMS["question-relevancy"]
        .recipe()
        .change(**settings(["auxiliary=QA", "features=cosine unigram"]))
    )
    assert (changed.auxiliary, changed.features) == (("QA",), ("cosine unigram",))
    assert changed.change(**settings(["auxiliary=QA, NLI"])).auxiliary == ("QA", "NLI")
    assert changed.change(**settings(["auxiliary="])).auxiliary == ()


def test_a_setting_given_twice_is_refused():
    with pytest.raises(QaselError, match="'epochs' is given twice"):
        recipe("CA(list)").change(**settings(["epochs=1", "hidden=20", "epochs=2"]))


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("hiden=3", "did you mean 'hidden'"),
        ("hidden=many", "should be a valid integer"),
        ("hidden=2.5", "should be a valid integer"),
        ("hidden=True", "should be a valid integer"),
        ("margin=0,5", "should be a valid number"),
        ("vectors=", "reads word vectors"),
        ("hidden", "key=value"),
        ("pairs=some", "known: all, hardest"),
        ("list_mean=mean", "known: batch, list, none"),
        ("scale=huge", "known: paper, quick"),
        ("variant=PRI", "unknown variant"),
        ("batch=0", "greater than or equal to 1"),
        ("dropout=1.0", "dropout"),
        ("kernels=[0]", "kernels"),
    ],
)
def test_bad_settings_are_refused(assignment, message):
    with pytest.raises(QaselError, match=message):
        recipe("CA(list)").change(**settings([assignment]))


@pytest.mark.parametrize(
    ("name", "assignment", "message"),
    [
        ("hierarchical-ranking", "learning_rate=-1", "greater than or equal to 0"),
        ("hierarchical-ranking", "learning_rate=1e999", "less than or equal to 1"),
        ("hierarchical-ranking", f"learning_rate={10**400}", ""),
        ("hierarchical-ranking", "vectors_rate=1e39", "less than or equal to 1"),
        ("hierarchical-ranking", "vectors_rate=-1e-5", ""),
        ("hierarchical-ranking", "point_weight=-1", ""),
        ("hierarchical-ranking", "k_max=-1", ""),
        ("hierarchical-ranking", "seed=-1", ""),
        ("hierarchical-ranking", "kernels=('a',)", "should be a valid integer, got 'a'"),
        ("latent-structured", "dropout=1.5", ""),
        ("latent-structured", "patience=0", ""),
        ("latent-structured", "overlap=-1", ""),
        ("latent-structured", "cut=-1", ""),
        ("latent-structured", "costs=('a',)", "should be a valid number, got 'a'"),
        ("latent-structured", "costs=(1e999,)", ""),
        ("ms-ranker", "agent_rate=-1", ""),
        ("ms-ranker", "no_change=-1e999", "should be greater than .* got -inf"),
        ("question-relevancy", "auxiliary_weight=-1", ""),
        ("question-relevancy", "lstm_layers=-1", ""),
        ("question-relevancy", "auxiliary=[['QA']]", "known: QA"),
        ("question-relevancy", "auxiliary=5", "known: QA"),
        ("question-relevancy", "features=cosine", "known: "),
        ("ap-mpcnn", "decay=-1", ""),
        ("ap-mpcnn", "margin=-1", ""),
        ("latent-structured", "costs=(0.0,)", "greater than 0"),
        ("question-relevancy", "words=some", "known: all, content"),
        ("question-relevancy", "features=", "at least 1 item"),
        ("question-relevancy", "share=0.0", "greater than 0"),
        ("question-relevancy", "momentum=1.0", "less than 1"),
        ("ap-mpcnn", "widths=0", "greater than or equal to 1"),
        ("ap-mpcnn", "negatives_by=far", "known: "),
        ("ap-mpcnn", "difference=max", "known: "),
        ("yardsticks", "weights=('a',1,1)", "should be a valid number, got 'a'"),
        ("yardsticks", "weights=(True,1,1)", "should be a valid number, got True"),
        ("yardsticks", "weight_decay=-1", ""),
        ("yardsticks", "cut=-2", ""),
    ],
)
def test_bad_settings_of_any_paper_are_refused(name, assignment, message):
    room, setting = ROOMS[name], assignment.partition("=")[0]
    with pytest.raises(QaselError, match=f"(setting|unknown) {setting}.*{message}"):
        room.recipe(room.main).change(**settings([assignment]))


def test_a_rate_of_nought_and_a_reward_below_it_are_allowed():
    assert recipe("CA(list)").change(learning_rate=0, vectors_rate=0).vectors_rate == 0
    assert ROOMS["ms-ranker"].recipe().change(no_change=-0.1).no_change == -0.1


@pytest.mark.parametrize("text", ["{[1]: 2}", "(" * 10_000, "mixed", "1 +", "\0"])
def test_what_is_no_literal_is_a_text(text):
    assert literal(text) == text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda values: values.pop("margin"), r"no margin\); train it again"),
        (lambda values: values.update(new=1), "'new'"),
        (lambda values: values.update(variant="gone"), "unknown variant 'gone'"),
        (lambda values: values.update(epochs="ten"), "epochs: should be a valid integer"),
    ],
)
def test_a_saved_recipe_of_another_version_is_refused(change, message):
    values = recipe("CA(list)").as_dict()
    assert recipe_from(values, type(recipe("CA(list)"))) == recipe("CA(list)")
    change(values)
    with pytest.raises(QaselError, match=message):
        recipe_from(values, type(recipe("CA(list)")))


def test_a_saved_model_has_a_card(tmp_path):
    chosen = recipe("CA(list)", "wikiqa", seed=3)
    write_recipe(tmp_path, chosen)
    card = (tmp_path / "README.md").read_text()
    assert card.startswith("# CA(list)")
    assert "`hierarchical-ranking`, trained with" in card
    assert "Not measured yet." in card
    assert f"| `learning_rate` | {chosen.learning_rate} |" in card


def test_unknown_variant_and_scale_are_refused():
    with pytest.raises(QaselError, match="unknown variant"):
        recipe("CA(lists)")
    with pytest.raises(QaselError, match="unknown scale"):
        recipe("CA(list)", scale="huge")


def test_schemes_are_those_of_the_paper():
    sources = {v: {h.name: s.sources(h.name) for h in s.heads} for v, s in SCHEMES.items()}
    assert sources["RI(point)"]["point"] == ("pair", "list", "point")  # equation 11
    assert sources["RI(pair)"]["pair"] == ("point", "list", "pair")  # equation 12
    assert sources["RI(list)"]["list"] == ("point", "pair", "list")  # equation 13
    assert sources["PRI(list)"]["list"] == ("point", "pair", "list")  # equation 14
    assert sources["PRI(list)"]["pair"] == ("point", "pair")
    assert sources["PRI(point)"]["point"] == ("list", "pair", "point")  # equation 15
    assert [head.loss for head in SCHEMES["PRI(all list)"].heads] == ["list"] * 3


def test_a_field_that_came_later_changes_no_older_recipe():
    class Older(Recipe):
        width: int = 3

    class Newer(Older):
        added: ClassVar = {"shape": "square"}
        shape: str = "round"

    names = {"paper": "p", "variant": "v", "dataset": "d", "protocol": "all", "vectors": "tiny"}
    older, newer = Older(**names), Newer(**names, shape="square")
    assert newer.as_dict() == older.as_dict()
    assert newer.hash == older.hash
    assert Newer(**names).hash != older.hash
    assert recipe_from(older.as_dict(), Newer) == newer  # whatever the default is now
    assert recipe_from(Newer(**names).as_dict(), Newer).shape == "round"


@pytest.mark.parametrize("name", ROOMS)
def test_rows_on_record_keep_their_recipes(name):
    for path in sorted((results_dir() / name).glob("*.json")):
        row = json.loads(path.read_text(encoding="utf-8"))
        axes = {key: row["recipe"][key] for key in ("variant", "dataset", "scale", "seed")}
        own = ROOMS[name].recipe(**axes)
        made = own.change(**{**own.added, **row["recipe"]})
        assert (made.hash, made.slug) == (row["hash"], row["slug"])
        assert recipe_from(row["recipe"], type(own)) == made
