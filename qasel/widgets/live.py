"""Curves that grow while a ranker trains."""

from collections.abc import Callable, Mapping
from html import escape
from itertools import cycle

from qasel.figures.style import BLUE, GREEN, GREY, INK, ORANGE, VERMILLION
from qasel.widgets import svg
from qasel.widgets.base import Explorer

COLOURS = (VERMILLION, ORANGE, GREEN, BLUE, INK, GREY)
WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 430, 230, 52, 34, 30
Epochs = list[dict[str, float]]


class LiveCurves(Explorer):
    """Loss and dev MAP of several trainings, drawn anew after each epoch.

    Show it, then give `follow(name)` to `fit` as `on_epoch`. Trainings without a colour in
    `colours` get one in turn. The lines are written as SVG by hand: matplotlib takes a tenth of
    a second per drawing, longer than some epochs do.
    """

    hint = ""

    def __init__(self, colours: Mapping[str, str] | None = None) -> None:
        self.colours = dict(colours or {})
        self.histories: dict[str, Epochs] = {}
        super().__init__([], [])

    def follow(self, name: str) -> Callable[[Epochs], None]:
        """A function that takes the history of the training called `name` so far."""

        def on_epoch(epochs: Epochs) -> None:
            self.histories[name] = list(epochs)
            self.refresh()

        return on_epoch

    def view(self) -> str:
        """The two panels, and a line on each training."""
        if not self.histories:
            return f'<p style="color:{GREY}">The curves grow here while the models train.</p>'
        colours = dict(zip(self.histories, cycle(COLOURS), strict=False)) | self.colours
        shapes = self._panel("training loss", "loss", 0, colours)
        shapes += self._panel("MAP on the development split", "dev_map", WIDTH + 20, colours)
        alt = "Loss and dev MAP after each epoch: " + "; ".join(map(self.told, self.histories))
        legend = "".join(
            f'<span style="color:{colours[name]}">▬</span> {escape(self.told(name))}<br>'
            for name in self.histories
        )
        drawn = svg.picture(shapes, 2 * WIDTH + 20, HEIGHT, alt)
        return f"{drawn}<p><small>{legend}</small></p>"

    def told(self, name: str) -> str:
        """How a training stands, in a few words."""
        epochs = self.histories[name]
        best = max(epochs, key=lambda row: row["dev_map"])
        seconds = sum(row["seconds"] for row in epochs)
        return (
            f"{name}: {len(epochs)} epochs in {seconds:.0f} s, "
            f"best dev MAP {best['dev_map']:.3f} after epoch {best['epoch']:.0f}"
        )

    def _panel(self, title: str, key: str, x: float, colours: Mapping[str, str]) -> list[str]:
        runs = {name: [row[key] for row in epochs] for name, epochs in self.histories.items()}
        values = [value for run in runs.values() for value in run]
        low, high = min(values), max(values)
        longest = max(2, *map(len, runs.values()))
        left, base, right = x + LEFT, HEIGHT - BOTTOM, x + WIDTH - 8

        def at(epoch: int, value: float) -> svg.Point:
            across = (epoch - 1) / (longest - 1) * (right - 8 - left)
            up = (value - low) / ((high - low) or 1.0) * (base - 12 - TOP)
            return left + across, base - 6 - up

        shapes = [
            svg.text((left, 16), title, INK, 12, "start", bold=True),
            svg.line([(left - 6, TOP), (left - 6, base), (right, base)], GREY, 1),
            svg.text((right, HEIGHT - 4), "epoch", GREY, 11, "end"),
        ]
        for value in (low, high):
            place = left - 10, at(1, value)[1] + 4
            shapes.append(svg.text(place, f"{value:.3f}", GREY, 10, "end"))
        for epoch in (1, longest):
            shapes.append(svg.text((at(epoch, low)[0], base + 14), str(epoch), GREY, 10))
        for name, run in runs.items():
            points = [at(epoch, value) for epoch, value in enumerate(run, start=1)]
            shapes.append(svg.line(points, colours[name], 2))
            shapes += [svg.dot(point, colours[name], 2.5) for point in points]
        return shapes
