"""What an idea is worth: a system with it against one without it, on every data set."""

from collections.abc import Mapping

import pandas as pd
from scipy import stats

from qasel.evaluation import bootstrap_interval, mean_interval, randomisation_test
from qasel.results.matrix import ALPHA, Cell, Matrix

ADJUSTED, SEEDS, CLEAR = "p, adjusted", "± over seeds", "clear"
COLUMNS = [
    "idea", "data", "with", "without", "questions", "runs", "difference", "low", "high", SEEDS,
    ADJUSTED, CLEAR,
]  # fmt: skip


def worth(matrix: Matrix, ideas: Mapping[str, tuple[str, str]]) -> pd.DataFrame:
    """Idea → (system with it, system without it): a line a data set that both were run on.

    `difference` of the means, with a 95 % bootstrap interval over questions (`low`, `high`), and
    `ADJUSTED` p of the paired randomisation test, for the number of lines by Benjamini and
    Hochberg: these pairs were named beforehand, so that the correction is for them only and not
    for all pairs there are. Both are over questions, each with its mean over the runs, which
    `runs` counts for the two systems (`3 / 1`): they cannot tell an idea from a seed. `SEEDS` is
    half of the 95 % interval of the difference over the seeds that both have, paired, from two
    on. `CLEAR` are lines with p below `ALPHA` whose interval over the seeds leaves zero out.
    Pairs that cannot be compared are left out, and so is a target on which both are runs
    on a wider one (`Outcome.under`), where they are compared anyhow.
    """
    lines = []
    for target in matrix.targets:
        compared = matrix.compared(target) if len(matrix.questions(target)) > 1 else ()
        for idea, (having, lacking) in ideas.items():
            if having not in compared or lacking not in compared:
                continue
            a, b = (matrix.cells[system, target] for system in (having, lacking))
            if a.under and b.under:
                continue
            what = (idea, target.name, having, lacking, len(a.values), f"{a.runs} / {b.runs}")
            ends = bootstrap_interval(a.values, b.values)
            half, steady = _over_seeds(a, b)
            p = randomisation_test(a.values, b.values).p
            lines.append((*what, a.mean - b.mean, *ends, half, p, steady))
    frame = pd.DataFrame(lines, columns=COLUMNS)
    if lines:
        frame[ADJUSTED] = stats.false_discovery_control(frame[ADJUSTED])
        frame[CLEAR] &= frame[ADJUSTED] < ALPHA
    order = {idea: place for place, idea in enumerate(ideas)}
    return frame.sort_values("idea", key=lambda ideas: ideas.map(order), kind="stable")


def _over_seeds(a: Cell, b: Cell) -> tuple[float | None, bool]:
    """Half of the interval over the seeds that two systems share, and whether it leaves zero out.

    None, and no, for less than two.
    """
    gaps = [a.by_seed[seed] - b.by_seed[seed] for seed in sorted(a.by_seed.keys() & b.by_seed)]
    mean, _, half = mean_interval(gaps) if gaps else (0.0, None, None)
    return half, half is not None and abs(mean) > half
