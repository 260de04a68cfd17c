"""Grids of runs, from options or a YAML file, and running them through worker processes."""

import contextlib
import dataclasses
import os
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from qasel.datasets.registry import unknown
from qasel.errors import QaselError
from qasel.files import require_writable
from qasel.locations import results_dir
from qasel.results import Room
from qasel.results.ledger import Row, place_of
from qasel.results.measure import by_name, is_of, measure
from qasel.results.runs import changed
from qasel.text.vectors import find_vectors
from qasel.training.recipe import Recipe, literal

if TYPE_CHECKING:
    from yaml import MappingNode, Node, SafeLoader

    from qasel.results.workers import Workers

ALL = "all"
"""The variant that stands for every row of a paper."""
Rooms = Mapping[str, Room]


@dataclass(frozen=True)
class Grid:
    """Which runs to make.

    No variant means each paper's own system, `all` every row it has. `set` holds for all runs;
    `over` gives a setting several values, of which each is run with each of the other settings'.
    """

    paper: Sequence[str]
    variant: Sequence[str] = ()
    dataset: Sequence[str] = ("sample",)
    seeds: Sequence[int] = (0,)
    set: Mapping[str, Any] = field(default_factory=dict)
    over: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def recipes(self, rooms: Rooms) -> list[Recipe]:
        """The recipes, each once, the seeds of one after another.

        Raises `QaselError` for a name that is not known and a setting that a paper does not have
        or cannot take.
        """
        if twice := sorted(self.set.keys() & self.over.keys()):
            raise QaselError(f"setting {twice[0]!r} is in `set` and in `over`; name it in one")
        found = []
        for name, dataset in product(self.paper, self.dataset):
            room = rooms[name]
            for variant, *values in product(rows_of(room, self.variant), *self.over.values()):
                settings = {**self.set, **dict(zip(self.over, values, strict=True))}
                chosen = room.configured(variant, dataset, settings)
                found += [chosen.change(seed=seed) for seed in self.seeds]
        return _each_once(found)


def rows_of(room: Room, asked: Sequence[str]) -> Sequence[str]:
    """The variants asked for: none means a paper's own system, `all` every row it has.

    Raises `QaselError` for `all` beside others.
    """
    if ALL not in asked:
        return asked or (room.main,)
    if len(asked) > 1:
        raise QaselError(f"variant {ALL!r} is all there are; leave the others out, or leave it out")
    return room.variants


def _each_once(recipes: Iterable[Recipe]) -> list[Recipe]:
    """The recipes in their order, those with the same hash once."""
    return list({recipe.hash: recipe for recipe in recipes}.values())


def gathered(assignments: Iterable[tuple[str, Any]]) -> dict[str, list[Any]]:
    """Key → all the values it is given: (k, 1), (k, 2) → {k: [1, 2]}."""
    values: dict[str, list[Any]] = {}
    for key, value in assignments:
        values.setdefault(key, []).append(value)
    return values


def described(room: Room, recipe: Recipe) -> str:
    """A recipe in a line: paper, row, data, seed, and the settings that are not the row's own."""
    parts = (
        recipe.paper,
        recipe.variant,
        f"{recipe.dataset} ({recipe.protocol})",
        f"seed {recipe.seed}",
        changed(room, recipe.as_dict()),
    )
    return "  ".join(part for part in parts if part)


# Grids from a file

KEYS = tuple(field.name for field in dataclasses.fields(Grid))
KINDS = {
    "paper": (str, "texts"),
    "variant": (str, "texts"),
    "dataset": (str, "texts"),
    "seeds": (int, "whole numbers"),
}
"""Key → the type of its value, or of each of a list of them, and their name."""


def read_grids(path: Path, rooms: Rooms) -> list[Recipe]:
    """The recipes of a file that holds a grid, or a list of them, each once.

    A grid is a mapping with the fields of `Grid`; only `paper` must be there. Raises
    `QaselError`, with file and line, for what is no such file.
    """
    try:
        import yaml
    except ImportError as error:
        need = "a grid file needs PyYAML; install it with `pip install 'qasel[sweep]'`"
        raise QaselError(need) from error
    try:
        loader = yaml.SafeLoader(path.read_text(encoding="utf-8"))
        root = loader.get_single_node()
        nodes = root.value if isinstance(root, yaml.SequenceNode) else [root]
        recipes = [recipe for node in nodes for recipe in _recipes(path, rooms, loader, node)]
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}, line {mark.line + 1}" if mark else str(path)
        what = getattr(error, "problem", None) or error
        raise QaselError(f"{where}: cannot be read as YAML ({what})") from error
    except RecursionError as error:
        raise QaselError(f"{path}: cannot be read as YAML (nested too deeply)") from error
    except UnicodeDecodeError as error:
        raise QaselError(f"{path}: not a text file ({error})") from error
    return _each_once(recipes)


