"""Paper 3: what it says of its parts beside our runs, its model as boxes, and its figures.

`runs` are the frame of `read_runs`, by default the ledger's.
"""

from collections.abc import Callable, Mapping

import pandas as pd
import seaborn

from qasel.figures.charts import curves
from qasel.figures.diagrams import Arrow, Box, Diagram, diagrams
from qasel.figures.style import GREY, INK, HouseFigure, colour, house_style, new_figure
from qasel.locations import DATA
from qasel.papers.ms_ranker import ROOM
from qasel.papers.ms_ranker.lesson import READINGS, gradients, name
from qasel.papers.ms_ranker.recipes import (
    ABLATIONS,
    ENCODERS,
    MAIN,
    PRE_RANKER,
    WITH_AGENT,
    MSRankerRecipe,
    recipe,
)
from qasel.papers.report import OUT, OWN, SHARED, WORDS, drawn, table_figure
from qasel.rankers import History
from qasel.results import Room
from qasel.results.compare import Claim, Significance, between, judged, significance
from qasel.results.runs import DATASETS, histories, read_runs, shown
from qasel.results.tables import NOT_RUN, published

NEEDED = {
    "w/o Rewards": "rewards are needed",
    "w/o Pre-Ranker": "the pre-ranker's order is needed",
    "w/o Evidence": "evidence is needed",
    "w/o RL action": "the action must weigh the evidence",
    "w/o the Gate": "the gate is needed",
}
"""Row of table 4 → what the paper concludes from it."""
CLAIMS = [
    *(Claim(NEEDED[row], MAIN, row, "wikiqa", "dev MAP") for row in ABLATIONS),
    *(
        Claim("the agent beats its pre-ranker", MAIN, PRE_RANKER, d)
        for d in ("wikiqa", "semeval-cqa")
    ),
    *(
        Claim("the agent helps a transformer", f"{name}{WITH_AGENT}", name, "wikiqa")
        for name in ENCODERS
    ),
]
"""Table 4; the conclusion, of models that match with the question alone; and table 3."""


def claims(runs: pd.DataFrame | None = None) -> pd.DataFrame:
    """What the paper concludes, a line a comparison; see `judged`.

    Two kinds of line have no number in the paper: the pre-ranker's, and those of MiniLM, which
    stands in for BERT.
    """
    return judged(ROOM, CLAIMS, runs)


def over_order(
    dataset: str, yardsticks: Room, runs: pd.DataFrame | None = None
) -> Significance | None:
    """MS-Ranker over the order of the file, on test MAP; None when one of the two was not run.

    That order, a run of the yardsticks, is the article's on WikiQA, the thread's on SemEval.
    """
    order = shown(yardsticks, dataset, "given order", runs=runs)
    return between(shown(ROOM, dataset, MAIN, runs=runs) | order)


def encoders(runs: pd.DataFrame | None = None) -> list[Significance | None]:
    """Frozen MiniLM's vectors over GloVe's, and fine-tuned MiniLM over those: test MAP, WikiQA.

    Each with its own vectors or encoder; None for a pair without a common seed.
    """
    pairs = ((f"{MAIN} + MiniLM (frozen)", MAIN), ("MiniLM", f"{MAIN} + MiniLM (frozen)"))
    return [
        between(shown(ROOM, "wikiqa", a, runs=runs) | shown(ROOM, "wikiqa", b, runs=runs))
        for a, b in pairs
    ]


def gaps(yardsticks: Room, runs: pd.DataFrame | None = None) -> pd.DataFrame:
    """Test MAP of table 2, a column a data set: the paper's, ours, and what is near ours.

    Means over seeds; differences are over common seeds, p Fisher's randomisation test over the
    questions. All cells are text.
    """
    known = published(ROOM).query("row == @MAIN and metric == 'MAP'")
    values = known.drop_duplicates("dataset").set_index("dataset")["value"]
    runs = read_runs([ROOM, yardsticks]) if runs is None else runs
    columns = {}
    for dataset, paper in values.items():
        found = {
            name: shown(ROOM, dataset, name, runs=runs).get(name)
            for name in (MAIN, PRE_RANKER, "w/o Rewards")
        }
        main, before, plain = (None if x is None else x["map"].mean() for x in found.values())
        over = significance(ROOM, dataset, "map", "w/o Rewards", MAIN, runs)
        order = over_order(dataset, yardsticks, runs)
        gap = None if main is None else main - paper
        columns[DATASETS[dataset]] = {
            "MS-Ranker, the paper": f"{paper:.3f}",
            "MS-Ranker, ours": _number(main),
            "gap": _number(gap, "+"),
            "Pre-Ranker, ours": _number(before),
            "w/o Rewards, ours": _number(plain),
            "w/o Rewards over MS-Ranker, ours": _difference(over),
            "what that closes of the gap": f"{over.t.difference / -gap:.0%}"
            if over and gap
            else NOT_RUN,
            "order of the file": _number(order.means[1] if order else None),
            "MS-Ranker over that order, ours": _difference(order),
        }
    return pd.DataFrame(columns)


