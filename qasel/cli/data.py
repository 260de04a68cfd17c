"""`qasel data list | fetch | check | describe`: the collections, their files and their numbers."""

from collections.abc import Iterable, Sequence
from typing import Annotated

import typer

from qasel.cli.options import DataDir, NewDataDir
from qasel.errors import QaselError

app = typer.Typer(no_args_is_help=False, help="List, fetch, check and describe the data sets.")


@app.command("list")
def list_(data_dir: DataDir = None) -> None:
    """Name every collection, its protocols, how to get it and how many of its files are here."""
    from qasel.datasets.fetch import check
    from qasel.datasets.registry import COLLECTIONS

    files = check(None, data_dir, contents=False)
    rows = []
    for known in COLLECTIONS.values():
        here = [file.status != "absent" for file in files if file.collection == known.name]
        protocols = [name + "*" * (name == known.default) for name in known.protocols]
        kind = ", ".join(protocols) or ("pairs" if known.pairs else "-")
        how = "fetch" if known.url else "bundled" if known.name == "sample" else "by hand"
        rows.append((known.name, kind, f"{sum(here)} of {len(here)}", how, known.title))
    _print(("name", "protocols", "files here", "to get it", "what"), rows)
    typer.echo("* protocol by default; pairs: sentence pairs; -: files that can be checked")
    typer.echo(
        "A data set of your own is a folder with train, dev and test, .tsv or .jsonl: "
        "question, candidate, label (0 or 1)"
    )


@app.command()
def fetch(
    name: Annotated[str, typer.Argument(help="A collection, e.g. wikiqa or glove.6B.100d.")],
    data_dir: NewDataDir = None,
) -> None:
    """Download a collection from its official source; one that breaks off starts anew."""
    from qasel.datasets.fetch import fetch as get
    from qasel.datasets.registry import collection

    known = collection(name)
    paths = get(name, data_dir, progress=True)
    told = f"{known.name}: {known.source}. Licence: {known.licence}. Cite: {known.citation}."
    typer.echo("\n".join([told, *map(str, paths)]))


@app.command()
def check(
    name: Annotated[str, typer.Argument(help="A collection; all of them by default.")] = "",
    data_dir: DataDir = None,
) -> None:
    """Compare the files that are here with their checksums."""
    from qasel.datasets.fetch import check as compare

    files = compare(name or None, data_dir)
    rows = [(file.collection, file.status, file.file, str(file.path or "-")) for file in files]
    _print(("collection", "status", "file", "found at"), rows)
    if wrong := [file for file in files if file.status in ("wrong sha256", "unreadable")]:
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        first = f"{wrong[0].path}: {wrong[0].status}{more}"
        raise QaselError(f"{first}; delete it and get the data set anew")
    if name and all(file.status == "absent" for file in files):
        raise QaselError(f"no file of {name} is here; see `qasel data list`, or set QASEL_DATA")


@app.command()
def describe(
    name: Annotated[str, typer.Argument(help="A data set, or a folder of your own files.")],
    protocol: Annotated[str, typer.Option(help="Which questions count; see `list`.")] = "",
    data_dir: DataDir = None,
) -> None:
    """Print questions, pairs, positives and mean lengths of each split, and what is missing.

    Of sentence pairs (fnc-1, mnli), the pairs of each label and mean lengths.
    """
    from qasel import datasets
    from qasel.datasets.registry import COLLECTIONS

    if name in COLLECTIONS and COLLECTIONS[name].pairs:
        if protocol:
            raise QaselError(f"{name} has sentence pairs and no protocols; leave --protocol out")
        task = datasets.load_pairs(COLLECTIONS[name].pairs, data_dir)
        typer.echo(f"{task.name}, {len(task)} pairs")
        records, notes = datasets.describe_pairs(task), task.notes
    else:
        dataset = datasets.load_dataset(name, protocol or None, data_dir)
        typer.echo(f"{dataset.name}, protocol {dataset.protocol}")
        records, notes = datasets.describe(dataset), dataset.notes
    rows = [
        [f"{value:.2f}" if isinstance(value, float) else str(value) for value in record.values()]
        for record in records
    ]
    _print([title.replace("_", " ") for title in records[0]], rows)
    for note in notes:
        typer.echo(f"note: {note}")


def _print(header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table in columns, two blanks apart."""
    table = [header, *rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        typer.echo("  ".join(map(str.ljust, row, widths)).rstrip())
