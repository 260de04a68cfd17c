"""Paper 1: its model as boxes and arrows, its claims beside our runs, and its figures.

`runs` are the frame of `read_runs`, by default the ledger's.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd
from scipy import stats

from qasel.figures.charts import curves
from qasel.figures.diagrams import Arrow, Box, Diagram, diagrams
from qasel.figures.style import (
    GREY,
    HouseFigure,
    colour,
    family,
    house_style,
    line_and_marker,
    new_figure,
)
from qasel.papers.hierarchical_ranking import ROOM
from qasel.papers.hierarchical_ranking.recipes import (
    MAIN,
    SCHEMES,
    HierarchicalRecipe,
    recipe,
)
from qasel.papers.report import OWN, SHARED, WORDS, drawn, table_figure, titled
from qasel.results.compare import HELD, SPREAD, Claim, judged, pooled, significance
from qasel.results.runs import (
    DATASETS,
    histories,
    in_tables,
    pick,
    read_runs,
    shown,
    varied,
)
from qasel.results.tables import comparison, markdown_table, published
from qasel.training.losses import LEVELS, Scheme

TINTS = {"point": "#FFF3CC", "pair": "#D6ECF8", "list": "#DDF0E4"}
"""A tint a loss, so that it is seen which loss trains a head."""


def feature_size(recipe: HierarchicalRecipe) -> int:
    """Numbers in the matching vector r = [r^q; r^a] of a head."""
    return 2 * len(recipe.kernels) * recipe.channels


def backbone(recipe: HierarchicalRecipe) -> Diagram:
    """Equations 1-5 from left to right: the question above, the answer below."""
    h, side = recipe.hidden, feature_size(recipe) // 2
    widths = f"{recipe.kernels[0]}–{recipe.kernels[-1]}"
    clip = f", {recipe.k_max} largest weights" if recipe.k_max else ""
    boxes = {
        "match": Box(r"$M = H^q {H^a}^\top$", 3.0, 0, "[n, m]", SHARED, 1.4),
        "r": Box(r"$r = [r^q; r^a]$", 9.55, 0, f"[{2 * side:,}]", OWN, 1.35),
        "score": Box("two-layer MLP", 11.15, 0, "score of the pair", OWN, 1.4),
    }
    arrows = [Arrow("r", "score")]
    sides = (("question", "q", "a", "n", 1), ("answer", "a", "q", "m", -1))
    for name, own, other, words, y in sides:
        match = "M" if own == "q" else r"M^\top"
        aligned = rf"$\hat{{H}}{{}}^{own} = \mathrm{{softmax}}({match})\,H^{other}$"
        compared = rf"$C^{own} = \hat{{H}}{{}}^{own} \odot H^{own}$"
        boxes |= {
            f"E{own}": Box(f"{name} words", 0, 1.1 * y, f"$E^{own}$ [{words}, d]", WORDS, 1.4),
            f"H{own}": Box(f"gates  $H^{own}$", 1.6, 1.1 * y, f"[{words}, {h}]", SHARED, 1.1),
            f"Ĥ{own}": Box(aligned, 4.95, 0.42 * y, f"[{words}, {h}]{clip}", SHARED, 1.95),
            f"C{own}": Box(compared, 6.55, 1.1 * y, f"[{words}, {h}]", OWN, 1.45),
            f"r{own}": Box(f"CNN {widths}, max", 8.2, 1.1 * y, f"$r^{own}$ [{side:,}]", OWN, 1.4),
        }
        flow = [f"E{own}", f"H{own}", f"C{own}", f"r{own}", "r"]
        arrows += [Arrow(start, end) for start, end in pairwise(flow)]
        arrows += [
            Arrow(f"H{own}", "match"),
            Arrow("match", f"Ĥ{own}"),
            Arrow(f"Ĥ{own}", f"C{own}"),
        ]
    return Diagram(boxes, arrows)


def wiring(scheme: Scheme, recipe: HierarchicalRecipe) -> Diagram:
    """A scheme from bottom to top: each head's own features, what it reads, its loss."""
    size = feature_size(recipe)
    boxes: dict[str, Box] = {}
    arrows = []
    place = {head.name: i for i, head in enumerate(scheme.heads)}
    middle = (len(scheme.heads) - 1) / 2
    for head in scheme.heads:
        x = 1.3 * (place[head.name] - middle)
        tint = TINTS[head.loss]
        ranks = head.name == scheme.ranks
        sources = scheme.sources(head.name)
        boxes |= {
            f"r {head.name}": Box(rf"$r_\mathrm{{{head.name}}}$", x, 0, "", tint, 0.9, 0.4),
            f"r̂ {head.name}": Box(
                rf"$\hat{{r}}_\mathrm{{{head.name}}}$", x, 0.85, f"{size * len(sources):,}", tint
            ),
            f"loss {head.name}": Box(
                f"MLP, {head.loss} loss", x, 1.7, "", tint, 1.22, 0.4, strong=ranks
            ),
        }
        arrows += [
            Arrow(f"r {head.name}", f"r̂ {head.name}"),
            Arrow(f"r̂ {head.name}", f"loss {head.name}"),
        ]
        for other in head.reads:
            far = place[head.name] - place[other] > 1
            arrows.append(Arrow(f"r̂ {other}", f"r̂ {head.name}", bend=-0.33 if far else 0.0))
    return Diagram(boxes, arrows)


