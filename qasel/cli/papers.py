"""`qasel run | sweep | check | table | compare | figures | notebooks`: runs, results and pages."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qasel.cli.options import DataDir, Device, Format, Out, Paper, Seeds, Settings, Variants
from qasel.errors import QaselError
from qasel.files import shown

if TYPE_CHECKING:
    import pandas as pd

    from qasel.results import Room
    from qasel.results.ledger import Row

RUNS = Path("runs")
SHOWN = 5
"""Largest number of kinds of runs that are named."""


def run(
    paper: Paper,
    variant: Variants = None,
    dataset: Annotated[
        str, typer.Option(help="A data set, or a folder: see `qasel data list`.")
    ] = "sample",
    seeds: Seeds = None,
    device: Device = "auto",
    set_: Settings = None,
    out: Out = RUNS,
    data_dir: DataDir = None,
) -> None:
    """Train and measure; every finished run is a row of the ledger. A killed run goes on.

    Several runs end with a table of their means over seeds.
    """
    from tqdm import tqdm

    from qasel.papers import ROOMS
    from qasel.results.ledger import on_record
    from qasel.results.measure import measure
    from qasel.results.runs import read_runs
    from qasel.results.tables import by_settings
    from qasel.training import resolve_device
    from qasel.training.recipe import settings

    place, room = resolve_device(device), ROOMS[paper]
    asked = [room.configured(v, dataset, settings(set_ or ())) for v in room.rows(variant or ())]
    rows = []
    for recipe in [chosen.change(seed=n) for chosen in asked for n in parse_seeds(seeds or ["0"])]:
        before = on_record([recipe])
        rows.append(measure(recipe, room.ranker, place, out, data_dir))
        tqdm.write(outcome(room, rows[-1], out))
        if before and on_record([recipe]) != before:
            (old,) = before
            test = old.scores["test"]
            tqdm.write(
                f"  in the ledger in place of test MAP {test['map']:.4f} MRR {test['mrr']:.4f} "
                f"({old.finished[:10]}, {old.device}, revision {old.revision})"
            )
    if len(rows) > 1:
        tqdm.write(by_settings(read_runs([room], rows)))


def sweep(
    grid: Annotated[
        Path | None, typer.Argument(help="A YAML file of grids; without one, the options name it.")
    ] = None,
    paper: Annotated[list[str] | None, typer.Option(help="A paper; may be repeated.")] = None,
    variant: Variants = None,
    dataset: Annotated[
        list[str] | None, typer.Option(help="A data set; may be repeated. Default: sample.")
    ] = None,
    seeds: Seeds = None,
    over: Annotated[
        list[str] | None,
        typer.Option(help="key=value: one of the values of a setting; repeat it for the others."),
    ] = None,
    set_: Settings = None,
    workers: Annotated[
        int, typer.Option(min=0, help="Processes here; default: one per core or GPU.")
    ] = 0,
    scheduler: Annotated[
        str, typer.Option(help="A dask scheduler, tcp://…, whose workers run it instead.")
    ] = "",
    device: Device = "auto",
    out: Out = RUNS,
    data_dir: DataDir = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would run and what is on record.")
    ] = False,
) -> int:
    """Run a grid of recipes; those on record are skipped, a failed one stops no other.

    The grid is all papers × variants × data sets × values of settings × seeds. If it is
    killed or interrupted, run the same command again to go on.
    """
    from tqdm import tqdm

    from qasel.papers import ROOMS
    from qasel.results import sweep
    from qasel.results.ledger import on_record
    from qasel.results.measure import held
    from qasel.results.runs import described, read_runs
    from qasel.results.tables import by_settings
    from qasel.training.devices import DEVICES
    from qasel.training.recipe import assigned, settings

    if grid and any((paper, variant, dataset, seeds, over, set_)):
        raise QaselError(f"{grid} names the grid; leave --paper, --variant … --set out")
    if device not in DEVICES:
        raise QaselError(f"unknown device {device!r}; known: {', '.join(DEVICES)}")
    if workers and scheduler:
        raise QaselError("--workers are of this machine; --scheduler has its own: choose one")
    if grid:
        recipes = sweep.read_grids(grid, ROOMS)
    elif paper:
        values: dict[str, list[Any]] = {}
        for key, value in map(assigned, over or ()):
            values.setdefault(key, []).append(value)
        asked = variant or (), dataset or ("sample",), parse_seeds(seeds or ["0"])
        recipes = sweep.Grid(paper, *asked, settings(set_ or ()), values).recipes(ROOMS)
    else:
        raise QaselError("name a YAML file of grids, or at least one --paper")

    lines = {recipe: described(ROOMS[recipe.paper], recipe.as_dict()) for recipe in recipes}
    todo = [recipe for recipe in recipes if not held(recipe, data_dir)]
    if dry_run:
        for recipe, line in lines.items():
            typer.echo(f"{'to run' if recipe in todo else 'held  '}  {line}")
        typer.echo(f"{len(todo)} to run, {len(recipes) - len(todo)} held")
        return 0

    def tell(row: "Row") -> None:
        tqdm.write(outcome(ROOMS[row.recipe["paper"]], row, out))

    failures = {}
    if todo:
        sweep.check(ROOMS, todo, data_dir)
        pool = sweep.local_workers(workers, device, len(todo))
        if scheduler:
            pool = sweep.remote_workers(scheduler, device)
        with pool as found:
            failures = sweep.sweep(ROOMS, todo, found, out, data_dir, tell)
    if rows := on_record(recipes):
        typer.echo(by_settings(read_runs(ROOMS.values(), rows)))
    before = len(recipes) - len(todo)
    typer.echo(f"{len(todo) - len(failures)} run, {len(failures)} failed, {before} held before")
    for recipe, reason in failures.items():
        typer.echo(f"qasel: failed: {lines[recipe]}  [{recipe.slug}]: {reason}", err=True)
    return 1 if failures else 0


def outcome(room: "Room", row: "Row", out: Path) -> str:
    """What came of a run, in a line."""
    from qasel.results.runs import described

    dev, test = row.scores["dev"], row.scores["test"]
    parts = [
        described(room, row.recipe),
        f"epoch {row.best_epoch} of {len(row.history)}" if row.best_epoch else "",
        *(f"{name} {value:g}" for name, value in row.chosen.items()),
        f"dev MAP {dev['map']:.4f}  test MAP {test['map']:.4f} MRR {test['mrr']:.4f}",
        f"{row.seconds:.0f} s  {out / row.slug}",
    ]
    return "  ".join(filter(None, parts))


def parse_seeds(texts: Sequence[str]) -> list[int]:
    """`0,1,2` → [0, 1, 2], the texts one after the other; raises `QaselError` for anything else."""
    text = ",".join(texts)
    try:
        seeds = [int(part) for part in text.split(",")]
    except ValueError:
        raise QaselError(f"--seeds {text!r}: expected numbers and commas, e.g. 0,1,2") from None
    if min(seeds) < 0:
        raise QaselError(f"--seeds {text!r}: a seed cannot be negative")
    return list(dict.fromkeys(seeds))


def check(
    paper: Paper,
    row: Annotated[str, typer.Argument(help="A row of the paper's tables.")],
    dataset: Annotated[str, typer.Option(help="The data set of the run on record.")] = "sample",
    seed: Annotated[
        int | None, typer.Option(help="Its seed; default: the first on record.")
    ] = None,
    device: Device = "auto",
    out: Annotated[Path, typer.Option(help="Folder for the new model.")] = RUNS / "check",
    data_dir: DataDir = None,
) -> int:
    """Run a row on record again and compare: same, within tolerance, or off (status 1).

    The tolerance comes from the spread over seeds on record, or is one point for fewer than three
    seeds. The ledger stays as it is. A killed check goes on. The model of a finished one is kept
    until the next check of the row.
    """
    from qasel.datasets.load import full_name
    from qasel.papers import ROOMS
    from qasel.results import check as again
    from qasel.results.tables import markdown_table
    from qasel.training import resolve_device

    dataset, place = full_name(dataset), resolve_device(device)
    new, scores = again.check(ROOMS[paper], row, dataset, seed, place, out, data_dir)
    worst = max(scores["verdict"], key=again.VERDICTS.index)
    typer.echo(markdown_table(scores.map(lambda x: f"{x:.4f}" if isinstance(x, float) else x)))
    data = f"{dataset} ({new.recipe['protocol']})"
    typer.echo(f"{row}, {data}, seed {new.recipe['seed']}: {worst}")
    return int(worst == again.OFF)


def table(paper: Paper, format_: Format = "md") -> None:
    """Print every number of the paper beside ours, and its claims, from the ledger.

    The csv has the numbers only.
    """
    from qasel.papers import ROOMS
    from qasel.results.claims import report

    typer.echo(report(ROOMS[paper], format_).rstrip("\n"))


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
    from qasel.results import matrix as side_by_side
    from qasel.results.ledger import read_ledger
    from qasel.results.matrix_text import render
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
    typer.echo(render(cells, format_).rstrip("\n"))
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
    """A list: one sentence on the runs whose settings are not their row's own, if there are any."""
    from qasel.results.runs import COMPARISON, TABLE, listed

    on_test = (runs["split"] == "test") | runs["target"].isin(data)  # b-2017 is `test-2017`
    runs = runs[on_test & ~runs["counts"].isin((TABLE, COMPARISON))]
    if systems:
        runs = runs[runs["variant"].isin(systems)]
    if data:
        runs = runs[runs["dataset"].isin(data) | runs["target"].isin(data)]
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


