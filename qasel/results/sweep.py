"""Run many recipes through worker processes: what the ledger holds is skipped, failures kept."""

import contextlib
import os
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tqdm import tqdm

from qasel.errors import QaselError
from qasel.files import require_writable
from qasel.locations import results_dir
from qasel.papers import paper as room
from qasel.results.grid import told
from qasel.results.ledger import Row, place_of
from qasel.results.measure import by_name, is_of, measure
from qasel.results.workers import Workers, take
from qasel.text.vectors import find_vectors
from qasel.training import Recipe


@dataclass(frozen=True)
class Failure:
    """A run that failed, and why, in one line."""

    recipe: Recipe
    reason: str

    def __str__(self) -> str:
        return f"{told(self.recipe)}  [{self.recipe.slug}]: {self.reason}"


def held(recipe: Recipe, data_dir: Path | None = None) -> bool:
    """Whether the ledger has a row of the recipe, and of what files of one's own hold now.

    They may have changed since, and others may have the same name.
    """
    path = place_of(recipe)
    if not path.exists() or by_name(recipe):
        return path.exists()
    return is_of(Row.read(path), recipe, data_dir)


def check(recipes: Iterable[Recipe], data_dir: Path | None = None) -> None:
    """Raise `QaselError` for a recipe whose data cannot be had, before any is run.

    Data sets are read, as each paper's row wants them; word vectors are only looked for.
    """
    names = ("paper", "variant", "dataset", "protocol", "vectors", "corpus", "auxiliary", "share")
    alike = {tuple(getattr(r, name, None) for name in names): r for r in recipes}
    for recipe in alike.values():
        try:
            recipe.load(data_dir).require_labels()
            if recipe.vectors:
                find_vectors(recipe.vectors, data_dir)
        except QaselError as error:
            raise QaselError(f"{told(recipe)}: {error}; nothing was run") from error


def sweep(
    recipes: Iterable[Recipe],
    workers: Workers,
    out: Path,
    data_dir: Path | None = None,
    tell: Callable[[Row], None] = lambda row: None,
) -> list[Failure]:
    """Run the recipes and add their rows to the ledger; the failures, in order.

    One that fails stops no other. Where a worker dies, another goes on with its run, from the
    checkpoint in `out/SLUG`; a run that four workers died of has failed. Each row is passed
    to `tell`. A bar shows the runs done and the time left. Raises `QaselError` for a ledger or
    `out` that cannot be written.
    """
    require_writable(results_dir(), "QASEL_RESULTS")
    require_writable(out)
    recipes = list(recipes)
    failures = []
    with tqdm(total=len(recipes), desc="sweep", unit="run", smoothing=0) as bar:
        for outcome in _outcomes(recipes, workers, out, data_dir):
            if outcome is None:
                if sys.stderr.isatty():
                    bar.refresh()
                continue
            if isinstance(outcome, Failure):
                failures.append(outcome)
                bar.set_postfix(failed=len(failures), refresh=False)
            else:
                # The one place that writes, whichever worker ran it, and however often.
                outcome.write()
                tell(outcome)
            bar.update()
    return sorted(failures, key=lambda failure: recipes.index(failure.recipe))


def _outcomes(
    recipes: list[Recipe], workers: Workers, out: Path, data_dir: Path | None
) -> Iterator[Row | Failure | None]:
    """What becomes of each recipe, as they end; None now and then, when nothing has."""
    data = data_dir or os.environ.get("QASEL_DATA")  # which workers elsewhere do not have
    places = [str(Path(folder).absolute()) if folder else None for folder in (out, data, Path())]
    waiting = deque(recipes)
    running: dict[Any, Recipe] = {}
    while waiting or running:
        # No more than there are workers, so that one that dies is blamed on its own run only.
        while waiting and len(running) < workers.able():
            recipe = waiting.popleft()
            key = f"run-{recipe.hash}"
            running[workers.submit(run_one, recipe, workers.device, *places, key=key)] = recipe
        for future in workers.ended(running):
            recipe = running.pop(future)
            try:
                yield workers.result(future)
            except Exception as error:
                yield Failure(recipe, _reason(error))
        yield None


_one_at_a_time = threading.Lock()


def run_one(
    recipe: Recipe, device: str, out: str, data_dir: str | None, folder: str = "."
) -> Row | Failure:
    """Run a recipe in a worker, in the working folder of who asked: the row, or why there is none.

    Seeds are global, so a process has one run at a time, whatever number of threads it has.
    """
    with _one_at_a_time:
        try:
            ranker = room(recipe.paper).ranker
            with contextlib.chdir(folder):  # relative names of data and vectors are from there
                return measure(recipe, ranker, take(device), Path(out), data_dir, ledger=False)
        except Exception as error:
            return Failure(recipe, _reason(error))


def _reason(error: BaseException) -> str:
    """An exception in one line, with the place of one that is not bad input."""
    message = " ".join(str(error).split())
    if isinstance(error, QaselError):
        return message
    place = ""
    with contextlib.suppress(IndexError):
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f" ({Path(last.filename).name}, line {last.lineno})"
    return f"{type(error).__name__}: {message}{place}"
