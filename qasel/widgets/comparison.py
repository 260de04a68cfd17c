"""The scatter of `SideBySideExplorer`: its axes, and in saved pages its points."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import ipywidgets as widgets

from qasel.datasets.base import Split
from qasel.errors import QaselError
from qasel.evaluation import Run
from qasel.widgets import svg
from qasel.widgets.base import BLUE, GREY, INK, VERMILLION, Explorer, bar, escape
from qasel.widgets.ranking import rankings, scores_of

CELLS, CELL, EDGE = 21, 26, 44
"""Places from 0 to 1 either way; pixels of a place, and of the edge with the axes' numbers."""
PALE = "#E4E4E4"
_SIZE = CELLS * CELL


@dataclass(frozen=True)
class Dot:
    """Questions at the same place of the scatter; `x` and `y` count places from 0."""

    x: int
    y: int
    questions: tuple[str, ...]


def place_of(value: float) -> int:
    """The place of a value in 0..1, the nearest."""
    return round(value * (CELLS - 1))


def colour_of(dot: Dot) -> str:
    """The colour of the system that does better there."""
    return GREY if dot.x == dot.y else BLUE if dot.x > dot.y else VERMILLION


def _at(x: float, y: float) -> svg.Point:
    """The pixel of a place."""
    return EDGE + (x + 0.5) * CELL, (CELLS - 0.5 - y) * CELL


def drawing(
    pair: tuple[str, str], told: str, dots: Sequence[Dot] = (), chosen: str | None = None
) -> str:
    """Axes, diagonal, and the dots with the numbers of their questions; `told` in words."""
    top = CELLS - 1
    shapes = [svg.line([_at(0, 0), _at(top, top)], PALE, 2)]
    shapes += [svg.line([(EDGE, 0), (EDGE, _SIZE), (EDGE + _SIZE, _SIZE)], GREY, 1)]
    for place in range(0, CELLS, 4):
        x, y = _at(place, place)
        number = f"{place / top:g}"
        shapes.append(svg.text((x, _SIZE + 15), number, GREY, 11))
        shapes.append(svg.text((EDGE - 6, y + 4), number, GREY, 11, "end"))
    across, upwards = (f"AP of {name}" for name in pair)
    shapes.append(svg.text((EDGE + _SIZE, _SIZE + 34), f"{across} →", BLUE, 12, "end", bold=True))
    shapes.append(svg.text((EDGE + 8, 16), f"↑ {upwards}", VERMILLION, 12, "start", bold=True))
    for dot in dots:
        x, y = _at(dot.x, dot.y)
        shapes.append(svg.dot((x, y), colour_of(dot), CELL / 2 - 2))
        shapes.append(svg.text((x, y + 4), str(len(dot.questions)), "white", 11))
        if chosen in dot.questions:
            box = CELL / 2
            corners = [
                (x - box, y - box),
                (x + box, y - box),
                (x + box, y + box),
                (x - box, y + box),
            ]
            shapes.append(svg.line([*corners, corners[0]], INK, 2.5))
    return svg.picture(shapes, EDGE + _SIZE, _SIZE + EDGE, told)


