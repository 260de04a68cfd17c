"""List the claims of the notebooks with the numbers behind them: `python tools/claims.py`.

A claim is a code cell with the tag `claim`: its sentence is an f-string, so the numbers in it are
those of the run. This tool reads the saved notebooks and writes docs/notes/claims.md: each sentence
as saved, each of its numbers beside the expression that computes it, and below them any scores that
are typed in prose and not printed by a paper, of which there should be none.
"""

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from qasel.errors import QaselError
from qasel.files import write_whole
from qasel.locations import NOTEBOOKS, ROOT
from qasel.papers import PAPERS, ROOMS
from qasel.results.tables import published

TAG = "claim"
PAGE = ROOT / "docs" / "notes" / "claims.md"
SCORE = re.compile(r"(?<![\d.])0\.\d{3}(?!\d)")
NO_PROSE = re.compile(r"\$[^$]*\$|`[^`]*`", re.DOTALL)
VERDICTS = re.compile(
    r"(?:Of the )?\d+ (?:numbers|comparisons)[^\n]*?(?:not run\.|\)\.|run by us\.)"
)
"""Matches the summaries of the tables of numbers and of claims."""
TABLE = re.compile(r" \| .*? \| :?--.*\|")
"""Matches a Markdown table on one line."""


def claims(notebook: NotebookNode) -> Iterator[tuple[int, str, dict[str, str]]]:
    """Yield cell number, sentences as saved, and expression → value, for each cell with the tag.

    Raises `QaselError` for a cell with the tag that was not run, or has no number in its text.
    """
    for number, cell in enumerate(notebook.cells):
        if TAG not in cell.metadata.get("tags", []):
            continue
        told = " ".join(texts(cell))
        values: dict[str, str] = {}
        source = ast.parse(cell.source)
        # An f-string that a generator repeats has no text around it to be found by.
        repeated = {
            piece
            for node in ast.walk(source)
            if isinstance(node, ast.GeneratorExp)
            for piece in ast.walk(node)
        }
        for node in ast.walk(source):
            if isinstance(node, ast.JoinedStr) and node not in repeated:
                values |= filled(node, told)
        if not values:
            raise QaselError(f"cell {number}: no number of its text is found in its output")
        yield number, told, values


def texts(cell: NotebookNode) -> Iterator[str]:
    """Yield the texts that a cell printed or displayed as Markdown."""
    for output in cell.outputs:
        text = output.get("text") or output.get("data", {}).get("text/markdown")
        if text:
            yield " ".join(text.split())


def filled(node: ast.JoinedStr, told: str) -> dict[str, str]:
    """Return expression of an f-string → its value in the text, or values if there are several."""
    pattern, names = "", []
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            names.append(ast.unparse(part.value))
            pattern += "(.+?)"
        else:
            pattern += re.sub(r"(?:\\\s)+|\s+", r"\\s+", re.escape(part.value))
    found = re.findall(f"{pattern.strip()}(?!\\w)", told) if names else []
    found = [(each,) if isinstance(each, str) else each for each in found]
    columns = zip(*found, strict=True)
    return {name: ", ".join(values) for name, values in zip(names, columns, strict=False)}


def typed(notebook: NotebookNode, known: set[str]) -> Iterator[tuple[int, str]]:
    """Yield the cell number and the score of each score in prose that no paper prints."""
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            for score in SCORE.findall(NO_PROSE.sub("", cell.source)):
                if score not in known:
                    yield number, score


def section(path: Path, known: set[str]) -> str:
    """Return a notebook's section; raises `QaselError` like `claims`, with the notebook's name."""
    notebook = nbformat.read(path, as_version=4)
    parts = [f"## {path.stem}"]
    try:
        for number, told, values in claims(notebook):
            lines = [f"| `{name.replace('|', '¦')}` | {value} |" for name, value in values.items()]
            table = ["| number | value |", "| :-- | :-- |", *lines]
            parts += [f"**Cell {number}.** {TABLE.sub('', told)}", "\n".join(table)]
    except QaselError as error:
        raise QaselError(f"{path.name}, {error}") from error
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type == "code" and TAG not in cell.metadata.get("tags", []):
            counted = VERDICTS.findall(" ".join(texts(cell)).replace("\u00a0", " "))
            parts += [f"**Cell {number}, verdicts counted.** {told}" for told in counted]
    wrong = [f"{score} (cell {number})" for number, score in typed(notebook, known)]
    parts.append(f"Scores typed in prose that no paper prints: {', '.join(wrong) or 'none'}.")
    return "\n\n".join(parts)


def printed() -> set[str]:
    """Return every score that the papers print, with three decimals."""
    return {f"{value:.3f}" for name in PAPERS for value in published(ROOMS[name])["value"]}


def page(folder: Path) -> str:
    """Return the text of the page; raises `QaselError` like `section`."""
    known = printed()
    parts = [section(path, known) for path in sorted(folder.glob("0*.ipynb"))]
    title = "# What the notebooks claim, and the numbers that bear it"
    made = "Made by `python tools/claims.py` from the notebooks as they are saved."
    return "\n\n".join([title, made, *parts]) + "\n"


def main() -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=NOTEBOOKS, help="of the notebooks")
    try:
        write_whole(PAGE, page(parser.parse_args().folder))
    except QaselError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
