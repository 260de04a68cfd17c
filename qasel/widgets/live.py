"""Curves that grow while a ranker trains."""

from collections.abc import Callable, Mapping
from html import escape
from itertools import cycle

from qasel.figures.style import BLUE, GREEN, GREY, INK, ORANGE, VERMILLION
from qasel.widgets import svg
from qasel.widgets.base import Explorer

COLOURS = (VERMILLION, ORANGE, GREEN, BLUE, INK, GREY)
WIDTH, HEIGHT = 430, 230
"""Pixels of a panel."""
Epochs = list[dict[str, float]]


class LiveCurves(Explorer):
    """Loss and dev MAP of several trainings, drawn anew after each epoch.

    Show it, then pass `follow(name)` to `fit` as `on_epoch`. Show it again after training: a saved
    notebook keeps the picture of the moment when it is shown. Trainings without a colour in
    `colours` get one in turn. The lines are SVG, as matplotlib takes longer than some epochs do.
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
        told = {name: self.told(name) for name in self.histories}
        alt = "Loss and dev MAP after each epoch: " + "; ".join(told.values())
        drawn = svg.picture(shapes, 2 * WIDTH + 20, HEIGHT, alt)
        legend = "<br>".join(
            f'<span style="color:{colours[name]}">▬</span> {escape(line)}'
            for name, line in told.items()
        )
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
        """The shapes of a panel whose left end is at `x`: axes with their ends, and the lines."""
        runs = {name: [row[key] for row in epochs] for name, epochs in self.histories.items()}
        low, high = min(map(min, runs.values())), max(map(max, runs.values()))
        longest = max(2, *map(len, runs.values()))
        left, right, top, base = x + 52, x + WIDTH - 16, 36, HEIGHT - 40

        def at(epoch: int, value: float) -> svg.Point:
            across = (epoch - 1) / (longest - 1)
            up = (value - low) / ((high - low) or 1.0)
            return left + across * (right - left), base - up * (base - top)

        axis = [(left - 6, top - 6), (left - 6, base + 6), (right + 8, base + 6)]
        shapes = [svg.line(axis, GREY, 1), svg.text((left, 16), title, INK, 12, "start", bold=True)]
        shapes.append(svg.text((right + 8, HEIGHT - 4), "epoch", GREY, 11, "end"))
        for value in (low, high):
            shapes.append(
                svg.text((left - 10, at(1, value)[1] + 4), f"{value:.3f}", GREY, 10, "end")
            )
        for epoch in (1, longest):
            shapes.append(svg.text((at(epoch, low)[0], base + 20), str(epoch), GREY, 10))
        for name, run in runs.items():
            points = [at(epoch, value) for epoch, value in enumerate(run, start=1)]
            shapes.append(svg.line(points, colours[name], 2))
            shapes += [svg.dot(point, colours[name], 2.5) for point in points]
        return shapes
