"""Compare objectives for the agent of paper 3 on held-out training questions of WikiQA.

`python tools/ms_ranker_objectives.py [NAME ...] --seeds 0,1 --out FOLDER` trains an agent on three
folds with each objective, from the same pre-ranker, and prints Markdown: mean MAP on dev and on the
held-out questions, and P_post after the last epoch. The test split is never read.
"""

import argparse
import sys
from pathlib import Path
from statistics import fmean

import torch
from held_out import fold_of, recipe_of
from torch import Tensor

from qasel import evaluate
from qasel.cli.papers import parse_seeds
from qasel.errors import QaselError
from qasel.papers.ms_ranker.ranker import MSRanker, advantages, cross_entropy, log_odds, post_of
from qasel.results.measure import vectors_for
from qasel.training.batching import Batch
from qasel.training.losses import list_loss

CPU = torch.device("cpu")


def precision(labels: Tensor) -> Tensor:
    """Average precision of ranked lists: labels `[…, N]`, best candidate first → `[…]`."""
    place = torch.arange(1, labels.shape[-1] + 1)
    return (labels * labels.cumsum(-1) / place).sum(-1) / labels.sum(-1).clamp(min=1)


def plackett_luce(log_p: Tensor, batch: Batch, walks: int) -> Tensor:
    """REINFORCE over whole rankings, drawn one candidate at a time by the softmax of the log odds.

    The reward is a ranking's AP, the baseline the mean of the other rankings.
    """
    odds = log_odds(log_p).masked_fill(~batch.mask, -1e9)
    noise = -(-torch.rand(walks, *odds.shape).clamp(1e-9, 1 - 1e-7).log()).log()
    order = (odds.detach() + noise).argsort(-1, descending=True)
    drawn, labels, real = (
        x.expand_as(order).gather(2, order) for x in (odds, batch.labels, batch.mask)
    )
    chance = (drawn - drawn.flip(2).logcumsumexp(2).flip(2)) * real
    gain = precision(labels * real)
    gain = (gain - gain.mean(0)) * walks / (walks - 1)
    return -(gain[..., None] * chance).sum(2).mean()


def by_actions(
    system: MSRanker, log_p: Tensor, batch: Batch, *, pairs: bool = False, critical: bool = False
) -> Tensor:
    """REINFORCE over actions, with other rewards or another baseline than the recipe's.

    `pairs`: an action earns the share of (relevant, non-relevant) pairs that it puts in order.
    `critical`: the baseline is what the most probable actions earn (Rennie et al. 2017).
    """
    p = log_p[..., 1].detach().exp()
    actions = (torch.rand(system.recipe.walks, *p.shape) < p).float()
    chosen = actions * log_p[..., 1] + (1 - actions) * log_p[..., 0]
    if pairs:
        right = (batch.labels > 0.5) & batch.mask
        wrong = (batch.labels <= 0.5) & batch.mask
        count = (right.sum(1, keepdim=True) * wrong.sum(1, keepdim=True)).clamp(min=1)
        taken_wrong = (actions * wrong).sum(2, keepdim=True)
        taken_right = (actions * right).sum(2, keepdim=True)
        left_wrong = wrong.sum(1, keepdim=True) - taken_wrong
        # A pair is won if its relevant candidate is taken and the other one is not.
        earned = (right * actions * left_wrong - right * (1 - actions) * taken_wrong) / count
        earned = earned - wrong * actions * (right.sum(1, keepdim=True) - taken_right) / count
    else:
        earned = system.rewards(p, actions, batch)
    if critical:
        greedy = system.rewards(p, (p > 0.5).float()[None], batch)
        gains = (earned - greedy).flip(2).cumsum(2).flip(2)
    else:
        gains = advantages(earned, "step" if pairs else "rest")
    return -(gains * chosen * batch.mask).sum(2).mean()


OBJECTIVES = {
    "rewards, list by action": {"list_by": "action"},
    "rewards, random ties": {},
    "rewards, credit of the step": {"credit": "step"},
    "rewards and cross entropy": {"ce_weight": 10.0},
    "cross entropy": {"rewards": False},
    "self-critical": {},
    "pairs in order": {},
    "Plackett-Luce": {},
    "list loss": {},
}
"""Objective → its settings of the recipe; the last four have their own losses below."""


class Other(MSRanker):
    """The agent with an objective that recipes do not have."""

    objective: str

    def losses(self, batch: Batch) -> dict[str, Tensor]:
        """The objective's loss, and P_post as usual."""
        log_p = self.network(batch).log_p
        if self.objective == "Plackett-Luce":
            loss = plackett_luce(log_p, batch, self.recipe.walks)
        elif self.objective == "list loss":
            loss = list_loss(log_odds(log_p), batch.labels, batch.mask, "none")
        elif self.objective == "self-critical":
            loss = by_actions(self, log_p, batch, critical=True)
        elif self.objective == "pairs in order":
            loss = by_actions(self, log_p, batch, pairs=True)
        else:
            return super().losses(batch)
        plain = cross_entropy(log_p, batch).detach()
        return {"loss": loss, "ce": plain, **post_of(log_p, batch, self.recipe.threshold)}


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("objectives", nargs="*", default=list(OBJECTIVES))
    parser.add_argument("--rates", default="1e-4")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--out", type=Path, required=True, help="keep pre-rankers here")
    options = parser.parse_args()
    print("| objective | rate | dev | held out | P_post right | wrong | above |", flush=True)
    print("| :-- | --: | --: | --: | --: | --: | --: |", flush=True)
    for objective in options.objectives:
        for rate in options.rates.split(","):
            lines = []
            for seed in parse_seeds([options.seeds]):
                settings = {"ce_weight": 0.0, "credit": "rest", "list_by": "random"}
                settings |= {"attention": "dot", "word_dropout": 0.2, "calibrate": False}
                settings |= {"pre_loss": "ce", "pre_epochs": 5, "pre_decay": 0.99}
                settings |= {"decay": 0.99, "keep": "best"}
                settings |= {"agent_rate": float(rate), "epochs": options.epochs}
                settings |= {"patience": options.epochs, **OBJECTIVES[objective]}
                chosen = recipe_of("ms-ranker", "MS-Ranker", "wikiqa", "", seed).change(**settings)
                data = chosen.load()
                vectors = vectors_for(chosen, data)
                for fold in range(3):
                    rest, held = fold_of(data.train, fold, 3)
                    system = Other(chosen, vectors, CPU)
                    system.objective = objective
                    folder = options.out / f"fold-{fold}-of-3" / f"{objective} {chosen.slug}"
                    epochs = system.fit(rest, data.dev, folder).epochs
                    last = epochs[-1]
                    lines.append(
                        [
                            max(row["dev_map"] for row in epochs),
                            evaluate(system.rank(held), held).map,
                            *(last[name] for name in ("p_right", "p_wrong", "above")),
                        ]
                    )
            means = " | ".join(f"{fmean(column):.4f}" for column in zip(*lines, strict=True))
            print(f"| {objective} | {rate} | {means} |", flush=True)


if __name__ == "__main__":
    try:
        main()
    except QaselError as error:
        sys.exit(f"ms_ranker_objectives: error: {error}")
