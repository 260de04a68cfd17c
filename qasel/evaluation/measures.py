"""Scores of a run: MAP, MRR and P@1 under a named protocol, by ir_measures (trec_eval's code)."""

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise

import ir_measures
import numpy as np

from qasel.datasets.base import Dataset, Split
from qasel.datasets.registry import unknown
from qasel.errors import QaselError
from qasel.evaluation.run import Qrels, Run

MEASURES = {"map": ir_measures.AP, "mrr": ir_measures.RR, "p1": ir_measures.P @ 1}
NAMES = {"map": "MAP", "mrr": "MRR", "p1": "P@1", "avgrec": "AvgRec", "acc": "accuracy"}
PROTOCOLS = {
    "trec": "broken against the system",
    "semeval": "in file order; the ten best only, as SemEval has it",
}
"""Convention → how it treats ties, and candidates far down the ranking, in words."""
SEMEVAL_CUTOFF = 10
TIES_ALLOWED = 0.1
"""`evaluate` warns if the share of questions with a tie that matters exceeds this."""


class TieWarning(UserWarning):
    """In many questions, a relevant and a non-relevant candidate have the same score."""


class MissingWarning(UserWarning):
    """A run lacks labelled candidates."""


@dataclass(frozen=True)
class Scores:
    """The result of `evaluate`; all measures are fractions, 0..1.

    `per_question` maps measure ("map", "mrr", "p1") → question id → value. `mean` has their means
    over all questions, and the measures that are not per question: "avgrec" under "semeval" (a
    ratio of sums) and, if the run has predicted labels, "acc" over all pairs. `unanswered` counts
    the questions without a relevant candidate (their values are 0), `tied` those in which a
    relevant and a non-relevant candidate have the same score.
    """

    per_question: Mapping[str, Mapping[str, float]] = field(repr=False)
    mean: Mapping[str, float]
    questions: int
    unanswered: int
    tied: int
    protocol: str = "trec"
    tag: str = "qasel"

    @property
    def map(self) -> float:
        """Mean average precision."""
        return self.mean["map"]

    @property
    def mrr(self) -> float:
        """Mean reciprocal rank of the first relevant candidate."""
        return self.mean["mrr"]

    @property
    def p1(self) -> float:
        """Share of the questions whose top candidate is relevant."""
        return self.mean["p1"]

    def __str__(self) -> str:
        return self._line(1, 3)

    @property
    def in_percent(self) -> str:
        """As `str`, but in percent with two decimals, as shared tasks print their scores."""
        return self._line(100, 2)

    def _line(self, factor: int, digits: int) -> str:
        means = (f"{NAMES[name]} {factor * x:.{digits}f}" for name, x in self.mean.items())
        return f"{self.tag}: {'  '.join(means)}  ({self._counts()})"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{NAMES[name]}</th>" for name in self.mean)
        body = "".join(f"<td>{value:.3f}</td>" for value in self.mean.values())
        return (
            f"<table><caption>{escape(self._counts())}</caption>"
            f"<thead><tr><th></th>{head}</tr></thead>"
            f"<tbody><tr><th>{escape(self.tag)}</th>{body}</tr></tbody></table>"
        )

    def _counts(self) -> str:
        return (
            f"{self.questions} questions, {self.unanswered} without an answer, "
            f"{self.tied} with ties that matter, {PROTOCOLS[self.protocol]}"
        )


def evaluate(run: Run, truth: Split | Qrels, protocol: str = "trec") -> Scores:
    """Score a run against a split's labels, or against qrels.

    "trec" ranks all candidates and breaks ties against the system (non-relevant first). "semeval",
    as the official scorer of SemEval-2016/17 Task 3, takes the ten best and breaks ties by file
    order; AP is normalised by the relevant ones among the ten; AvgRec is added. Under both, every
    question counts, as 0 if it has no relevant candidate. If the run has predicted labels, their
    accuracy over all pairs is added.

    A run may lack candidates, for example if cut to the ten best; `MissingWarning` says how many.
    Under "trec", as in trec_eval, they are not retrieved: relevant ones add 0 to AP, but count in
    its denominator. Under "semeval", whose scorer has no such runs, they come last, in file order.

    Warns with `TieWarning` if the order of ties matters in more than a tenth of the questions.
    Raises `QaselError` for a question that only one side has, a candidate without a label, or an
    unknown label; the message names it.
    """
    if protocol not in PROTOCOLS:
        raise QaselError(unknown("protocol", protocol, PROTOCOLS))
    labels = _labels(truth)
    if not labels:
        raise QaselError("nothing to measure: there is no question")
    semeval = protocol == "semeval"
    _check_same(run, labels, truth.name if isinstance(truth, Split) else "the qrels")
    ranked: dict[str, list[int]] = {}
    unfound: dict[str, int] = {}
    tied = missing = 0
    for qid, row in labels.items():
        scores = run.scores[qid]
        # Ties: non-relevant first, or in file order.
        found = [cid for cid in row if cid in scores]
        order = sorted(found, key=lambda cid: (-scores[cid], not semeval and row[cid]))
        lacking = [cid for cid in row if cid not in scores]
        ranked[qid] = [row[cid] for cid in (*order, *(lacking if semeval else ()))]
        unfound[qid] = sum(row.values()) - sum(ranked[qid])
        missing += len(lacking)
        tied += any(scores[a] == scores[b] and row[a] != row[b] for a, b in pairwise(order))
    if tied > TIES_ALLOWED * len(labels):
        rule = "by file order (SemEval's rule)" if semeval else "against the system"
        warnings.warn(
            f"run {run.tag!r}: in {tied} of {len(labels)} questions an answer and a wrong one "
            f"have the same score; ties are broken {rule}",
            TieWarning,
            stacklevel=2,
        )
    if missing:
        counted = "come last" if semeval else "count as not found"
        told = f"run {run.tag!r} lacks {missing} labelled candidates, which {counted}"
        warnings.warn(told, MissingWarning, stacklevel=2)
    cutoff = SEMEVAL_CUTOFF if semeval else None
    top = {qid: flags[:cutoff] for qid, flags in ranked.items()}
    per_question = _measure(top, unfound)
    mean = {name: math.fsum(row.values()) / len(row) for name, row in per_question.items()}
    if semeval:
        mean["avgrec"] = _average_recall(list(ranked.values()))
    if (given := run.predicted) is not None:
        pairs = [(q, c, label) for q, row in labels.items() for c, label in row.items()]
        agree = [given[q].get(c, 0) == label for q, c, label in pairs]
        mean["acc"] = sum(agree) / len(agree)
    unanswered = sum(not any(row.values()) for row in labels.values())
    return Scores(per_question, mean, len(labels), unanswered, tied, protocol, run.tag)


