"""Questions as dots: how far a test split can tell systems apart."""

from collections.abc import Mapping

import numpy as np

from qasel.evaluation import Scores, bootstrap_interval
from qasel.figures.style import HouseFigure, colour, house_style, new_figure


@house_style
def spread(scores: Mapping[str, Scores]) -> HouseFigure:
    """The average precision of every question as a dot, the mean with its interval on top."""
    figure = new_figure(10, 1.2 + 0.5 * len(scores))
    axes = figure.subplots()
    generator = np.random.default_rng(0)
    for y, (name, found) in enumerate(scores.items()):
        values = np.array(list(found.per_question["map"].values()))
        shade = colour(name.partition(" ·")[0])
        shaken = y + generator.uniform(-0.3, 0.3, len(values))
        axes.scatter(values, shaken, s=14, color=shade, alpha=0.35, linewidths=0)
        low, high = bootstrap_interval(values)
        axes.plot([low, high], [y, y], color=shade, linewidth=3, solid_capstyle="butt")
        axes.plot(found.map, y, "o", color=shade, markersize=9, markeredgecolor="white")
    axes.set_yticks(range(len(scores)), list(scores))
    axes.set_ylim(len(scores) - 0.5, -0.5)
    axes.set_xlabel("average precision of a question; the mean with its 95 % interval")
    axes.grid(visible=False, axis="y")
    return figure
