"""What notebook 01 needs: tables and pictures of the data and losses, and two explorers."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from qasel.datasets.base import Candidate, Dataset, Question, Split
from qasel.errors import QaselError
from qasel.evaluation import Run, Scores, TieWarning, bootstrap_interval, evaluate
from qasel.figures.style import GREY, INK, HouseFigure, house_style, new_figure
from qasel.papers import lesson as shared
from qasel.papers.hierarchical_ranking.model import CompareAggregate
from qasel.papers.hierarchical_ranking.ranker import HierarchicalRanker
from qasel.papers.hierarchical_ranking.recipes import PAPER, SCHEMES, HierarchicalRecipe
from qasel.text import tokenize
from qasel.training.losses import LEVELS, list_loss, pair_loss, point_loss
from qasel.widgets import svg
from qasel.widgets.base import (
    BLUE,
    GREEN,
    MARKS,
    ORANGE,
    CandidateExplorer,
    escape,
    shade,
    table,
)

chosen_recipes = partial(shared.chosen_recipes, PAPER)
shapes, untrained = shared.shapes, shared.untrained


def shared_words(question: Question) -> pd.DataFrame:
    """The candidates of a question by the number of different words they share with it."""
    asked = set(tokenize(question.text))
    rows = [
        {
            "shared": len(asked.intersection(tokenize(c.text))),
            "words": " ".join(sorted(asked.intersection(tokenize(c.text)))),
            "right": "✓" if c.label == 1 else "",
            "candidate": c.text,
        }
        for c in sorted(question.candidates, key=lambda c: c.place)
    ]
    return pd.DataFrame(rows).sort_values("shared", ascending=False, kind="stable")


def misleading(split: Split) -> Question:
    """The question in which a wrong candidate shares the most words more than any right one.

    Raises `QaselError` when no question has both right and wrong candidates.
    """

    def gap(question: Question) -> int:
        shared = shared_words(question)
        right = shared["right"] == "✓"
        return int(shared.loc[~right, "shared"].max() - shared.loc[right, "shared"].max())

    mixed = [question for question in split if question.mixed]
    if not mixed:
        raise QaselError(f"{split.name}: no question has both right and wrong candidates")
    return max(mixed, key=gap)


def supervision(questions: Iterable[Question]) -> dict[str, int]:
    """How many units each level trains on: candidates, pairs (all, hardest negative), lists."""
    labels = [question.labels for question in questions]
    return {
        "lists": len(labels),
        "points": sum(len(row) for row in labels),
        "pairs, all": sum(int(row.sum() * (1 - row).sum()) for row in labels),
        "pairs, hardest": sum(int(row.sum()) for row in labels if (1 - row).any()),
    }


def scheme_table(
    settings: HierarchicalRecipe, names: Iterable[str] = tuple(SCHEMES)
) -> pd.DataFrame:
    """Each scheme: what each head's features are made of, their size, the parameters.

    Parameters are those of the network without its word vectors, which all schemes share.
    """
    rows = {}
    for name in names:
        scheme = SCHEMES[name]
        made = {head.name: " + ".join(scheme.sources(head.name)) for head in scheme.heads}
        made = {
            head.name: made[head.name] + (f" [{head.loss} loss]" if head.loss != head.name else "")
            for head in scheme.heads
        }
        wide = len(scheme.sources(scheme.ranks)) * 2 * len(settings.kernels) * settings.channels
        rows[name] = {f"r̂ {level}": made.get(level, "") for level in LEVELS} | {
            "ranks": scheme.ranks,
            "size of its r̂": wide,
            "parameters": _parameters(name, settings),
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def _parameters(variant: str, settings: HierarchicalRecipe, size: int = 300) -> int:
    """Parameters of the network but for its word vectors of this size."""
    with torch.device("meta"):
        network = CompareAggregate(
            torch.zeros(1, size),
            SCHEMES[variant],
            hidden=settings.hidden,
            channels=settings.channels,
            kernels=settings.kernels,
            wide=settings.wide,
            k_max=settings.k_max,
            dropout=settings.dropout,
            train_vectors=False,
        )
    return sum(p.numel() for name, p in network.named_parameters() if name != "vectors")


def pulls(scores: Tensor, labels: Tensor, margin: float) -> pd.DataFrame:
    """How each loss wants to move each score of one list `[1, candidates]`: −∂loss/∂score."""
    mask = torch.ones_like(labels, dtype=torch.bool)
    losses = {
        "point": lambda s: point_loss(s, labels, mask),
        "pair, all": lambda s: pair_loss(s, labels, mask, margin, "all"),
        "pair, hardest": lambda s: pair_loss(s, labels, mask, margin, "hardest"),
        "list": lambda s: list_loss(s, labels, mask),
    }
    found = {}
    for name, loss in losses.items():
        leaf = scores.clone().requires_grad_()
        (gradient,) = torch.autograd.grad(loss(leaf), leaf)
        found[name] = (0.0 - gradient[0]).numpy()
    return pd.DataFrame(found)


@house_style
def pull_figure(moves: pd.DataFrame, names: Iterable[str]) -> HouseFigure:
    """A panel a loss: up is where the loss wants a candidate's score to go."""
    names = list(names)
    figure = new_figure(11, 3.4)
    panels = figure.subplots(1, len(moves.columns), sharex=True)
    for axes, loss in zip(panels, moves, strict=True):
        heights = moves[loss].to_numpy()
        shades = [INK if name.endswith("✓") else GREY for name in names]
        axes.bar(names, heights, color=shades, width=0.65)
        axes.axhline(0, color=GREY, linewidth=0.8)
        axes.set_title(loss)
        axes.locator_params(axis="y", nbins=4)
        axes.grid(visible=False, axis="x")
    panels[0].set_ylabel("−∂loss/∂score")
    figure.supxlabel("candidates by score, ✓ = right; bars upwards: the score should rise")
    return figure


