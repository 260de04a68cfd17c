"""Curves that grow while a ranker trains."""

from collections.abc import Callable, Mapping
from itertools import cycle

import pandas as pd

from qasel.figures.style import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    VERMILLION,
    HouseFigure,
    house_style,
    new_figure,
)  # fmt: skip
from qasel.widgets import svg
from qasel.widgets.base import Explorer

COLOURS = (VERMILLION, ORANGE, GREEN, BLUE, INK, GREY)
Epochs = list[dict[str, float]]


class LiveCurves(Explorer):
    """Loss and dev MAP of several trainings, drawn anew after each epoch.

    Show it, then pass `follow(name)` to `fit` as `on_epoch`. Show it again after training: a saved
    notebook keeps the picture of the moment when it is shown. Trainings without a colour in
    `colours` get one in turn.
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
        told = "; ".join(map(self.told, self.histories))
        return svg.of_figure(self._figure(), f"Loss and dev MAP after each epoch: {told}")

    def told(self, name: str) -> str:
        """How a training stands, in a few words."""
        epochs = self.histories[name]
        best = max(epochs, key=lambda row: row["dev_map"])
        seconds = sum(row["seconds"] for row in epochs)
        return (
            f"{name}: {len(epochs)} epochs in {seconds:.0f} s, "
            f"best dev MAP {best['dev_map']:.3f} after epoch {best['epoch']:.0f}"
        )

    @house_style
    def _figure(self) -> HouseFigure:
        figure = new_figure(11, 3.3 + 0.25 * len(self.histories))
        loss, dev = figure.subplots(1, 2)
        for (name, epochs), shade in zip(self.histories.items(), cycle(COLOURS), strict=False):
            look = {"color": self.colours.get(name, shade), "label": self.told(name)}
            for axes, key in ((loss, "loss"), (dev, "dev_map")):
                pd.DataFrame(epochs).plot(
                    x="epoch", y=key, ax=axes, style=".-", legend=False, **look
                )
        loss.set_title("training loss")
        dev.set_title("MAP on the development split")
        figure.legend(*loss.get_legend_handles_labels(), loc="outside lower left", fontsize=10)
        return figure
