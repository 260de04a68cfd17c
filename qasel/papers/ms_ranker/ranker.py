"""Paper 3 as rankers: the pre-ranker on its own, and the agent that starts from it."""

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from torch import Tensor, nn

from qasel.datasets.base import Question, Split
from qasel.evaluation import Run
from qasel.papers.ms_ranker.model import Agent, PairReader, PreRanker, Reader, WordReader, rewards
from qasel.papers.ms_ranker.recipes import MSRankerRecipe
from qasel.rankers import History
from qasel.text import Vectors
from qasel.text.encoders import Encoder
from qasel.training.batching import Batch, EncodedSplit
from qasel.training.losses import list_loss
from qasel.training.neural import NeuralRanker
from qasel.training.trainer import Schedule

STEEPEST = 10.0
"""The largest slope of a calibration: a steeper agent would start with actions that are certain."""
COLLAPSED = 0.001
"""P_post counts as collapsed if a smaller share of training candidates is above the threshold."""


class CollapseWarning(UserWarning):
    """Almost no candidate's P_post is above the threshold: the agent gathers no evidence."""


BEFORE = "pre-ranker"
"""Folder of the pre-ranker inside the agent's folder."""


def log_odds(log_p: Tensor) -> Tensor:
    """log P(right) − log P(wrong), `[…]` from `[…, 2]`: ordered as P_post, but never saturated."""
    return log_p[..., 1] - log_p[..., 0]


def make_reader(recipe: MSRankerRecipe, vectors: Tensor, encoder: Encoder | None) -> Reader:
    """Return the reader of a recipe: a pre-trained encoder, or untrained layers over words."""
    if encoder and not recipe.frozen:
        return PairReader(encoder)
    size = encoder.size if encoder else vectors.shape[1]
    dropout = recipe.dropout if recipe.word_dropout is None else recipe.word_dropout
    return WordReader(size, recipe.hidden, dropout, recipe.attention)


class PreRanking(NeuralRanker):
    """The pre-ranker: scores every pair on its own."""

    recipe_type = MSRankerRecipe
    recipe: MSRankerRecipe
    network: PreRanker

    def build(self, vectors: Tensor) -> PreRanker:
        """Return the untrained network in the recipe's sizes."""
        return PreRanker(vectors, make_reader(self.recipe, vectors, self.encoder), self.recipe)

    def losses(self, batch: Batch) -> dict[str, Tensor]:
        """Cross entropy, the mean over the batch's pairs, or the list loss of the log odds."""
        log_p = self.network(batch)
        if self.recipe.pre_loss == "list":
            loss = list_loss(log_odds(log_p), batch.labels, batch.mask, "none")
        else:
            loss = cross_entropy(log_p, batch)
        return {"loss": loss, **post_of(log_p, batch, self.recipe.threshold)}

    def scores(self, batch: Batch) -> Tensor:
        """Log odds of "right"."""
        return log_odds(self.network(batch))

    def schedule(self) -> Schedule:
        """A fixed number of epochs."""
        r, agents = self.recipe, super().schedule()
        return replace(agents, epochs=r.pre_epochs, patience=r.pre_epochs, decay=r.pre_decay)