def figures(
    paper: Annotated[
        str, typer.Argument(help="A paper, or `compare` (systems side by side); default: all.")
    ] = "",
    out: Annotated[Path | None, typer.Option(help="Folder; default: figures/.")] = None,
) -> None:
    """Draw a paper's figures from the ledger, each as PDF, SVG and PNG."""
    from qasel.figures import compare as side_by_side
    from qasel.figures.style import save
    from qasel.papers import PAPERS, ROOMS
    from qasel.papers.figures import figures as drawn
    from qasel.results.runs import read_runs
    from qasel.results.tables import published

    for name in [paper] if paper else [*PAPERS, side_by_side.NAME]:
        if name == side_by_side.NAME:
            found = side_by_side.figures(read_runs(ROOMS.values()))
        else:
            published(ROOMS[name])  # which the yardsticks have not
            found = drawn(name)
        for title, figure in found.items():
            for path in save(figure, title, out):
                typer.echo(shown(path))


def notebooks(
    names: Annotated[
        list[str] | None, typer.Argument(help="Notebooks, by name or number; default: all.")
    ] = None,
    parameters: Annotated[
        list[str] | None,
        typer.Option(
            "-p",
            help="key=value: a parameter. Notebooks that are named must each have it; "
            "without names it goes to those that do.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the executed notebooks.")] = RUNS
    / "notebooks",
) -> None:
    """Run notebooks through papermill, in the current folder.

    All parameters are checked before the first notebook runs; an unknown one is refused.
    """
    from qasel.cli.notebooks import execute, plan

    for path, chosen in plan(names or [], parameters or []).items():
        typer.echo(f"{path.stem} → {execute(path, out, chosen)}")
