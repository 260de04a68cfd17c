"""Helpers of notebook 03: linked answers, walks step by step, attention, policy gradients."""

from collections.abc import Iterable
from itertools import permutations, product

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from qasel.datasets.base import Question, Split
from qasel.errors import QaselError
from qasel.papers.ms_ranker.model import WordReader, prefix_precisions, rewards
from qasel.papers.ms_ranker.ranker import MSRanker, PreRanking
from qasel.text import content_words, tokenize


def _answers(question: Question) -> tuple[list[set[str]], list[set[str]]]:
    """Return content words of the relevant answers that share one with the question, and others."""
    asked = set(content_words(question.text))
    right = [set(content_words(c.text)) for c in question.candidates if c.label == 1]
    return [words for words in right if words & asked], [w for w in right if not w & asked]


def bridged(split: Split) -> Question:
    """Return the question whose relevant answers are linked most, as in the paper's table 1.

    Two relevant answers are linked by the content words that they share, if only one of them
    shares any with the question; the pair with the most such words wins. Raises `QaselError` if no
    answers are linked.
    """

    def bridge(question: Question) -> int:
        near, far = _answers(question)
        return max((len(a & b) for a in near for b in far), default=0)

    best = max(split, key=bridge, default=None)
    if best is None or not bridge(best):
        raise QaselError(f"{split.name}: no right answer is linked to its question by another one")
    return best


def links(question: Question) -> pd.DataFrame:
    """Return the content words that candidates share with the question and other relevant answers.

    Rows are in document order.
    """
    asked = set(content_words(question.text))
    rows = []
    for candidate in sorted(question.candidates, key=lambda c: c.place):
        own = set(content_words(candidate.text))
        others = (c for c in question.candidates if c.label == 1 and c.id != candidate.id)
        theirs = {word for c in others for word in content_words(c.text)}
        rows.append(
            {
                "right": "✓" if candidate.label == 1 else "",
                "shared with the question": " ".join(sorted(own & asked)),
                "shared with other right answers": " ".join(sorted(own & theirs)),
                "candidate": candidate.text,
            }
        )
    return pd.DataFrame(rows)


def linked(split: Split) -> dict[str, int]:
    """Count relevant answers by how they are reached: from the question, another answer, or not."""
    counts = np.zeros(3, dtype=int)
    for question in split:
        near, far = _answers(question)
        reached = sum(any(words & other for other in near) for words in far)
        counts += (len(near), reached, len(far) - reached)
    kinds = ("share a word with the question", "reached only by another answer", "share none")
    return dict(zip(kinds, counts.tolist(), strict=True))


def _word_reader(ranker: PreRanking | MSRanker) -> WordReader:
    if ranker.frozen or not isinstance(reader := ranker.network.reader, WordReader):
        raise QaselError(f"{ranker.recipe.variant}: only networks over words have a QC-attention")
    return reader


@torch.inference_mode()
def attention_facts(ranker: PreRanking | MSRanker, split: Split) -> dict[str, float]:
    """Measure how sharp the QC-attention of a network over word vectors is.

    `entropy` is that of a candidate word's attention over the question, divided by that of uniform
    attention (1: no focus at all). `finds itself` is, among candidate words that are in the
    question too, the share that attend most to themselves; `by chance` is that share under uniform
    attention. All are means over the words of all pairs.
    """
    entropy, found, chance = [], [], []
    data, reader = ranker.encode(split), _word_reader(ranker)
    for batch in data.batches(20):
        for tile in batch.tiles:
            p = reader.attention(tile, ranker.network.vectors)  # [P, n, m]
            asked, real_q = (x[tile.question_of] for x in (tile.question, tile.real_question))
            count = real_q.sum(1)
            share = p.xlogy(p).sum(1).neg() / count.log()[:, None]  # [P, m]
            entropy += share[tile.real_answer & (count > 1)[:, None]].tolist()
            same = (asked[:, :, None] == tile.answer[:, None]) & real_q[:, :, None]
            here = same.any(1) & tile.real_answer
            top = same.gather(1, p.argmax(1)[:, None])[:, 0]
            found += top[here].tolist()
            chance += (same.sum(1) / count[:, None])[here].tolist()
    facts = {"entropy": entropy, "finds itself": found, "by chance": chance}
    return {name: float(np.mean(values)) for name, values in facts.items()}


@torch.inference_mode()
def attention_of(ranker: PreRanking | MSRanker, question: str, answer: str) -> pd.DataFrame:
    """Return the QC-attention of a pair, question words × candidate words; columns sum to 1.

    Raises `QaselError` for a text without words.
    """
    asked, told = tokenize(question), tokenize(answer)
    if not (asked and told):
        raise QaselError("a text without words has no attention; type a few more")
    tile = ranker.pair(question, answer)
    p = _word_reader(ranker).attention(tile, ranker.network.vectors)
    return pd.DataFrame(p[0].cpu().numpy(), index=asked, columns=told)


def names(labels: Iterable[int]) -> list[str]:
    """Return names for the candidates of a small list: 1✓, 2, 3✓ …"""
    return [f"{i}{'✓' if label else ''}" for i, label in enumerate(labels, start=1)]


