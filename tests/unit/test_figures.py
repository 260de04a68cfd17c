import base64
import io
import re

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from ledger_rows import PAGES, runs_of
from matplotlib.collections import LineCollection
from PIL import Image
from test_tables import row

from qasel.figures import style
from qasel.figures.charts import curves, heatmaps, paper_against_ours
from qasel.figures.diagrams import Arrow, Box, Diagram, diagrams
from qasel.papers import PAPERS, ROOMS
from qasel.papers.figures import figures
from qasel.papers.hierarchical_ranking import ROOM, SCHEMES, VARIANTS, recipe
from qasel.papers.hierarchical_ranking.report import (
    backbone,
    dev_map,
    list_loss,
    schemes,
    table,
    wiring,
)
from qasel.results.tables import comparison

LOSSES = {"CA(list)": [[0.5, 0.4, 0.3], [0.6, 0.4]], "PRI(list)": [[0.5, 0.2], [0.4, 0.1]]}


def with_history(found, epochs=3):
    for epoch in range(1, epochs + 1):
        found.history.append({"epoch": float(epoch), "list": 1 / epoch, "dev_map": 0.7})
    return found


def test_save_writes_three_formats_with_the_same_bytes_each_time(tmp_path):
    written = []
    for folder in ("a", "b"):
        figure = curves({"WikiQA": LOSSES}, "loss", title="x")
        paths = style.save(figure, "one", tmp_path / folder)
        assert [path.name for path in paths] == ["one.pdf", "one.svg", "one.png"]
        written.append([path.read_bytes() for path in paths])
    assert written[0] == written[1]
    pdf, svg, png = written[0]
    assert pdf.startswith(b"%PDF")
    assert b"CreationDate" not in pdf
    assert b"<svg" in svg
    assert b"dc:date" not in svg
    assert png.startswith(b"\x89PNG")


def test_a_figure_shows_itself_in_a_notebook_in_colours_that_look_the_same():
    figure = heatmaps({"": pd.DataFrame(np.random.default_rng(0).random((12, 12)))})
    figure._repr_html_()  # the first drawing settles the layout
    code = re.search('src="data:image/png;base64,(.*?)"', figure._repr_html_())[1]
    shown, whole = base64.b64decode(code), io.BytesIO()
    with mpl.rc_context(style.STYLE):
        figure.savefig(whole, format="png", dpi=100)
    colours = [np.asarray(Image.open(f).convert("RGB")) for f in (io.BytesIO(shown), whole)]
    assert len(np.unique(colours[1].reshape(-1, 3), axis=0)) > 256
    off = np.abs(colours[0].astype(int) - colours[1]).max(2)
    assert off.mean() < 1  # areas stay as they are; edges of letters may be further off
    assert off.max() < 64


def test_a_figure_has_a_description():
    figure = curves({"<dev>": LOSSES}, "MAP", title="Over epochs")
    told = "Over epochs; &lt;dev&gt;; epoch; MAP; CA(list); PRI(list); one seed"
    assert f'alt="{told}"' in figure._repr_html_()


def test_a_system_has_the_same_colour_in_every_figure():
    frame = comparison(ROOM, runs_of([row("PRI(list)"), row("CA(list)")])).query("runs > 0")
    dots = paper_against_ours(frame).axes[0].get_lines()
    drawn = {line.get_color() for line in curves({"x": LOSSES}, "loss").axes[0].get_lines()}
    shown = {line.get_color() for line in dots if line.get_marker() == "o"}
    assert drawn == shown == {style.colour("PRI(list)"), style.colour("CA(list)")}


def test_families_have_colours_of_their_own():
    shades = {style.family(v): style.colour(v) for v in VARIANTS}
    assert set(shades) == {"CA", "MTL", "RI", "PRI", "DCA", "PRI ablation"}
    assert len(set(shades.values())) == len(shades)
    assert style.colour("PRI(list), glove.6B.100d") == style.colour("PRI(list)")
    assert style.colour("never heard of") == style.colour("never heard of")


@pytest.mark.parametrize("room", [ROOMS[name] for name in PAPERS], ids=lambda room: room.name)
def test_no_two_systems_of_a_table_have_one_colour(room):
    frame = comparison(room)
    frame = frame[frame["runs"] > 0]
    for name, rows in frame.groupby("table"):
        if (room.name, name) == ("ap-mpcnn", "table-4"):
            continue  # one system under 16 settings, each named on the axis
        shades = {style.family(row): style.colour(row) for row in rows["row"]}
        assert len(set(shades.values())) == len(shades), name


