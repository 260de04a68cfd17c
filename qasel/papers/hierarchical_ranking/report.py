"""Paper 1: its model as boxes and arrows, its claims beside our runs, and its figures.

`runs` is a frame of `read_runs`, by default that of the ledger.
"""

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from qasel.evaluation import hierarchical_bootstrap
from qasel.figures.charts import curves
from qasel.figures.diagrams import Arrow, Box, Diagram, chain, diagrams
from qasel.figures.style import HouseFigure
from qasel.papers.hierarchical_ranking import ROOM
from qasel.papers.hierarchical_ranking.recipes import MAIN, SCHEMES, HierarchicalRecipe, recipe
from qasel.papers.report import OWN, SHARED, WORDS, table_figure, titled
from qasel.results.claims import stated
from qasel.results.compare import significance
from qasel.results.runs import DATASETS, histories, in_tables, read_runs, shown
from qasel.results.tables import published
from qasel.training.losses import LEVELS, Scheme

TINTS = {"point": "#FFF3CC", "pair": "#D6ECF8", "list": "#DDF0E4"}
"""Loss of a head → tint of its boxes."""


def backbone(recipe: HierarchicalRecipe) -> Diagram:
    """Return a diagram of equations 1-5, left to right: the question above, the answer below."""
    h, side = recipe.hidden, recipe.feature_size // 2
    widths = f"{recipe.kernels[0]}–{recipe.kernels[-1]}"
    clip = f", {recipe.k_max} largest weights" if recipe.k_max else ""
    boxes = {
        "match": Box(r"$M = H^q {H^a}^\top$", 3.0, 0, "[n, m]", SHARED, 1.4),
        "r": Box(r"$r = [r^q; r^a]$", 9.55, 0, f"[{2 * side:,}]", OWN, 1.35),
        "score": Box("two-layer MLP", 11.15, 0, "score of the pair", OWN, 1.4),
    }
    arrows = chain("r", "score")
    for name, own, other, words, y in (
        ("question", "q", "a", "n", 1),
        ("answer", "a", "q", "m", -1),
    ):
        match = "M" if own == "q" else r"M^\top"
        aligned = rf"$\hat{{H}}{{}}^{own} = \mathrm{{softmax}}({match})\,H^{other}$"
        compared = rf"$C^{own} = \hat{{H}}{{}}^{own} \odot H^{own}$"
        E, H, Ĥ, C, r = (f"{part}{own}" for part in ("E", "H", "Ĥ", "C", "r"))
        boxes |= {
            E: Box(f"{name} words", 0, 1.1 * y, f"$E^{own}$ [{words}, d]", WORDS, 1.4),
            H: Box(f"gates  $H^{own}$", 1.6, 1.1 * y, f"[{words}, {h}]", SHARED, 1.1),
            Ĥ: Box(aligned, 4.95, 0.42 * y, f"[{words}, {h}]{clip}", SHARED, 1.95),
            C: Box(compared, 6.55, 1.1 * y, f"[{words}, {h}]", OWN, 1.45),
            r: Box(f"CNN {widths}, max", 8.2, 1.1 * y, f"$r^{own}$ [{side:,}]", OWN, 1.4),
        }
        arrows += chain(E, H, C, r, "r") + chain(H, "match", Ĥ, C)
    return Diagram(boxes, arrows)


def wiring(scheme: Scheme, recipe: HierarchicalRecipe) -> Diagram:
    """Return a diagram of a scheme, bottom to top: each head's features, inputs and loss."""
    boxes: dict[str, Box] = {}
    arrows = []
    place = {head.name: i for i, head in enumerate(scheme.heads)}
    for name, head in zip(place, scheme.heads, strict=True):
        x, tint = 1.3 * (place[name] - (len(place) - 1) / 2), TINTS[head.loss]
        own, joined, loss = f"r {name}", f"r̂ {name}", f"loss {name}"
        size = f"{recipe.feature_size * len(scheme.sources(name)):,}"
        ranks = name == scheme.ranks
        boxes |= {
            own: Box(rf"$r_\mathrm{{{name}}}$", x, 0, "", tint, 0.9, 0.4),
            joined: Box(rf"$\hat{{r}}_\mathrm{{{name}}}$", x, 0.85, size, tint),
            loss: Box(f"MLP, {head.loss} loss", x, 1.7, "", tint, 1.22, 0.4, strong=ranks),
        }
        arrows += chain(own, joined, loss)
        for other in head.reads:
            far = place[name] - place[other] > 1
            arrows.append(Arrow(f"r̂ {other}", joined, bend=-0.33 if far else 0.0))
    return Diagram(boxes, arrows)


