"""`qasel sweep` with a real scheduler and real worker processes, some of which are killed.

The slowest of the unit tests: some 20 seconds on two idle cores, most of it workers that import
PyTorch.
"""

import dataclasses
import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
import torch

dask = pytest.importorskip("dask")
from distributed import Client, KilledWorker  # noqa: E402

from qasel.cli import main  # noqa: E402
from qasel.errors import QaselError  # noqa: E402
from qasel.papers import ROOMS  # noqa: E402
from qasel.results import sweep  # noqa: E402
from qasel.results.measure import held, measure  # noqa: E402
from qasel.results.sweep import local_workers, remote_workers  # noqa: E402

PAPER = "hierarchical-ranking"
SMALL = {"hidden": 8, "channels": 4, "kernels": (1,), "batch": 20, "epochs": 5, "patience": 5}
CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def own_ledger(tmp_path, monkeypatch):
    monkeypatch.setenv("QASEL_RESULTS", str(tmp_path / "ledger"))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A scheduler and two workers, one of which says it has a GPU: address, {worker: process}."""
    folder = tmp_path_factory.mktemp("cluster")
    file = folder / "scheduler.json"
    common = ["--scheduler-file", str(file), "--no-dashboard", "--dashboard-address", ":0"]
    worker = ["--nthreads", "1", "--no-nanny", "--local-directory", str(folder)]
    environment = os.environ | {
        "OMP_NUM_THREADS": "1",
        "TQDM_DISABLE": "1",
        "DASK_TEMPORARY_DIRECTORY": str(folder),
    }

    def start(part, *options):
        command = [sys.executable, "-m", f"distributed.cli.dask_{part}", *common, *options]
        processes.append(
            subprocess.Popen(
                command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=log
            )
        )

    processes = []
    with (folder / "log").open("w") as log:
        start("scheduler", "--host", "127.0.0.1", "--port", "0")
        start("worker", *worker)
        start("worker", *worker, "--resources", "CUDA=1")
        try:
            with Client(scheduler_file=str(file), timeout=60) as client:
                client.wait_for_workers(2, timeout=60)
                pids = client.run(os.getpid)
                address = client.scheduler.address
            yield address, pids, processes[2].pid
        finally:
            for process in processes:
                process.kill()
                process.wait()


def command(out, *more, **settings):
    arguments = ["sweep", "--paper", PAPER, "--variant", "CA(list)", "--out", str(out)]
    for key, value in (SMALL | settings).items():
        arguments += ["--set", f"{key}={value}"]
    return main([*arguments, *more])


def rows(folder):
    return {path.stem: json.loads(path.read_text()) for path in folder.glob("*/*.json")}


def scores(row):
    """What must be the same however a run went."""
    history = [{**epoch, "seconds": None} for epoch in row["history"]]
    return row["scores"], row["per_question"], row["best_epoch"], history


def test_a_run_on_cuda_goes_where_a_worker_says_it_has_a_gpu(cluster):
    address, pids, with_gpu = cluster
    with remote_workers(address, "auto") as workers:
        assert workers.device == "cuda"
        assert workers.able() == 1
        futures = [workers.submit(os.getpid, key=f"on-gpu-{i}") for i in range(4)]
        assert {future.result(timeout=30) for future in futures} == {with_gpu}
    with remote_workers(address, "cpu") as workers:
        assert workers.able() == len(pids) == 2


def test_over_is_given_once_a_value(capsys):
    over = ["--over", "margin=0.5", "--over", "margin=0.25", "--over", "epochs=3"]
    assert main(["sweep", "--paper", PAPER, *over, "--seeds", "0,1", "--dry-run"]) == 0
    *lines, total = capsys.readouterr().out.splitlines()
    assert [line.split("seed ")[1] for line in lines] == [
        f"{seed}  margin={margin}, epochs=3" for margin in (0.5, 0.25) for seed in (0, 1)
    ]
    assert total == "4 to run, 0 held"


def kill_in_the_middle(address, pids, out, killed):
    """Kill the worker of the first run that has kept an epoch, before it has ended."""
    with Client(address, set_as_default=False) as client:
        while not (kept := next(out.glob("*/last.safetensors"), None)):
            time.sleep(0.02)
        key = f"run-{kept.parent.name.rsplit('-', 1)[1]}"
        (address,) = [worker for worker, keys in client.processing().items() if key in keys]
        os.kill(pids[address], signal.SIGKILL)
        if not list(kept.parent.glob("*.json")):
            killed.append(kept.parent.name)


def test_a_killed_worker_loses_nothing_and_nothing_counts_twice(cluster, tmp_path, capsys):
    address, pids, _ = cluster
    out, killed = tmp_path / "runs", []
    # A daemon: where no run starts it waits for ever, and the test has failed by then.
    arguments = (address, pids, out, killed)
    killer = threading.Thread(target=kill_in_the_middle, args=arguments, daemon=True)
    killer.start()
    options = ("--seeds", "0,1,2", "--scheduler", address, "--device", "cpu")
    assert command(out, *options) == 0
    killer.join(timeout=60)
    assert len(killed) == 1
    kept = rows(tmp_path / "ledger")
    assert [row["recipe"]["seed"] for _, row in sorted(kept.items())] == [0, 1, 2]
    assert set(kept) == {folder.name for folder in out.iterdir()}
    assert "3 run, 0 failed, 0 held before" in capsys.readouterr().out

    seed = kept[killed[0]]["recipe"]["seed"]
    (recipe,) = sweep.Grid([PAPER], ["CA(list)"], seeds=[seed], set=SMALL).recipes(ROOMS)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        alone = measure(recipe, ROOMS[PAPER].ranker, CPU, tmp_path / "alone", ledger=False)
    finally:
        torch.set_num_threads(threads)
    assert scores(kept[killed[0]]) == scores(dataclasses.asdict(alone))

    written = {path: path.stat().st_mtime_ns for path in (tmp_path / "ledger").glob("*/*")}
    assert command(out, "--seeds", "0,1,2") == 0
    assert "0 run, 0 failed, 3 held before" in capsys.readouterr().out
    assert written == {path: path.stat().st_mtime_ns for path in (tmp_path / "ledger").glob("*/*")}


def test_a_failing_run_stops_no_other_and_is_named(cluster, tmp_path, capsys):
    grid = tmp_path / "grid.yaml"
    grid.write_text(
        "paper: ms-ranker\nvariant: [MS-Ranker + ELMo, Pre-Ranker]\n"
        "set: {hidden: 4, pre_epochs: 1, epochs: 1, batch: 20}\n"
    )
    options = ["--scheduler", cluster[0], "--device", "cpu", "--out", str(tmp_path / "runs")]
    assert main(["sweep", str(grid), *options]) == 1
    seen = capsys.readouterr()
    (told,) = [line for line in seen.err.splitlines() if line.startswith("qasel: failed: ")]
    assert "ms-ranker  MS-Ranker + ELMo  sample" in told
    assert "[ms-ranker---elmo-0-" in told
    assert "1 run, 1 failed, 0 held before" in seen.out
    (row,) = rows(tmp_path / "ledger").values()
    assert row["recipe"]["variant"] == "Pre-Ranker"
    assert main(["sweep", str(grid), "--dry-run"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line[:6] for line in lines[:2]] == ["to run", "held  "]
    assert lines[2] == "1 to run, 1 held"


def kill_run_and_interrupt(workers, recipe, out, pids):
    """What a process of this machine goes through, and what becomes of it."""
    assert workers.able() == 1  # no more than there are runs
    assert int(workers.submit(os.getenv, "OMP_NUM_THREADS", key="threads").result()) >= 1
    # dask would have it, and tensors be slow.
    assert workers.submit(os.getenv, "MALLOC_TRIM_THRESHOLD_", key="memory").result() is None
    fatal = workers.submit(os._exit, 1, key="fatal")
    while not sweep.ended([fatal]):
        pass
    with pytest.raises(KilledWorker) as caught:
        fatal.result()
    assert sweep.reason(caught.value).startswith("1 worker processes died")
    # Another has taken its place.
    assert sweep.sweep(ROOMS, [recipe], workers, out) == {}
    assert held(recipe)
    pids.append(workers.submit(os.getpid, key="pid").result())
    workers.submit(time.sleep, 60, key="sleep")
    raise KeyboardInterrupt


def test_processes_of_this_machine(tmp_path):
    (recipe,) = sweep.Grid(["question-relevancy"], ["Random baseline"]).recipes(ROOMS)
    pids = []
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        pytest.raises(KeyboardInterrupt),
        local_workers(5, "cpu", runs=1) as workers,
    ):
        kill_run_and_interrupt(workers, recipe, tmp_path / "runs", pids)
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)


def test_an_error_that_is_no_bad_input_is_told_with_its_place(tmp_path, monkeypatch):
    def broken(*arguments, **options):
        raise KeyError("no such thing")

    monkeypatch.setattr(sweep, "measure", broken)
    (recipe,) = sweep.Grid([PAPER], ["CA(list)"]).recipes(ROOMS)
    reason = sweep.run_one(ROOMS[PAPER], recipe, "cpu", str(tmp_path), None)
    assert reason.startswith("KeyError: 'no such thing' (test_sweep.py, line ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], ["--paper", "YAML"]),
        (["grid.yaml", "--paper", PAPER], ["grid.yaml", "--paper"]),
        (["nowhere.yaml"], ["nowhere.yaml"]),
        (["--paper", PAPER, "--over", "margin"], ["margin", "key=value"]),
        (["--paper", PAPER, "--over", "margn=1"], ["margn", "margin"]),
        (["--paper", PAPER, "--set", "seed=1"], ["'seed'"]),
        (["--paper", PAPER, "--workers", "1", "--scheduler", "tcp://a:1"], ["--workers"]),
        (["--paper", PAPER, "--device", "tpu"], ["tpu", "cpu"]),
        # A pair that cannot be run stops the sweep before anything is.
        (["--paper", PAPER, "--dataset", "sample", "--dataset", "mnli"], ["mnli", "nothing was"]),
        (["--paper", PAPER, "--set", "protocol=related", "--set", "vectors=no"], ["vectors 'no'"]),
    ],
)
def test_bad_input_is_one_clear_line(arguments, words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["sweep", *arguments]) == 2
    told = capsys.readouterr().err.strip()
    assert told.startswith("qasel: error: ")
    assert "\n" not in told
    for word in words:
        assert word in told
    assert not (tmp_path / "ledger").exists()


def test_no_scheduler_there(monkeypatch):
    monkeypatch.setattr("qasel.results.sweep.PATIENCE", 0.5)
    with (
        pytest.raises(QaselError, match=r"no scheduler answers at 'tcp://127.0.0.1:1'"),
        remote_workers("tcp://127.0.0.1:1", "cpu"),
    ):
        pass
