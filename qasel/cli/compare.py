"""`qasel compare`: systems side by side on data sets, from the ledger."""

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qasel.cli.options import Format
from qasel.errors import QaselError
from qasel.files import shown

if TYPE_CHECKING:
    import pandas as pd

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
    format_: Format = "md",
    figure: Annotated[
        Path | None, typer.Option(help="Draw the matrix too: FILE.pdf, FILE.svg and FILE.png.")
    ] = None,
) -> None:
    """Compare systems: means, intervals, corrected tests, wins and ties, cost."""
    from qasel.datasets.load import full_name
    from qasel.papers import ROOMS
    from qasel.results import compare as side_by_side
    from qasel.results.ledger import read_ledger
    from qasel.results.runs import read_runs

    if figure and not figure.name:
        raise QaselError("--figure: give the name of a file, without its ending")
    system, dataset = system or [], [full_name(name) for name in dataset or ()]
    runs = read_runs(ROOMS.values(), read_ledger())
    found = side_by_side.entries(runs)
    aside = _not_compared(runs, system, dataset)
    try:
        if found.empty:
            raise QaselError("the ledger has no runs to compare; make some with `qasel run`")
        found = side_by_side.chosen(found, system, dataset)
        if found.empty:
            raise QaselError(f"none of these systems was run on {', '.join(dataset)}")
    except QaselError as error:
        raise QaselError("; ".join([str(error), *aside])) from None
    cells = side_by_side.with_tests(side_by_side.matrix(found, measure))
    typer.echo(side_by_side.render(cells, format_).rstrip("\n"))
    for text in aside:
        typer.echo(f"qasel: note: {text}", err=True)
    if figure:
        from qasel.figures.compare import score_matrix
        from qasel.figures.style import save

        # Its three endings are added; one that the reader wrote would stand twice.
        stem = figure.stem if figure.suffix in (".pdf", ".svg", ".png") else figure.name
        for path in save(score_matrix(cells), stem, figure.parent):
            typer.echo(shown(path), err=True)


def _not_compared(
    runs: "pd.DataFrame", systems: Collection[str], data: Collection[str]
) -> list[str]:
    """A sentence on the runs left out, as their settings are not their row's own; none: no such."""
    from qasel.results.runs import COMPARISON, TABLE, listed

    runs = runs[(runs["split"] == "test") & ~runs["counts"].isin((TABLE, COMPARISON))]
    if systems:
        runs = runs[runs["variant"].isin(systems)]
    if data:
        keys = runs["dataset"] + "/" + runs["protocol"]
        runs = runs[runs["dataset"].isin(data) | keys.isin(data)]
    if runs.empty:
        return []
    number = f"{len(runs)} run{'s' if len(runs) > 1 else ''}"
    text = f"{number} with other settings than the row's own, or other data or code: not compared"
    if not systems and not data:
        return [text]
    kinds = [f"{r.variant} ({listed(r.changed) or r.counts})" for r in runs.itertuples()]
    kinds = list(dict.fromkeys(kinds))
    more = f" and {len(kinds) - SHOWN} more kinds" if len(kinds) > SHOWN else ""
    return [f"{text}: {'; '.join(kinds[:SHOWN])}{more}"]
