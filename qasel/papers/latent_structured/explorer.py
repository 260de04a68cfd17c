"""The most violating ranking of a list, exact and greedy, place by place (paper 2, section 4.2)."""

from collections.abc import Callable, Sequence
from itertools import zip_longest

import ipywidgets as widgets
import numpy as np

from qasel.errors import QaselError
from qasel.training.loss_augmented import ap_loss_of, grid, harmonic, stacks
from qasel.widgets import svg
from qasel.widgets.base import (
    BLUE,
    GREEN,
    GREY,
    INK,
    MARKS,
    VERMILLION,
    Explorer,
    bar,
    escape,
    table,
)

EXACT, GREEDY = f'<b style="color:{BLUE}">exact</b>', f'<b style="color:{VERMILLION}">greedy</b>'
HIGHEST, MOST_C = 3.0, 5.0
COLUMN, ROW, LEFT, TOP, RADIUS = 84, 58, 100, 50, 18
"""Pixels of the grid: between columns and rows, the margins, and the circle of a state."""


class Case:
    """A list; `order` has its positives, then its negatives, by falling score."""

    def __init__(self, names: list[str], scores: np.ndarray, labels: np.ndarray, C: float) -> None:
        self.names, self.scores, self.labels, self.C = names, scores, labels, C
        self.order, self.count = stacks(scores, labels == 1)
        self.best = grid(scores, self.order, self.count, harmonic(len(scores)), C)

    def left(self, state: tuple[int, int]) -> tuple[int, int]:
        """The lowest positive and the lowest negative that a state has."""
        return int(self.order[state[0] - 1]), int(self.order[self.count + state[1] - 1])


class Filling:
    """A ranking of which the ranks `shown` are filled in, and what each adds to the objective.

    `states[j]` counts the positives and the negatives on the first j ranks.
    """

    def __init__(self, case: Case, found: tuple[np.ndarray, float], shown: range) -> None:
        numbers, self.objective = found
        self.ranking, self.shown = [int(i) for i in numbers], shown
        positive, ranks = case.labels[numbers] == 1, np.arange(1, len(numbers) + 1)
        right = np.cumsum(positive)
        self.states = [(0, 0), *((int(p), int(j - p)) for p, j in zip(right, ranks, strict=True))]
        self.shares = case.scores[numbers] / ranks
        self.losses = case.C * positive * (ranks - right) / (ranks * case.count)
        self.precision = 1 - ap_loss_of(numbers, case.labels == 1)

    def sums(self) -> list[str]:
        """The objective so far, and its two parts."""
        ranks = slice(self.shown.start - 1, self.shown.stop - 1)
        share, loss = self.shares[ranks].sum(), self.losses[ranks].sum()
        return [f"<b>{_number(share + loss, 4)}</b>", _number(share), _number(loss)]

    def leaves(self, best: np.ndarray) -> int | None:
        """The lowest rank whose filling, from the bottom up, makes the optimum out of reach."""
        below = 0.0
        for j in range(len(self.ranking), 0, -1):
            below += self.shares[j - 1] + self.losses[j - 1]
            if best[self.states[j - 1]] + below < best[-1, -1] - 1e-9:
                return j
        return None


class ViolatingExplorer(Explorer):
    """A list with sliders for its scores and C: what violates AP most, exactly and by greedy.

    `search` is a callable as `qasel.papers.latent_structured.most_violating`; `scores` and
    `labels` (1: right, 0: wrong) of 2 to 8 candidates are the list at the start; `names` are
    short, and A, B, C … by default. Raises `QaselError` for a list or a C that does not fit.
    """

    def __init__(
        self,
        search: Callable[..., tuple[np.ndarray, float]],
        scores: Sequence[float],
        labels: Sequence[int],
        names: Sequence[str] | None = None,
        C: float = 1.0,
    ) -> None:
        size = len(scores)
        names = [chr(ord("A") + i) for i in range(size)] if names is None else names
        _check(scores, labels, names, C)
        self.search, self.labels = search, np.array([int(label) for label in labels])
        self.names = [f"{MARKS[int(y)]} {name}" for y, name in zip(labels, names, strict=True)]
        pairs = zip(scores, self.names, strict=True)
        self.scores = [_slider(score, -HIGHEST, HIGHEST, name) for score, name in pairs]
        self.C = _slider(C, 0.0, MOST_C, "C")
        self.step = widgets.IntSlider(value=size, max=size, description="step")
        wrap = widgets.Layout(flex_flow="row wrap")
        rows = [widgets.Box(row, layout=wrap) for row in (self.scores, [self.C, self.step])]
        super().__init__(rows, [*self.scores, self.C, self.step])

    def view(self) -> str:
        """The stacks, the ranks of both rankings, and the grid with their paths."""
        scores, C = np.array([slider.value for slider in self.scores]), self.C.value
        case, size, step = Case(self.names, scores, self.labels, C), len(scores), self.step.value
        if case.count in (0, size):
            return _stacks(case) + _one_kind(case)
        best = self.search(scores, self.labels, C=C, method="exact")
        low = self.search(scores, self.labels, C=C, method="greedy")
        exact = Filling(case, best, range(1, step + 1))
        greedy = Filling(case, low, range(size - step + 1, size + 1))
        return "".join(part(case, exact, greedy) for part in (_stacks, _verdict, _ranks, _grid))