def _labels(truth: Split | Qrels) -> dict[str, dict[str, int]]:
    """Question id → candidate id → 0 or 1, candidates in file order."""
    if isinstance(truth, Dataset):
        raise QaselError(f"measure on a split, such as data.test, not on all of {truth.name}")
    if not isinstance(truth, Split):
        return {qid: {cid: int(rel > 0) for cid, rel in row.items()} for qid, row in truth.items()}
    labels = {}
    for question in truth:
        pairs = zip(question.candidates, question.labels.tolist(), strict=True)
        placed = sorted(pairs, key=lambda pair: pair[0].place)
        labels[question.id] = {candidate.id: label for candidate, label in placed}
    return labels


def _check_same(run: Run, labels: Qrels, name: str) -> None:
    """Raise `QaselError` unless questions are the same and all ranked candidates have labels."""
    hint = "measure on what was ranked, or cut the run with `run.only(split)`"
    for qid in {**run.scores, **labels}:
        if qid not in labels:
            raise QaselError(f"run {run.tag!r} has question {qid!r}, {name} has not; {hint}")
        if qid not in run.scores:
            rank = "rank those questions too, or leave out what is not to be measured"
            raise QaselError(f"run {run.tag!r} lacks question {qid!r} of {name}; {rank}")
        if more := run.scores[qid].keys() - labels[qid].keys():
            what = f"question {qid!r} has candidate {min(more)!r}, in {name} it has not"
            raise QaselError(f"run {run.tag!r}: {what}")


def _measure(
    ranked: Mapping[str, list[int]], unfound: Mapping[str, int]
) -> dict[str, dict[str, float]]:
    """Compute `MEASURES` of ranked labels: measure → question id → value.

    `unfound` has the number of relevant candidates of a question that are not among them.

    ir_measures gets strictly decreasing numbers, not the scores: trec_eval would break ties by
    candidate id, and read scores in single precision only. Questions get numbers too, as trec_eval
    would cut an id at a NUL.
    """
    number = {str(place): qid for place, qid in enumerate(ranked)}
    flags = {qid: row + [1] * unfound[qid] for qid, row in ranked.items()}
    qrels = {n: {str(i): flag for i, flag in enumerate(flags[q])} for n, q in number.items()}
    run = {n: {str(i): -float(i) for i in range(len(ranked[q]))} for n, q in number.items()}
    rows: dict[str, dict[str, float]] = {name: dict.fromkeys(ranked, 0.0) for name in MEASURES}
    names = {measure: name for name, measure in MEASURES.items()}
    for metric in ir_measures.pytrec_eval.iter_calc(list(names), qrels, run):
        rows[names[metric.measure]][number[metric.query_id]] = metric.value
    return rows


def _average_recall(ranked: list[list[int]]) -> float:
    """SemEval's AvgRec of ranked labels: the mean over k = 1..10 of
    (relevant among the first k, summed over questions) / (min(k, relevant), summed likewise).
    """
    top = np.zeros((len(ranked), SEMEVAL_CUTOFF))
    for row, flags in zip(top, ranked, strict=True):
        row[: len(flags)] = flags[:SEMEVAL_CUTOFF]
    relevant = np.array([sum(flags) for flags in ranked])
    possible = np.minimum(np.arange(1, SEMEVAL_CUTOFF + 1), relevant[:, None]).sum(axis=0)
    if not possible[0]:
        return 0.0
    return float((top.cumsum(axis=1).sum(axis=0) / possible).mean())
