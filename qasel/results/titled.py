"""A table under a title, some of its cells with a superscript, as Markdown or LaTeX."""

from collections.abc import Sequence
from dataclasses import dataclass

from qasel.results.tables import escape_latex, latex_table, markdown_table

Marked = tuple[str, str]
"""A text and its superscript."""


@dataclass(frozen=True)
class Table:
    """A titled table; `numbers` are the columns set flush right."""

    title: str
    header: list[str]
    cells: Sequence[Sequence[str | Marked]]
    numbers: set[int]

    def markdown(self, level: int = 3) -> str:
        """The table under its title, a heading of this level."""
        cells = [[_superscript(cell, "<sup>{}</sup>") for cell in line] for line in self.cells]
        body = markdown_table(self.header, cells, self.numbers)
        return f"{'#' * level} {self.title}\n\n{body}"

    def latex(self) -> str:
        """The table under its title, a paragraph."""
        cells = [
            [_superscript(_escaped(cell), r"\textsuperscript{{{}}}") for cell in line]
            for line in self.cells
        ]
        header = [escape_latex(name) for name in self.header]
        body = latex_table(header, cells, self.numbers)
        return f"\\par {escape_latex(self.title)}\n\n{body}"


def _escaped(cell: str | Marked) -> str | Marked:
    if isinstance(cell, str):
        return escape_latex(cell)
    return escape_latex(cell[0]), escape_latex(cell[1])


def _superscript(cell: str | Marked, form: str) -> str:
    if isinstance(cell, str):
        return cell
    text, mark = cell
    return text + (form.format(mark) if mark else "")