def _check(scores: Sequence[float], labels: Sequence[int], names: Sequence[str], C: float) -> None:
    """Raise `QaselError` unless the sliders can show the list."""
    if not 2 <= len(scores) <= 8:
        raise QaselError(f"a list of 2 to 8 candidates is needed, not {len(scores)}")
    if not len(scores) == len(labels) == len(names):
        raise QaselError("as many labels and names as scores are needed")
    within = all(abs(score) <= HIGHEST for score in scores) and 0 <= C <= MOST_C
    if not (within and all(label in (0, 1) for label in labels)):
        raise QaselError("needed are scores from −3 to 3, labels 0 or 1, and C from 0 to 5")


def _slider(value: float, low: float, high: float, told: str) -> widgets.FloatSlider:
    shown = {"step": 0.1, "readout_format": ".1f", "description": told}
    return widgets.FloatSlider(value=float(value), min=low, max=high, **shown)


def _number(value: float, digits: int = 3) -> str:
    """A number with a real minus sign, and none before zero."""
    return f"{round(float(value), digits) + 0.0:.{digits}f}".replace("-", "−")


def _stacks(case: Case, *fillings: Filling) -> str:
    def card(i: int) -> str:
        drawn = bar((case.scores[i] / HIGHEST + 1) / 2, GREEN if case.labels[i] else GREY)
        told = f"score {_number(case.scores[i], 1)}"
        for name, filling in zip((EXACT, GREEDY), fillings, strict=False):
            rank = filling.ranking.index(i) + 1
            told += f" · {name} {f'rank {rank}' if rank in filling.shown else '–'}"
        track = f'<span style="display:inline-block;width:96px">{drawn}</span>'
        return f"<b>{escape(case.names[i])}</b> {track} <small>{told}</small>"

    cards = [card(int(i)) for i in case.order]
    rows = zip_longest(cards[: case.count], cards[case.count :], fillvalue="")
    return table(["✓ right, by falling score", "✗ wrong, by falling score"], rows)


def _one_kind(case: Case) -> str:
    kind = "right, so AP is 1" if case.count else "wrong, so no AP is lost"
    ranked = escape(", ".join(case.names[i] for i in case.order))
    told = f"every candidate is {kind} whatever the order. Sorted by score: {ranked}."
    return f"<p><b>There is nothing to violate:</b> {told}</p>"


def _verdict(case: Case, exact: Filling, greedy: Filling) -> str:
    """Whether greedy finds the optimum, or where it leaves it, as far as it has got."""
    size, rank, names = len(case.names), greedy.leaves(case.best), [*map(escape, case.names)]
    if rank is not None and rank in greedy.shown:
        taken, gap = greedy.ranking[rank - 1], exact.objective - greedy.objective
        other = case.left(greedy.states[rank])[case.labels[taken]]
        told = f"<b>≠ Greedy misses the optimum by {_number(gap, 4)}.</b> It leaves it at rank "
        told += f"{rank}, place {size - rank + 1} from the bottom, where it starts: it puts "
        told += f"{names[taken]} there, where only {names[other]} leads to the optimum."
    elif len(greedy.shown) < size:
        told = "<b>So far greedy can still reach the optimum.</b>"
    else:
        how = "the exact one" if exact.ranking == greedy.ranking else "another, just as good"
        told = f"<b>= Greedy finds the optimum:</b> its ranking is {how}."
    return f"<p>{told}</p>"


