"""Runs, scores and their conventions, and tests of significance."""

from qasel.evaluation.measures import MissingWarning, Scores, TieWarning, evaluate
from qasel.evaluation.run import Qrels, Run, read_qrels
from qasel.evaluation.significance import (
    Comparison,
    Estimate,
    all_pairs,
    bootstrap_interval,
    hierarchical_bootstrap,
    holm,
    mean_interval,
    randomisation_test,
)

__all__ = [
    "Comparison",
    "Estimate",
    "MissingWarning",
    "Qrels",
    "Run",
    "Scores",
    "TieWarning",
    "all_pairs",
    "bootstrap_interval",
    "evaluate",
    "hierarchical_bootstrap",
    "holm",
    "mean_interval",
    "randomisation_test",
    "read_qrels",
]
