"""Two systems side by side: a scatter plot of a split's questions, and both rankings of one."""

from collections.abc import Mapping

import ipywidgets as widgets

from qasel.datasets.base import Split
from qasel.errors import QaselError
from qasel.evaluation import Run
from qasel.figures.compare import agreement
from qasel.figures.style import BLUE, GREY, INK, VERMILLION, embedded
from qasel.widgets.base import Explorer, bar, escape
from qasel.widgets.ranking import rankings, scores_of

CELLS, CELL = 21, 26
"""Number of grid cells from 0 to 1 along each axis, and pixels per cell."""
SIDE = f"{CELL - 2}px"
Place = tuple[int, int]
"""A grid cell: places across and upwards, counted from 0."""


class SideBySideExplorer(Explorer):
    """Two systems' average precision per question of a split, and both rankings of one question.

    `runs` has two or more runs of the whole split, by name. The reader picks two systems, then a
    question: from a list, largest differences first, or by its point (a button; pressing it again
    moves to the point's next question). Raises `QaselError` for fewer than two runs, or a run of
    other questions.
    """

    def __init__(self, runs: Mapping[str, Run], split: Split) -> None:
        if len(runs) < 2:
            raise QaselError(f"two systems or more are needed; {len(runs)} came")
        self.runs, self.split = dict(runs), split
        self.precision = {
            name: dict(scores_of(run, split).per_question["map"]) for name, run in runs.items()
        }
        names, wide = list(runs), widgets.Layout(width="min(48rem, 100%)")
        self.systems = [
            widgets.Dropdown(options=names, value=name, description=label, layout=wide)
            for name, label in zip(names[:2], ("Across", "Upwards"), strict=True)
        ]
        self.choice = widgets.Dropdown(options=[("", "")], description="Question", layout=wide)
        tracks = f"repeat({CELLS + 1}, {CELL}px)"
        look = {"grid_template_columns": tracks, "grid_template_rows": tracks, "grid_gap": "0px"}
        self.points = widgets.GridBox(layout=look | {"overflow": "auto"})
        self.buttons: dict[Place, widgets.Button] = {}
        self._shown: tuple[str, str] | None = None
        super().__init__([*self.systems, self.points, self.choice], [*self.systems, self.choice])

    @property
    def pair(self) -> tuple[str, str]:
        """The two chosen systems: across and upwards."""
        return self.systems[0].value, self.systems[1].value

    def place(self, question: str) -> Place:
        """Return the grid cell of a question in the scatter plot."""
        x, y = (round(self.precision[name][question] * (CELLS - 1)) for name in self.pair)
        return x, y

    def press(self, ids: list[str]) -> None:
        """Choose the question of a point or, of several, the one after the question shown."""
        here = self.choice.value
        self.choice.value = ids[(ids.index(here) + 1) % len(ids)] if here in ids else ids[0]

    def view(self) -> str:
        """Offer the questions and points of a newly chosen pair, then return the picture."""
        if self.pair != self._shown:
            self._shown = self.pair
            self._offer()
        for at, button in self.buttons.items():
            chosen = at == self.place(self.choice.value)
            button.layout.border = f"3px solid {INK}" if chosen else "none"
        question = next(q for q in self.split if q.id == self.choice.value)
        runs = {name: self.runs[name] for name in dict.fromkeys(self.pair)}
        return self._counts() + rankings(question, runs)

    def static(self) -> str:
        """Return the scatter plot as one picture, above the rankings."""
        across, upwards = self.pair
        alt = f"average precision of each question: {across} across, {upwards} upwards"
        figure = agreement(self.precision[across], self.precision[upwards], self.pair, "AP")
        return f"<div>{embedded(figure, alt)}</div>{super().static()}"

    def _offer(self) -> None:
        """List the questions, largest differences first, and make the points as buttons."""
        x, y = (self.precision[name] for name in self.pair)
        by_difference = sorted(self.split, key=lambda q: -abs(y[q.id] - x[q.id]))
        options = [(f"{y[q.id] - x[q.id]:+.2f}  {q.text}", q.id) for q in by_difference]
        self.choice.set_trait("options", options)
        self.choice.value = options[0][1]
        for child in self.points.children:
            child.close()
        places: dict[Place, list[str]] = {}
        for question in self.split:
            places.setdefault(self.place(question.id), []).append(question.id)
        self.buttons = {at: self._button(at, ids) for at, ids in places.items()}
        axes = [
            widgets.HTML(f"<small>{place / (CELLS - 1):g}</small>", layout=_area(*at))
            for place in range(0, CELLS, 4)
            for at in ((place, -1), (-1, place))
        ]
        self.points.children = [*axes, *self.buttons.values()]

    def _button(self, at: Place, ids: list[str]) -> widgets.Button:
        x, y = (self.precision[name][ids[0]] for name in self.pair)
        count = f"{len(ids)} question{'s' if len(ids) > 1 else ''}"
        better = GREY if at[0] == at[1] else BLUE if at[0] > at[1] else VERMILLION
        button = widgets.Button(
            description=str(len(ids)),
            tooltip=f"{count}, AP about {x:.2f} across, {y:.2f} upwards",
            layout=_area(*at, padding="0", margin="1px", width=SIDE, height=SIDE),
            style={"button_color": better, "text_color": "white", "font_size": "11px"},
        )
        button.on_click(lambda _: self.press(ids))
        return button

    def _counts(self) -> str:
        """Return the number of questions on which each system is better."""
        across, upwards = self.pair
        x, y = (self.precision[name] for name in self.pair)
        lines = ""
        for name, colour, own, other in ((across, BLUE, x, y), (upwards, VERMILLION, y, x)):
            better = sum(own[q] > other[q] for q in own)
            share = bar(better / len(own), colour)
            lines += f"<div>{share} <b>{escape(name)}</b> better on {better} of {len(own)}</div>"
        return lines


def _area(x: int, y: int, **look: str) -> widgets.Layout:
    """Return the layout of a grid cell; the first column and last row (-1) hold axis labels."""
    return widgets.Layout(grid_area=f"{CELLS - y} / {x + 2}", **look)
