"""Grids of runs, from options or a YAML file, run by dask workers on this machine or others."""

import asyncio
import contextlib
import dataclasses
import logging
import os
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import pydantic
import torch
from pydantic import BeforeValidator, ConfigDict, Field, ValidationError
from tqdm import tqdm

from qasel.errors import QaselError
from qasel.files import require_writable
from qasel.locations import results_dir
from qasel.results import Room
from qasel.results.ledger import Row
from qasel.results.measure import measure
from qasel.results.runs import described
from qasel.text.vectors import find_vectors
from qasel.training.devices import resolve_device
from qasel.training.recipe import Recipe, literal

try:
    import dask
    import distributed
    import yaml
    from dask.system import CPU_COUNT
    from distributed import Client, Future
    from distributed.system import MEMORY_LIMIT
except ImportError as error:
    raise QaselError(
        "a sweep needs dask.distributed; install it with `pip install 'qasel[sweep]'`"
    ) from error

# Its messages on workers that come and go are noise: the fate of each run is reported.
logging.getLogger("distributed").setLevel(logging.CRITICAL)

Rooms = Mapping[str, Room]


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list | tuple) else (value,)


Texts = Annotated[Sequence[str], BeforeValidator(_as_tuple)]
Several = Annotated[list[Any], Field(min_length=1)]
Seeds = Annotated[Sequence[Annotated[int, Field(ge=0)]], Field(min_length=1)]


@pydantic.dataclasses.dataclass(frozen=True, config=ConfigDict(strict=True, extra="forbid"))
class Grid:
    """A grid of runs; each of the first four fields takes one value or several.

    No variant means each paper's own system, `all` all of its rows. `set` applies to all runs;
    `over` gives settings several values each, and all combinations are run.
    """

    paper: Annotated[Texts, Field(min_length=1)]
    variant: Texts = ()
    dataset: Texts = ("sample",)
    seeds: Annotated[Seeds, BeforeValidator(_as_tuple)] = (0,)
    set: dict[str, Any] = dataclasses.field(default_factory=dict)
    over: dict[str, Several] = dataclasses.field(default_factory=dict)

    def recipes(self, rooms: Rooms) -> list[Recipe]:
        """The recipes, each once, with the seeds of a configuration one after another.

        Raises `QaselError` for unknown names, and for settings that a paper lacks or cannot take.
        """
        if twice := sorted(self.set.keys() & self.over.keys()):
            raise QaselError(f"setting {twice[0]!r} is in `set` and in `over`; name it in one")
        found: dict[str, Recipe] = {}
        for name, dataset in product(self.paper, self.dataset):
            room = rooms[name]
            for variant, *values in product(room.rows(self.variant), *self.over.values()):
                settings = {**self.set, **dict(zip(self.over, values, strict=True))}
                chosen = room.configured(variant, dataset, settings)
                changed = (chosen.change(seed=seed) for seed in self.seeds)
                found |= {recipe.hash: recipe for recipe in changed}
        return list(found.values())


# Grids from a file


class _Loader(yaml.SafeLoader):
    """Refuses a duplicate key, of which YAML would take the last."""

    def construct_mapping(self, node: "yaml.MappingNode", deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value]
        for place, (key, _) in enumerate(node.value):
            if key.value in keys[:place]:
                problem = f"{key.value!r} a second time"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
        return super().construct_mapping(node, deep)


def read_grids(path: Path, rooms: Rooms) -> list[Recipe]:
    """The recipes of a file that holds a grid, or a list of grids, each recipe once.

    A grid is a mapping with the fields of `Grid`; only `paper` is required. Raises `QaselError`,
    with file and line, for a file that is not of this form.
    """
    try:
        loader = _Loader(path.read_text(encoding="utf-8"))
        root = loader.get_single_node()
        nodes = root.value if isinstance(root, yaml.SequenceNode) else [root]
        found = [recipe for node in nodes for recipe in _recipes(path, rooms, loader, node)]
    except UnicodeDecodeError as error:
        raise QaselError(f"{path}: not a text file ({error})") from error
    except RecursionError as error:
        raise QaselError(f"{path}: cannot be read as YAML (nested too deeply)") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}, line {mark.line + 1}" if mark else str(path)
        what = getattr(error, "problem", None) or error
        raise QaselError(f"{where}: cannot be read as YAML ({what})") from error
    return list({recipe.hash: recipe for recipe in found}.values())


