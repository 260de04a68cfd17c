"""How often the test of `qasel.evaluation` rejects a true null: for docs/notes/statistics.md.

    python tools/rejections.py

Simulates pairs of equally good systems, with the variances over seeds and over questions that the
ledger has, and tests them at 5 %; for comparison also by a test over questions only.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from qasel.evaluation import all_pairs
from qasel.results.tables import markdown_table

ALPHA = 0.05
TRIALS = 4_000
RESAMPLES = 4_999


class Setting(NamedTuple):
    """Seeds and questions of a test, and the standard deviations of α, β, ε in μ + α + β + ε."""

    seeds: int
    questions: int
    of_seeds: float
    of_questions: float = 0.15
    rest: float = 0.16


SETTINGS = [
    Setting(seeds, questions, of_seeds)
    for seeds in (2, 3, 5)
    for questions in (68, 243)
    for of_seeds in (0.0, 0.01, 0.03)
]
"""The ledger's paired differences in AP have standard deviations of 0 to .03 over seeds (median .01
on WikiQA), .06 to .26 over questions, and .15 to .2 for the rest."""


def rejections(setting: Setting, trials: int = TRIALS) -> dict[str, float]:
    """Return the share of trials in which each test finds a difference that is not there."""
    generator = np.random.default_rng(setting.seeds * 1_000 + setting.questions)
    seeds, questions, *deviations = setting
    shapes = (trials, seeds, 1), (trials, 1, questions), (trials, seeds, questions)
    values = np.zeros((trials + 1, seeds, questions))
    for scale, shape in zip(deviations, shapes, strict=True):
        values[1:] += generator.normal(0.0, scale, shape)
    pairs = [(trial, 0) for trial in range(1, trials + 1)]
    both = all_pairs(dict(enumerate(values)), pairs, resamples=RESAMPLES)
    alone = stats.ttest_1samp(values[1:].mean(axis=1), 0.0, axis=1).pvalue
    return {
        "hierarchical": float(np.mean(both < ALPHA)),
        "questions only": float(np.mean(alone < ALPHA)),
    }


if __name__ == "__main__":
    frame = pd.DataFrame([setting._asdict() | rejections(setting) for setting in SETTINGS])
    print(markdown_table(frame.round(3)), end="")