@house_style
def list_lengths(dataset: Dataset) -> HouseFigure:
    """Questions by the number of their candidates, a panel a split."""
    figure = new_figure(11, 3)
    panels = figure.subplots(1, len(dataset.splits), sharex=True)
    for axes, (name, split) in zip(np.atleast_1d(panels), dataset.splits.items(), strict=True):
        counts = [len(question.candidates) for question in split]
        axes.hist(counts, bins=np.arange(0.5, max(counts) + 1.5), color=GREY, rwidth=0.9)
        axes.set_title(f"{name}: {len(split)} questions")
        axes.set_xlabel("candidates of a question")
        axes.locator_params(axis="x", integer=True, nbins=8)
        axes.grid(visible=False, axis="x")
    np.atleast_1d(panels)[0].set_ylabel("questions")
    return figure


def score_table(scores: Mapping[str, Scores]) -> pd.DataFrame:
    """MAP with the 95 % bootstrap interval over questions, MRR and P@1 of each system."""
    rows = {}
    for name, found in scores.items():
        low, high = bootstrap_interval(found.per_question["map"])
        rows[name] = {
            "MAP": found.map,
            "95 % over questions": f"{low:.3f} to {high:.3f}",
            "MRR": found.mrr,
            "P@1": found.p1,
        }
    return pd.DataFrame.from_dict(rows, orient="index").round(3)


LONGEST = 60
"""Words of a sentence shown; a longer one is cut."""
FAINT = 0.005
"""Weights below are shown as a dot."""


class AttentionExplorer(CandidateExplorer):
    """Both directions of the co-attention for a question and a candidate, picked or typed."""

    def __init__(self, ranker: HierarchicalRanker, split: Split, first: str | None = None) -> None:
        self.ranker = ranker
        super().__init__(split, first=first)

    def picture_of(self, question: Question, candidate: Candidate) -> str:
        """Two tables of weights, words of the answer across; and the candidate's place."""
        found = self.ranker.attention(question.text, candidate.text)
        if not found.question or not found.answer:
            raise QaselError("There is no word here to look at: type a few more.")
        over_answer, over_question = found.over_answer, found.over_question.T
        return (
            self._told(question, candidate)
            + _weights(
                "What each question word reads in the answer: each row sums to 1",
                found.question,
                found.answer,
                over_answer,
                BLUE,
            )
            + _weights(
                "What each answer word reads in the question: each column sums to 1",
                found.question,
                found.answer,
                over_question,
                ORANGE,
            )
        )

    def _told(self, question: Question, candidate: Candidate) -> str:
        ranking = self.ranker.rank(Split("picked", (question,))).ranking(question.id)
        place = ranking.index(candidate.id) + 1
        of = f"{place} of {len(ranking)}"
        return (
            f"<p><b>{escape(question.text)}</b><br>{MARKS[candidate.label]} "
            f'{escape(candidate.text)} <span style="color:{GREY}">'
            f"(the model puts it in place {of})</span></p>"
        )