def _recipes(path: Path, rooms: Rooms, loader: "SafeLoader", node: "Node | None") -> list[Recipe]:
    """The recipes of one grid of the file."""
    if node is None or node.id != "mapping":
        where = f"{path}, line {node.start_mark.line + 1}" if node else str(path)
        raise QaselError(f"{where}: expected a grid, a mapping with {', '.join(KEYS)}")
    fields = _fields(path, loader, node)
    try:
        if "paper" not in fields:
            raise QaselError("a grid must name a `paper`, or several")
        return Grid(**fields).recipes(rooms)
    except QaselError as error:
        raise QaselError(f"{path}, line {node.start_mark.line + 1}: {error}") from error


def _fields(path: Path, loader: "SafeLoader", node: "MappingNode") -> dict[str, Any]:
    """The values of a grid's fields, each of its type."""
    fields: dict[str, Any] = {}
    for key_node, value_node in node.value:
        key = key_node.value
        try:
            if key not in KEYS:
                raise QaselError(unknown("key of a grid", str(key), dict.fromkeys(KEYS)))
            if key in fields:
                raise QaselError(f"{key!r} a second time")
            if value_node.id == "mapping":
                names = [str(name.value) for name, _ in value_node.value]
                if twice := [name for name in names if names.count(name) > 1]:
                    raise QaselError(f"{key}: {twice[0]!r} a second time")
            fields[key] = _field(key, loader.construct_object(value_node, deep=True))
        except QaselError as error:
            raise QaselError(f"{path}, line {key_node.start_mark.line + 1}: {error}") from error
    return fields


def _field(key: str, value: Any) -> Any:
    """What YAML gave as the value of a field of `Grid`; raises `QaselError` for another type."""
    if key in KINDS:
        kind, name = KINDS[key]
        values = value if isinstance(value, list) else [value]
        if not values or not all(type(part) is kind for part in values):
            raise QaselError(f"{key}: expected {name}, one or a list, got {value!r}")
        if key == "seeds" and min(values) < 0:
            raise QaselError("seeds: a seed cannot be negative")
        return values
    if not isinstance(value, dict) or not all(isinstance(setting, str) for setting in value):
        raise QaselError(f"{key}: expected settings and their values, got {value!r}")
    if key == "over" and not all(isinstance(part, list) and part for part in value.values()):
        raise QaselError(f"over: expected a list of values for each setting, got {value!r}")
    return {setting: _literals(part) for setting, part in value.items()}


def _literals(value: Any) -> Any:
    """Texts read as on the command line: for YAML, `1e-3` (without a point) is a text."""
    if isinstance(value, list):
        return [_literals(part) for part in value]
    return literal(value) if isinstance(value, str) else value


# Running them


@dataclass(frozen=True)
class Failure:
    """A run that failed, and why, in one line."""

    room: Room
    recipe: Recipe
    reason: str

    def __str__(self) -> str:
        return f"{described(self.room, self.recipe)}  [{self.recipe.slug}]: {self.reason}"


def held(recipe: Recipe, data_dir: Path | None = None) -> bool:
    """Whether the ledger has a row of the recipe, and of what files of one's own hold now.

    They may have changed since, and others may have the same name.
    """
    path = place_of(recipe)
    if not path.exists() or by_name(recipe):
        return path.exists()
    return is_of(Row.read(path), recipe, data_dir)


def check(rooms: Rooms, recipes: Iterable[Recipe], data_dir: Path | None = None) -> None:
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
            named = described(rooms[recipe.paper], recipe)
            raise QaselError(f"{named}: {error}; nothing was run") from error


def sweep(
    rooms: Rooms,
    recipes: Iterable[Recipe],
    workers: "Workers",
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
        for outcome in _outcomes(rooms, recipes, workers, out, data_dir):
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
    rooms: Rooms, recipes: list[Recipe], workers: "Workers", out: Path, data_dir: Path | None
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
            given = (rooms[recipe.paper], recipe, workers.device, *places)
            running[workers.submit(run_one, *given, key=f"run-{recipe.hash}")] = recipe
        for future in workers.ended(running):
            recipe = running.pop(future)
            try:
                yield workers.result(future)
            except Exception as error:
                yield Failure(rooms[recipe.paper], recipe, _reason(error))
        yield None


_one_at_a_time = threading.Lock()


def run_one(
    room: Room, recipe: Recipe, device: str, out: str, data_dir: str | None, folder: str = "."
) -> Row | Failure:
    """Run a recipe in a worker, in the working folder of who asked: the row, or why there is none.

    Seeds are global, so a process has one run at a time, whatever number of threads it has.
    """
    with _one_at_a_time:
        try:
            from qasel.results.workers import take  # dask, which grids do without

            with contextlib.chdir(folder):  # relative names of data and vectors are from there
                place = take(device)
                return measure(recipe, room.ranker, place, Path(out), data_dir, ledger=False)
        except Exception as error:
            return Failure(room, recipe, _reason(error))


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
