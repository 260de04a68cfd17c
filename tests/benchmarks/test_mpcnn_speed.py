"""Training speed of AP-MPCNN against a plain batched implementation, as ratios: `make bench`.

The plain one is what one writes first: attention embeddings of every pair, PyTorch's convolution
and pooling a width, comparisons a pair of widths. Both at the paper's sizes: vectors of 300
numbers, sentences of 32 words (running text of the bundled sample), 64 pairs a batch.
"""

import time

import pytest
import torch
from torch.nn import functional as F

from qasel.datasets import load_dataset
from qasel.datasets.base import Candidate, Question, Split
from qasel.papers.ap_mpcnn import recipe
from qasel.papers.ap_mpcnn.model import APMPCNN
from qasel.papers.ap_mpcnn.negatives import choose, triplet_loss
from qasel.text import Vocabulary, tokenize
from qasel.training.batching import EncodedSplit

CPU = torch.device("cpu")
WORDS, PAIRS = 32, 64


def plain_scores(model, question, answer, overlap):
    """Log odds of pairs of sentences of word numbers `[64, 32]`, all of one length."""
    one, other = model.vectors[question], model.vectors[answer]
    cosine = F.normalize(one, dim=2) @ F.normalize(other, dim=2).transpose(1, 2)
    one = torch.cat([one, cosine.sum(2).softmax(1)[..., None] * one], 2).transpose(1, 2)
    other = torch.cat([other, cosine.sum(1).softmax(1)[..., None] * other], 2).transpose(1, 2)
    sides = []
    for side in (one, other):
        found = [
            F.conv1d(side, c.weight, c.bias, padding=width - 1).tanh().amax(2)
            for width, c in enumerate(model.convolution.convolutions, start=1)
        ]
        sides.append(torch.stack(found, 2))  # [64, F, M]
    x, y = sides
    horizontal = torch.stack([F.cosine_similarity(x, y, dim=2), (x - y).norm(dim=2)], 2)
    vertical = [
        number
        for i in range(x.shape[2])
        for j in range(y.shape[2])
        for number in (
            F.cosine_similarity(x[:, :, i], y[:, :, j]),
            (x[:, :, i] - y[:, :, j]).norm(dim=1),
            (x[:, :, i] - y[:, :, j]).abs().sum(1),
        )
    ]
    compared = torch.cat([horizontal.flatten(1), torch.stack(vertical, 1), overlap], 1)
    return model.predict(compared)[0]


def running_text(words, lists):
    """Lists of as many candidates as make up 64 pairs; every sentence has 32 words."""
    sentences = iter(" ".join(words[i : i + WORDS]) for i in range(0, len(words), WORDS))
    questions = []
    for q in range(lists):
        text = next(sentences)
        candidates = tuple(
            Candidate(f"{q}-{c}", next(sentences), int(c == 0), c) for c in range(PAIRS // lists)
        )
        questions.append(Question(f"q{q}", text, candidates))
    return Split("running text", tuple(questions))


def seconds(step, least=2.0):
    """A step's time, the mean of as many as take a while, after one to warm up."""
    step()
    started, steps = time.perf_counter(), 0
    while time.perf_counter() - started < least:
        step()
        steps += 1
    return (time.perf_counter() - started) / steps


@pytest.mark.parametrize("lists", [1, 2, 8])
def test_projected_words_against_plain_convolution(lists):
    torch.manual_seed(0)
    train = load_dataset("sample").train
    texts = [c.text for q in train for c in q.candidates]
    # Only words that a text joined by blanks is cut into again.
    words = [w for t in texts for w in tokenize(t) if w.isalnum() and tokenize(w) == (w,)]
    split = running_text([w for w in words if w != "cannot"], lists)
    vocabulary = Vocabulary(words)
    data = EncodedSplit(split, vocabulary, CPU)
    assert set(data.answers.length.tolist()) == {WORDS}
    vectors = torch.randn(len(vocabulary), 300) * 0.3
    vectors[0] = 0
    model = APMPCNN(vectors, recipe()).eval()
    batch = data.batch(torch.arange(lists))
    tiles = [(t.question[t.question_of], t.answer, model.overlap(t)) for t in batch.tiles]
    pairs = [torch.cat(part) for part in zip(*tiles, strict=True)]
    with torch.inference_mode():
        wanted = batch.as_lists(plain_scores(model, *pairs))
        torch.testing.assert_close(model(batch), wanted, atol=1e-4, rtol=1e-4)
    model.train()

    def step(log_odds):
        f = log_odds.sigmoid()
        triplets = choose(f, batch.labels, batch.mask, 8, "nearest")
        model.zero_grad(set_to_none=True)
        triplet_loss(f, triplets, 1.0).backward()

    slow = seconds(lambda: step(batch.as_lists(plain_scores(model, *pairs))))
    fast = seconds(lambda: step(model(batch)))
    numbers = torch.cat([part.flatten() for t in batch.tiles for part in (t.question, t.answer)])
    different = len(numbers.unique())
    one, other = torch.randn(different, 300), torch.randn(300, 3600)
    product = seconds(lambda: one @ other, least=0.5)
    print(
        f"\n{lists} lists, pairs a second: plain {PAIRS / slow:.0f}, ours {PAIRS / fast:.0f}: "
        f"{slow / fast:.1f} times as fast; {different} different words of "
        f"{2 * PAIRS * WORDS}, whose two products take {200 * product / fast:.0f} % of the time"
    )
    assert fast < slow
