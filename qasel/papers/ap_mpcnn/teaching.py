"""Small helpers of the notebook: a pair taken apart, windows and weights counted, triplets."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from qasel.datasets.base import Candidate, Question, Split
from qasel.errors import QaselError
from qasel.papers import teaching as shared
from qasel.papers.ap_mpcnn.attention import cosine_matrix
from qasel.papers.ap_mpcnn.convolution import HolisticConvolution
from qasel.papers.ap_mpcnn.negatives import choose
from qasel.papers.ap_mpcnn.ranker import APMPCNNRanker
from qasel.papers.ap_mpcnn.recipes import PAPER, APMPCNNRecipe
from qasel.text import Vectors, tokenize
from qasel.text.features.overlap import FEATURES, is_content

chosen_recipes = partial(shared.chosen_recipes, PAPER)
shapes, untrained = shared.shapes, shared.untrained


def shown_pair(split: Split) -> tuple[Question, Candidate, Candidate]:
    """The question with the shortest right answer, that answer, and the most tempting wrong one.

    Which is the one that shares the most words with the question. Raises `QaselError` when no
    question has both kinds.
    """
    pairs = [(q, c) for q in split if q.mixed for c in q.candidates if c.label]
    if not pairs:
        raise QaselError(f"{split.name}: no question has both a right and a wrong candidate")
    question, right = min(pairs, key=lambda pair: len(tokenize(pair[1].text)))
    asked = set(tokenize(question.text))
    wrong = max(
        (c for c in question.candidates if c.label == 0),
        key=lambda c: len(asked.intersection(tokenize(c.text))),
    )
    return question, right, wrong


def vectors_of(ranker: APMPCNNRanker, text: str) -> tuple[list[str], Tensor]:
    """The n words of a text that the ranker has met, and their vectors `[n, d]`."""
    (numbers,) = ranker.vocabulary.numbers_of([text])
    vectors = ranker.network.words(torch.tensor(numbers, device=ranker.device))
    return list(tokenize(text)), vectors.detach().cpu()


def touched(words: int, widths: int) -> pd.DataFrame:
    """In how many windows each word stands: a line a kind of convolution and width."""
    lines = {}
    place = torch.arange(words)[:, None]
    for wide in (False, True):
        convolution = HolisticConvolution(1, 1, widths, weighted=False, wide=wide)
        for width in convolution.widths:
            counts = convolution.allowed(torch.tensor([words]), words, width)[0]
            start = torch.arange(1 - width, words)[counts]
            inside = (start <= place) & (place < start + width)
            lines["wide" if wide else "narrow", width] = inside.sum(1).tolist()
    names = ["convolution", "width"]
    return pd.DataFrame(lines, index=range(1, words + 1)).T.rename_axis(names)


def weighted_words(ranker: APMPCNNRanker, split: Split) -> pd.DataFrame:
    """Attention over all pairs of a split, by side and kind of word.

    `weight` is the mean weight as a multiple of an even one (1 / n); `on top` is the share of the
    sentences whose largest weight is that of a word of this kind.
    """
    ranker.encode(split)  # so that the ranker has met all words
    found: dict[tuple[str, str], list[float]] = {}
    tops: Counter[tuple[str, str]] = Counter()
    for question in split:
        asked, s_1 = vectors_of(ranker, question.text)
        for candidate in question.candidates:
            given, s_2 = vectors_of(ranker, candidate.text)
            d = cosine_matrix(s_1, s_2)
            for side, words, sums in (("question", asked, d.sum(1)), ("answer", given, d.sum(0))):
                weights = sums.softmax(0)
                kinds = ["content word" if is_content(word) else "stop word" for word in words]
                tops[side, kinds[int(weights.argmax())]] += 1
                for kind, weight in zip(kinds, weights.tolist(), strict=True):
                    found.setdefault((side, kind), []).append(weight * len(words))
    lines = {
        key: {
            "words": len(weights),
            "weight": float(np.mean(weights)),
            "on top": tops[key] / split.pairs,
        }
        for key, weights in sorted(found.items(), reverse=True)
    }
    frame = pd.DataFrame.from_dict(lines, orient="index").rename_axis(["side", "kind"])
    return frame.astype({"words": int})


def sparse_table(
    ranker: APMPCNNRanker, question: Question, candidates: Sequence[Candidate]
) -> pd.DataFrame:
    """The four sparse features of some candidates, and the counts that they are made of.

    A column a candidate. Words count once, however often they occur.
    """
    network = ranker.network
    numbers = {word: number for number, word in enumerate(ranker.vocabulary.words)}
    columns = []
    for candidate in candidates:
        values, column = [], {}
        for told, keep in (("", lambda _: True), (", no stop words", is_content)):
            q, a = (set(filter(keep, tokenize(t))) for t in (question.text, candidate.text))
            both, size = q & a, max(len(q) + len(a), 1)
            idf = sum(float(network.idf[numbers[word]]) for word in both)
            column[f"|Q| + |A|{told}"] = f"{len(q)} + {len(a)}"
            column[f"in both{told}"] = " ".join(sorted(both)) or "–"
            column[f"Σ idf{told}"] = f"{idf:.2f}"
            values.append((len(both) / size, idf / size))
        ratios = [value for pair in zip(*values, strict=True) for value in pair]
        column |= {name: f"{value:.3f}" for name, value in zip(FEATURES, ratios, strict=True)}
        columns.append(pd.Series(column, name="right" if candidate.label else "wrong"))
    return pd.DataFrame(columns).T


def parameters(recipe: APMPCNNRecipe, size: int) -> pd.DataFrame:
    """What the network learns, for word vectors of `size` numbers: names, shapes, counts."""
    unplaced = torch.device("meta")
    with unplaced:
        network = APMPCNNRanker(recipe, Vectors.empty(""), unplaced).build(torch.zeros(1, size))
    learnt = {name: p for name, p in network.named_parameters() if p.requires_grad}
    return pd.DataFrame(
        {
            "shape": [list(parameter.shape) for parameter in learnt.values()],
            "numbers": [parameter.numel() for parameter in learnt.values()],
        },
        index=pd.Index(learnt, name="parameter"),
    )


def triplets(
    scores: Sequence[float], labels: Sequence[int], count: int, margins: Sequence[float]
) -> pd.DataFrame:
    """Each right answer of a list with all wrong ones, and the losses of those that are taken.

    Those are the `count` wrong ones nearest to it. All cells are text.
    """
    f, right = torch.tensor([scores]), torch.tensor([labels], dtype=torch.float)
    chosen = choose(f, right, torch.ones_like(right, dtype=torch.bool), count, "nearest")[0]
    lines = []
    of_each = [place for place, label in enumerate(labels) if label]
    for plus, minus in product(of_each, set(range(len(scores))).difference(of_each)):
        gap, taken = scores[plus] - scores[minus], bool(chosen[plus, minus])
        losses = {f"loss, γ = {m:g}": f"{max(0.0, m - gap):.2f}" if taken else "" for m in margins}
        told = {"p⁺": plus + 1, "p⁻": minus + 1, "f(q, p⁺)": f"{scores[plus]:.2f}"}
        told |= {"f(q, p⁻)": f"{scores[minus]:.2f}", "taken": "✓" if taken else ""}
        lines.append(told | losses)
    return pd.DataFrame(lines).set_index(["p⁺", "p⁻"])


def mined(ranker: APMPCNNRanker, question: Question, count: int) -> pd.DataFrame:
    """A question's candidates by f(q, p), highest first, and whether the miner takes each.

    It takes the `count` wrong ones nearest to (any of) the right ones.
    """
    scores = ranker.rank(Split("list", (question,))).scores[question.id]
    f = torch.tensor([[scores[c.id] for c in question.candidates]]).sigmoid()
    labels = torch.from_numpy(question.labels)[None].float()
    chosen = choose(f, labels, torch.ones_like(labels, dtype=torch.bool), count, "nearest")
    frame = pd.DataFrame(
        {
            "f": f[0].tolist(),
            "right": [bool(c.label) for c in question.candidates],
            "taken": chosen[0].any(0).tolist(),
            "candidate": [c.text for c in question.candidates],
        }
    )
    return frame.sort_values("f", ascending=False, ignore_index=True)


def first_word_kept(ranker: APMPCNNRanker, split: Split) -> pd.DataFrame:
    """How often max pooling keeps a window of the question that holds its first word, by width.

    Over all filters and questions, each question with its first candidate; of a trained network,
    with wide windows and with them switched off. `even` is the share of such windows among all,
    `kept / even` how many times as often as that they are kept.
    """
    found: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for question in split:
        for kind, off in (("wide", ""), ("narrow", "wide")):
            seen = ranker.inside(question.text, question.candidates[0].text, off).question
            for width, (maps, first) in enumerate(zip(seen.maps, seen.first, strict=True), start=1):
                begins = maps.argmax(0) + first
                windows = np.arange(len(maps)) + first
                found.setdefault((kind, width), []).append(
                    (float((begins <= 0).mean()), float((windows <= 0).mean()))
                )
    frame = pd.DataFrame(
        {key: np.mean(shares, axis=0) for key, shares in found.items()}, index=["kept", "even"]
    )
    frame = frame.T.rename_axis(["windows", "width"]).sort_index()
    return frame.assign(**{"kept / even": frame["kept"] / frame["even"]})
