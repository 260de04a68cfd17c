"""Worker processes for a sweep, through dask.distributed: of this machine, or a scheduler's."""

import asyncio
import contextlib
import logging
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from qasel.errors import QaselError

if TYPE_CHECKING:
    import torch

try:
    import dask
    from dask.system import CPU_COUNT
    from distributed import (
        Client,
        Future,
        KilledWorker,
        LocalCluster,
        Nanny,
        Worker,
        WorkerPlugin,
        get_worker,
        wait,
    )
    from distributed.client import FuturesCancelledError
    from distributed.system import MEMORY_LIMIT
except ImportError as error:
    raise QaselError(
        "a sweep needs dask.distributed; install it with `pip install 'qasel[sweep]'`"
    ) from error

# What it says of workers that come and go is no news to a reader: the runs' fate is told.
logging.getLogger("distributed").setLevel(logging.CRITICAL)

CUDA = "CUDA"
"""The dask resource that a worker with a GPU announces (`dask worker … --resources CUDA=1`)."""
MEMORY = 4 * 2**30
"""Bytes that a run may need, when workers are counted (PRI(list) on TREC-QA peaks below 3 GiB)."""
PATIENCE = 30
"""Seconds in which a scheduler, and one of its workers, must answer."""
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True)
class Workers:
    """Workers that are there, and the device, `cpu` or `cuda`, on which they are to run."""

    client: Client
    device: str

    def able(self) -> int:
        """How many there are now that can take a run."""
        return _able(self.client, self.device)

    def submit(self, function: Callable[..., Any], *arguments: Any, key: str) -> Future:
        """Have one of them call the function; the same key is never called twice."""
        needs = {CUDA: 1} if self.device == "cuda" else {}
        return self.client.submit(function, *arguments, key=key, resources=needs)

    def ended(self, running: Iterable[Future]) -> set[Future]:
        """Those that have ended; after a second there may be none.

        Raises `QaselError` if the scheduler is gone.
        """
        running = list(running)
        if not running:  # all workers are gone; others may come
            time.sleep(1)
            return set()
        try:
            return wait(running, timeout=1, return_when="FIRST_COMPLETED").done
        except TimeoutError:
            return set()
        except FuturesCancelledError as error:
            raise QaselError("the scheduler is gone; the same command goes on") from error

    def result(self, future: Future) -> Any:
        """What a call gave; raises what it raised, and `QaselError` if workers died of it."""
        try:
            return future.result()
        except KilledWorker as error:
            tries = error.allowed_failures + 1
            raise QaselError(
                f"{tries} worker processes died, one after another, while they ran it "
                "(killed, or out of memory?)"
            ) from error


@contextlib.contextmanager
def local_workers(count: int, device: str, runs: int) -> Iterator[Workers]:
    """Processes on this machine, one thread of Python each; they share its cores.

    A `count` of 0 is one a GPU, or one a core as far as memory goes; never more than `runs`.
    Raises `QaselError` for a device that is not there.
    """
    import torch

    from qasel.training.devices import resolve_device

    device = resolve_device(device).type
    gpus = torch.cuda.device_count() if device == "cuda" else 0
    count = min(count or gpus or max(1, min(CPU_COUNT, MEMORY_LIMIT // MEMORY)), runs)
    threads = str(max(1, min(torch.get_num_threads(), CPU_COUNT // count)))
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(
            tempfile.TemporaryDirectory(prefix="qasel-sweep-", ignore_cleanup_errors=True)
        )
        # dask has workers hand back freed memory at once (MALLOC_TRIM_THRESHOLD_), and so fetch it
        # anew for every tensor: LSTMs took 1.4 times as long to train so.
        settings = {"temporary-directory": folder, "distributed.nanny.pre-spawn-environ": {}}
        stack.enter_context(dask.config.set(settings))
        cluster = stack.enter_context(
            LocalCluster(
                n_workers=count,
                threads_per_worker=1,
                memory_limit=0,  # dask would kill a run that needs more than its share
                dashboard_address="127.0.0.1:0",  # of the scheduler's plain HTTP server
                scheduler_kwargs={"dashboard": False},
                silence_logs=logging.CRITICAL,  # in the workers
                resources={CUDA: 1} if device == "cuda" else {},
                env=dict.fromkeys(THREADS, threads) | {"TQDM_DISABLE": "1"},
            )
        )
        client = stack.enter_context(Client(cluster))
        client.register_plugin(_Child())
        try:
            yield Workers(client, device)
        except BaseException:
            cluster.sync(_end, cluster.workers.values())
            raise


class _Child(WorkerPlugin):
    """What a process does to be a good child: it may be interrupted and killed by its parent."""

    def setup(self, worker: Worker) -> None:
        # A terminal sends Ctrl-C to all; what it means for the children is the parent's say.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        # tqdm's own lock is one between processes, which a killed one would leave behind.
        tqdm.set_lock(threading.RLock())


async def _end(nannies: Iterable[Nanny]) -> None:
    """End workers, killing them after two seconds: no run is waited for, as it can go on later."""
    await asyncio.gather(*(nanny.close(timeout=2) for nanny in nannies), return_exceptions=True)


@contextlib.contextmanager
def remote_workers(address: str, device: str) -> Iterator[Workers]:
    """The workers of a running scheduler; they see the same folders as this machine.

    `auto` is CUDA where a worker announces it. Raises `QaselError` where no scheduler answers,
    none of its workers does, or none has the GPU that was asked for.
    """
    from qasel.training.devices import DEVICES

    if device not in DEVICES:
        raise QaselError(f"unknown device {device!r}; known: {', '.join(DEVICES)}")
    start = "start one with `dask scheduler`, and workers with `dask worker ADDRESS --nthreads 1`"
    try:
        client = Client(address, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise QaselError(f"no scheduler answers at {address!r} ({error}); {start}") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError as error:
            raise QaselError(f"the scheduler at {address!r} has no workers; {start}") from error
        if device == "auto":
            device = "cuda" if _able(client, "cuda") else "cpu"
        if not _able(client, device):
            raise QaselError(
                f"no worker of {address!r} announces a GPU; start one with "
                f"`dask worker {address} --nthreads 1 --resources {CUDA}=1`, or ask for `cpu`"
            )
        yield Workers(client, device)


def take(device: str) -> "torch.device":
    """In a worker: its device. Workers of one machine, by their numbers, take its GPUs in turn."""
    import torch

    from qasel.training.devices import resolve_device

    place = resolve_device(device)
    if place.type == "cuda" and isinstance(number := get_worker().name, int):
        torch.cuda.set_device(number % torch.cuda.device_count())
    return place


def _able(client: Client, device: str) -> int:
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    return sum(device != "cuda" or worker["resources"].get(CUDA, 0) >= 1 for worker in workers)
