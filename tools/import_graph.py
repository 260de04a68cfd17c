"""Print the package's import graph, lazy imports included: `python tools/import_graph.py`.

The table has the modules, lines and importers of each room; tests check the graph against `ORDER`.
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
"""Rooms in the order of imports: each may import itself and those above it."""


ABOUT = {
    "datasets": "registry, readers",
    "text": "words, vectors, encoders",
    "evaluation": "measures, tests",
    "rankers": "Ranker, baselines",
    "layers": "shared network parts",
    "training": "recipe, batches, trainer",
    "results": "ledger, tables, sweeps",
    "figures": "house style, charts",
    "widgets": "shared explorers",
    "papers": "one room per paper",
    "cli": "the qasel command",
}
"""What a room holds, for the picture."""


def modules() -> dict[str, Path]:
    """Dotted name of each module -> its file."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(path: Path, known: set[str]) -> set[str]:
    """Return our modules that a file imports anywhere: at the top, lazily, or by `importlib`.

    Raises `ValueError` if a call of `import_module` computes the name of a module of ours, so that
    no edge can hide.
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
    """Return modules that import each other in a cycle, or an empty list."""
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def needed() -> dict[str, set[str]]:
    """Room -> the rooms that it imports, without those that it also reaches by another import."""
    direct: dict[str, set[str]] = defaultdict(set)
    for module, others in graph().items():
        direct[room(module)] |= {room(other) for other in others} - {room(module), ""}

    def reached(name: str) -> set[str]:
        return set().union(*({other} | reached(other) for other in direct[name]))

    return {
        name: others - set().union(*(reached(other) for other in others))
        for name, others in list(direct.items())
    }


def draw() -> None:
    """Write `docs/architecture.svg`: the rooms in the order of their imports."""
    from qasel.figures.diagrams import Arrow, Box, Diagram, diagrams

    places = [place for rooms in ORDER[1:] for place in rooms]  # without the base of all
    height: dict[str, int] = {}
    edges = needed()
    for name in places:
        height[name] = 1 + max((height[o] for o in edges[name] if o in height), default=0)
    rows = [[n for n in places if height[n] == h] for h in range(1, max(height.values()) + 1)]
    boxes = {
        name: Box(name, 1.9 * (i - (len(row) - 1) / 2), 0.9 * h, ABOUT[name], width=1.7, height=0.6)
        for h, row in enumerate(rows)
        for i, name in enumerate(row)
    }
    arrows = [
        Arrow(a, b, bend=-0.3 if height[a] - height[b] > 1 else 0.0)
        for a in places
        for b in sorted(edges[a])
        if b in boxes
    ]
    figure = diagrams({" ": Diagram(boxes, arrows)}, note="an arrow: imports", fontsize=10)
    figure.savefig(ROOT / "docs" / "architecture.svg", metadata={"Date": None, "Creator": None})


def table() -> str:
    """Return Markdown: rooms with their modules, lines, and the rooms that import them."""
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
    """Print the table, and draw the picture if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draw", action="store_true", help="write docs/architecture.svg too")
    if parser.parse_args().draw:
        draw()
    print(table())


if __name__ == "__main__":
    main()
