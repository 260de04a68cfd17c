"""Curves that grow while a ranker trains."""

from collections.abc import Callable, Mapping
from itertools import cycle

from qasel.figures import style
from qasel.widgets.base import Explorer

COLOURS = (style.VERMILLION, style.ORANGE, style.GREEN, style.BLUE, style.GREY)
Epochs = list[dict[str, float]]


class LiveCurves(Explorer):
    """Training loss and dev MAP of several trainings, redrawn after each epoch.

    Show it, then pass `follow(name)` to `fit` as `on_epoch`; show it again after training for the
    picture that a saved notebook keeps. Trainings not in `colours` get default colours.
    """

    hint = ""

    def __init__(self, colours: Mapping[str, str] | None = None) -> None:
        self.colours = dict(colours or {})
        self.histories: dict[str, Epochs] = {}
        super().__init__([], [])

    def follow(self, name: str) -> Callable[[Epochs], None]:
        """Return a callback that takes the history so far of the training called `name`."""

        def on_epoch(epochs: Epochs) -> None:
            self.histories[name] = list(epochs)
            self.refresh()

        return on_epoch

    @style.house_style
    def view(self) -> str:
        """Return the two panels, with a line of text on each training."""
        if not self.histories:
            return f'<p style="color:{style.GREY}">The curves grow here while the models train.</p>'
        figure = style.new_figure(11, 3.3 + 0.25 * len(self.histories))
        titles = {"loss": "training loss", "dev_map": "MAP on the development split"}
        for axes, (key, title) in zip(figure.subplots(1, 2), titles.items(), strict=True):
            for (name, epochs), shade in zip(self.histories.items(), cycle(COLOURS), strict=False):
                look = {"color": self.colours.get(name, shade), "label": self.told(name)}
                axes.plot(range(1, len(epochs) + 1), [row[key] for row in epochs], ".-", **look)
            axes.set(title=title, xlabel="epoch")
        handles, told = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, told, loc="outside lower left", fontsize=10)
        return style.embedded(figure, f"Loss and dev MAP after each epoch: {'; '.join(told)}")

    def told(self, name: str) -> str:
        """Summarise a training in one line."""
        epochs = self.histories[name]
        best = max(epochs, key=lambda row: row["dev_map"])
        seconds = sum(row["seconds"] for row in epochs)
        return (
            f"{name}: {len(epochs)} epochs in {seconds:.0f} s, "
            f"best dev MAP {best['dev_map']:.3f} after epoch {best['epoch']:.0f}"
        )
