"""Grids of runs: from options and from YAML files, and what is said of bad ones."""

import re
from functools import partial

import pytest
from ledger_rows import ledger_row, runs_of

from qasel.errors import QaselError
from qasel.locations import DATA
from qasel.papers import PAPERS, ROOMS, ms_ranker
from qasel.papers.lesson import chosen_recipes
from qasel.results.runs import described
from qasel.results.sweep import Grid, read_grids
from qasel.results.tables import by_settings, published

PAPER = "hierarchical-ranking"


def test_a_grid_is_every_combination_in_a_stable_order():
    grid = Grid(
        [PAPER],
        ["CA(list)", "DCA"],
        seeds=(0, 1),
        set={"epochs": 1},
        over={"margin": [0.5, 1], "kernels": [(1,), (1, 2)]},
    )
    recipes = grid.recipes(ROOMS)
    seen = [(r.variant, r.margin, r.kernels, r.seed) for r in recipes]
    assert len(seen) == len(set(seen)) == 2 * 2 * 2 * 2
    assert seen[:3] == [
        ("CA(list)", 0.5, (1,), 0),
        ("CA(list)", 0.5, (1,), 1),
        ("CA(list)", 0.5, (1, 2), 0),
    ]
    assert {r.epochs for r in recipes} == {1}


def test_defaults_are_the_papers_own_system_on_the_sample():
    (recipe,) = Grid([PAPER]).recipes(ROOMS)
    assert (recipe.variant, recipe.dataset, recipe.seed) == ("PRI(list)", "sample", 0)


def test_all_stands_for_every_row_and_nothing_comes_twice():
    from qasel.papers.hierarchical_ranking import VARIANTS

    recipes = Grid([PAPER, PAPER], ["all"], seeds=(3, 3)).recipes(ROOMS)
    assert [r.variant for r in recipes] == list(VARIANTS)


def test_a_recipe_is_told_by_what_is_not_its_rows_own():
    plain, other = Grid([PAPER], seeds=[2], over={"margin": [0.8, 0.25]}).recipes(ROOMS)
    assert (
        described(ROOMS[plain.paper], plain.as_dict())
        == f"{PAPER}  PRI(list)  sample (answered)  seed 2"
    )
    assert (
        described(ROOMS[other.paper], other.as_dict())
        == f"{described(ROOMS[plain.paper], plain.as_dict())}  margin=0.25"
    )


def test_a_scale_brings_its_own_settings():
    chosen = Grid(["ms-ranker"], set={"scale": "quick", "threshold": 0.3}).recipes(ROOMS)
    wanted = ms_ranker.recipe(scale="quick").change(threshold=0.3)
    assert chosen == [wanted]
    assert wanted.hidden < ms_ranker.recipe().hidden
    assert described(ROOMS[wanted.paper], wanted.as_dict()).endswith(
        "seed 0  scale=quick, threshold=0.3"
    )
    with pytest.raises(QaselError, match="unknown scale 'quik'"):
        Grid(["ms-ranker"], set={"scale": "quik"}).recipes(ROOMS)


def test_a_file_holds_one_grid_or_several(tmp_path):
    one = tmp_path / "one.yaml"
    one.write_text(
        f"paper: {PAPER}\nvariant: CA(list)\nseeds: [0, 1]\nset: {{learning_rate: 1e-3}}\n"
        "over:\n  kernels: [[1], [1, 2]]\n"
    )
    recipes = read_grids(one, ROOMS)
    assert [(r.kernels, r.seed) for r in recipes] == [
        ((1,), 0), ((1,), 1), ((1, 2), 0), ((1, 2), 1),
    ]  # fmt: skip
    assert recipes[0].learning_rate == 0.001  # for YAML itself, 1e-3 is a text
    several = tmp_path / "several.yaml"
    several.write_text(
        f"- {{paper: {PAPER}, seeds: [0, 1]}}\n"
        f"- {{paper: [ms-ranker, {PAPER}], dataset: [sample]}}\n"
    )
    assert [(r.paper, r.seed) for r in read_grids(several, ROOMS)] == [
        (PAPER, 0), (PAPER, 1), ("ms-ranker", 0),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, ["expected a grid", "paper"]),
        ("just words", 1, ["expected a grid"]),
        ("- paper: ms-ranker\n- 3", 2, ["expected a grid"]),
        ("seeds: 1", 1, ["paper"]),
        ("1: 2", 1, ["unknown field 1", "a grid has paper, variant"]),
        ("paper: ms-ranker\nvariants: all", 2, ["variants", "a grid has paper, variant"]),
        ("paper: ms-ranker\npaper: ms-ranker", 2, ["'paper' a second time"]),
        ("paper: ms-ranker\nseeds: [0, true]", 2, ["seeds", "valid integer"]),
        ("paper: ms-ranker\nseeds: -1", 2, ["seeds", "greater than or equal to 0"]),
        ("paper: ms-ranker\nseeds: []", 2, ["seeds"]),
        ("paper: ms-ranker\nvariant: 5", 2, ["variant", "valid string"]),
        ("paper: ms-ranker\nset: [batch]", 2, ["set", "valid dictionary"]),
        ("paper: ms-ranker\nover: {batch: 5}", 2, ["over", "list"]),
        ("paper: ms-ranker\nover:\n - {a: 1", 3, ["YAML"]),
        ("paper: !!python/object/apply:os.getcwd []", 1, ["YAML", "python/object"]),
        ("paper: ms-ranker\nset: {seed: 1}", 1, ["'seed'"]),
        ("- paper: ms-ranker\n- paper: ms-rankr", 2, ["did you mean 'ms-ranker'"]),
        ("paper: ms-ranker\nset: {batch: many}", 1, ["batch", "valid integer", "many"]),
        ("paper: ms-ranker\nset: {bach: 5}", 1, ["did you mean 'batch'"]),
        ("paper: ms-ranker\nvariant: BERT", 1, ["unknown variant 'BERT'"]),
        ("paper: ms-ranker\nvariant: [all, BERT]", 1, ["'all'", "give it alone"]),
        ("paper: ms-ranker\nset: {batch: 5, batch: 6}", 2, ["'batch' a second time"]),
        ("paper: ms-ranker\nset: {batch: 5}\nover: {batch: [6]}", 1, ["`set` and in `over`"]),
        ("[" * 5000, None, ["nested too deeply"]),
    ],
)
def test_a_bad_file_is_told_with_its_line(text, line, words, tmp_path):
    path = tmp_path / "grid.yaml"
    path.write_text(text)
    with pytest.raises(QaselError) as caught:
        read_grids(path, ROOMS)
    message = str(caught.value)
    assert message.startswith(f"{path}, line {line}: " if line else f"{path}: ")
    for word in words:
        assert word in message