def test_the_mean_goes_as_far_as_every_run():
    (axes,) = curves({"WikiQA": LOSSES}, "loss", peak=True).axes
    means = [
        line for line in axes.get_lines() if line.get_linewidth() > 1 and len(line.get_xdata()) > 1
    ]
    assert [line.get_xdata().tolist() for line in means] == [[1, 2], [1, 2]]
    assert means[0].get_ydata() == pytest.approx([0.55, 0.4])


def test_panels_of_other_systems_have_legends_of_their_own():
    figure = curves({"a": {"CA(list)": [[1, 2]]}, "b": {"DCA": [[1, 2]]}}, "loss")
    assert [len(axes.get_legend().get_texts()) for axes in figure.axes] == [1, 1]
    assert not figure.legends
    assert curves({"a": LOSSES, "b": LOSSES}, "loss").legends


def test_bars_show_verdicts():
    rows = [row("PRI(list)", map_=0.75), row("CA(list)", map_=0.6), row("RI(list)", map_=0.8)]
    names = ["DCA", "CA(list)", "RI(list)", "PRI(list)"]
    frame = comparison(ROOM, runs_of(rows)).query("row in @names")
    frame = frame.query("table == 'table-1' and dataset == 'wikiqa' and metric == 'MAP'")
    figure = paper_against_ours(frame)
    (axes,) = figure.axes
    assert axes.get_title(loc="left") == "WikiQA, MAP"
    assert [t.get_text() for t in axes.get_yticklabels()] == names
    assert [text.get_text() for text in axes.texts] == ["not run"]
    means = [line for line in axes.get_lines() if line.get_marker() in ("o", "^", "v")]
    assert [(line.get_marker(), line.get_markerfacecolor()) for line in means] == [
        ("v", "white"),
        ("^", "white"),
        ("o", style.colour("PRI(list)")),
    ]


def test_an_interval_is_drawn_from_three_seeds_on():
    rows = [row("PRI(list)", map_=0.74 + seed / 100, seed=seed) for seed in range(3)]
    for count, drawn in ((2, 0), (3, 1)):
        frame = comparison(ROOM, runs_of(rows[:count])).query("runs > 0 and metric == 'MAP'")
        figure = paper_against_ours(frame.query("table == 'table-1'"))
        wide = [c for c in figure.axes[0].collections if isinstance(c, LineCollection)]
        assert len(wide) == drawn
        texts = [text.get_text() for text in figure.legends[0].get_texts()]
        assert ("95 % interval, from 3 seeds on" in texts) == bool(drawn)


def test_the_best_epoch_is_that_of_the_mean_where_there_are_several_runs():
    for runs, told in (([[1, 2]], "best epoch"), ([[1, 2], [2, 1]], "best epoch of the mean")):
        legend = curves({"x": {"CA(list)": runs}}, "MAP", peak=True).legends[0]
        assert legend.get_texts()[-1].get_text() == told


def test_heat_maps_have_numbers_where_there_is_room():
    table = pd.DataFrame([[0.25, -0.75]], ["why"], ["because", "so"])
    small, large = heatmaps({"few": table, "many": pd.DataFrame(np.ones((1, 30)))}).axes[:2]
    assert [text.get_text() for text in small.texts] == ["0.25", "-0.75"]
    assert [label.get_text() for label in small.get_xticklabels()] == ["because", "so"]
    assert not large.texts


def test_diagrams_draw_all_boxes_and_leave_blanks():
    one = Diagram({"a": Box("A", 0, 0), "b": Box("B", 2, 0, "[n]")}, [Arrow("a", "b")])
    figure = diagrams({"first": one, " ": Diagram({})}, columns=2)
    assert [text.get_text() for text in figure.axes[0].texts] == ["A", "B", "[n]"]
    assert len(figure.axes[0].patches) == 3
    assert not figure.axes[1].texts


def test_drawing_leaves_the_settings_of_others_alone():
    before = mpl.rcParams["font.size"], mpl.rcParams["axes.grid"]
    curves({"x": LOSSES}, "loss")
    assert (mpl.rcParams["font.size"], mpl.rcParams["axes.grid"]) == before