PLACES = {"wikiqa": "WikiQA", "trecqa": "TREC-QA"}

JOINT = "joint training beats one level"
COMPARISONS = {
    f"{JOINT} (list)": [(f"{family}(list)", "CA(list)") for family in ("MTL", "RI", "PRI")],
    f"{JOINT} (point)": [(f"{family}(point)", "CA(point)") for family in ("MTL", "RI", "PRI")],
    f"{JOINT} (pair)": [(f"{family}(pair)", "CA(pair)") for family in ("MTL", "RI")],
    "progressive beats plain integration": [("PRI(list)", "RI(list)")],
    "the main system beats the strong baseline": [("PRI(list)", "DCA")],
    "each level is needed": [
        ("PRI(list)", "PRI(list) w/o point-level"),
        ("PRI(list)", "PRI(list) w/o pair-level"),
    ],
    "levels, not parameters": [("PRI(list)", "PRI(all list)")],
}
"""Claim → (the system said to be better, the other one); all are about MAP."""


def claims(runs: pd.DataFrame | None = None) -> pd.DataFrame:
    """What the paper concludes, a line a comparison and data set; see `judged`."""
    return judged(
        ROOM,
        [
            Claim(text, first, second, dataset)
            for text, pairs in COMPARISONS.items()
            for first, second in pairs
            for dataset in PLACES
        ],
        runs,
    )


def together(runs: pd.DataFrame | None = None) -> list[str]:
    """Joint training against one level, all comparisons of a data set as one, in sentences.

    Of those that were run: the mean of the paper's differences and of ours, and a test of ours
    (see `pooled`).
    """
    runs = read_runs([ROOM]) if runs is None else runs
    table = published(ROOM).query("table == 'table-1' and metric == 'MAP'")
    printed = table.set_index(["row", "dataset"])["value"]
    pairs = [
        pair for text, found in COMPARISONS.items() if text.startswith(JOINT) for pair in found
    ]
    said = []
    for dataset, name in PLACES.items():
        tested = [(pair, significance(ROOM, dataset, "map", *pair, runs)) for pair in pairs]
        ran = [(pair, found) for pair, found in tested if found]
        if not ran:
            said.append(f"**{name}**: not run yet.")
            continue
        known = np.mean([printed[a, dataset] - printed[b, dataset] for (a, b), _ in ran])
        ours = pooled(found for _, found in ran)
        above = sum(found.t.difference > 0 for _, found in ran)
        said.append(
            f"**{name}**: {len(ran)} of {len(pairs)} comparisons {'were' if ran[1:] else 'was'} "
            f"run, in {above} of which joint training is ahead. Their mean difference is "
            f"{known:+.4f} in the paper and {ours.difference:+.4f} in our runs (p = {ours.p:.3f})."
        )
    return said