def _number(value: float | None, sign: str = "") -> str:
    return NOT_RUN if value is None else f"{value:{sign}.3f}"


def _difference(found: Significance | None) -> str:
    if found is None:
        return NOT_RUN
    p = found.randomisation.p
    return f"{found.t.difference:+.3f} (p {'< 0.001' if p < 0.001 else f'= {p:.3f}'})"


def agent(recipe: MSRankerRecipe) -> Diagram:
    """Equations 1-23 from left to right: the question above, the evidence below.

    No arrow crosses another: O_t stands under the evidence for that.
    """
    size = 2 * recipe.hidden
    to_match, to_evidence = f"[m, {4 * size:,}] to $V_{{qc}}$", f"[m, {2 * size}] to $V_{{ec}}$"
    threshold = rf"if $P_{{post}}$ > {recipe.threshold:g}"
    boxes = {
        "Q": Box("question words", 0, 1.3, "[n, d]", WORDS, 1.5),
        "C": Box("candidate words", 0, 0, "[m, d]", WORDS, 1.5),
        "HQ": Box("BiGRU  $H_Q$", 1.8, 1.3, f"[n, {size}]", SHARED, 1.3),
        "HC": Box("BiGRU  $H_C$", 1.8, 0, f"[m, {size}]", SHARED, 1.3),
        "QC": Box("QC-attention", 3.6, 0.85, f"{to_match} [{size}]", SHARED, 1.75),
        "O": Box("last states  $O_t$", 1.8, -2.35, f"[{size}]", SHARED, 1.5),
        "E": Box("evidence  $E_t$", 3.6, -1.5, f"[{size}]", OWN, 1.3),
        "EC": Box("EC-attention", 3.6, -0.65, f"{to_evidence} [{size}]", OWN, 1.75),
        "P": Box("MLP, softmax", 5.6, 0.1, f"$s_t$ [{2 * size}] to $P_{{post}}$", OWN, 1.65),
        "L": Box("list $L$", 7.45, 0.85, "sorted by $P_{post}$", OUT, 1.35),
        "gate": Box("gate: $E_t$ and $P_{post}O_t$", 7.45, -1.3, threshold, OWN, 1.85),
        "next": Box("evidence  $E_{t+1}$", 9.35, -1.3, f"[{size}]", OWN, 1.4),
        "R": Box("reward", 9.35, 0.85, "$AP_t - AP_{t-1}$", OUT, 1.3),
    }
    ends = (
        "Q HQ", "C HC", "HQ QC", "HC QC", "HC EC", "HC O", "E EC", "QC P", "EC P",
        "P L", "P gate", "L R", "O gate", "E gate", "gate next",
    )  # fmt: skip
    return Diagram(boxes, [Arrow(start, end) for start, end in map(str.split, ends)])


STARTS = DATA / "attention-starts.csv"
"""What `tools/attention_starts.py` writes."""

TABLES = {
    "table-2": "Table 2: MS-Ranker, paper against ours",
    "table-3": "Table 3: encoders, paper against ours",
    "table-4": "Table 4: the ablations on dev, paper against ours",
}


def figures(
    runs: pd.DataFrame | None = None, note: Callable[[str], None] = print
) -> dict[str, HouseFigure]:
    """Every figure by its name; `note` is told of those that there are no runs for."""
    runs = read_runs([ROOM]) if runs is None else runs
    found = {"agent": architecture()} | {name: table(runs, name) for name in TABLES}
    return drawn(ROOM, found | {"training": training(runs)}, note)


def architecture(dataset: str = "wikiqa") -> HouseFigure:
    """One step of the agent (figures 1 and 2) with the shapes of the paper's recipe."""
    return diagrams(
        {" ": agent(recipe(dataset=dataset))},
        unit=1.15,
        title="One step of the agent",
        note="n words of the question, m of the candidate; blue: computed once for all candidates, "
        "orange: step by step, because the evidence changes",
    )