def growing_list(keys: list[float], labels: list[int]) -> pd.DataFrame:
    """Return the list L step by step: the candidate that enters, L after that, AP and reward."""
    table = torch.tensor([keys]), torch.tensor([labels], dtype=torch.float)
    mask = torch.ones_like(table[0], dtype=torch.bool)
    known = names(labels)
    orders = (sorted(range(step + 1), key=lambda i: -keys[i]) for step in range(len(keys)))
    columns = {
        "enters": known,
        "P_post": keys,
        "L": [" ".join(known[i] for i in order) for order in orders],
        "AP": prefix_precisions(*table, mask)[0].tolist(),
        "reward": rewards(*table, mask, no_change=0.1)[0].tolist(),
    }
    return pd.DataFrame(columns, index=pd.RangeIndex(1, len(keys) + 1, name="step"))


def outcomes(logits: list[float], labels: list[int], list_by: str) -> tuple[Tensor, Tensor, Tensor]:
    """All W ways in which a walk through N candidates can go.

    Actions `[W, N]`, the probability of each way `[W, 1]`, and its rewards `[W, N]`. `logits` are
    the log odds of "right"; with `list_by="random"` ways differ by the order within an action, too.
    """
    p = torch.tensor(logits, dtype=torch.double).sigmoid()  # P(a = 1), [N]
    actions = torch.tensor(list(product((0.0, 1.0), repeat=len(p))))
    chance = torch.where(actions == 1, p, 1 - p).prod(1, keepdim=True)
    keys = p + actions if list_by == "action" else p.expand_as(actions)  # what sorts the list L
    if list_by == "random":
        orders = torch.tensor(list(permutations(range(len(p)))), dtype=torch.double) / len(p)
        keys = (actions[:, None] + orders).flatten(0, 1)
        actions, chance = (x.repeat_interleave(len(orders), 0) for x in (actions, chance))
        chance = chance / len(orders)
    right = torch.tensor(labels, dtype=torch.double).expand_as(actions)
    earned = rewards(keys, right, torch.ones_like(right, dtype=torch.bool), no_change=0.1)
    return actions, chance, earned.double()


def gradients(
    logits: list[float], labels: list[int], list_by: str, credit: str = "rest", walks: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Exact mean and standard deviation of REINFORCE's gradient for each of N candidates.

    With respect to `logits`: a positive mean teaches "right". With many `walks` the deviation is
    that of their mean, and the baseline is what the policy expects.
    """
    actions, chance, gained = outcomes(logits, labels, list_by)
    if credit == "rest":  # an action's own reward and all later ones
        gained = gained.flip(1).cumsum(1).flip(1)
    if walks > 1:
        gained = gained - (chance * gained).sum(0)  # less the baseline
    p = torch.tensor(logits, dtype=torch.double).sigmoid()
    moves = gained * (actions - p)  # gained ∇ log p(a), as ∂ log p(a) / ∂ log odds = a − p
    mean = (chance * moves).sum(0)
    deviation = (chance * (moves - mean) ** 2).sum(0).sqrt() / walks**0.5
    return mean.numpy(), deviation.numpy()


READINGS = {
    "P_post alone (printed)": "score",
    "action, ties by P_post": "action",
    "action, random ties": "random",
}
"""What sorts the list in training → `list_by`."""


@torch.inference_mode()
def walk(ranker: MSRanker, question: Question, gather: bool = True) -> pd.DataFrame:
    """Return the agent's walk through one question: a row per step, in the order of entering.

    Columns: id, text, label; `p`: P_post; `p_alone`: P_post with the first evidence, the
    question itself; `gate`: the share of the evidence that the candidate replaced, 0 if it
    stayed out; `ap`: average precision of the list after the step, and `reward`, both NaN if a
    candidate is unlabelled. `gather=False` keeps the first evidence throughout.
    """
    data = ranker.encode(Split("asked", (question,)))
    batch = data.batch(torch.tensor([0], device=ranker.device))
    alone = ranker.network(batch, gather=False)
    steps = ranker.network(batch) if gather else alone
    ranked = steps.p_post, batch.labels, batch.mask
    columns = {
        "p": steps.p_post,
        "p_alone": alone.p_post,
        "gate": steps.gate,
        "ap": prefix_precisions(*ranked),
        "reward": rewards(*ranked, ranker.recipe.no_change),
    }
    frame = pd.DataFrame(data.split[0].candidates)[["id", "text", "label"]]
    frame = frame.assign(**{name: values[0].cpu().numpy() for name, values in columns.items()})
    if frame["label"].isna().any():
        frame[["ap", "reward"]] = np.nan
    return frame


def evidence_effect(ranker: MSRanker, split: Split) -> pd.DataFrame:
    """Return per question the candidates taken as evidence, AP with and without it, the change.

    Both APs are of the same trained agent; "without" keeps its first evidence, the question
    itself. `moved` is the largest change of a P_post.
    """
    rows = {}
    for question in split:
        steps, alone = walk(ranker, question), walk(ranker, question, gather=False)
        rows[question.id] = {
            "question": question.text,
            "evidence": int((steps["gate"] > 0).sum()),
            "with": steps["ap"].iloc[-1],
            "without": alone["ap"].iloc[-1],
            "moved": (steps["p"] - steps["p_alone"]).abs().max(),
        }
    frame = pd.DataFrame.from_dict(rows, orient="index")
    return frame.assign(change=frame["with"] - frame["without"])