def ablation(runs: pd.DataFrame | None = None) -> list[str]:
    """Whether levels help beyond the size of the network (table 2), in sentences of Markdown."""
    frame = claims(runs).set_index(["systems", "data"])
    said = []
    for name in PLACES.values():
        size = frame.loc["PRI(list) over PRI(all list)", name]
        less = {
            level: frame.loc[f"PRI(list) over PRI(list) w/o {level}-level", name]
            for level in ("point", "pair")
        }
        if not any(line["seeds"] for line in (size, *less.values())):
            said.append(f"**{name}**: not run yet.")
            continue
        if not size["seeds"]:
            so = "Whether it is the levels or the size is open here."
        elif size["verdict"] == HELD:
            so = "So the levels help beyond the size of the network."
        else:
            so = "So these runs do not show that the levels help beyond the size of the network."
        said.append(
            f"**{name}**: PRI(list) against three list losses on the same graph: {_judged(size)}. "
            + "".join(
                f"Against itself without the {level} level: {_judged(line)}. "
                for level, line in less.items()
            )
            + so
        )
    return said


def _judged(line: pd.Series) -> str:
    """In words: "+0.005 ± 0.012 (the paper's way, not clearly; p = 0.732, 3 seeds)"."""
    if not line["seeds"]:
        return "not run yet"
    seeds = f"{line['seeds']} seed{'s' if line['seeds'] > 1 else ''}"
    spread = "" if line[SPREAD] == "–" else f" ± {line[SPREAD]}"
    return f"{line['ours']}{spread} ({line['verdict']}; p = {line['p']}, {seeds})"


def answer(runs: pd.DataFrame | None = None) -> str:
    """Does hearing all three levels help? Means of the main rows, and a verdict, as Markdown."""
    frame = comparison(ROOM, runs).query("table == 'table-1' and metric == 'MAP'")
    frame = frame.set_index(["row", "data"])
    cells = []
    for name, heard in (("DCA", "list"), ("CA(list)", "list"), (MAIN, "point, pair, list")):
        cells.append([name, heard])
        for data in PLACES.values():
            line = frame.loc[name, data]
            spread = f" ± {line['std']:.3f}" if pd.notna(line["std"]) else ""
            mean = f"{line['ours']:.3f}{spread}" if line["runs"] else "–"
            cells[-1] += [mean, str(line["runs"])]
    header = ["system", "levels"]
    header += [text for data in PLACES.values() for text in (f"{data} MAP", "seeds")]
    judgements = claims(runs)
    main = judgements[judgements["systems"].isin([f"{MAIN} over {n}" for n in ("CA(list)", "DCA")])]
    ran = main[main["seeds"] > 0]
    said = [f"{line['systems']} on {line['data']} {_judged(line)}" for _, line in ran.iterrows()]
    clear = int((ran["verdict"] == HELD).sum())
    text = "None of them has been compared yet."
    if said:
        text = f"Over the seeds that both have: {'; '.join(said)}. Hearing all three helps clearly "
        text += f"in {clear or 'none'} of these {len(ran)} comparisons."
    return markdown_table(header, cells, {2, 3, 4, 5}) + "\n" + text


def pair_level(runs: pd.DataFrame | None = None, epochs: int = 6) -> pd.DataFrame:
    """The pair loss on TREC-QA, epoch by epoch, and what came of it: dev and test MAP.

    A line for each system that learns the level and what follows the hidden layer of its pair
    head, of the first seed.
    """
    runs = read_runs([ROOM]) if runs is None else runs
    lines = {}
    for system in SCHEMES:
        dev = varied(ROOM, system, "trecqa", "pair_head", runs, "dev")
        for head, found in varied(ROOM, system, "trecqa", "pair_head", runs).items():
            history = found["history"].iloc[0]
            losses = [epoch["pair"] for epoch in history[:epochs] if "pair" in epoch]
            if losses:
                line: dict[str, float] = {f"epoch {n}": loss for n, loss in enumerate(losses, 1)}
                maps = {"dev MAP": dev[head]["map"].iloc[0], "test MAP": found["map"].iloc[0]}
                lines[f"{system}, {head}"] = line | maps
    return pd.DataFrame.from_dict(lines, orient="index")


