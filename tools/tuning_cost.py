"""Measure what each way to tune the cross-encoder costs: `python tools/tuning_cost.py`.

For each way and encoder, a separate process makes a few training steps on WikiQA with one thread,
then as many with products in bfloat16. CPU times and peak memory (without bfloat16) are written to
data/tuning-cost.csv for the figure `compare-tuning`. Encoders not found are skipped: see mpnet.py.
"""

import argparse
import json
import resource
import subprocess
import sys
import time

import pandas as pd
import torch

from qasel import load_dataset
from qasel.figures.compare import COSTS, ENCODERS, NOTHING, TUNED
from qasel.onednn import by_onednn
from qasel.papers.yardsticks import ROOM, recipe
from qasel.text import Vectors

STEPS = 2


def measured(encoder: str, trained: str) -> dict[str, float]:
    """Return the number of trained weights, minutes per epoch by precision, and peak GiB."""
    torch.set_num_threads(1)
    data = load_dataset("wikiqa")
    variant, changed = TUNED[encoder, trained]
    chosen = recipe(variant, "wikiqa", vectors=ENCODERS[encoder]).change(**changed)
    system = ROOM.ranker(chosen, Vectors.empty(""), torch.device("cpu"))
    system.prepare(data.train, data.dev)
    minutes = {"float32": 0.0, "bfloat16": 0.0}
    if trained == NOTHING:
        system.rank(data.dev)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for precision in () if trained == NOTHING else minutes:
        optimizer = system.optimizer()
        system.network.train()
        shuffle = torch.Generator().manual_seed(0)
        batches = system.training_data(data.train).batches(chosen.batch, shuffle)
        with by_onednn():
            for step in range(STEPS + 1):
                if step == 1:  # the first one warms up
                    started = time.process_time()
                optimizer.zero_grad()
                with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bfloat16"):
                    loss = system.losses(next(batches))["loss"]
                loss.backward()
                optimizer.step()
        seconds = (time.process_time() - started) / STEPS
        minutes[precision] = seconds * len(data.train) / chosen.batch / 60
        if precision == "float32":
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    weights = [w.numel() for w in system.network.parameters() if w.requires_grad]
    return {
        "weights": 0 if trained == NOTHING else sum(weights),
        "minutes an epoch": minutes["float32"],
        "in bfloat16": minutes["bfloat16"],
        "peak GiB": peak / (2**30 if sys.platform == "darwin" else 2**20),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--one", nargs=2, metavar=("ENCODER", "TRAINED"), help="this one only")
    if one := parser.parse_args().one:
        print(json.dumps(measured(*one)))
        sys.exit()
    rows = []
    for encoder, trained in TUNED:
        command = [sys.executable, __file__, "--one", encoder, trained]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            told = done.stderr.splitlines() or [f"ended with status {done.returncode}"]
            print(f"{encoder}, {trained}: {told[-1]}", file=sys.stderr)
            continue
        told = json.loads(done.stdout.splitlines()[-1])
        rows.append({"encoder": encoder, "trained": trained} | told)
        print(rows[-1], flush=True)
    frame = pd.DataFrame(rows)
    frame.to_csv(COSTS, index=False, float_format="%.4g", lineterminator="\n")
