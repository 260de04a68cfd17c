"""Grids from a YAML file; whatever is wrong in it is told with its line."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qasel.datasets.registry import unknown
from qasel.errors import QaselError
from qasel.results.grid import Grid, each_once
from qasel.training.recipe import Recipe, literal

if TYPE_CHECKING:
    from yaml import MappingNode, Node, SafeLoader

KEYS = tuple(field.name for field in dataclasses.fields(Grid))
KINDS = {
    "paper": (str, "texts"),
    "variant": (str, "texts"),
    "dataset": (str, "texts"),
    "seeds": (int, "whole numbers"),
}
"""Key → the type of its value, or of each of a list of them, and their name."""


def read_grids(path: Path) -> list[Recipe]:
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
        recipes = [recipe for node in nodes for recipe in _recipes(path, loader, node)]
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}, line {mark.line + 1}" if mark else str(path)
        what = getattr(error, "problem", None) or error
        raise QaselError(f"{where}: cannot be read as YAML ({what})") from error
    except RecursionError as error:
        raise QaselError(f"{path}: cannot be read as YAML (nested too deeply)") from error
    except UnicodeDecodeError as error:
        raise QaselError(f"{path}: not a text file ({error})") from error
    return each_once(recipes)


def _recipes(path: Path, loader: "SafeLoader", node: "Node | None") -> list[Recipe]:
    """The recipes of one grid of the file."""
    if node is None or node.id != "mapping":
        where = f"{path}, line {node.start_mark.line + 1}" if node else str(path)
        raise QaselError(f"{where}: expected a grid, a mapping with {', '.join(KEYS)}")
    fields = _fields(path, loader, node)
    try:
        if "paper" not in fields:
            raise QaselError("a grid must name a `paper`, or several")
        return Grid(**fields).recipes()
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
