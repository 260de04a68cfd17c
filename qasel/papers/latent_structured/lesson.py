"""Helpers of notebook 02: rankings rank by rank, the searches compared."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
import seaborn as sns

from qasel.figures import style
from qasel.figures.style import HouseFigure, house_style, new_figure
from qasel.training.loss_augmented import grid, harmonic, most_violating, stacks


def names_of(labels: Sequence[int]) -> list[str]:
    """Return a letter per candidate, ticked if it is relevant: A ✓, B, C …"""
    return [f"{chr(ord('A') + i)}{' ✓' if label else ''}" for i, label in enumerate(labels)]


def places(
    ranking: Iterable[int], scores: Sequence[float], labels: Sequence[int], C: float
) -> pd.DataFrame:
    """Return what each rank of a ranking adds to the objective of the search.

    The loss of the p-th of P positives at rank j is (j − p) / (j P); `prize` is C times that.
    """
    order, rank = list(ranking), np.arange(1, len(labels) + 1)
    s, y = np.array(scores, float)[order], np.array(labels, bool)[order]
    loss = np.where(y, (rank - y.cumsum()) / (rank * max(y.sum(), 1)), 0.0)
    columns = {"candidate": np.array(names_of(labels))[order], "score": s, "v · score": s / rank}
    columns |= {"loss of the place": loss, "prize": C * loss}
    return pd.DataFrame(columns, index=pd.Index(rank, name="rank"))


def greedy_steps(scores: Sequence[float], labels: Sequence[int], C: float) -> pd.DataFrame:
    """Return what the paper's greedy search compares at each rank, from the last one up."""
    ranking, _ = most_violating(scores, labels, C=C, method="greedy")
    names, below, rows = names_of(labels), 0.0, []
    for j in range(len(scores), 0, -1):
        left, taken = ranking[:j], ranking[j - 1]
        worth = [
            min((scores[i] for i in left if labels[i] == kind), default=np.nan) / j
            for kind in (1, 0)
        ]
        worth[1] += C * below / max(sum(labels), 1)
        rows.append((j, *worth, names[taken]))
        below += labels[taken] / j
    columns = ["rank", "lowest right one is worth", "lowest wrong one is worth", "taken"]
    return pd.DataFrame(rows, columns=columns).set_index("rank")


@house_style
def grid_figure(
    scores: Sequence[float], labels: Sequence[int], C: float, step: int | None = None
) -> HouseFigure:
    """Draw the states of the dynamic programme with their values, and the paths of both searches.

    `step` shows the paths after that many ranks: the exact one grows from the top, the greedy one
    from the bottom.
    """
    s, y, size = np.asarray(scores, float), np.asarray(labels, bool), len(scores)
    order, count = stacks(s, y)
    best, _ = grid(s, order, count, harmonic(size), C)
    names = names_of(labels)
    added = [f"+ {names[i]}\n({s[i]:.1f})" for i in order]
    values = pd.DataFrame(best.T, ["none", *added[count:]], ["none", *added[:count]])
    figure = new_figure(2.0 + 1.6 * best.shape[0], 1.6 + 1.0 * best.shape[1])
    axes = figure.subplots()
    box = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": style.GREY}
    look = {"cmap": ["white"], "cbar": False, "annot": True, "fmt": ".2f"}
    sns.heatmap(values, ax=axes, annot_kws={"bbox": box, "color": style.INK}, **look)
    step = size if step is None else step
    for method, shade, dashes, shift in (
        ("greedy", style.VERMILLION, "--", 0.55),
        ("exact", style.BLUE, "-", 0.5),
    ):
        ranking, objective = most_violating(scores, labels, C=C, method=method)
        path = np.vstack([[0, 0], np.cumsum([[y[i], not y[i]] for i in ranking], axis=0)]) + shift
        drawn = slice(step) if method == "exact" else slice(size - step, size)
        label = f"{method}: {' '.join(names[i] for i in ranking[drawn]) or 'no rank yet'}"
        label += f"   = {objective:.3f}" if step == size else ""
        path = path[drawn.start or 0 : drawn.stop + 1]
        axes.plot(*path.T, dashes, color=shade, linewidth=4, alpha=0.8, label=label)
    axes.set(xlabel="right candidates placed (score)", ylabel="wrong candidates placed (score)")
    axes.tick_params(axis="y", rotation=0)
    figure.legend(loc="outside lower center", ncols=1)
    return figure
