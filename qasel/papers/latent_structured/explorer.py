"""Explorer of the most violating ranking, exact and greedy, rank by rank (section 4.2)."""

from collections.abc import Sequence

import ipywidgets as widgets
import numpy as np
import pandas as pd

from qasel.errors import QaselError
from qasel.figures.style import embedded
from qasel.papers.latent_structured.lesson import greedy_steps, grid_figure, names_of, places
from qasel.training.loss_augmented import grid, harmonic, most_violating, stacks
from qasel.widgets.base import Explorer

HIGHEST, MOST_C = 3.0, 5.0


class ViolatingExplorer(Explorer):
    """The most violating ranking of a list, exact and greedy, with sliders for scores and C.

    The list starts with the `scores` (−3 to 3) and `labels` (1: relevant) of 2 to 8 candidates, and
    C (0 to 5). The slider `step` shows both searches after that many ranks: the exact path from the
    top, the greedy one from the bottom. Raises `QaselError` for arguments outside these limits.
    """

    def __init__(self, scores: Sequence[float], labels: Sequence[int], C: float = 1.0) -> None:
        size = len(scores)
        if not 2 <= size <= 8 or size != len(labels):
            raise QaselError("needed is a list of 2 to 8 candidates, with as many labels as scores")
        within = all(abs(score) <= HIGHEST for score in scores) and 0 <= C <= MOST_C
        if not (within and set(labels) <= {0, 1}):
            raise QaselError("needed are scores from −3 to 3, labels 0 or 1, and C from 0 to 5")
        self.labels = [int(label) for label in labels]
        named = zip(scores, names_of(labels), strict=True)
        self.scores = [_slider(score, -HIGHEST, HIGHEST, name) for score, name in named]
        self.C = _slider(C, 0.0, MOST_C, "C")
        self.step = widgets.IntSlider(value=size, max=size, description="step")
        wrap = widgets.Layout(flex_flow="row wrap")
        rows = [widgets.Box(row, layout=wrap) for row in (self.scores, [self.C, self.step])]
        super().__init__(rows, [*self.scores, self.C, self.step])

    def view(self) -> str:
        """Return the verdict, a table of both rankings, and the grid with their paths."""
        scores, labels, C = [slider.value for slider in self.scores], self.labels, self.C.value
        if len(set(labels)) == 1:
            kind = "right, so AP is 1" if labels[0] else "wrong, so no AP is lost"
            return f"<p><b>There is nothing to violate</b>: every candidate is {kind}.</p>"
        case = scores, labels, C
        exact, highest = most_violating(scores, labels, C=C)
        greedy, objective = most_violating(scores, labels, C=C, method="greedy")
        s, y = np.array(scores), np.array(labels) == 1
        best, _ = grid(s, *stacks(s, y), harmonic(len(s)), C)
        left = lost_at(best, places(greedy, *case))
        alt = "; ".join(" ".join(f"{x:.2f}" for x in row) for row in best.T)
        figure = embedded(grid_figure(*case, self.step.value), f"Best objectives: {alt}")
        return (
            self._verdict(left, greedy, highest - objective, list(exact) == list(greedy))
            + self._ranks(places(exact, *case), places(greedy, *case), greedy_steps(*case))
            + "<p><b>The dynamic programme.</b> A step right ranks the next right candidate, a "
            "step down the next wrong one; a box has the best objective of the ranks filled by "
            f"then.</p>{figure}"
        )

    def _verdict(self, left: int | None, greedy: np.ndarray, gap: float, same: bool) -> str:
        """Say whether greedy reaches the optimum, or at which rank it misses it, up to `step`."""
        size, step = len(self.labels), self.step.value
        if left is not None and left > size - step:
            taken, upper = greedy[left - 1], greedy[: left - 1]
            # The lowest candidate of the other kind that is still to be placed.
            other = next(i for i in upper[::-1] if self.labels[i] != self.labels[taken])
            names = names_of(self.labels)
            verdict = (
                f"<b>≠ Greedy misses the optimum by {gap:.4f}.</b> It goes wrong at rank {left}, "
                f"its step {size - left + 1} from the bottom: it puts {names[taken]} there, but "
                f"only {names[other]} leads to the optimum."
            )
        elif step < size:
            verdict = "<b>So far greedy can still reach the optimum.</b>"
        else:
            which = "the exact one" if same else "another, just as good"
            verdict = f"<b>= Greedy finds the optimum:</b> its ranking is {which}."
        return f"<p>{verdict}</p>"

    def _ranks(self, exact: pd.DataFrame, greedy: pd.DataFrame, steps: pd.DataFrame) -> str:
        """Return a table of both objectives' terms per rank and sums, and what greedy compared."""
        size, step = len(exact), self.step.value
        terms = ["candidate", "v · score", "prize"]
        parts = {"exact": exact[terms][:step], "greedy": greedy[terms][size - step :]}
        foot = "objective" if step == size else "so far"
        for name, part in parts.items():
            sums = part[terms[1:]].sum()
            parts[name] = pd.concat(
                [part, pd.DataFrame([[f"{sums.sum():.4f}", *sums]], [foot], terms)]
            )
        parts["greedy: the smaller goes here"] = steps.drop(columns="taken")[:step]
        table = pd.concat(parts, axis=1).reindex([*range(1, size + 1), foot])
        return (
            table.to_html(na_rep="", float_format="{:.3f}".format, border=0)
            + "<p><small>The p-th right candidate of R, at rank j, has the prize C·(j − p)/(j·R), "
            "C times its loss; a wrong one has none. Greedy starts at the bottom and adds to a "
            "wrong one what that costs each right one already below it, C/(k·R) for one at rank k."
            "</small></p>"
        )


def lost_at(best: np.ndarray, filled: pd.DataFrame) -> int | None:
    """Return the rank at which filling from the bottom up loses the optimum, None if it never does.

    `best` is the grid of the dynamic programme, `filled` a ranking as a table of `places`.
    """
    right = filled["candidate"].str.endswith("✓").to_numpy()
    above = right.cumsum() - right, (~right).cumsum() - ~right  # this rank: state (p, n)
    worth = filled["v · score"] + filled["prize"]
    reached = best[above] + worth[::-1].cumsum()[::-1]
    return max(filled.index[reached < best[-1, -1] - 1e-9], default=None)


def _slider(value: float, low: float, high: float, name: str) -> widgets.FloatSlider:
    return widgets.FloatSlider(
        value=float(value), min=low, max=high, step=0.1, readout_format=".1f", description=name
    )
