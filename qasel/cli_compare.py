"""`qasel compare`: systems side by side on data sets, from the ledger."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from qasel.errors import QaselError
from qasel.files import shown

SHOWN = 5
"""Kinds of runs that are named at most."""


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
    from qasel.datasets.load import full_name
    from qasel.results.ledger import read_ledger
    from qasel.results.matrix import Matrix
    from qasel.results.outcomes import outcomes, set_aside
    from qasel.results.side_by_side import render

    if figure and not figure.name:
        raise QaselError("--figure: give the name of a file, without its ending")
    dataset = [full_name(name) for name in dataset or ()]
    rows = list(read_ledger())
    found = outcomes(rows)
    aside = _told([row.recipe for row in set_aside(rows)], system or (), dataset or ())
    if not found:
        nothing = "the ledger has no runs to compare; make some with `qasel run`"
        raise QaselError("; ".join([nothing, *aside]))
    whole = Matrix.of(found, measure)
    try:
        matrix = whole.only(system or (), dataset or ())
    except QaselError as error:
        raise QaselError("; ".join([str(error), *aside])) from None
    if not matrix.cells:
        nothing = f"none of these systems was run on {', '.join(dataset or ())}"
        raise QaselError("; ".join([nothing, *aside]))
    typer.echo(render(matrix, format_).rstrip("\n"))
    for text in aside:
        typer.echo(f"qasel: note: {text}", err=True)
    if figure:
        from qasel.figures.compare import score_matrix
        from qasel.figures.style import save

        # Its three endings are added; one that the reader wrote would stand twice.
        stem = figure.stem if figure.suffix in (".pdf", ".svg", ".png") else figure.name
        for path in save(score_matrix(matrix), stem, figure.parent):
            typer.echo(shown(path), err=True)


def _told(
    recipes: list[Mapping[str, Any]], systems: Collection[str], data: Collection[str]
) -> list[str]:
    """Which runs on these data are not compared, because their settings are not their row's own.

    A sentence, or none where there are no such runs.
    """
    asked = [
        recipe
        for recipe in recipes
        if (not systems or recipe["variant"] in systems)
        and (not data or {recipe["dataset"], f"{recipe['dataset']}/{recipe['protocol']}"} & {*data})
    ]
    if not asked:
        return []
    number = f"{len(asked)} run{'s' if len(asked) > 1 else ''}"
    text = f"{number} with other settings than the row's own, or other data or code: not compared"
    if not systems and not data:
        return [text]
    named = [f"{recipe['variant']} ({_why(recipe)})" for recipe in asked]
    kinds = list(dict.fromkeys(named))
    more = f" and {len(kinds) - SHOWN} more kinds" if len(kinds) > SHOWN else ""
    return [f"{text}: {'; '.join(kinds[:SHOWN])}{more}"]


def _why(recipe: Mapping[str, Any]) -> str:
    """Why a run does not count."""
    from qasel.results.grid import changed

    try:
        return changed(recipe) or "other data"
    except QaselError:
        return "not known to this version"