RUNS = 10
"""Fewer do not tell how two scores go together."""


def both_splits(runs: pd.DataFrame | None = None) -> dict[str, pd.DataFrame]:
    """Data set → system, dev MAP and test MAP of each run that counts, if they are `RUNS`.

    Of each system the runs with the vectors that its row of the tables has.
    """
    lines = in_tables(ROOM, runs)
    found = {}
    for dataset in PLACES:
        systems = [
            group[group["vectors"] == pick(group, [name])]
            for name, group in lines[lines["dataset"] == dataset].groupby("variant")
        ]
        if systems:
            both = pd.concat(systems).pivot(
                index=["variant", "seed"], columns="split", values="map"
            )
            if len(both) >= RUNS:
                both = both.reset_index().rename(columns={"variant": "system"})
                columns = ["system", "dev", "test"]
                found[dataset] = both[columns].sort_values(columns, ignore_index=True)
    return found


def judged_by_dev(runs: pd.DataFrame | None = None) -> list[str]:
    """How dev and test MAP go together over the runs, in sentences of Markdown."""
    said = []
    for dataset, frame in both_splits(runs).items():
        found = stats.spearmanr(frame["dev"], frame["test"])
        spread = frame["test"].max() - frame["test"].min()
        best = frame.loc[frame["dev"].idxmax()]
        above = int((frame["test"] > best["test"]).sum())
        said.append(
            f"**{PLACES[dataset]}**: {len(frame)} runs, whose test MAP spans {spread:.3f}. Rank "
            f"correlation of dev and test (Spearman): {found.statistic:+.2f} (p = "
            f"{found.pvalue:.2f}, as if all runs were independent). The run with the highest dev "
            f"MAP ({best['dev']:.3f}, {best['system']}) has a test MAP of {best['test']:.3f}; "
            f"{above} of the others are above that."
        )
    return said or ["There are too few runs yet."]


def convergence(runs: pd.DataFrame | None = None) -> list[str]:
    """Whether the list loss falls faster in PRI(list) than alone (figure 4), and the best epoch
    comes earlier, in sentences of Markdown.
    """
    said = []
    for dataset, name in PLACES.items():
        systems = shown(ROOM, dataset, MAIN, "CA(list)", runs=runs)
        if not systems:
            said.append(f"{name}: not run for both systems yet.")
            continue
        curves = histories(systems, "list").values()
        joint, alone = (
            np.mean([curve[: min(map(len, seeds))] for curve in seeds], axis=0) for seeds in curves
        )
        epochs = min(len(joint), len(alone))
        lower = int((joint[:epochs] < alone[:epochs]).sum())
        once = all(len(lines) == 1 for lines in systems.values())
        best = {system: lines["best_epoch"].mean() for system, lines in systems.items()}
        told_best = ", ".join(
            f"{f'{epoch:.1f}'.removesuffix('.0')} for {system}" for system, epoch in best.items()
        )
        held = [lower > epochs / 2, bool(best[MAIN] < best["CA(list)"])]
        said.append(
            f"**{name}**: the list loss of PRI(list) is the lower one in {lower} of the {epochs} "
            f"epochs that {'both runs' if once else 'all runs'} went through, so it "
            f"{'falls' if held[0] else 'does not fall'} faster. The best dev epoch is "
            f"{'' if once else 'on average '}{told_best}, so PRI(list) "
            f"{'needs fewer' if held[1] else 'does not need fewer'} epochs. "
            f"Of the paper's two findings {('neither comes', 'one comes', 'both come')[sum(held)]} "
            f"back{', in one run of each' if once else ''}."
        )
    return said


FAMILIES = ("CA", "MTL", "RI", "PRI")
TABLES = {
    "table-1": "Table 1: the schemes, paper against ours",
    "table-2": "Table 2: the ablations of PRI(list), paper against ours",
}