def test_backbone_has_the_shapes_of_the_recipe():
    boxes = backbone(recipe(dataset="wikiqa").change(channels=10)).boxes
    assert boxes["r"].shape == "[100]"
    assert "5 largest" in boxes["Ĥq"].shape
    assert "largest" not in backbone(recipe(dataset="trecqa")).boxes["Ĥq"].shape


def test_wiring_is_that_of_the_scheme():
    drawn = wiring(SCHEMES["RI(list)"], recipe())
    across = {(a.start, a.end) for a in drawn.arrows if a.start[0] == a.end[0] == "r̂"[0]}
    across = {(s.split()[1], e.split()[1]) for s, e in across if s.split()[1] != e.split()[1]}
    assert across == {("point", "list"), ("pair", "list")}
    assert drawn.boxes["r̂ list"].shape == "4,500"
    assert [name for name, box in drawn.boxes.items() if box.strong] == ["loss list"]
    all_list = wiring(SCHEMES["PRI(all list)"], recipe()).boxes
    assert all_list["loss point"].text == "MLP, list loss"


def test_every_scheme_is_drawn_once():
    titles = [axes.get_title() for axes in schemes().axes]
    named = [name for title in titles if title for name in title.split(", ")]
    assert sorted(named) == sorted(SCHEMES)
    chosen = schemes(["CA(list)", "RI(list)"], columns=2)
    assert [axes.get_title() for axes in chosen.axes] == ["CA(list), DCA", "RI(list)"]


def test_figures_without_runs_are_skipped_with_a_note():
    notes = []
    found = figures("hierarchical-ranking", runs_of([]), notes.append)
    assert set(found) == {"hierarchical-ranking-backbone", "hierarchical-ranking-schemes"}
    assert len(notes) == 4
    assert all("skipped" in note for note in notes)


def test_figure_4_needs_both_systems():
    rows = [with_history(row(variant)) for variant in ("CA(list)", "PRI(list)")]
    figure = list_loss(runs_of(rows))
    assert figure.get_suptitle() == "Figure 4: the list loss (glove.6B.100d)"
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["WikiQA"]
    assert list_loss(runs_of(rows[:1])) is None


def test_the_pair_loss_by_head():
    rows = [row("CA(pair)", "trecqa", pair_head=head) for head in ("relu", "tanh")]
    rows.append(row("CA(list)", "trecqa"))
    for level, one in zip((0.9, 0.5, 0.1), rows, strict=True):
        name = "list" if one is rows[2] else "pair"
        one.history.extend({"epoch": float(e), name: level / e} for e in (1, 2, 3))
    frame = PAGES["pair_level"](runs_of(rows), epochs=2)
    maps = {f"{split} MAP": rows[0].scores[split]["map"] for split in ("dev", "test")}
    assert frame.to_dict(orient="index") == {
        "CA(pair), relu": {"epoch 1": 0.9, "epoch 2": 0.45, **maps},
        "CA(pair), tanh": {"epoch 1": 0.5, "epoch 2": 0.25, **maps},
    }
    assert PAGES["pair_level"](runs_of([])).empty


def test_whether_dev_predicts_test_needs_some_runs():
    rows = [row(map_=0.7 + seed / 100, seed=seed) for seed in range(PAGES["RUNS"])]
    for place, one in enumerate(rows):
        one.scores["dev"]["map"] = 0.9 - place / 100  # the better on test, the worse on dev
    found = PAGES["judged_by_dev"](runs_of(rows)).loc["WikiQA"]
    assert (found["runs"], found["best on dev"], found["better on test"]) == (10, "PRI(list)", 9)
    assert found["rank correlation"] == pytest.approx(-1)
    maps = found[["span of test MAP", "its dev MAP", "its test MAP"]].astype(float)
    assert maps.tolist() == pytest.approx([0.09, 0.9, 0.7])
    assert PAGES["judged_by_dev"](runs_of(rows[1:])).empty


def test_tables_and_dev_curves_of_a_ledger():
    rows = [with_history(row("CA(list)"))]
    runs = runs_of(rows)
    assert len(table(runs, "table-1").axes) == 4
    assert table(runs, "table-2") is None
    assert [axes.get_title(loc="left") for axes in dev_map(runs).axes] == ["WikiQA, list-level"]
