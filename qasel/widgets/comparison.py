"""Two systems side by side on every question of a split: a scatter, and both rankings of one."""

from collections.abc import Mapping

import ipywidgets as widgets

from qasel.datasets.base import Split
from qasel.errors import QaselError
from qasel.evaluation import Run
from qasel.figures.compare import agreement
from qasel.figures.style import BLUE, GREY, INK, VERMILLION
from qasel.widgets import svg
from qasel.widgets.base import Explorer, bar, escape
from qasel.widgets.ranking import rankings, scores_of

CELLS, CELL = 21, 26
"""Places from 0 to 1 either way, and the pixels of one."""
SIDE = f"{CELL - 2}px"
Place = tuple[int, int]
"""Across and upwards, counted from 0."""


class SideBySideExplorer(Explorer):
    """Two systems' average precision on every question of a split, and both rankings of one.

    `runs` are of the whole split, two or more by name. The reader picks two, then a question: by
    its point (a button, pressed again for the next of several questions) or from the list, the
    largest differences first. `first` is the id of the question shown at the start. Raises
    `QaselError` for fewer runs, a run of other questions, and a question that is not there.
    """

    def __init__(self, runs: Mapping[str, Run], split: Split, first: str | None = None) -> None:
        if len(runs) < 2:
            raise QaselError(f"two systems or more are needed; {len(runs)} came")
        if first is not None and first not in {question.id for question in split}:
            raise QaselError(f"{split.name} has no question {first!r}")
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
        self._first = first
        super().__init__([*self.systems, self.points, self.choice], [*self.systems, self.choice])

    @property
    def pair(self) -> tuple[str, str]:
        """The two systems chosen: across and upwards."""
        return self.systems[0].value, self.systems[1].value

    def place(self, question: str) -> Place:
        """Where a question stands in the scatter."""
        x, y = (round(self.precision[name][question] * (CELLS - 1)) for name in self.pair)
        return x, y

    def press(self, ids: list[str]) -> None:
        """Choose the question of a point; of several, the one after that which is shown."""
        here = self.choice.value
        self.choice.value = ids[(ids.index(here) + 1) % len(ids)] if here in ids else ids[0]

    def view(self) -> str:
        """Offer the questions and points of a pair that was just chosen, then draw."""
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
        """The scatter as one picture, above the rankings."""
        across, upwards = self.pair
        alt = f"average precision of each question: {across} across, {upwards} upwards"
        figure = agreement(self.precision[across], self.precision[upwards], self.pair, "AP")
        return f"<div>{svg.of_figure(figure, alt)}</div>{super().static()}"

    def _offer(self) -> None:
        """The questions by difference, and the points as buttons."""
        x, y = (self.precision[name] for name in self.pair)
        by_difference = sorted(self.split, key=lambda q: -abs(y[q.id] - x[q.id]))
        options = [(f"{y[q.id] - x[q.id]:+.2f}  {q.text}", q.id) for q in by_difference]
        kept = self._first or options[0][1]
        self._first = None
        self.choice.set_trait("options", options)
        self.choice.value = kept
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
        """On how many questions which system does better."""
        across, upwards = self.pair
        x, y = (self.precision[name] for name in self.pair)
        lines = ""
        for name, colour, own, other in ((across, BLUE, x, y), (upwards, VERMILLION, y, x)):
            better = sum(own[q] > other[q] for q in own)
            share = bar(better / len(own), colour)
            lines += f"<div>{share} <b>{escape(name)}</b> better on {better} of {len(own)}</div>"
        return lines


def _area(x: int, y: int, **look: str) -> widgets.Layout:
    """A place in the grid, whose first column and last row (-1) are the axes'."""
    return widgets.Layout(grid_area=f"{CELLS - y} / {x + 2}", **look)
