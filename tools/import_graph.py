"""The import graph of the package, lazy imports included: `python tools/import_graph.py`.

Prints modules, lines and importers of each room; the tests hold the graph to `ORDER`.
"""

import argparse
import ast
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "qasel"

ORDER = [
    ("errors", "files", "locations", "onednn"),
    ("datasets",),
    ("text",),
    ("evaluation",),
    ("rankers",),
    ("layers",),
    ("training",),
    ("results",),
    ("figures",),
    ("widgets",),
    ("papers",),
    ("cli",),
]
"""Rooms in the order of their imports: each may import itself and those above it."""


def modules() -> dict[str, Path]:
    """Dotted name of each module -> its file."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(path: Path, known: set[str]) -> set[str]:
    """The modules of ours that a file imports anywhere: at its top, lazily, or by `importlib`.

    Raises `ValueError` for a call of `import_module` whose name is computed, so that no edge can
    hide, unless it is one of another package.
    """
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                found.add(whole if whole in known else node.module)
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            (name, *_) = node.args
            if "qasel" in ast.unparse(name):
                if not isinstance(name, ast.Constant):
                    raise ValueError(f"{path}:{node.lineno}: a computed import hides an edge")
                found.add(name.value)
    return found & known


def graph() -> dict[str, set[str]]:
    """Module -> the modules of ours that it imports."""
    files = modules()
    return {name: imports(path, set(files)) - {name} for name, path in files.items()}


def room(module: str) -> str:
    """`qasel.papers.ap_mpcnn.model` -> `papers`; the package itself is ``."""
    return module.split(".")[1] if "." in module else ""


def cycle(edges: dict[str, set[str]]) -> list[str]:
    """Modules that import each other in a ring, or an empty list."""
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def table() -> str:
    """Markdown: rooms with their modules, lines, and the rooms that import them."""
    files, edges = modules(), graph()
    lines: dict[str, int] = defaultdict(int)
    count: dict[str, int] = defaultdict(int)
    users: dict[str, set[str]] = defaultdict(set)
    for name, path in files.items():
        lines[room(name)] += len(path.read_text(encoding="utf-8").splitlines())
        count[room(name)] += 1
        for other in edges[name]:
            if room(other) != room(name):
                users[room(other)].add(room(name))
    rows = ["| room | modules | lines | imported by |", "| :-- | --: | --: | :-- |"]
    for name in [place for places in ORDER for place in places]:
        if count[name]:
            by = ", ".join(sorted(users[name] - {""}))
            rows.append(f"| {name} | {count[name]} | {lines[name]:,} | {by} |")
    rows.append(f"| all | {len(files)} | {sum(lines.values()):,} | |")
    return "\n".join(rows)


def main() -> None:
    """Print the table."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    print(table())


if __name__ == "__main__":
    main()