def test_the_matrix_of_the_project_has_every_row_on_the_sample():
    recipes = read_grids(DATA / "matrix.yaml", ROOMS)
    for name in (*PAPERS, "yardsticks"):
        rows = {r.variant for r in recipes if (r.paper, r.dataset) == (name, "sample")}
        missing = set(ROOMS[name].variants) - rows
        # Encoders that are not installed with qasel.
        assert all(re.search("BERT_|ELMo|MPNet|^ready", row) for row in missing), missing
    assert {r.dataset for r in recipes} == {"sample", "wikiqa", "trecqa", "semeval-cqa"}


def test_every_number_of_a_paper_that_is_its_own_has_runs_in_the_grid_of_papers():
    seeds = {}
    for r in read_grids(DATA / "papers.yaml", ROOMS):
        seeds.setdefault((r.paper, r.variant, r.dataset), set()).add(r.seed)
    own = set()
    for name in PAPERS:
        numbers = published(ROOMS[name]).query("kind == 'own'")
        own |= {(name, number.row, number.dataset) for number in numbers.itertuples()}
    assert {row for _, row, _ in own - seeds.keys()} == {"MS-Ranker + ELMo"}
    for (name, variant, dataset), found in seeds.items():
        seeded = ROOMS[name].recipe(variant, dataset).seeded
        assert found == (set(range(5)) if seeded else {0}), variant


def test_a_file_that_is_no_text(tmp_path):
    path = tmp_path / "grid.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(QaselError, match="not a text file"):
        read_grids(path, ROOMS)


def test_files_of_ones_own_are_named_by_their_whole_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "vec.txt").write_text("a 1 2\n")
    (tmp_path / "texts").mkdir()
    (tmp_path / "wikiqa").mkdir()

    def chosen(paper, variant, **settings):
        return ROOMS[paper].configured(variant, "sample", settings)

    assert chosen(PAPER, "CA(list)", vectors="vec.txt").vectors == str(tmp_path / "vec.txt")
    assert chosen(PAPER, "CA(list)", vectors="sample").vectors == "sample"
    encoder = chosen("yardsticks", "cross-encoder (list)", encoder="texts").encoder
    assert encoder == str(tmp_path / "texts")
    assert chosen("latent-structured", "LSP", corpus="texts/").corpus == str(tmp_path / "texts")
    assert chosen("latent-structured", "LSP", corpus="wikiqa").corpus == "wikiqa"


def test_a_notebooks_settings_do_not_rename_its_runs():
    ask = partial(chosen_recipes, PAPER, "CA(list)", "sample", scale="quick", seed=3)
    for settings in ("variant=DCA", "seed=1", "dataset=wikiqa", "scale=paper"):
        with pytest.raises(QaselError):
            ask(settings=settings)
    (recipe,) = ask(settings="margin=0.5", epochs=2, vectors="glove.6B.100d").values()
    assert (recipe.margin, recipe.epochs, recipe.seed, recipe.scale) == (0.5, 2, 3, "quick")
    assert recipe.vectors == "glove.6B.100d"


def test_runs_are_told_by_what_differs_but_the_seed():
    rows = [
        ledger_row(r, {"map": dev}, {"map": 0.5}, {"a": 0.5})
        for r, dev in zip(
            Grid([PAPER], ["DCA"], seeds=(0, 1), over={"margin": [0.8, 0.5]}).recipes(ROOMS),
            (0.25, 0.75, 0.5, 0.5),
            strict=True,
        )
    ]
    *_, first, second = by_settings(runs_of(rows)).splitlines()
    start = "| hierarchical-ranking | DCA | sample (answered) |"
    assert first == f"{start}  | 2 | 0.5000 | 0.3536 | 0.5000 | 0.0000 |"
    assert second == f"{start} margin=0.5 | 2 | 0.5000 | 0.0000 | 0.5000 | 0.0000 |"
    assert (
        by_settings(runs_of(rows[:1])).splitlines()[-1].endswith("| 1 | 0.2500 | – | 0.5000 | – |")
    )
