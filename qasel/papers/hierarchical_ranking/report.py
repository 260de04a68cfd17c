"""Paper 1's model as boxes and arrows, from the recipe and the declared schemes."""

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd
from scipy import stats

from qasel.figures.curves import curves
from qasel.figures.diagrams import Arrow, Box, Diagram, diagrams
from qasel.figures.style import (
    GREY,
    HouseFigure,
    colour,
    family,
    house_style,
    marker,
    new_figure,
)
from qasel.papers.hierarchical_ranking.recipes import (
    MAIN,
    PAPER,
    SCHEMES,
    HierarchicalRecipe,
    recipe,
)
from qasel.papers.report import drawn, table_figure
from qasel.results.claims import HELD, SPREAD, Claim, judged
from qasel.results.compare import pooled, significance
from qasel.results.experiments import varied
from qasel.results.ledger import Row, read_ledger
from qasel.results.tables import (
    DATASETS,
    Choices,
    comparison,
    counted,
    markdown_table,
    pick,
    published,
)
from qasel.training.losses import LEVELS, Scheme

TINTS = {"point": "#FFF3CC", "pair": "#D6ECF8", "list": "#DDF0E4"}
"""A tint a loss, so that it is seen which loss trains a head."""
WORDS, SHARED, OWN = "#F4F4F4", "#E4ECF5", "#F8E9DD"


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


def claims(rows: Iterable[Row] | None = None) -> pd.DataFrame:
    """What the paper concludes, a line a comparison and data set; see `results.claims.judged`."""
    return judged(
        PAPER,
        [
            Claim(text, first, second, dataset)
            for text, pairs in COMPARISONS.items()
            for first, second in pairs
            for dataset in PLACES
        ],
        rows,
    )


def together(rows: Iterable[Row] | None = None) -> list[str]:
    """Joint training against one level, all comparisons of a data set as one, in sentences.

    Of those that were run: the mean of the paper's differences and of ours, and a test of ours
    (see `results.compare.pooled`). `rows` default to the ledger.
    """
    rows = list(read_ledger(PAPER) if rows is None else rows)
    table = published(PAPER).query("table == 'table-1' and metric == 'MAP'")
    printed = table.set_index(["row", "dataset"])["value"]
    pairs = [
        pair for text, found in COMPARISONS.items() if text.startswith(JOINT) for pair in found
    ]
    told = []
    for dataset, shown in PLACES.items():
        tested = [(pair, significance(PAPER, dataset, "map", *pair, rows)) for pair in pairs]
        ran = [(pair, found) for pair, found in tested if found]
        if not ran:
            told.append(f"**{shown}**: not run yet.")
            continue
        known = np.mean([printed[a, dataset] - printed[b, dataset] for (a, b), _ in ran])
        ours = pooled(found for _, found in ran)
        above = sum(found.t.difference > 0 for _, found in ran)
        told.append(
            f"**{shown}**: {len(ran)} of {len(pairs)} comparisons {'were' if ran[1:] else 'was'} "
            f"run, in {above} of which joint training is ahead. Their mean difference is "
            f"{known:+.4f} in the paper and {ours.difference:+.4f} in our runs (p = {ours.p:.3f})."
        )
    return told


def ablation(rows: Iterable[Row] | None = None) -> list[str]:
    """Whether levels help beyond the size of the network (table 2), in sentences of Markdown."""
    frame = claims(rows).set_index(["systems", "data"])
    told = []
    for shown in PLACES.values():
        size = frame.loc["PRI(list) over PRI(all list)", shown]
        less = {level: f"PRI(list) over PRI(list) w/o {level}-level" for level in ("point", "pair")}
        judged_less = {level: frame.loc[systems, shown] for level, systems in less.items()}
        if not any(line["seeds"] for line in (size, *judged_less.values())):
            told.append(f"**{shown}**: not run yet.")
            continue
        if not size["seeds"]:
            so = "Whether it is the levels or the size is open here."
        elif size["verdict"] == HELD:
            so = "So the levels help beyond the size of the network."
        else:
            so = "So these runs do not show that the levels help beyond the size of the network."
        told.append(
            f"**{shown}**: PRI(list) against three list losses on the same graph: {_judged(size)}. "
            + "".join(
                f"Against itself without the {level} level: {_judged(line)}. "
                for level, line in judged_less.items()
            )
            + so
        )
    return told


def _judged(line: pd.Series) -> str:
    """In words: "+0.005 ± 0.012 (the paper's way, not clearly; p = 0.732, 3 seeds)"."""
    if not line["seeds"]:
        return "not run yet"
    seeds = f"{line['seeds']} seed{'s' if line['seeds'] > 1 else ''}"
    spread = "" if line[SPREAD] == "–" else f" ± {line[SPREAD]}"
    return f"{line['ours']}{spread} ({line['verdict']}; p = {line['p']}, {seeds})"


def answer(rows: Iterable[Row] | None = None) -> str:
    """Does hearing all three levels help? Means of the main rows, and a verdict, as Markdown."""
    rows = list(read_ledger(PAPER) if rows is None else rows)
    frame = comparison(PAPER, rows)
    frame = frame[(frame["table"] == "table-1") & (frame["metric"] == "MAP")]
    frame = frame.set_index(["row", "data"])
    cells = []
    for name, heard in (("DCA", "list"), ("CA(list)", "list"), (MAIN, "point, pair, list")):
        cells.append([name, heard])
        for shown in PLACES.values():
            line = frame.loc[name, shown]
            spread = f" ± {line['std']:.3f}" if pd.notna(line["std"]) else ""
            mean = f"{line['ours']:.3f}{spread}" if line["runs"] else "–"
            cells[-1] += [mean, str(line["runs"])]
    header = ["system", "levels"]
    header += [text for shown in PLACES.values() for text in (f"{shown} MAP", "seeds")]
    judgements = claims(rows)
    main = judgements[judgements["systems"].isin([f"{MAIN} over {n}" for n in ("CA(list)", "DCA")])]
    ran = main[main["seeds"] > 0]
    told = [f"{line['systems']} on {line['data']} {_judged(line)}" for _, line in ran.iterrows()]
    clear = int((ran["verdict"] == HELD).sum())
    text = "None of them has been compared yet."
    if told:
        text = f"Over the seeds that both have: {'; '.join(told)}. Hearing all three helps clearly "
        text += f"in {clear or 'none'} of these {len(ran)} comparisons."
    return markdown_table(header, cells, {2, 3, 4, 5}) + "\n" + text


