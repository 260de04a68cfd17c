"""Training speed of CA(list) as ratios on this machine: `make bench`.

Against a plain PyTorch prototype (each batch padded to its longest sentence,
`nn.Conv1d`, autograd), and against the machine's own matrix product. On WikiQA
where `QASEL_DATA` is set, else on the bundled sample.
"""

import resource
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from qasel.datasets import load_dataset
from qasel.errors import QaselError
from qasel.onednn import by_onednn
from qasel.papers.hierarchical_ranking import HierarchicalRanker, recipe
from qasel.text import Vocabulary, load_vectors, tokenize
from qasel.training.batching import EncodedSplit
from qasel.training.losses import list_loss

BATCHES = 6


class Prototype(nn.Module):
    """CA(list) as one would first write it: everything padded, every pair on its own."""

    def __init__(self, vectors, hidden, channels, kernels):
        super().__init__()
        self.vectors = nn.Embedding.from_pretrained(vectors, freeze=False, padding_idx=0)
        self.gate = nn.Linear(vectors.shape[1], hidden)
        self.value = nn.Linear(vectors.shape[1], hidden)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(hidden, channels, k, padding=k - 1) for k in kernels
        )
        size = 2 * channels * len(kernels)
        self.predict = nn.Sequential(nn.Linear(size, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def encode(self, numbers):
        words = F.dropout(self.vectors(numbers), 0.2, self.training)
        return torch.sigmoid(self.gate(words)) * torch.tanh(self.value(words))

    def aggregate(self, words):
        series = words.transpose(1, 2)
        return torch.cat([F.relu(c(series)).amax(-1) for c in self.convolutions], dim=1)

    def forward(self, question, answer):
        hq, ha = self.encode(question), self.encode(answer)
        match = hq @ ha.transpose(1, 2)
        over_answer = match.masked_fill((answer == 0)[:, None, :], -1e9).softmax(2)
        over_question = match.masked_fill((question == 0)[:, :, None], -1e9).softmax(1)
        cq = (over_answer @ ha) * hq * (question > 0)[..., None]
        ca = (over_question.transpose(1, 2) @ hq) * ha * (answer > 0)[..., None]
        return self.predict(torch.cat([self.aggregate(cq), self.aggregate(ca)], dim=1))[:, 0]


def load(name):
    try:
        data = load_dataset(name)
        vectors = load_vectors("sample" if name == "sample" else "glove.6B.100d")
    except QaselError as error:
        pytest.skip(str(error))
    return data, vectors


def encoded(data, vectors):
    texts = [q.text for q in data.train] + [c.text for q in data.train for c in q.candidates]
    vocabulary = Vocabulary(word for text in texts for word in tokenize(text))
    matrix = torch.from_numpy(vectors.of(vocabulary.words))
    return EncodedSplit(data.train, vocabulary, torch.device("cpu")), matrix


def trainable(settings, vectors, matrix):
    """A ranker and the function that trains it on one batch."""
    ranker = HierarchicalRanker(settings, vectors, torch.device("cpu"))
    ranker.network = ranker.build(matrix)
    optimizer = ranker.optimizer()

    def step(batch):
        optimizer.zero_grad()
        ranker.losses(batch)["loss"].backward()
        optimizer.step()

    return ranker, step


def seconds_an_epoch(step, data, size):
    """Time of some batches (after one to warm up), scaled to the words of the whole split."""
    batches = list(data.batches(size, torch.Generator().manual_seed(0)))[: BATCHES + 1]
    step(batches[0])
    started = time.perf_counter()
    for batch in batches[1:]:
        step(batch)
    spent = time.perf_counter() - started
    return spent * len(data) / sum(len(batch.index) for batch in batches[1:])


def peak():
    """The most memory that this process has held, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def matrix_rate():
    """Floating-point operations a second of a large matrix product, by the quickest library."""
    a = torch.randn(2048, 2048)
    with by_onednn():
        a @ a
        started = time.perf_counter()
        for _ in range(5):
            a @ a
    return 5 * 2 * 2048**3 / (time.perf_counter() - started)


def test_training_against_a_plain_prototype(capsys):
    name = "wikiqa"
    try:
        load_dataset(name)
    except QaselError:
        name = "sample"
    raw, vectors = load(name)
    data, matrix = encoded(raw, vectors)
    settings = recipe("CA(list)", name)
    ranker, step = trainable(settings, vectors, matrix)
    plain = Prototype(matrix, settings.hidden, settings.channels, settings.kernels)
    plain_optimizer = torch.optim.Adam(plain.parameters(), settings.learning_rate)

    def plain_step(batch):
        pair = [
            (int(q), int(data.first[q]) + i) for q in batch.index for i in range(int(data.count[q]))
        ]
        question, _ = data.questions.padded(torch.tensor([q for q, _ in pair]))
        answer, _ = data.answers.padded(torch.tensor([a for _, a in pair]))
        scores = torch.zeros(batch.mask.shape).masked_scatter(batch.mask, plain(question, answer))
        plain_optimizer.zero_grad()
        list_loss(scores, batch.labels, batch.mask).backward()
        plain_optimizer.step()

    ours = seconds_an_epoch(step, data, settings.batch)
    prototype = seconds_an_epoch(plain_step, data, settings.batch)
    rate = matrix_rate()
    taps = sum(c.weight.numel() for c in ranker.network.aggregate.convolutions)
    # One product forward, two backward: what a dense convolution of the real words would need.
    words = (data.questions.length * data.count).sum() + data.answers.length.sum()
    useful = 3 * 2 * taps * int(words)
    with capsys.disabled():
        print(
            f"\nCA(list) on {name}, {torch.get_num_threads()} threads: prototype "
            f"{prototype:.1f} s an epoch, ours {ours:.1f} s: {prototype / ours:.1f} times as fast"
            f"\nmatrix product {rate / 1e9:.0f} GFLOP/s; the convolution's work, counted dense and "
            f"without padding, at {useful / ours / 1e9:.0f} GFLOP/s: "
            f"{100 * useful / ours / rate:.0f} % of it; peak memory {peak():.1f} GiB"
        )
    assert prototype > ours


def trecqa_epoch():
    """Seconds an epoch of PRI(list), and two peaks of this process in GiB.

    Of usual batches, and of one of the 30 questions with the most words: no batch of the first
    30 epochs of five seeds has half as many.
    """
    raw, vectors = load("trecqa")
    data, matrix = encoded(raw, vectors)
    _, step = trainable(recipe("PRI(list)", "trecqa"), vectors, matrix)
    epoch = seconds_an_epoch(step, data, 30)
    usual = peak()
    work = data.count * data.questions.length
    step(data.batch(work.argsort(descending=True)[:30]))
    return epoch, usual, peak()


def test_memory_of_a_trecqa_epoch(capsys):
    load("trecqa")  # skips without the data
    # A process of its own: the peak of this one may be an earlier test's.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        epoch, usual, worst = pool.submit(trecqa_epoch).result()
    with capsys.disabled():
        print(
            f"\nPRI(list) on TREC-QA: about {epoch:.0f} s an epoch, peak {usual:.1f} GiB; "
            f"{worst:.1f} GiB if its 30 largest questions met in one batch"
        )
    assert worst < 3