def _ranks(case: Case, exact: Filling, greedy: Filling) -> str:
    """A line a rank with the terms of both objectives, and at the foot their sums."""
    size, rows = len(case.names), []
    for j in range(1, size + 1):
        same = "=" if exact.ranking[j - 1] == greedy.ranking[j - 1] else "<b>≠</b>"
        mark = same if j in exact.shown and j in greedy.shown else ""
        sides = [*_place(case, exact, j), mark, *_place(case, greedy, j)]
        rows.append([f"{j}", f"1/{j}", *sides, _choice(case, greedy, j)])
    full = len(exact.shown) == size
    gap = f"<b>gap {_number(exact.objective - greedy.objective, 4)}</b>" if full else ""
    rows.append(["", "objective" if full else "so far", *exact.sums(), "", *greedy.sums(), gap])
    aps = [_number(filling.precision, 4) if full else "" for filling in (exact, greedy)]
    rows.append(["", "AP", aps[0], "", "", "", aps[1], "", "", ""])
    terms = ["<i>v<sub>j</sub></i>&nbsp;·&nbsp;score", "prize"]
    head = ["rank&nbsp;<i>j</i>", "<i>v<sub>j</sub></i>", EXACT, *terms, "", GREEDY, *terms]
    told = "The p-th ✓ of R, at rank j, has the prize C·(j − p)/(j·R), C times its loss; a ✗ has "
    told += "none. Greedy starts at the bottom and adds to a ✗ what that costs each ✓ already "
    told += "below it, C/(k·R) for one at rank k."
    return table([*head, "greedy: the smaller goes here"], rows) + f"<p><small>{told}</small></p>"


def _place(case: Case, filling: Filling, j: int) -> list[str]:
    """A ranking's cells at rank j: the candidate, its share and the prize."""
    if j not in filling.shown:
        return ["·", "", ""]
    i, over, loss = filling.ranking[j - 1], filling.states[j][1], _number(filling.losses[j - 1])
    if case.labels[i] and over:
        loss += f"&nbsp;=&nbsp;<small>{case.C:g}·{over}/({j}·{case.count})</small>"
    name = f"<b>{escape(case.names[i])}</b> <small>{_number(case.scores[i], 1)}</small>"
    return [name, _number(filling.shares[j - 1]), loss]


def _choice(case: Case, greedy: Filling, j: int) -> str:
    """What greedy compared at rank j: the lowest ✓ left and the lowest ✗ left."""
    if j not in greedy.shown or 0 in greedy.states[j]:
        return "only one kind is left" if j in greedy.shown else ""
    right, wrong = case.left(greedy.states[j])
    below = sum(1 / k for k in greedy.shown if k > j and case.labels[greedy.ranking[k - 1]])
    loss = f" + {_number(case.C * below / case.count)}" if below else ""
    sign = "≤" if case.labels[greedy.ranking[j - 1]] else "&gt;"
    names, worth = [escape(name) for name in case.names], case.scores / j
    first = f"{names[right]} {_number(worth[right])}"
    return f"{first} {sign} {names[wrong]} {_number(worth[wrong])}{loss}"


def _grid(case: Case, exact: Filling, greedy: Filling) -> str:
    """The states with their best values, and both paths as far as they have got."""
    columns, rows = case.best.shape
    at = [[(LEFT + COLUMN * p, TOP + ROW * n) for n in range(rows)] for p in range(columns)]
    ways = exact.states[: exact.shown.stop], greedy.states[greedy.shown.start - 1 :]
    solid = [(at[p][n][0] - 4, at[p][n][1] - 4) for p, n in ways[0]]
    dashed = [(at[p][n][0] + 4, at[p][n][1] + 4) for p, n in ways[1]]
    shapes = [svg.line(way, "#C8C8C8", 1) for way in (*at, *zip(*at, strict=True))]
    shapes += [svg.line(solid, BLUE, 5), svg.line(dashed, VERMILLION, 2.5, "6 4")]
    for p, n in np.ndindex(columns, rows):
        (x, y), on = at[p][n], (p, n) in ways[0]
        shapes.append(svg.dot((x, y), BLUE if on else GREY, RADIUS, hollow=True))
        shapes.append(svg.text((x, y + 4), _number(case.best[p, n], 2), INK, 11, bold=on))
    added = [f"+ {case.names[i][:9]}" for i in case.order]
    for p, name in enumerate(["no ✓", *added[: case.count]]):
        shapes.append(svg.text((at[p][0][0], TOP - 30), name))
    for n, name in enumerate(["no ✗", *added[case.count :]]):
        shapes.append(svg.text((LEFT - 30, at[0][n][1] + 4), name, anchor="end"))
    values = "; ".join(" ".join(_number(value, 2) for value in row) for row in case.best.T)
    drawn = svg.picture(shapes, at[-1][0][0] + 40, at[0][-1][1] + 30, f"Best objectives: {values}")
    told = ""
    for name, filling in ((f"━━ {EXACT}, solid", exact), (f"╍╍ {GREEDY}, dashed", greedy)):
        ranked = ", ".join(case.names[filling.ranking[j - 1]] for j in filling.shown)
        told += f"{name}: {escape(ranked or 'no rank yet')}<br>"
    head = "A step right ranks the next ✓, a step down the next ✗; a circle has the best objective"
    head = f"<b>The dynamic programme.</b> {head} of the ranks filled by then."
    return f"<p>{head}</p>{drawn}<p><small>{told}</small></p>"