def _recipes(path: Path, rooms: Rooms, loader: _Loader, node: "yaml.Node | None") -> list[Recipe]:
    """The recipes of one grid of the file."""
    names = ", ".join(field.name for field in dataclasses.fields(Grid))
    line = node.start_mark.line + 1 if node else 1
    if not isinstance(node, yaml.MappingNode):
        raise QaselError(f"{path}, line {line}: expected a grid, a mapping with {names}")
    values = loader.construct_document(node)
    if strange := [key for key in values if not isinstance(key, str)]:
        raise QaselError(f"{path}, line {line}: unknown field {strange[0]!r}; a grid has {names}")
    for key in ("set", "over"):
        if isinstance(values.get(key), dict):
            values[key] = {name: _literals(value) for name, value in values[key].items()}
    try:
        return Grid(**values).recipes(rooms)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = str(first["loc"][0])
        lines = {key.value: key.start_mark.line + 1 for key, _ in node.value}
        what = f"{name}: {first['msg']}; a grid has {names}"
        raise QaselError(f"{path}, line {lines.get(name, line)}: {what}") from error
    except QaselError as error:
        raise QaselError(f"{path}, line {line}: {error}") from error


def _literals(value: Any) -> Any:
    """Read texts as on the command line: to YAML, `1e-3` (without a point) is a text."""
    if isinstance(value, list):
        return [_literals(part) for part in value]
    return literal(value) if isinstance(value, str) else value


# Workers

CUDA = "CUDA"
"""The dask resource that a worker with a GPU announces (`dask worker … --resources CUDA=1`)."""
MEMORY = 4 * 2**30
"""Bytes allowed per run in the default number of workers (PRI(list) on TREC-QA: below 3 GiB)."""
PATIENCE = 30
"""Seconds within which a scheduler, and one of its workers, must answer."""
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True)
class Workers:
    """A client of workers, and the device, `cpu` or `cuda`, on which they run."""

    client: Client
    device: str

    def able(self) -> int:
        """Number of workers that can take a run now."""
        known = self.client.scheduler_info(n_workers=-1)["workers"].values()
        return sum(
            self.device != "cuda" or worker["resources"].get(CUDA, 0) >= 1 for worker in known
        )

    def submit(self, function: Callable[..., Any], *arguments: Any, key: str) -> Future:
        """Have a worker call the function; the same key is never called twice."""
        needs = {CUDA: 1} if self.device == "cuda" else {}
        return self.client.submit(function, *arguments, key=key, resources=needs)


