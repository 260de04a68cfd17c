"""Runs, scores, their conventions, and tests of significance."""

from qasel.evaluation.measures import Scores, TieWarning, evaluate
from qasel.evaluation.run import Qrels, Run, read_qrels
from qasel.evaluation.significance import (
    Comparison,
    bootstrap_interval,
    mean_interval,
    paired_ttest,
    randomisation_test,
    tukey_hsd_randomised,
)

__all__ = [
    "Comparison",
    "Qrels",
    "Run",
    "Scores",
    "TieWarning",
    "bootstrap_interval",
    "evaluate",
    "mean_interval",
    "paired_ttest",
    "randomisation_test",
    "read_qrels",
    "tukey_hsd_randomised",
]
