"""The figures of paper 1, from the ledger and from the declared schemes."""

from collections.abc import Callable, Iterable, Sequence

from qasel.figures.curves import curves
from qasel.figures.diagrams import Diagram, diagrams
from qasel.figures.style import (
    GREY,
    HouseFigure,
    colour,
    family,
    house_style,
    marker,
    new_figure,
)
from qasel.layers.heads import LEVELS
from qasel.papers.figures import drawn, table_figure
from qasel.papers.hierarchical_ranking.claims import both_splits
from qasel.papers.hierarchical_ranking.drawings import backbone, wiring
from qasel.papers.hierarchical_ranking.heads import SCHEMES
from qasel.papers.hierarchical_ranking.recipes import PAPER, recipe
from qasel.results.ledger import Row, read_ledger
from qasel.results.tables import DATASETS, Choices, comparison, counted, pick

FAMILIES = ("CA", "MTL", "RI", "PRI")


def figures(
    rows: Iterable[Row] | None = None, note: Callable[[str], None] = print
) -> dict[str, HouseFigure]:
    """Every figure by its name; `note` is told of those that the ledger has no runs for.

    `rows` default to the ledger.
    """
    rows = list(read_ledger(PAPER) if rows is None else rows)
    found = {
        "hierarchical-ranking-backbone": architecture(),
        "hierarchical-ranking-schemes": schemes(),
        "hierarchical-ranking-table-1": table_1(rows),
        "hierarchical-ranking-table-2": table_2(rows),
        "hierarchical-ranking-figure-4": list_loss(rows),
        "hierarchical-ranking-dev-map": dev_map(rows),
        "hierarchical-ranking-dev-and-test": dev_and_test(rows),
    }
    return drawn(found, note)


def architecture(dataset: str = "wikiqa") -> HouseFigure:
    """The backbone (equations 1-5) with the shapes of the paper's recipe."""
    return diagrams(
        {" ": backbone(recipe(dataset=dataset))},
        unit=1.15,
        title="Compare-aggregate backbone",
        note="n words of the question, m of the answer, d numbers a word vector; "
        "blue: shared by all heads, orange: each head has its own",
    )


LAYOUT = (
    ("CA(point)", "MTL(point)", "RI(point)", "PRI(point)", "PRI(list) w/o point-level"),
    ("CA(pair)", "MTL(pair)", "RI(pair)", "", "PRI(list) w/o pair-level"),
    ("CA(list)", "MTL(list)", "RI(list)", "PRI(list)", "PRI(all list)"),
)
"""Where each scheme stands: a column a family; schemes that are one and the same share a place."""


def schemes(layout: Sequence[Sequence[str]] = LAYOUT) -> HouseFigure:
    """How the heads of schemes are wired: a panel a name, line by line, "" for a blank."""
    settings = recipe()
    panels = {}
    for i, name in enumerate(name for line in layout for name in line):
        if not name:
            panels[f" {i}"] = Diagram({})
            continue
        same = [other for other in SCHEMES if SCHEMES[other] is SCHEMES[name] and other != name]
        panels[", ".join([name, *same])] = wiring(SCHEMES[name], settings)
    return diagrams(
        panels,
        columns=len(layout[0]),
        unit=1.1,
        title="Which features each head reads, and which head ranks",
        note="r: a head's own features, r̂: with those of the heads it reads (and their size); "
        "dashed red: the head that ranks",
    )


def table_1(rows: Iterable[Row]) -> HouseFigure | None:
    """Table 1, the paper's own rows: its numbers against ours."""
    return _table(rows, "table-1", "Table 1: the schemes, paper against ours")


def table_2(rows: Iterable[Row]) -> HouseFigure | None:
    """Table 2, the ablations."""
    return _table(rows, "table-2", "Table 2: the ablations of PRI(list), paper against ours")


def _table(rows: Iterable[Row], table: str, title: str) -> HouseFigure | None:
    rows = list(rows)
    frame = comparison(PAPER, rows)
    frame = frame[(frame["table"] == table) & frame["row"].isin(SCHEMES)]
    used = set(frame["vectors"]) - {""}
    return table_figure(
        PAPER, rows, table, _titled(title, used), lambda f: f[f["row"].isin(SCHEMES)]
    )


def list_loss(rows: Iterable[Row]) -> HouseFigure | None:
    """Figure 4: the list loss while training, PRI(list) against the list level alone."""
    runs = counted(PAPER, rows)
    used: set[str] = set()
    panels = {}
    for dataset, shown in DATASETS.items():
        systems = _histories(runs, dataset, ("PRI(list)", "CA(list)"), "list", used)
        if len(systems) == 2:
            panels[shown] = systems
    if not panels:
        return None
    return curves(panels, "list loss (training)", title=_titled("Figure 4: the list loss", used))


def dev_map(rows: Iterable[Row]) -> HouseFigure | None:
    """MAP on the development split after each epoch, a panel for each level that ranks."""
    runs = counted(PAPER, rows)
    used: set[str] = set()
    panels = {}
    for dataset, shown in DATASETS.items():
        for level in LEVELS:
            variants = [f"{family}({level})" for family in FAMILIES]
            systems = _histories(runs, dataset, variants, "dev_map", used)
            if systems:
                panels[f"{shown}, {level}-level"] = systems
    if not panels:
        return None
    return curves(
        panels,
        "dev MAP",
        title=_titled("MAP on the development split", used),
        columns=min(len(panels), len(LEVELS)),
        peak=True,
    )


@house_style
def dev_and_test(rows: Iterable[Row]) -> HouseFigure | None:
    """MAP of each run on dev, by which its epoch was chosen, and on test; a panel a data set."""
    found = both_splits(rows)
    if not found:
        return None
    figure = new_figure(1 + 6.5 * len(found), 5)
    for axes, (dataset, frame) in zip(
        figure.subplots(1, len(found), squeeze=False)[0], found.items(), strict=True
    ):
        for system, run in frame.groupby("system", sort=False):
            told = {"color": colour(system), "marker": marker(system)}
            axes.scatter(run["dev"], run["test"], s=46, alpha=0.8, edgecolors="white", **told)
        families = sorted({family(system): colour(system) for system in frame["system"]}.items())
        for name, shade in families:
            axes.scatter([], [], s=46, color=shade, label=name)
        for level in LEVELS:
            axes.scatter([], [], s=46, color=GREY, marker=marker(f"({level})"), label=level)
        axes.set(title=DATASETS[dataset], xlabel="dev MAP of a run", ylabel="test MAP")
        axes.legend(fontsize=10, loc="center left", bbox_to_anchor=(1.01, 0.5))
    figure.suptitle("Does dev choose the better run?")
    return figure


def _titled(title: str, vectors: set[str]) -> str:
    return f"{title} ({', '.join(sorted(vectors))})"


def _histories(
    runs: dict[tuple[str, str], Choices],
    dataset: str,
    variants: Iterable[str],
    key: str,
    used: set[str],
) -> dict[str, list[list[float]]]:
    """Variant → a curve a seed, from runs with the same vectors where all have some in common.

    The vectors are added to `used`.
    """
    choices = {v: runs[v, dataset] for v in variants if (v, dataset) in runs}
    common = pick(*choices.values())
    found = {}
    for variant, choice in choices.items():
        name = common or pick(choice)
        used.add(name)
        label = variant if common else f"{variant}, {name}"
        found[label] = [[epoch[key] for epoch in row.history] for row in choice[name]]
    return found