class SideBySideExplorer(Explorer):
    """Two systems' average precision on every question of a split, and both rankings of one.

    `runs` are of the whole split, two or more by name, and the labels of the split must be known.
    The reader picks two systems, then a question: by its point (a button, pressed again for the
    next of several questions) or from the list, in which the largest differences come first.
    `first` is the id of the question shown at the start, else that of the largest difference.
    Raises `QaselError` for fewer runs, a run of other questions, and a question that is not there.
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
            widgets.Dropdown(options=names, value=name, description=told, layout=wide)
            for name, told in zip(names[:2], ("Across", "Upwards"), strict=True)
        ]
        self.choice = widgets.Dropdown(options=[("", "")], description="Question", layout=wide)
        self.background = widgets.HTML(layout=_area(1, 1, CELLS + 1))
        tracks = f"repeat({CELLS}, {CELL}px)"
        self.points = widgets.GridBox(
            layout=widgets.Layout(
                grid_template_columns=f"{EDGE}px {tracks}",
                grid_template_rows=f"{tracks} {EDGE}px",
                grid_gap="0px",
                overflow="auto",
            )
        )
        self.buttons: dict[tuple[int, int], widgets.Button] = {}
        self._shown: tuple[str, str] | None = None
        self._first = first
        super().__init__([*self.systems, self.points, self.choice], [*self.systems, self.choice])

    @property
    def pair(self) -> tuple[str, str]:
        """The two systems chosen: across and upwards."""
        across, upwards = (control.value for control in self.systems)
        return across, upwards

    def dots(self) -> list[Dot]:
        """A dot for each place of the scatter where there are questions."""
        x, y = (self.precision[name] for name in self.pair)
        places: dict[tuple[int, int], list[str]] = {}
        for question in self.split:
            at = place_of(x[question.id]), place_of(y[question.id])
            places.setdefault(at, []).append(question.id)
        return [Dot(*at, tuple(ids)) for at, ids in places.items()]

    def press(self, dot: Dot) -> None:
        """Choose the question of a dot; of several, the one after that which is shown."""
        ids = dot.questions
        here = self.choice.value
        self.choice.value = ids[(ids.index(here) + 1) % len(ids)] if here in ids else ids[0]

    def view(self) -> str:
        """Offer the questions and points of a pair that was just chosen, then draw."""
        if self.pair != self._shown:
            self._shown = self.pair
            self._offer()
        self._mark()
        question = next(q for q in self.split if q.id == self.choice.value)
        runs = {name: self.runs[name] for name in dict.fromkeys(self.pair)}
        return self._told() + rankings(question, runs)

    def static(self) -> str:
        """The scatter as one picture, above the rankings."""
        across, upwards = self.pair
        told = f"average precision of each question: {across} across, {upwards} upwards"
        dots = self.dots()
        return f"<div>{drawing(self.pair, told, dots, self.choice.value)}</div>{super().static()}"

    def _offer(self) -> None:
        """The questions by difference, and the points as buttons."""
        x, y = (self.precision[name] for name in self.pair)
        by_difference = sorted(self.split, key=lambda q: -abs(y[q.id] - x[q.id]))
        options = [(f"{y[q.id] - x[q.id]:+.2f}  {q.text}", q.id) for q in by_difference]
        kept = self._first or options[0][1]
        self._first = None
        self.choice.set_trait("options", options)
        self.choice.value = kept
        for button in self.buttons.values():
            button.close()
        self.buttons = {(dot.x, dot.y): self._button(dot) for dot in self.dots()}
        self.background.value = drawing(self.pair, "axes of the scatter below these buttons")
        self.points.children = [self.background, *self.buttons.values()]

    def _button(self, dot: Dot) -> widgets.Button:
        across, upwards = self.pair
        count = len(dot.questions)
        first = dot.questions[0]
        told = f"{count} question{'s' if count > 1 else ''}, AP about "
        told += f"{self.precision[across][first]:.2f} across, "
        told += f"{self.precision[upwards][first]:.2f} upwards"
        button = widgets.Button(
            description=str(count),
            tooltip=told,
            layout=_area(CELLS - dot.y, dot.x + 2, 1),
            style={"button_color": colour_of(dot), "text_color": "white", "font_size": "11px"},
        )
        button.layout.padding, button.layout.margin = "0", "1px"
        button.layout.width = button.layout.height = f"{CELL - 2}px"
        button.on_click(lambda _: self.press(dot))
        return button

    def _mark(self) -> None:
        """A frame around the point of the question shown."""
        x, y = (place_of(self.precision[name][self.choice.value]) for name in self.pair)
        for at, button in self.buttons.items():
            button.layout.border = f"3px solid {INK}" if at == (x, y) else "none"

    def _told(self) -> str:
        """On how many questions which system does better."""
        across, upwards = self.pair
        x, y = (self.precision[name] for name in self.pair)
        total = len(self.split)
        rows = ((across, BLUE, x, y), (upwards, VERMILLION, y, x))
        told = ""
        for name, colour, own, other in rows:
            better = sum(own[q] > other[q] for q in own)
            share = bar(better / total, colour)
            told += f"<div>{share} <b>{escape(name)}</b> better on {better} of {total}</div>"
        return told


def _area(row: int, column: int, span: int) -> widgets.Layout:
    """A place in the grid: `span` rows and columns from a line on."""
    return widgets.Layout(grid_area=f"{row} / {column} / {row + span} / {column + span}")