def together(runs: pd.DataFrame | None = None) -> pd.DataFrame:
    """Compare joint training with training one level, on average over a data set's comparisons.

    Columns per data set: the number of comparisons run, how many of them joint training wins, and
    the mean difference in MAP, the paper's and ours, with the p value of ours. Ours are over the
    seeds that all these systems have.
    """
    runs = read_runs([ROOM]) if runs is None else runs
    table = published(ROOM).query("table == 'table-1' and metric == 'MAP'")
    printed = table.set_index(["row", "dataset"])["value"]
    joint = stated(ROOM)
    joint = joint[joint["text"].str.startswith("joint training beats one level")]
    lines = []
    for dataset, asked in joint.groupby("dataset", sort=False):
        pairs = zip(asked["first"], asked["second"], strict=True)
        found = [significance(ROOM, dataset, "map", *pair, runs) for pair in pairs]
        if tests := [test for test in found if test]:
            known = [printed[test.first, dataset] - printed[test.second, dataset] for test in tests]
            gaps = [test.runs[0] - test.runs[1] for test in tests]
            # Over the seeds that all have; no system here is without randomness.
            mean_gap = (sum(gaps) / len(gaps)).dropna()
            ahead = sum(gap.loc[mean_gap.index].to_numpy().mean() > 0 for gap in gaps)
            ours = hierarchical_bootstrap(mean_gap.to_numpy())
            means = np.mean(known), ours.difference, ours.p
            lines.append((DATASETS[dataset], len(tests), ahead, *means))
    columns = ["data", "comparisons", "joint ahead", "paper", "ours", "p"]
    return pd.DataFrame(lines, columns=columns).set_index("data")


FAMILIES = ("CA", "MTL", "RI", "PRI")
TABLES = {
    "table-1": "Table 1: the schemes, paper against ours",
    "table-2": "Table 2: the ablations of PRI(list), paper against ours",
}


def figures(runs: pd.DataFrame) -> dict[str, HouseFigure | None]:
    """Return every figure by name; None for one without runs."""
    return {
        "backbone": architecture(),
        "schemes": schemes(),
        **{name: table(runs, name) for name in TABLES},
        "figure-4": list_loss(runs),
        "dev-map": dev_map(runs),
    }


def architecture(dataset: str = "wikiqa") -> HouseFigure:
    """Draw the backbone (equations 1-5) with the shapes of the paper's recipe."""
    return diagrams(
        {" ": backbone(recipe(dataset=dataset))},
        unit=1.15,
        title="Compare-aggregate backbone",
        note="n words of the question, m of the answer, d numbers per word vector; "
        "blue: shared by all heads, orange: each head has its own",
    )


def schemes(names: Iterable[str] = SCHEMES, columns: int = 3) -> HouseFigure:
    """Draw how the heads of each scheme are wired; identical schemes share a panel."""
    settings = recipe()
    panels = {}
    for name in names:
        same = [other for other in SCHEMES if SCHEMES[other] is SCHEMES[name]]
        panels[", ".join(same)] = wiring(SCHEMES[name], settings)
    return diagrams(
        panels,
        columns=columns,
        unit=1.1,
        title="Which features each head reads, and which head ranks",
        note="r: a head's own features, r̂: with those of the heads it reads (and their size); "
        "dashed red: the head that ranks",
    )


def table(runs: pd.DataFrame | None, name: str) -> HouseFigure | None:
    """Draw the paper's own rows of one of its tables: its numbers against ours."""

    def own(frame: pd.DataFrame) -> pd.DataFrame:
        return frame[frame["row"].isin(SCHEMES)]

    return table_figure(ROOM, runs, name, TABLES[name], own, name_vectors=True)


def list_loss(runs: pd.DataFrame | None = None) -> HouseFigure | None:
    """Draw figure 4: the list loss while training on WikiQA, PRI(list) against CA(list)."""
    both = {"WikiQA": shown(ROOM, "wikiqa", MAIN, "CA(list)", runs=runs)}
    return _curves(both, "list", "list loss (training)", "Figure 4: the list loss")


def dev_map(runs: pd.DataFrame | None = None) -> HouseFigure | None:
    """Draw dev MAP after each epoch, one panel per data set and ranking level."""
    lines = in_tables(ROOM, runs)
    panels = {}
    for dataset in ("wikiqa", "trecqa"):
        ran = set(lines.loc[lines["dataset"] == dataset, "variant"])
        for level in LEVELS:
            names = [name for f in FAMILIES if (name := f"{f}({level})") in ran]
            panels[f"{DATASETS[dataset]}, {level}-level"] = shown(ROOM, dataset, *names, runs=lines)
    return _curves(panels, "dev_map", "dev MAP", "MAP on the development split", peak=True)


def _curves(
    panels: Mapping[str, Mapping[str, pd.DataFrame]], key: str, ylabel: str, title: str, **how: bool
) -> HouseFigure | None:
    """Draw `key` of each run's history, from panel → system → runs; None without runs."""
    found = {name: systems for name, systems in panels.items() if systems}
    if not found:
        return None
    lines = pd.concat([lines for systems in found.values() for lines in systems.values()])
    return curves(
        {name: histories(systems, key) for name, systems in found.items()},
        ylabel,
        title=titled(title, set(lines["vectors"])),
        columns=min(len(found), len(LEVELS)),
        **how,
    )
