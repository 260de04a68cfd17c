"""Paper 3: its claims beside our runs, its model as boxes and arrows, and its figures.

`runs` is a frame of `read_runs`, by default that of the ledger.
"""

from collections.abc import Mapping

import pandas as pd
import seaborn

from qasel.figures.charts import curves
from qasel.figures.diagrams import Arrow, Box, Diagram, diagrams
from qasel.figures.style import HouseFigure, house_style, new_figure
from qasel.locations import DATA
from qasel.papers.ms_ranker import ROOM
from qasel.papers.ms_ranker.recipes import ABLATIONS, MAIN, PRE_RANKER, MSRankerRecipe, recipe
from qasel.papers.report import OUT, OWN, SHARED, WORDS, table_figure
from qasel.rankers import History
from qasel.results.runs import DATASETS, histories, shown


def agent(recipe: MSRankerRecipe) -> Diagram:
    """Return a diagram of equations 1-23, left to right: the question above, the evidence below.

    The loop at the bottom is the next step; the first evidence is the question's last states.
    """
    size = 2 * recipe.hidden
    to_match, to_evidence = f"[m, {4 * size:,}] to $V_{{qc}}$", f"[m, {2 * size}] to $V_{{ec}}$"
    threshold = rf"if $P_{{post}}$ > {recipe.threshold:g}"
    boxes = {
        "Q": Box("question words", 0, 1.3, "[n, d]", WORDS, 1.5),
        "C": Box("candidate words", 0, 0, "[m, d]", WORDS, 1.5),
        "HQ": Box("BiGRU  $H_Q$", 1.8, 1.3, f"[n, {size}]", SHARED, 1.3),
        "HC": Box("BiGRU  $H_C$", 1.8, 0, f"[m, {size}]", SHARED, 1.3),
        "QC": Box("QC-attention", 4.3, 0.85, f"{to_match} [{size}]", SHARED, 1.75),
        "O": Box("last states  $O_t$", 1.8, -2.35, f"[{size}]", SHARED, 1.5),
        "E": Box("evidence  $E_t$", 3.75, -1.5, "first: last states of $H_Q$", OWN, 1.85),
        "EC": Box("EC-attention", 4.3, -0.65, f"{to_evidence} [{size}]", OWN, 1.75),
        "P": Box("MLP, softmax", 6.3, 0.1, f"$s_t$ [{2 * size}] to $P_{{post}}$", OWN, 1.65),
        "L": Box("list $L$", 8.15, 0.85, "sorted by $P_{post}$", OUT, 1.35),
        "gate": Box("gate: $E_t$ and $P_{post}O_t$", 8.15, -1.3, threshold, OWN, 1.85),
        "next": Box("evidence  $E_{t+1}$", 10.05, -1.3, f"[{size}]", OWN, 1.4),
        "R": Box("reward", 10.05, 0.85, "$AP_t - AP_{t-1}$", OUT, 1.3),
    }
    ends = (
        "Q HQ", "C HC", "HQ QC", "HC QC", "HC EC", "HC O", "E EC", "QC P", "EC P",
        "P L", "P gate", "L R", "O gate", "E gate", "gate next", "HQ E",
    )  # fmt: skip
    arrows = [Arrow(start, end) for start, end in map(str.split, ends)]
    return Diagram(boxes, [*arrows, Arrow("next", "E", bend=-0.3)])


STARTS = DATA / "attention-starts.csv"
"""Written by `tools/attention_starts.py`."""
BY_ANSWERS = DATA / "evidence-by-answers.csv"
"""Written by `tools/evidence_by_answers.py`."""

TABLES = {
    "table-2": "Table 2: MS-Ranker, paper against ours",
    "table-3": "Table 3: encoders, paper against ours",
    "table-4": "Table 4: the ablations on dev, paper against ours",
}


def figures(runs: pd.DataFrame) -> dict[str, HouseFigure | None]:
    """Return every figure by name; None for one without runs."""
    tables = {name: table(runs, name) for name in TABLES}
    return {"agent": architecture(), **tables, "training": training(runs)}


def architecture(dataset: str = "wikiqa") -> HouseFigure:
    """Draw one step of the agent (figures 1 and 2) with the shapes of the paper's recipe."""
    return diagrams(
        {" ": agent(recipe(dataset=dataset))},
        unit=1.1,
        title="One step of the agent",
        note="n words of the question, m of the candidate; blue: computed once for all candidates, "
        "orange: step by step, because the evidence changes",
    )


def table(runs: pd.DataFrame | None, name: str) -> HouseFigure | None:
    """Draw the paper's own rows of one of its tables against ours."""

    def own(frame: pd.DataFrame) -> pd.DataFrame:
        return frame[frame["row"].isin((MAIN, PRE_RANKER, *ABLATIONS)) | frame["runs"].gt(0)]

    return table_figure(ROOM, runs, name, TABLES[name], own)


def training(runs: pd.DataFrame | None = None) -> HouseFigure | None:
    """Draw mean reward per question and dev MAP after each epoch of the agent."""
    panels = {
        f"{data}, {CURVES[entry]}": histories(systems, entry)
        for dataset, data in DATASETS.items()
        if (systems := shown(ROOM, dataset, MAIN, runs=runs))
        for entry in ("reward", "dev_map")
    }
    return curves(panels, "", title="The agent's training", columns=2) if panels else None


@house_style
def attention_figure(pairs: Mapping[str, pd.DataFrame]) -> HouseFigure:
    """Draw each candidate word's attention over the question, one panel per initialisation."""
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


CURVES = {
    "dev_map": "dev MAP",
    "p_right": "P_post of right candidates",
    "p_wrong": "P_post of wrong candidates",
    "above": "share above the threshold",
    "reward": "reward per question",
}
"""Entry of an epoch's history → its name in panels."""


def by_epoch(histories: Mapping[str, History], *entries: str) -> HouseFigure:
    """Draw a panel per entry (of `CURVES`): its values by epoch, for histories that have it."""
    panels = {
        CURVES[entry]: {
            name: [[epoch[entry] for epoch in history.epochs]]
            for name, history in histories.items()
            if entry in history.epochs[0]
        }
        for entry in entries
    }
    return curves(panels, "", columns=min(2, len(panels)))
