"""Training speed of MS-Ranker's agent against two that read a candidate at a time: `make bench`.

One is the reference of the tests, word by word as the equations go; the other encodes and matches
a pair when its turn comes, but with tensor operations over its words. On WikiQA where
`QASEL_DATA` is set, and on the bundled sample; paper-sized, forward and backward.
"""

import time

import pytest
import torch
from ms_ranker_reference import slow_walk

from qasel.datasets import load_dataset
from qasel.errors import QaselError
from qasel.papers.ms_ranker import ROOM, recipe
from qasel.text import load_vectors
from qasel.training.batching import EncodedSplit

QUESTIONS = 20


def one_by_one(agent, batch, data):
    """log P of the actions, question by question and candidate by candidate."""
    read, evidence = agent.reader, agent.evidence
    told = []
    for number in batch.index.tolist():
        first, count = int(data.first[number]), int(data.count[number])
        question, _ = data.questions.padded(torch.tensor([number]))
        h_q, last = read.encode.gru(read.dropout(agent.vectors[question]))
        h_q, e = h_q[0], last[:, 0].flatten()
        for i in range(first, first + count):
            answer, _ = data.answers.padded(torch.tensor([i]))
            h_c, last = read.encode.gru(read.dropout(agent.vectors[answer]))
            h_c, o = h_c[0], last[:, 0].flatten()
            alpha = (h_q * read.of_both) @ h_c.T + read.of_question(h_q) + read.of_candidate(h_c).T
            u_c = alpha.softmax(0).T @ h_q
            u_q = alpha.amax(0).softmax(0) @ h_c
            m = torch.cat([h_c, u_c, h_c * u_c, u_q * u_c], dim=1)
            w = torch.cat([part.weight for part in read.compare], dim=1)
            v_qc = (m @ w.T + read.compare[0].bias).tanh().amax(0)
            alpha = evidence.of_word(h_c)[:, 0] + h_c @ (evidence.of_both * e)
            u_e = alpha.softmax(0) @ h_c
            v_ec = (evidence.from_words(h_c) + evidence.from_both(h_c * u_e)).tanh().amax(0)
            log_p = agent.head(v_qc, v_ec)
            told.append(log_p)
            p = log_p[1].exp()
            if p > agent.threshold:
                e = evidence.mix(e, p * o)[0]
    return torch.stack(told)


@pytest.mark.parametrize("name", ["sample", "wikiqa"])
def test_batched_against_one_by_one(name):
    try:
        train = load_dataset(name).train
        vectors = load_vectors("sample" if name == "sample" else "glove.6B.100d")
    except QaselError as error:
        pytest.skip(str(error))
    settings = recipe(dataset=name)
    system = ROOM.ranker(settings, vectors, torch.device("cpu"))
    system.prepare(train)
    agent = system.network.eval()
    data = EncodedSplit(train, system.vocabulary, torch.device("cpu"))
    batches = list(data.batches(settings.batch))[: QUESTIONS // settings.batch]
    with torch.inference_mode():
        for batch in batches:  # the same numbers
            wanted = one_by_one(agent, batch, data)
            torch.testing.assert_close(agent(batch).log_p[batch.mask], wanted, atol=1e-5, rtol=0)
    agent.train()

    def seconds(step, batches):
        for _ in range(2):  # once to warm up
            started = time.perf_counter()
            for batch in batches:
                step(batch).backward()
        return (time.perf_counter() - started) / sum(int(batch.mask.sum()) for batch in batches)

    def by_word(batch):
        questions = [train[number] for number in batch.index.tolist()]
        walks = [slow_walk(agent, system.vocabulary, question) for question in questions]
        return -torch.stack([p for walk in walks for p, _ in walk]).log().mean()

    few = [data.batch(torch.arange(2))]
    slowest = seconds(by_word, few)
    slow = seconds(lambda batch: -one_by_one(agent, batch, data)[:, 1].mean(), batches)
    fast = seconds(lambda batch: system.losses(batch)["loss"], batches)
    print(
        f"\n{name}, milliseconds a pair: word by word {1000 * slowest:.0f}, pair by pair "
        f"{1000 * slow:.1f}, batched {1000 * fast:.1f}: {slowest / fast:.0f} and "
        f"{slow / fast:.1f} times as fast; an epoch of {train.pairs} pairs in about "
        f"{fast * train.pairs:.0f} s"
    )
    assert fast < slow