def table(runs: pd.DataFrame | None, name: str) -> HouseFigure | None:
    """One table of the paper, its own rows, against ours."""

    def own(frame: pd.DataFrame) -> pd.DataFrame:
        return frame[frame["row"].isin((MAIN, PRE_RANKER, *ABLATIONS)) | frame["runs"].gt(0)]

    return table_figure(ROOM, runs, name, TABLES[name], own)


def training(runs: pd.DataFrame | None = None) -> HouseFigure | None:
    """Mean reward a question and dev MAP after each epoch of the agent."""
    panels = {}
    for dataset, data in DATASETS.items():
        if systems := shown(ROOM, dataset, MAIN, runs=runs):
            for key, label in (("reward", "reward a question"), ("dev_map", "dev MAP")):
                panels[f"{data}, {label}"] = histories(systems, key)
    return curves(panels, "", title="The agent's training", columns=2) if panels else None


@house_style
def gradient_figure(logits: list[float], labels: list[int]) -> HouseFigure:
    """A panel a reading of the reward: mean gradients of a small list, and their deviations."""
    figure = new_figure(12, 3.6)
    panels = figure.subplots(1, len(READINGS), sharey=True)
    shades = [INK if label else GREY for label in labels]
    for axes, (told, reading) in zip(panels, READINGS.items(), strict=True):
        mean, deviation = gradients(logits, labels, *reading)
        axes.vlines(name(labels), mean - deviation, mean + deviation, colors=shades)
        axes.scatter(name(labels), mean, c=shades, s=60, zorder=3)
        axes.axhline(0, color=GREY, linewidth=0.8)
        axes.set_title(told.replace(", ", ",\n"), fontsize=10)
        axes.margins(x=0.15)
        axes.grid(visible=False, axis="x")
    panels[0].set_ylabel("gradient with respect\nto the log odds")
    figure.supxlabel(
        "candidates in the order of entering, ✓ = right; dot: mean, bar: ± deviation", fontsize=12
    )
    return figure


@house_style
def attention_figure(pairs: Mapping[str, pd.DataFrame]) -> HouseFigure:
    """A panel per way to start the attention: each candidate word's weights over the question."""
    words = next(iter(pairs.values()))
    figure = new_figure(1.5 + 0.4 * len(words.columns), 0.8 + 0.42 * len(words) * len(pairs))
    panels = figure.subplots(len(pairs), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (title, weights) in zip(panels, pairs.items(), strict=True):
        look = {"vmin": 0, "vmax": 1, "cmap": "Blues", "cbar": False}
        seaborn.heatmap(weights, ax=axes, xticklabels=True, yticklabels=True, **look)
        axes.set_title(title)
        axes.tick_params(axis="y", rotation=0, length=0)
    panels[-1].tick_params(axis="x", rotation=60)
    panels[-1].set_xlabel("words of the candidate (each column of weights sums to 1)")
    return figure


@house_style
def entering(counts: Mapping[int, int]) -> HouseFigure:
    """Questions by the step at which their first right candidate enters; 0: it has none."""
    figure = new_figure(8, 2.9)
    axes = figure.subplots()
    steps = range(min(counts), max(counts) + 1)
    bars = axes.bar(
        [f"{step}" if step else "none" for step in steps],
        [counts.get(step, 0) for step in steps],
        color=colour(PRE_RANKER),
        width=0.7,
    )
    axes.bar_label(bars, [f"{counts[step]}" if step in counts else "" for step in steps], padding=2)
    axes.margins(y=0.15)
    axes.grid(visible=False, axis="x")
    axes.set_xlabel("step at which the first right candidate enters")
    axes.set_ylabel("questions")
    return figure


@house_style
def learning(histories: Mapping[str, History], start: float) -> HouseFigure:
    """Dev MAP of each agent after each epoch, and the reward a question of those that earn one.

    `start` is the dev MAP of the pre-ranker that they start from.
    """
    panels = {"MAP on the development split": ("dev_map", "MAP")}
    panels["reward in training"] = ("reward", "reward a question")
    found = {
        title: {n: [[e[key] for e in h.epochs]] for n, h in histories.items() if key in h.epochs[0]}
        for title, (key, _) in panels.items()
    }
    figure = curves({title: systems for title, systems in found.items() if systems}, "")
    first = figure.axes[0]
    first.axhline(start, color=colour(PRE_RANKER), linestyle=":", label=PRE_RANKER)
    for axes, (_, told) in zip(figure.axes, panels.values(), strict=False):
        axes.set_ylabel(told)
        if legend := axes.get_legend():
            legend.remove()
    for legend in figure.legends:
        legend.remove()
    handles = dict(zip(histories, first.lines, strict=False)) | {PRE_RANKER: first.lines[-1]}
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4)
    return figure
