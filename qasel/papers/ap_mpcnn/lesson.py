"""Small helpers of the notebook: a pair taken apart, windows and weights counted, triplets."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import seaborn
import torch
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor

from qasel.datasets.base import Candidate, Question, Split
from qasel.errors import QaselError
from qasel.figures.style import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    PALE,
    VERMILLION,
    HouseFigure,
    house_style,
    new_figure,
)
from qasel.papers import lesson as shared
from qasel.papers.ap_mpcnn.convolution import HolisticConvolution
from qasel.papers.ap_mpcnn.inside import Inside, Sentence
from qasel.papers.ap_mpcnn.model import cosine_matrix
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
    rows: list[tuple[str, str, float, bool]] = []
    for question, candidate in ((q, c) for q in split for c in q.candidates):
        asked, s_1 = vectors_of(ranker, question.text)
        given, s_2 = vectors_of(ranker, candidate.text)
        d = cosine_matrix(s_1, s_2)
        for side, words, sums in (("question", asked, d.sum(1)), ("answer", given, d.sum(0))):
            weights = sums.softmax(0)
            kinds = ["content word" if is_content(word) else "stop word" for word in words]
            top = np.arange(len(words)) == int(weights.argmax())
            shares = (weights * len(words)).tolist()
            rows += zip([side] * len(words), kinds, shares, top, strict=True)
    frame = pd.DataFrame(rows, columns=["side", "kind", "weight", "on top"])
    by_kind = frame.groupby(["side", "kind"])
    found = by_kind["weight"].agg(words="count", weight="mean")
    found["on top"] = by_kind["on top"].sum() / split.pairs
    return found.sort_index(ascending=False)


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
    rows = [(list(parameter.shape), parameter.numel()) for parameter in learnt.values()]
    index = pd.Index(learnt, name="parameter")
    return pd.DataFrame(rows, columns=["shape", "numbers"], index=index)


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
    rows = []
    for question in split:
        for kind, off in (("wide", ""), ("narrow", "wide")):
            seen = ranker.inside(question.text, question.candidates[0].text, off).question
            for width, (maps, first) in enumerate(zip(seen.maps, seen.first, strict=True), start=1):
                kept = maps.argmax(0) + first <= 0
                rows.append((kind, width, kept.mean(), np.mean(np.arange(len(maps)) + first <= 0)))
    frame = pd.DataFrame(rows, columns=["windows", "width", "kept", "even"])
    frame = frame.groupby(["windows", "width"]).mean()
    return frame.assign(**{"kept / even": frame["kept"] / frame["even"]})


SHADES, FAR = "RdBu_r", "Greys"
"""Of numbers from −1 to 1, 0 is white; and of distances, the darker the further."""
OUTSIDE = "∅"
"""A place before or after the sentence, where wide convolution puts zeros."""
SLANTED: dict[str, Any] = {"rotation": 55, "ha": "right", "rotation_mode": "anchor"}


@house_style
def touched_figure(counts: pd.DataFrame, words: Sequence[str]) -> HouseFigure:
    """A panel a width: in how many windows each word stands, narrow and wide."""
    widths = list(dict.fromkeys(counts.index.get_level_values("width")))
    figure = new_figure(3.9 * len(widths), 3.7)
    grid = figure.subplots(1, len(widths), sharey=True, squeeze=False)[0]
    for axes, width in zip(grid, widths, strict=True):
        bars = counts.xs(width, level="width").T
        bars.plot.bar(ax=axes, color={"narrow": ORANGE, "wide": BLUE}, width=0.76, legend=False)
        axes.set_title(f"windows of {width}")
        axes.set_xticks(range(len(words)), words, **SLANTED)
        axes.set_yticks(range(1 + int(counts.to_numpy().max())))
        axes.grid(visible=False, axis="x")
    grid[0].set_ylabel("windows with the word")
    figure.legend(*grid[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def _cells(axes: Axes, table: np.ndarray, top: float | None, **labels: Any) -> None:
    """A table as shaded cells with their numbers; 0 is white and ±`top` darkest.

    Without `top`, the numbers are distances, and the largest is darkest.
    """
    limits = {"vmin": -top, "vmax": top, "cmap": SHADES} if top else {"vmin": 0, "cmap": FAR}
    numbers = {"annot": True, "fmt": ".2f", "annot_kws": {"size": 9}}
    seaborn.heatmap(table, ax=axes, cbar=False, **limits, **numbers, **labels)
    axes.tick_params(length=0)


@house_style
def attention_figure(
    cosines: Any, question: Sequence[str], answer: Sequence[str], weights: Sequence[Any]
) -> HouseFigure:
    """D with its numbers, and beside each word of both sentences its weight (A₁, A₂)."""
    wide, high = 0.62 * len(answer), 0.42 * len(question)
    figure = new_figure(2.8 + wide, 2.8 + high)
    sizes: dict[str, Any] = {"width_ratios": [wide, 1.5], "height_ratios": [1.1, high]}
    (top, corner), (middle, side) = figure.subplots(2, 2, sharex="col", sharey="row", **sizes)
    corner.set_axis_off()
    labels = {"xticklabels": answer, "yticklabels": question}
    _cells(middle, np.asarray(cosines, dtype=float), top=1.0, **labels)
    middle.set_xticklabels(answer, **SLANTED)
    middle.tick_params(axis="y", rotation=0)
    of_question, of_answer = (np.asarray(part, dtype=float) for part in weights)
    side.barh(np.arange(len(question)) + 0.5, of_question, color=ORANGE, height=0.7)
    top.bar(np.arange(len(answer)) + 0.5, of_answer, color=ORANGE, width=0.7)
    side.set(title="$A_1$", xlim=(0, 1.15 * of_question.max()))
    top.set(title="$A_2$", ylim=(0, 1.15 * of_answer.max()))
    for axes, along, across in ((top, "y", "x"), (side, "x", "y")):
        axes.locator_params(nbins=3, axis=along)
        axes.tick_params(length=0)
        axes.grid(visible=False, axis=across)
    return figure


@house_style
def map_figure(sentence: Sentence, width: int, title: str) -> HouseFigure:
    """The feature maps of all filters of a width: a row a filter, its largest window framed."""
    maps = sentence.maps[width - 1].T  # [F, windows]
    figure = new_figure(1.6 + 0.62 * maps.shape[1], 2.4 + 0.42 * len(maps))
    axes = figure.subplots()
    windows = (sentence.window(width, place) for place in range(maps.shape[1]))
    told = [" ".join(word or OUTSIDE for word in words) for words in windows]
    filters = [f"filter {number}" for number in range(1, len(maps) + 1)]
    top = max(float(np.abs(maps).max()), 1e-9)
    _cells(axes, maps, top, xticklabels=told, yticklabels=filters)
    for number, place in enumerate(maps.argmax(1)):
        axes.add_patch(Rectangle((place, number), 1, 1, fill=False, edgecolor=INK, linewidth=2.2))
    axes.set_xticklabels(told, **SLANTED)
    axes.tick_params(axis="y", rotation=0)
    axes.set_title(title)
    return figure


@house_style
def compared_figure(inside: Inside) -> HouseFigure:
    """regM₁ and regM₂, and what both comparisons make of them: every number of fea_H and fea_V.

    Cosines are red where the two are alike, distances dark where they are far apart.
    """
    left, right = inside.question.pooled.T, inside.answer.pooled.T  # [F, M]
    filters, widths = left.shape
    across = inside.compared[: 2 * filters].reshape(filters, 2)
    down = inside.compared[2 * filters :][: 3 * widths**2].reshape(widths, widths, 3)
    figure = new_figure(13, 1.6 + 0.5 * max(filters, widths))
    sizes = [widths, widths, 1.15, 1.15, widths, widths, widths]
    grid = figure.subplots(1, len(sizes), width_ratios=sizes)
    by_width = [f"width {width}" for width in range(1, widths + 1)]
    by_filter = [f"filter {number}" for number in range(1, filters + 1)]
    highest = float(max(np.abs(left).max(), np.abs(right).max()))
    panels = (
        ("regM$_1$", left, highest, by_width, by_filter),
        ("regM$_2$", right, highest, by_width, False),
        ("horizontal:\ncosine", across[:, :1], 1.0, False, by_filter),
        ("\nEuclid", across[:, 1:], None, False, False),
        ("vertical:\ncosine", down[..., 0], 1.0, by_width, by_width),
        ("\nEuclid", down[..., 1], None, by_width, False),
        ("\n|x − y|", down[..., 2], None, by_width, False),
    )
    for axes, (title, table, top, columns, rows) in zip(grid, panels, strict=True):
        _cells(axes, table, top, xticklabels=columns, yticklabels=rows)
        axes.set_title(title)
        axes.tick_params(axis="y", rotation=0)
        if columns:
            axes.set_xticklabels(columns, rotation=35, ha="right")
    grid[4].set_ylabel("question")
    for axes in grid[4:]:
        axes.set_xlabel("answer")
    return figure


KINDS = {
    "right": {"marker": "D", "color": BLUE},
    "wrong, taken": {"marker": "o", "color": VERMILLION},
    "wrong, left out": {"marker": "o", "color": GREY, "mfc": "white"},
}
"""How a candidate is drawn, by its kind."""


@house_style
def mined_figure(lists: Mapping[str, pd.DataFrame]) -> HouseFigure:
    """A panel a ranker: its list by f(q, p), and which wrong answers the miner takes.

    The axis of f is as long as the lists need, the same in all panels.
    """
    longest = max(map(len, lists.values()))
    figure = new_figure(5.2 * len(lists), 1.6 + 0.26 * longest)
    grid = figure.subplots(1, len(lists), sharex=True, sharey=True, squeeze=False)[0]
    for axes, (name, frame) in zip(grid, lists.items(), strict=True):
        kinds = np.where(frame["taken"], "wrong, taken", "wrong, left out")
        kinds = np.where(frame["right"], "right", kinds)
        for kind, style in KINDS.items():
            f = frame["f"][kinds == kind]
            axes.plot(f, f.index + 1, linestyle="", ms=8, mew=2, zorder=3, label=kind, **style)
        place = frame.index + 1
        axes.hlines(place, 0, 1, color=PALE, zorder=1, transform=axes.get_yaxis_transform())
        axes.margins(x=0.06)
        axes.locator_params(axis="x", nbins=6)
        axes.set(title=name, xlabel="f(q, p)")
        axes.grid(visible=False, axis="y")
    grid[0].set(ylabel="place in the ranking", ylim=(longest + 0.6, 0.4))
    figure.legend(*grid[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