@contextlib.contextmanager
def local_workers(count: int, device: str, runs: int) -> Iterator[Workers]:
    """Worker processes on this machine, with one Python thread each; they share its cores.

    A `count` of 0 means one per GPU, or else one per core as far as memory allows; never more than
    `runs`. Raises `QaselError` for a device that is not there.
    """
    device = resolve_device(device).type
    gpus = torch.cuda.device_count() if device == "cuda" else 0
    count = min(count or gpus or max(1, min(CPU_COUNT, MEMORY_LIMIT // MEMORY)), runs)
    threads = str(max(1, min(torch.get_num_threads(), CPU_COUNT // count)))
    # dask makes workers return freed memory at once (MALLOC_TRIM_THRESHOLD_), and so request it
    # again for every tensor: LSTMs took 1.4 times as long to train.
    untrimmed: dict[str, Any] = {"distributed.nanny.pre-spawn-environ": {}}
    with (
        tempfile.TemporaryDirectory(prefix="qasel-sweep-", ignore_cleanup_errors=True) as folder,
        dask.config.set(untrimmed | {"temporary-directory": folder}),
        distributed.LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            memory_limit=0,  # dask would kill a run that needs more than its share
            dashboard_address="127.0.0.1:0",  # address of the scheduler's plain HTTP server
            scheduler_kwargs={"dashboard": False},
            silence_logs=logging.CRITICAL,  # in the workers
            resources={CUDA: 1} if device == "cuda" else {},
            env=dict.fromkeys(THREADS, threads) | {"TQDM_DISABLE": "1"},
        ) as cluster,
        Client(cluster) as client,
    ):
        client.register_plugin(_Child())
        try:
            yield Workers(client, device)
        except BaseException:
            cluster.sync(_end, cluster.workers.values())
            raise


class _Child(distributed.WorkerPlugin):
    """Sets up a worker process so that its parent can interrupt and kill it safely."""

    def setup(self, worker: distributed.Worker) -> None:
        # A terminal sends Ctrl-C to all processes; the parent decides for the workers.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        # tqdm's default lock is shared by processes, and a killed one would leave it behind.
        tqdm.set_lock(threading.RLock())


async def _end(nannies: Iterable[Any]) -> None:
    """End workers, by force after two seconds: no run is waited for, as it can be resumed later."""
    await asyncio.gather(*(nanny.close(timeout=2) for nanny in nannies), return_exceptions=True)


@contextlib.contextmanager
def remote_workers(address: str, device: str) -> Iterator[Workers]:
    """The workers of a running scheduler; they must see the same folders as this machine.

    `auto` is CUDA if a worker announces it. Raises `QaselError` if no scheduler answers, none of
    its workers does, or none has the GPU that was asked for.
    """
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
        on_gpu = Workers(client, "cuda")
        if device == "cuda" and not on_gpu.able():
            raise QaselError(
                f"no worker of {address!r} announces a GPU; start one with "
                f"`dask worker {address} --nthreads 1 --resources {CUDA}=1`, or ask for `cpu`"
            )
        yield on_gpu if device != "cpu" and on_gpu.able() else Workers(client, "cpu")


# Running them


def check(rooms: Rooms, recipes: Iterable[Recipe], data_dir: Path | None = None) -> None:
    """Raise `QaselError` for a recipe whose data are not available, before any is run.

    Data sets are read as each paper's row needs them; word vectors are only looked up.
    """
    names = ("paper", "variant", "dataset", "protocol", "vectors", "corpus", "auxiliary", "share")
    alike = {tuple(getattr(r, name, None) for name in names): r for r in recipes}
    for recipe in alike.values():
        try:
            recipe.load(data_dir).require_labels()
            if recipe.vectors:
                find_vectors(recipe.vectors, data_dir)
        except QaselError as error:
            named = described(rooms[recipe.paper], recipe.as_dict())
            raise QaselError(f"{named}: {error}; nothing was run") from error


def sweep(
    rooms: Rooms,
    recipes: Iterable[Recipe],
    workers: Workers,
    out: Path,
    data_dir: Path | None = None,
    tell: Callable[[Row], None] = lambda row: None,
) -> dict[Recipe, str]:
    """Run the recipes and add their rows to the ledger; returns those that failed, and why.

    A failure does not stop the others. If a worker dies, another resumes its run from the
    checkpoint in `out/SLUG`; a run on which four workers died has failed. Each row is passed to
    `tell`. A bar shows the runs done and the time left. Raises `QaselError` if the ledger or `out`
    cannot be written, and if the scheduler goes away.
    """
    require_writable(results_dir(), "QASEL_RESULTS")
    require_writable(out)
    data = data_dir or os.environ.get("QASEL_DATA")  # unset on workers elsewhere
    places = [str(Path(folder).absolute()) if folder else None for folder in (out, data, Path())]
    waiting = list(recipes)
    running: dict[Future, Recipe] = {}
    failures: dict[Recipe, str] = {}
    with tqdm(total=len(waiting), desc="sweep", unit="run", smoothing=0) as bar:
        while waiting or running:
            # No more than there are workers: one that dies is blamed on its own run only.
            while waiting and len(running) < workers.able():
                recipe = waiting.pop(0)
                given = (rooms[recipe.paper], recipe, workers.device, *places)
                running[workers.submit(run_one, *given, key=f"run-{recipe.hash}")] = recipe
            for future in ended(running):
                recipe = running.pop(future)
                try:
                    outcome = future.result()
                except Exception as error:
                    outcome = reason(error)
                if isinstance(outcome, str):
                    failures[recipe] = outcome
                    bar.set_postfix(failed=len(failures), refresh=False)
                else:
                    # Only this place writes rows, whichever worker ran them, and however often.
                    outcome.write()
                    tell(outcome)
                bar.update()
            if sys.stderr.isatty():
                bar.refresh()
    return failures


def ended(running: Iterable[Future]) -> set[Future]:
    """The futures that have ended, after at most a second; there may be none.

    Raises `QaselError` if the scheduler is gone.
    """
    running = list(running)
    if not running:  # all workers are gone; others may come
        time.sleep(1)
        return set()
    try:
        return distributed.wait(running, timeout=1, return_when="FIRST_COMPLETED").done
    except TimeoutError:
        return set()
    except distributed.client.FuturesCancelledError as error:
        raise QaselError("the scheduler is gone; run the same command again to go on") from error


def reason(error: BaseException) -> str:
    """Why a run failed, on one line; if not for bad input, with the place in the code."""
    if isinstance(error, distributed.KilledWorker):
        how = "one after another, while they ran it (killed, or out of memory?)"
        return f"{error.allowed_failures + 1} worker processes died, {how}"
    message = " ".join(str(error).split())
    if isinstance(error, QaselError):
        return message
    frames = traceback.extract_tb(error.__traceback__)[-1:]
    place = "".join(f" ({Path(last.filename).name}, line {last.lineno})" for last in frames)
    return f"{type(error).__name__}: {message}{place}"


_one_at_a_time = threading.Lock()


def run_one(
    room: Room, recipe: Recipe, device: str, out: str, data_dir: str | None, folder: str = "."
) -> Row | str:
    """Run a recipe in a worker, in the caller's working folder: the row, or why there is none.

    Seeds are global, so a process makes one run at a time, however many threads it has. The workers
    of one machine, which have numbers as names, take its GPUs in turn.
    """
    with _one_at_a_time:
        try:
            with contextlib.chdir(folder):  # relative paths of data and vectors start there
                place = resolve_device(device)
                if place.type == "cuda" and isinstance(
                    number := distributed.get_worker().name, int
                ):
                    torch.cuda.set_device(number % torch.cuda.device_count())
                return measure(recipe, room.ranker, place, Path(out), data_dir, ledger=False)
        except Exception as error:
            return reason(error)