class MSRanker(NeuralRanker):
    """The agent, and the pre-ranker that orders the candidates for it.

    Candidates enter in the order of their list, so the pre-ranker sorts each list in advance.
    """

    recipe_type = MSRankerRecipe
    rate_name = "agent_rate"
    recipe: MSRankerRecipe
    network: Agent

    first: PreRanking | None = None  # once it is trained
    level: tuple[float, float] = (1.0, 0.0)  # see `calibration`

    def first_stage(self, train_split: Split, dev_split: Split, folder: Path | None) -> None:
        """Train the pre-ranker, unless it is saved already."""
        first = PreRanking(self.recipe.before, self.vectors, self.device)
        self.first = first.as_stage(train_split, dev_split, folder)

    def fit(self, train_split: Split, dev_split: Split, *args: Any, **more: Any) -> History:
        """Train the pre-ranker, then the agent; return its history. Warns if P_post collapses."""
        history = super().fit(train_split, dev_split, *args, **more)
        r, above = self.recipe, history.epochs[-1]["above"]
        if r.evidence and r.action and above < COLLAPSED:
            warnings.warn(
                f"{r.variant}: P_post has collapsed: {above:.2%} of the training candidates are "
                f"above the threshold of {r.threshold:g}, so next to none becomes evidence; try "
                "list_by=random, a smaller agent_rate or a larger ce_weight",
                CollapseWarning,
                stacklevel=2,
            )
        return history

    def prepare(self, *splits: Split) -> None:
        """Build the network; the last split (dev) calibrates the pre-ranker's P_post."""
        if self.recipe.calibrate and self.first:
            self.level = calibration(self.first.rank(splits[-1]), splits[-1])
        super().prepare(*splits)

    def in_order(self, split: Split) -> Split:
        """Return the split with each list in the order in which the agent sees its candidates."""
        if self.first is None or not self.recipe.pre_ranker:
            return split
        scores = self.first.rank(split).scores

        def sorted_list(question: Question) -> Question:
            ordered = sorted(question.candidates, key=lambda c: -scores[question.id][c.id])
            return replace(question, candidates=tuple(ordered))

        return Split(split.name, tuple(sorted_list(question) for question in split))

    def build(self, vectors: Tensor) -> Agent:
        """Return the agent in the recipe's sizes, initialised from a trained pre-ranker, if any.

        With `evidence_start="zero"` it ranks just like the pre-ranker then. (In the paper it takes
        over encoding and attention only, not the MLP: docs/notes/ms-ranker.md.)
        """
        r = self.recipe
        if self.first:
            # By word: a pre-ranker that has ranked since then knows more words.
            numbers = self.first.vocabulary.encode(self._known())
            vectors = self.first.network.vectors.detach().to(vectors)[numbers]
        agent = Agent(vectors, make_reader(r, vectors, self.encoder), r)
        if self.first:
            before = self.first.network
            agent.reader.load_state_dict(before.reader.state_dict())
            agent.head.load_state_dict(before.head.state_dict(), strict=False)
            slope, intercept = self.level
            with torch.no_grad():
                agent.head.act.weight.mul_(slope)
                agent.head.act.bias.mul_(slope)
                agent.head.act.bias[1] += intercept
            if agent.head.of_evidence is not None and r.evidence_start == "zero":
                nn.init.zeros_(agent.head.of_evidence.weight)
        return agent

    def losses(self, batch: Batch) -> dict[str, Tensor]:
        """REINFORCE (equation 27), or cross entropy without rewards; `reward` is per question."""
        walk = self.network(batch)
        seen = post_of(walk.log_p, batch, self.recipe.threshold)
        plain = cross_entropy(walk.log_p, batch)
        if not self.recipe.rewards:
            return {"loss": plain, **seen}
        p = walk.p_post.detach()
        # The network's outputs do not depend on the sampled actions: many walks cost one pass.
        actions = (torch.rand(self.recipe.walks, *p.shape, device=p.device) < p).float()
        earned = self.rewards(p, actions, batch)
        right, wrong = walk.log_p[..., 1], walk.log_p[..., 0]
        chosen = actions * right + (1 - actions) * wrong
        gains = advantages(earned, self.recipe.credit)
        loss = -(gains * chosen).sum(2).mean()
        if self.recipe.ce_weight:
            loss = loss + self.recipe.ce_weight * plain
        return {"loss": loss, "reward": earned.sum(2).mean(), **seen}

    def rewards(self, p: Tensor, actions: Tensor, batch: Batch) -> Tensor:
        """R(a_t) of sampled actions `[walks, questions, steps]`; `p` is P_post."""
        keys = p.double().expand_as(actions)
        if self.recipe.list_by == "action":
            keys = actions + keys
        elif self.recipe.list_by == "random":
            keys = actions + torch.rand(keys.shape, dtype=keys.dtype, device=keys.device)
        labels, mask = (x.expand_as(actions).flatten(0, 1) for x in (batch.labels, batch.mask))
        return rewards(keys.flatten(0, 1), labels, mask, self.recipe.no_change).view_as(actions)

    def scores(self, batch: Batch) -> Tensor:
        """Log odds of P_post."""
        return log_odds(self.network(batch).log_p)

    def _on_device(self, split: Split) -> EncodedSplit:
        # Sorted only here: words and fingerprint are those of the unsorted lists, because near ties
        # may sort differently on another device, where a killed run must be able to resume.
        return super()._on_device(self.in_order(split))

    @property
    def parameter_count(self) -> int:
        """Number of parameters of the agent and of the pre-ranker from which it starts."""
        return super().parameter_count + (self.first.parameter_count if self.first else 0)

    def save(self, folder: Path) -> None:
        """Write both networks, the agent last."""
        if self.first:
            self.first.save(Path(folder) / BEFORE)
        super().save(folder)

    @classmethod
    def load(cls, folder: Path, vectors: Vectors, device: torch.device | str) -> Self:
        """Read what `save` wrote."""
        ranker = super().load(folder, vectors, device)
        ranker.first = PreRanking.load(Path(folder) / BEFORE, vectors, device)
        return ranker


