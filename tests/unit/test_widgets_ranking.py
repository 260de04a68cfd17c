"""The explorer of rankings: what a score says."""

from qasel.datasets.base import Candidate, Question
from qasel.evaluation import Run
from qasel.widgets.ranking import rankings


def test_small_scores_say_more_than_zero():
    scores = {"a": 1.234, "b": 0.0, "c": -0.5, "d": -3.2e-10}
    candidates = tuple(Candidate(name, "text", 0, i) for i, name in enumerate(scores))
    told = rankings(Question("q", "what", candidates), {"one": Run({"q": scores})})
    shown = [part.split("</small>")[0] for part in told.split("<small>")[2:]]
    assert shown == ["1.23", "0", "−3.2e−10", "−0.5"]
