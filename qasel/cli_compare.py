"""`qasel compare`: systems side by side on data sets, from the ledger."""

from pathlib import Path
from typing import Annotated

import typer

from qasel.errors import QaselError
from qasel.files import shown


def compare(
    dataset: Annotated[
        list[str] | None,
        typer.Option(help="A data set, or one under a protocol (wikiqa/mixed); default: all."),
    ] = None,
    system: Annotated[
        list[str] | None, typer.Option(help="A system, as the table names it; default: all.")
    ] = None,
    measure: Annotated[str, typer.Option(help="map, mrr or p1.")] = "map",
    format_: Annotated[str, typer.Option("--format", help="md, csv or latex.")] = "md",
    figure: Annotated[
        Path | None, typer.Option(help="Draw the matrix too: FILE.pdf, FILE.svg and FILE.png.")
    ] = None,
) -> None:
    """Compare systems: means, intervals, corrected tests, wins and ties, cost."""
    from qasel.results.matrix import Matrix
    from qasel.results.outcomes import outcomes
    from qasel.results.side_by_side import render

    found = outcomes()
    if not found:
        raise QaselError("the ledger has no runs to compare; make some with `qasel run`")
    matrix = Matrix.of(found, measure).only(system or (), dataset or ())
    if not matrix.cells:
        raise QaselError(f"none of these systems was run on {', '.join(dataset or ())}")
    typer.echo(render(matrix, format_).rstrip("\n"))
    if figure:
        from qasel.figures.compare import score_matrix
        from qasel.figures.style import save

        # Its three endings are added; one that the reader wrote would stand twice.
        stem = figure.stem if figure.suffix in (".pdf", ".svg", ".png") else figure.name
        for path in save(score_matrix(matrix), stem, figure.parent):
            typer.echo(shown(path), err=True)