def _weights(
    told: str, rows: Sequence[str], columns: Sequence[str], weights: np.ndarray, colour: str
) -> str:
    """A table of weights with shaded cells, words of the answer across."""
    shown = list(columns[:LONGEST])
    if len(columns) > LONGEST:
        told += f" (the first {LONGEST} of {len(columns)} answer words are shown)"
    upright = "writing-mode:vertical-rl;transform:rotate(180deg);padding:2px 0;font-weight:normal"
    head = "".join(f'<th style="{upright};text-align:left">{escape(word)}</th>' for word in shown)
    top = max(float(weights.max(initial=0.0)), 1e-9)
    body = "".join(
        f'<tr><th style="text-align:right;padding:2px 6px">{escape(word)}</th>'
        + "".join(_cell(float(weight), float(weight) / top, colour) for weight in row[:LONGEST])
        + "</tr>"
        for word, row in zip(rows, weights, strict=True)
    )
    return (
        f'<div style="overflow-x:auto"><p style="margin:8px 0 2px 0">{escape(told)}</p>'
        f'<table style="border-collapse:collapse;font-size:11px">'
        f"<thead><tr><th></th>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(weight: float, share: float, colour: str) -> str:
    mixed = (round(255 + 0.85 * share * (int(colour[i : i + 2], 16) - 255)) for i in (1, 3, 5))
    ground = "#" + "".join(f"{part:02x}" for part in mixed)
    ink = "#ffffff" if share > 0.6 and colour == BLUE else INK
    number = f"{weight:.2f}".removeprefix("0") if weight >= FAINT else "·"
    style = f"background-color:{ground};color:{ink};padding:2px 3px;text-align:center"
    return f'<td style="{style}">{number}</td>'


COLUMN, ROW, GAP, LEFT, TOP = 62, 19, 44, 40, 46
"""Pixels of the slope chart: between columns, places and panels, and the margins."""
PALE = "#C8C8C8"


Column = tuple[str, str]
"""A variant and one of its heads."""


class IntegrationExplorer(CandidateExplorer):
    """The candidates' places by every head of every variant, and the way of one candidate."""

    def __init__(
        self, rankers: Mapping[str, HierarchicalRanker], split: Split, first: str | None = None
    ) -> None:
        if not rankers:
            raise QaselError("give at least one trained ranker to explore")
        self.rankers = dict(rankers)
        self._known: dict[Question, dict[Column, Run]] = {}
        super().__init__(split, first=first)

    def runs(self, question: Question) -> dict[Column, Run]:
        """The run of each head of each variant for one question, computed once."""
        if question not in self._known:
            one = Split("picked", (question,))
            self._known[question] = {
                (name, head): run
                for name, ranker in self.rankers.items()
                for head, run in ranker.rank_heads(one).items()
            }
        return self._known[question]

    def picture_of(self, question: Question, candidate: Candidate) -> str:
        """The slope chart, and under it a table of all places with the average precisions."""
        runs = self.runs(question)
        places = {
            column: {cid: i for i, cid in enumerate(run.ranking(question.id), start=1)}
            for column, run in runs.items()
        }
        precision = {column: _precision(run, question) for column, run in runs.items()}
        return (
            f"<p><b>{escape(question.text)}</b><br>{MARKS[candidate.label]} "
            f"{escape(candidate.text)}</p>"
            + self._slopes(question, candidate, places, precision)
            + self._table(question, candidate, places, precision)
        )

    def _ranks(self, name: str) -> str:
        """The head that ranks in a variant."""
        return self.rankers[name].recipe.scheme.ranks

    def _panels(self, columns: list[Column]) -> dict[str, list[tuple[str, Column]]]:
        """Panel → its columns with their labels: the variants' heads, then the heads that rank."""
        panels = {
            name: [(head, (variant, head)) for variant, head in columns if variant == name]
            for name in self.rankers
        }
        panels = {name: found for name, found in panels.items() if len(found) > 1}
        last = [(name, (name, self._ranks(name))) for name in self.rankers]
        return {**panels, "the head that ranks": last}

    def _slopes(
        self,
        question: Question,
        candidate: Candidate,
        places: Mapping[Column, Mapping[str, int]],
        precision: Mapping[Column, str],
    ) -> str:
        panels = self._panels(list(places))
        count = len(question.candidates)
        bottom = TOP + ROW * (count - 1)
        # The picked candidate is drawn last, over the others; right ones over wrong ones.
        order = sorted(question.candidates, key=lambda c: (c is candidate, c.label == 1))
        shapes = [
            svg.text((LEFT - 14, TOP + 4 + ROW * i), str(i + 1), GREY, 10) for i in range(count)
        ]
        x = float(LEFT)
        for title, columns in panels.items():
            step = COLUMN * (1.5 if title not in self.rankers else 1.0)
            xs = [x + step * i + step / 2 for i in range(len(columns))]
            shapes.append(svg.text(((xs[0] + xs[-1]) / 2, 16), title, INK, 12, bold=True))
            for at, (label, column) in zip(xs, columns, strict=True):
                shapes.append(svg.text((at, 32), label, INK if _leads(self, column) else GREY, 11))
                shapes.append(svg.text((at, bottom + 24), precision[column], INK, 11))
            for one in order:
                points = [
                    (at, TOP + ROW * (places[column][one.id] - 1.0))
                    for at, (_, column) in zip(xs, columns, strict=True)
                ]
                shapes += _way(points, one, one.id == candidate.id)
            x = xs[-1] + step / 2 + GAP
        shapes.append(svg.text((LEFT - 14, bottom + 24), "AP", GREY, 11))
        told = "Places of the candidates by each head: the table below has them as numbers"
        return svg.picture(shapes, x - GAP + 10, bottom + 36, told) + _legend()

    def _table(
        self,
        question: Question,
        candidate: Candidate,
        places: Mapping[Column, Mapping[str, int]],
        precision: Mapping[Column, str],
    ) -> str:
        columns = list(places)
        main = (list(self.rankers)[-1], self._ranks(list(self.rankers)[-1]))
        head = ["", "candidate"]
        head += [
            f"{escape(name)}<br>{escape(level)}{' ★' if _leads(self, (name, level)) else ''}"
            for name, level in columns
        ]
        rows = []
        for one in sorted(question.candidates, key=lambda c: places[main][c.id]):
            text = escape(one.text)
            text = f"<b>{text}</b>" if one.id == candidate.id else text
            cells = [_place(places[column][one.id]) for column in columns]
            rows.append([MARKS[one.label], text, *cells])
        rows.append(["", "average precision", *(precision[column] for column in columns)])
        return table(head, rows, "Places by each head; ★ marks the head that ranks")


def _leads(explorer: IntegrationExplorer, column: Column) -> bool:
    return explorer._ranks(column[0]) == column[1]


def _way(points: list[svg.Point], candidate: Candidate, picked: bool) -> list[str]:
    """A candidate's way through the columns of a panel."""
    right = candidate.label == 1
    colour = BLUE if picked else GREEN if right else PALE
    drawn = [svg.line(points, colour, 3.5 if picked else 2 if right else 1.2)]
    radius = 6 if picked else 4 if right else 2.5
    return drawn + [svg.dot(point, colour, radius, hollow=not right) for point in points]


def _legend() -> str:
    return (
        f'<p><small><span style="color:{BLUE}">▬ the candidate picked</span> &nbsp; '
        f'<span style="color:{GREEN}">● other right answers</span> &nbsp; '
        f'<span style="color:{GREY}">○ wrong ones</span> &nbsp; first place on top, '
        "the average precision (AP) of the question below</small></p>"
    )


def _place(place: int) -> str:
    """A place, the darker the better."""
    return shade(str(place), 1 / place)


def _precision(run: Run, question: Question) -> str:
    """The average precision of one question, or a dash where no right answer is known."""
    if not question.answered or any(c.label is None for c in question.candidates):
        return "–"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TieWarning)
        return f"{evaluate(run, Split('picked', (question,))).map:.2f}"
