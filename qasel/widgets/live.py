"""Curves that grow while a ranker trains."""

from collections.abc import Callable, Mapping

from qasel.widgets import svg
from qasel.widgets.base import BLUE, GREEN, GREY, INK, ORANGE, VERMILLION, Explorer, escape

COLOURS = (VERMILLION, ORANGE, GREEN, BLUE, INK, GREY)
WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 430, 230, 52, 34, 30
Epochs = list[dict[str, float]]


class LiveCurves(Explorer):
    """Loss and dev MAP of several trainings, drawn anew after each epoch.

    Show it, then give `follow(name)` to `fit` as `on_epoch`.
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
        lines = {name: self.colour(name) for name in self.histories}
        panels = [
            self._panel("training loss", "loss", 0),
            self._panel("MAP on the development split", "dev_map", WIDTH + 20),
        ]
        told = "Loss and dev MAP after each epoch: " + "; ".join(map(self.told, lines))
        legend = "".join(
            f'<span style="color:{colour}">▬</span> {escape(self.told(name))}<br>'
            for name, colour in lines.items()
        )
        image = svg.picture([*panels[0], *panels[1]], 2 * WIDTH + 20, HEIGHT, told)
        return f"{image}<p><small>{legend}</small></p>"

    def colour(self, name: str) -> str:
        """The colour of a training: the one given, else the next of the palette."""
        place = list(self.histories).index(name)
        return self.colours.get(name, COLOURS[place % len(COLOURS)])

    def told(self, name: str) -> str:
        """How a training stands, in a few words."""
        epochs = self.histories[name]
        best = max(epochs, key=lambda row: row["dev_map"])
        seconds = sum(row["seconds"] for row in epochs)
        return (
            f"{name}: {len(epochs)} epochs in {seconds:.0f} s, "
            f"best dev MAP {best['dev_map']:.3f} after epoch {best['epoch']:.0f}"
        )

    def _panel(self, title: str, key: str, x: float) -> list[str]:
        runs = {name: [row[key] for row in epochs] for name, epochs in self.histories.items()}
        values = [value for run in runs.values() for value in run]
        low, high = min(values), max(values)
        spread = (high - low) or 1.0
        longest = max(2, *(len(run) for run in runs.values()))

        def at(epoch: int, value: float) -> svg.Point:
            across = (epoch - 1) / (longest - 1) * (WIDTH - LEFT - 16)
            up = (value - low) / spread * (HEIGHT - TOP - BOTTOM - 12)
            return x + LEFT + across, HEIGHT - BOTTOM - 6 - up

        base = HEIGHT - BOTTOM
        shapes = [
            svg.text((x + LEFT, 16), title, INK, 12, "start", bold=True),
            svg.line([(x + LEFT - 6, TOP), (x + LEFT - 6, base), (x + WIDTH - 8, base)], GREY, 1),
            svg.text((x + WIDTH - 8, HEIGHT - 4), "epoch", GREY, 11, "end"),
        ]
        for value in (low, high):
            y = at(1, value)[1]
            shapes.append(svg.text((x + LEFT - 10, y + 4), f"{value:.3f}", GREY, 10, "end"))
        for epoch in sorted({1, longest}):
            shapes.append(svg.text((at(epoch, low)[0], base + 14), str(epoch), GREY, 10))
        for name, run in runs.items():
            points = [at(i, value) for i, value in enumerate(run, start=1)]
            colour = self.colour(name)
            shapes.append(svg.line(points, colour, 2))
            shapes += [svg.dot(point, colour, 2.5) for point in points]
        return shapes
