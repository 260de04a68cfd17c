"""A sweep of twenty small runs by one worker process and by two, start-up and all: `make bench`."""

import time

import pytest
import torch

from qasel.cli import main

RUNS = 20
SETTINGS = {"hidden": 8, "channels": 4, "kernels": (1,), "batch": 20, "epochs": 25, "patience": 25}


def seconds(folder, workers, monkeypatch):
    """Time of the whole command, with an empty ledger."""
    monkeypatch.setenv("QASEL_RESULTS", str(folder / "ledger"))
    arguments = ["sweep", "--paper", "hierarchical-ranking", "--variant", "CA(list)"]
    arguments += ["--seeds", ",".join(map(str, range(RUNS))), "--workers", str(workers)]
    for key, value in SETTINGS.items():
        arguments += ["--set", f"{key}={value}"]
    started = time.perf_counter()
    assert main([*arguments, "--device", "cpu", "--out", str(folder / "runs")]) == 0
    spent = time.perf_counter() - started
    assert len(list((folder / "ledger").glob("*/*.json"))) == RUNS
    return spent


def test_two_workers_against_one(tmp_path, monkeypatch, capsys):
    system = pytest.importorskip("dask.system")
    if system.CPU_COUNT < 2:
        pytest.skip("two workers need two cores")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # one worker is to have no more threads than each of two
    try:
        one, two = (seconds(tmp_path / str(count), count, monkeypatch) for count in (1, 2))
    finally:
        torch.set_num_threads(threads)
    with capsys.disabled():
        print(
            f"\n{RUNS} runs of about {one / RUNS:.1f} s: one worker {one:.0f} s, two {two:.0f} s: "
            f"{one / two:.2f} times as fast"
        )
    assert one / two >= 1.7
