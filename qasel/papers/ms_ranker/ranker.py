"""Paper 3 as rankers: the pre-ranker on its own, and the agent that starts from it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Self

import torch
from torch import Tensor, nn

from qasel.datasets.base import Question, Split
from qasel.papers.ms_ranker.model import Agent, PreRanker
from qasel.papers.ms_ranker.recipes import MSRankerRecipe
from qasel.papers.ms_ranker.rewards import rewards
from qasel.rankers.base import History
from qasel.text import Vectors
from qasel.training.batching import Batch, EncodedSplit
from qasel.training.neural import NeuralRanker
from qasel.training.trainer import Schedule

BEFORE = "pre-ranker"
"""Folder of the pre-ranker inside that of the agent."""


def log_odds(log_p: Tensor) -> Tensor:
    """log P(right) − log P(wrong), `[…]` of `[…, 2]`: sorts as P_post does, and never saturates."""
    return log_p[..., 1] - log_p[..., 0]


class PreRanking(NeuralRanker):
    """The pre-ranker: every pair on its own, trained by cross entropy."""

    recipe_type = MSRankerRecipe
    recipe: MSRankerRecipe
    network: PreRanker

    def build(self, vectors: Tensor) -> nn.Module:
        """The network in the recipe's sizes."""
        r = self.recipe
        return PreRanker(
            vectors, hidden=r.hidden, dropout=r.dropout, train_vectors=r.vectors_rate > 0
        )

    def losses(self, batch: Batch) -> dict[str, Tensor]:
        """Cross entropy, a mean over the batch's pairs."""
        return {"loss": cross_entropy(self.network(batch), batch)}

    def scores(self, batch: Batch) -> Tensor:
        """Log odds of "right"."""
        return log_odds(self.network(batch))

    def schedule(self) -> Schedule:
        """A fixed number of epochs."""
        r = self.recipe
        return Schedule(r.pre_epochs, r.pre_epochs, r.batch, r.seed, r.decay)


class MSRanker(NeuralRanker):
    """The agent, and the pre-ranker that orders the candidates for it.

    A list's own order is the order in which its candidates enter, so the pre-ranker's work is
    to sort each list before the agent sees it.
    """

    recipe_type = MSRankerRecipe
    recipe: MSRankerRecipe
    network: Agent

    def __init__(self, recipe: MSRankerRecipe, vectors: Vectors, device: torch.device) -> None:
        super().__init__(recipe, vectors, device)
        self.first = PreRanking(recipe.before, vectors, device) if recipe.pre_ranker else None

    def fit(
        self,
        train_split: Split,
        dev_split: Split,
        folder: Path | None = None,
        on_epoch: Callable[[list[dict[str, float]]], None] | None = None,
    ) -> History:
        """Train the pre-ranker, unless it is there already, then the agent (its history)."""
        if self.first:
            self.first = self.first.as_stage(train_split, dev_split, folder)
        return super().fit(self.in_order(train_split), self.in_order(dev_split), folder, on_epoch)

    def in_order(self, split: Split) -> Split:
        """The split, each list in the order in which the agent sees its candidates."""
        if self.first is None:
            return split
        scores = self.first.rank(split).scores

        def sorted_list(question: Question) -> Question:
            found = scores[question.id]
            ordered = sorted(question.candidates, key=lambda c: -found[c.id])
            return replace(question, candidates=tuple(ordered))

        return Split(split.name, tuple(sorted_list(question) for question in split))

    def build(self, vectors: Tensor) -> nn.Module:
        """The agent in the recipe's sizes."""
        r = self.recipe
        return Agent(
            vectors,
            hidden=r.hidden,
            dropout=r.dropout,
            train_vectors=r.vectors_rate > 0,
            threshold=r.threshold,
            evidence=r.evidence,
            action=r.action,
            gate=r.gate,
        )

    def start(self, vectors: Tensor) -> nn.Module:
        """The agent, at first as good as the pre-ranker: what only the agent has counts nothing.

        (The paper hands over encoding and attention. With an MLP from scratch the first thing
        that REINFORCE learns is that most candidates are wrong, and P_post goes to 0 for all.)
        """
        agent = self.build(vectors)
        if self.first:
            before = self.first.network
            agent.reader.load_state_dict(before.reader.state_dict())
            agent.head.load_state_dict(before.head.state_dict(), strict=False)
            if agent.head.of_evidence is not None:
                nn.init.zeros_(agent.head.of_evidence.weight)
        return agent

    def losses(self, batch: Batch) -> dict[str, Tensor]:
        """REINFORCE (equation 27), or cross entropy without rewards; `reward` a question."""
        walk = self.network(batch)
        if not self.recipe.rewards:
            return {"loss": cross_entropy(walk.log_p, batch)}
        p = walk.p_post.detach()
        actions = (torch.rand_like(p) < p).float()
        earned, expected = self.rewards(p, actions, batch)
        chosen = walk.log_p.gather(2, actions.long()[..., None])[..., 0]
        return {
            "loss": -((earned - expected) * chosen).sum(1).mean(),
            "reward": earned.sum(1).mean(),
        }

    def rewards(self, p: Tensor, actions: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
        """R(a_t) of sampled actions, and the baseline: what P_post `p` expects of each step.

        All are `[questions, steps]`; the baseline is 0 where the recipe has none.
        """
        lists = batch.labels, batch.mask, self.recipe.no_change
        by_action = self.recipe.list_by == "action"
        keys = p.double() + actions * by_action
        earned = rewards(keys, *lists)
        if not self.recipe.baseline:
            return earned, torch.zeros_like(earned)
        right, wrong = (rewards(keys, *lists, new=p.double() + a * by_action) for a in (1, 0))
        return earned, p * right + (1 - p) * wrong

    def scores(self, batch: Batch) -> Tensor:
        """Log odds of P_post."""
        return log_odds(self.network(batch).log_p)

    def encode(self, split: Split) -> EncodedSplit:
        """A split for the agent, its lists in the pre-ranker's order."""
        return super().encode(self.in_order(split))

    def schedule(self) -> Schedule:
        """Early stopping on dev MAP."""
        r = self.recipe
        return Schedule(r.epochs, r.patience, r.batch, r.seed, r.decay)

    def save(self, folder: Path) -> None:
        """Write both networks."""
        super().save(folder)
        if self.first:
            self.first.save(Path(folder) / BEFORE)

    @classmethod
    def load(cls, folder: Path, vectors: Vectors, device: torch.device) -> Self:
        """Read what `save` wrote."""
        ranker = super().load(folder, vectors, device)
        if ranker.first:
            ranker.first = PreRanking.load(Path(folder) / BEFORE, vectors, device)
        return ranker


def cross_entropy(log_p: Tensor, batch: Batch) -> Tensor:
    """−log P(label), a mean over the batch's pairs; `log_p` `[questions, candidates, 2]`."""
    chosen = log_p.gather(2, batch.labels.long()[..., None])[..., 0]
    return -chosen[batch.mask].mean()