def calibration(run: Run, split: Split) -> tuple[float, float]:
    """Return the slope and intercept that calibrate a run's log odds (Platt 1999).

    The list loss fixes the order of log odds but not their level, which a threshold needs. Returns
    1 and 0 (no change) if all labels are alike, or higher scores go with non-relevant candidates. A
    slope above `STEEPEST` (the scores part dev's labels, or nearly) is cut to it.
    """
    odds = [[run.scores[question.id][c.id]] for question in split for c in question.candidates]
    labels = np.concatenate([question.labels for question in split])
    if len(np.unique(labels)) < 2:
        return 1.0, 0.0
    fitted = LogisticRegression(C=np.inf).fit(odds, labels)
    slope, intercept = float(fitted.coef_[0, 0]), float(fitted.intercept_[0])
    cut = min(1.0, STEEPEST / slope) if slope > 0 else 0.0
    return (slope * cut, intercept * cut) if cut else (1.0, 0.0)


def advantages(earned: Tensor, credit: str) -> Tensor:
    """Return what each action is credited with, less its baseline: `[walks, questions, steps]`.

    The baseline of a walk is the mean of the other walks at the same step, if there are any.
    """
    gained = earned if credit == "step" else earned.flip(2).cumsum(2).flip(2)
    walks = len(gained)
    if walks == 1:
        return gained
    return (gained - gained.mean(0)) * walks / (walks - 1)


def post_of(log_p: Tensor, batch: Batch, threshold: float) -> dict[str, Tensor]:
    """Return mean P_post of relevant and of non-relevant candidates, and the share above threshold.

    If no P_post is above the threshold, no candidate becomes evidence.
    """
    p = log_p[..., 1].detach().exp()
    right, wrong = batch.mask & (batch.labels > 0.5), batch.mask & (batch.labels <= 0.5)
    return {
        "p_right": p[right].sum() / right.sum().clamp(min=1),
        "p_wrong": p[wrong].sum() / wrong.sum().clamp(min=1),
        "above": (p[batch.mask] > threshold).float().mean(),
    }


def cross_entropy(log_p: Tensor, batch: Batch) -> Tensor:
    """Mean of −log P(label) over the batch's pairs; `log_p` is `[questions, candidates, 2]`."""
    chosen = log_p.gather(2, batch.labels.long()[..., None])[..., 0]
    return -chosen[batch.mask].mean()