def pair_level(rows: Iterable[Row] | None = None, epochs: int = 6) -> pd.DataFrame:
    """The pair loss on TREC-QA, epoch by epoch, and what came of it: dev and test MAP.

    A line for each system that learns the level and what follows the hidden layer of its pair
    head, of the first seed. `rows` default to the ledger.
    """
    rows = list(read_ledger(PAPER) if rows is None else rows)
    lines = {}
    for system in SCHEMES:
        for head, (first, *_) in varied(PAPER, system, "trecqa", "pair_head", rows).items():
            losses = [epoch["pair"] for epoch in first.history[:epochs] if "pair" in epoch]
            if losses:
                line: dict[str, float] = {f"epoch {n}": loss for n, loss in enumerate(losses, 1)}
                maps = {f"{split} MAP": first.scores[split]["map"] for split in ("dev", "test")}
                lines[f"{system}, {head}"] = line | maps
    return pd.DataFrame.from_dict(lines, orient="index")


RUNS = 10
"""Fewer do not tell how two scores go together."""


def both_splits(rows: Iterable[Row] | None = None) -> dict[str, pd.DataFrame]:
    """Data set → system, dev MAP and test MAP of each run that counts, if they are `RUNS`.

    Of each system the runs with the vectors that its row of the tables has. `rows` default to the
    ledger.
    """
    lines: dict[str, list[tuple[str, float, float]]] = {}
    for (system, dataset), choices in counted(PAPER, rows).items():
        if dataset in PLACES:
            lines.setdefault(dataset, []).extend(
                (system, row.scores["dev"]["map"], row.scores["test"]["map"])
                for row in choices[pick(choices)]
            )
    return {
        dataset: pd.DataFrame(sorted(lines[dataset]), columns=["system", "dev", "test"])
        for dataset in PLACES
        if len(lines.get(dataset, ())) >= RUNS
    }


def judged_by_dev(rows: Iterable[Row] | None = None) -> list[str]:
    """How dev and test MAP go together over the runs, in sentences of Markdown."""
    told = []
    for dataset, frame in both_splits(rows).items():
        found = stats.spearmanr(frame["dev"], frame["test"])
        spread = frame["test"].max() - frame["test"].min()
        best = frame.loc[frame["dev"].idxmax()]
        above = int((frame["test"] > best["test"]).sum())
        told.append(
            f"**{PLACES[dataset]}**: {len(frame)} runs, whose test MAP spans {spread:.3f}. Rank "
            f"correlation of dev and test (Spearman): {found.statistic:+.2f} (p = "
            f"{found.pvalue:.2f}, as if all runs were independent). The run with the highest dev "
            f"MAP ({best['dev']:.3f}, {best['system']}) has a test MAP of {best['test']:.3f}; "
            f"{above} of the others are above that."
        )
    return told or ["There are too few runs yet."]


def convergence(rows: Iterable[Row] | None = None) -> list[str]:
    """Whether the list loss falls faster in PRI(list) than alone (figure 4), and the best epoch
    comes earlier, in sentences of Markdown.
    """
    runs = counted(PAPER, rows)
    told = []
    for dataset, shown in PLACES.items():
        systems = {name: runs.get((name, dataset), {}) for name in (MAIN, "CA(list)")}
        vectors = pick(*systems.values())
        if vectors is None:
            told.append(f"{shown}: not run for both systems yet.")
            continue
        curves = {name: _mean_curve(choice[vectors]) for name, choice in systems.items()}
        joint, alone = curves.values()
        epochs = min(len(joint), len(alone))
        lower = int((joint[:epochs] < alone[:epochs]).sum())
        once = all(len(choice[vectors]) == 1 for choice in systems.values())
        best = {
            name: np.mean([row.best_epoch for row in choice[vectors]])
            for name, choice in systems.items()
        }
        shown_best = ", ".join(
            f"{f'{epoch:.1f}'.removesuffix('.0')} for {name}" for name, epoch in best.items()
        )
        held = [lower > epochs / 2, bool(best[MAIN] < best["CA(list)"])]
        told.append(
            f"**{shown}**: the list loss of PRI(list) is the lower one in {lower} of the {epochs} "
            f"epochs that {'both runs' if once else 'all runs'} went through, so it "
            f"{'falls' if held[0] else 'does not fall'} faster. The best dev epoch is "
            f"{'' if once else 'on average '}{shown_best}, so PRI(list) "
            f"{'needs fewer' if held[1] else 'does not need fewer'} epochs. "
            f"Of the paper's two findings {('neither comes', 'one comes', 'both come')[sum(held)]} "
            f"back{', in one run of each' if once else ''}."
        )
    return told


def _mean_curve(rows: list[Row]) -> np.ndarray:
    shortest = min(len(row.history) for row in rows)
    return np.mean([[e["list"] for e in row.history[:shortest]] for row in rows], axis=0)


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