def figures(
    runs: pd.DataFrame | None = None, note: Callable[[str], None] = print
) -> dict[str, HouseFigure]:
    """Every figure by its name; `note` is told of those that there are no runs for."""
    runs = read_runs([ROOM]) if runs is None else runs
    found = {
        "backbone": architecture(),
        "schemes": schemes(),
        **{name: table(runs, name) for name in TABLES},
        "figure-4": list_loss(runs),
        "dev-map": dev_map(runs),
        "dev-and-test": dev_and_test(runs),
    }
    return drawn(ROOM, found, note)


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


def table(runs: pd.DataFrame | None, name: str) -> HouseFigure | None:
    """One table of the paper, its own rows: its numbers against ours."""

    def own(frame: pd.DataFrame) -> pd.DataFrame:
        return frame[frame["row"].isin(SCHEMES)]

    return table_figure(ROOM, runs, name, TABLES[name], own, name_vectors=True)


def list_loss(runs: pd.DataFrame | None = None) -> HouseFigure | None:
    """Figure 4: the list loss while training, PRI(list) against the list level alone."""
    used: set[str] = set()
    panels = {}
    for dataset, name in DATASETS.items():
        systems = _curves(runs, dataset, ("PRI(list)", "CA(list)"), "list", used)
        if len(systems) == 2:
            panels[name] = systems
    title = titled("Figure 4: the list loss", used)
    return curves(panels, "list loss (training)", title=title) if panels else None


def dev_map(runs: pd.DataFrame | None = None) -> HouseFigure | None:
    """MAP on the development split after each epoch, a panel for each level that ranks."""
    used: set[str] = set()
    panels = {}
    for dataset, name in DATASETS.items():
        for level in LEVELS:
            variants = [f"{family}({level})" for family in FAMILIES]
            systems = _curves(runs, dataset, variants, "dev_map", used)
            if systems:
                panels[f"{name}, {level}-level"] = systems
    title = titled("MAP on the development split", used)
    columns = min(len(panels), len(LEVELS))
    return curves(panels, "dev MAP", title=title, columns=columns, peak=True) if panels else None


@house_style
def dev_and_test(runs: pd.DataFrame | None = None) -> HouseFigure | None:
    """MAP of each run on dev, by which its epoch was chosen, and on test; a panel a data set."""
    found = both_splits(runs)
    if not found:
        return None
    figure = new_figure(1 + 6.5 * len(found), 5)
    for axes, (dataset, frame) in zip(
        figure.subplots(1, len(found), squeeze=False)[0], found.items(), strict=True
    ):
        for system, run in frame.groupby("system", sort=False):
            told = {"color": colour(system), "marker": line_and_marker(system)[1]}
            axes.scatter(run["dev"], run["test"], s=46, alpha=0.8, edgecolors="white", **told)
        families = sorted({family(system): colour(system) for system in frame["system"]}.items())
        for name, shade in families:
            axes.scatter([], [], s=46, color=shade, label=name)
        for level in LEVELS:
            axes.scatter(
                [], [], s=46, color=GREY, marker=line_and_marker(f"({level})")[1], label=level
            )
        axes.set(title=DATASETS[dataset], xlabel="dev MAP of a run", ylabel="test MAP")
        axes.legend(fontsize=10, loc="center left", bbox_to_anchor=(1.01, 0.5))
    figure.suptitle("Does dev choose the better run?")
    return figure


def _curves(
    runs: pd.DataFrame | None,
    dataset: str,
    variants: Sequence[str],
    key: str,
    used: set[str],
) -> dict[str, list[list[float]]]:
    """Variant → a curve a seed, from runs with the same vectors where all have some in common.

    The vectors are added to `used`.
    """
    lines = in_tables(ROOM, runs)
    ran = [v for v in variants if ((lines["variant"] == v) & (lines["dataset"] == dataset)).any()]
    systems = shown(ROOM, dataset, *ran, runs=lines)
    if not systems:  # no vectors in common
        apart = [shown(ROOM, dataset, name, runs=lines)[name] for name in ran]
        systems = {f"{g['variant'].iloc[0]}, {g['vectors'].iloc[0]}": g for g in apart}
    used.update(group["vectors"].iloc[0] for group in systems.values())
    return histories(systems, key)
