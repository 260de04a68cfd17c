"""Small helpers of notebook 05: recipes, shapes, and mined lists."""

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd
import torch

from qasel.datasets.base import Question, Split
from qasel.figures.style import BLUE, GREY, VERMILLION, HouseFigure, house_style, new_figure
from qasel.papers import lesson as shared
from qasel.papers.ap_mpcnn.negatives import choose
from qasel.papers.ap_mpcnn.ranker import APMPCNNRanker
from qasel.papers.ap_mpcnn.recipes import PAPER

chosen_recipes = partial(shared.chosen_recipes, PAPER)
shapes, untrained = shared.shapes, shared.untrained


def mined(ranker: APMPCNNRanker, question: Question, count: int) -> pd.DataFrame:
    """A question's candidates by f(q, p), highest first, and their `kind`: one of `KINDS`.

    The miner takes the `count` wrong ones nearest to (any of) the right ones.
    """
    scores = ranker.rank(Split("list", (question,))).scores[question.id]
    f = torch.tensor([[scores[c.id] for c in question.candidates]]).sigmoid()
    labels = torch.from_numpy(question.labels)[None].float()
    taken = choose(f, labels, torch.ones_like(labels, dtype=torch.bool), count, "nearest")
    right, passed, took = KINDS
    kinds = np.where(question.labels, right, np.where(taken[0].any(0), took, passed))
    frame = pd.DataFrame({"f": f[0].tolist(), "kind": kinds})
    frame["candidate"] = [candidate.text for candidate in question.candidates]
    return frame.sort_values("f", ascending=False, ignore_index=True)


KINDS = {
    "right": (BLUE, "D"),
    "wrong, left out": (GREY, "o"),
    "wrong, taken": (VERMILLION, "o"),
}
"""Kind of a candidate in a mined list → its colour and marker."""


@house_style
def mined_figure(lists: Mapping[str, pd.DataFrame]) -> HouseFigure:
    """A panel a list of `mined`: places and scores, and which wrong answers the miner takes."""
    longest = max(map(len, lists.values()))
    figure = new_figure(5.2 * len(lists), 1.6 + 0.26 * longest)
    row = figure.subplots(1, len(lists), sharex=True, sharey=True, squeeze=False)[0]
    for axes, (name, frame) in zip(row, lists.items(), strict=True):
        for kind, (shade, marker) in KINDS.items():
            f = frame.loc[frame["kind"] == kind, "f"]
            axes.plot(f, f.index + 1, marker, color=shade, ms=8, zorder=3, label=kind)
        axes.set(title=name, xlabel="f(q, p)")
        axes.locator_params(axis="x", nbins=6)
    row[0].set(ylabel="place in the ranking", ylim=(longest + 0.6, 0.4))
    figure.legend(*row[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
