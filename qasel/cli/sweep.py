"""`qasel sweep`: a grid of runs through worker processes."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qasel.cli.data import DataDir
from qasel.cli.papers import parse_seeds, told
from qasel.errors import QaselError

if TYPE_CHECKING:
    from qasel.results.ledger import Row


def sweep(
    grid: Annotated[
        Path | None, typer.Argument(help="A YAML file of grids; without one, the options name it.")
    ] = None,
    paper: Annotated[list[str] | None, typer.Option(help="A paper; may be repeated.")] = None,
    variant: Annotated[
        list[str] | None,
        typer.Option(help="A row of its tables, or `all`; may be repeated. Default: its system."),
    ] = None,
    dataset: Annotated[
        list[str] | None, typer.Option(help="A data set; may be repeated. Default: sample.")
    ] = None,
    seeds: Annotated[str, typer.Option(help="Seeds, separated by commas. Default: 0.")] = "",
    over: Annotated[
        list[str] | None,
        typer.Option(help="key=value: one of the values of a setting; repeat it for the others."),
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="key=value: a setting of all runs.")
    ] = None,
    workers: Annotated[
        int, typer.Option(min=0, help="Processes here; default: one a core or GPU.")
    ] = 0,
    scheduler: Annotated[
        str, typer.Option(help="A dask scheduler, tcp://…, whose workers run it instead.")
    ] = "",
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    out: Annotated[Path, typer.Option(help="Folder for models and runs.")] = Path("runs"),
    data_dir: DataDir = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would run and what is on record.")
    ] = False,
) -> int:
    """Run a grid of recipes; those on record are skipped, a failed one stops no other.

    The grid is all papers × variants × data sets × values of settings × seeds. Killed or
    interrupted, the same command goes on.
    """
    from tqdm import tqdm

    from qasel.papers import ROOMS
    from qasel.results import sweep
    from qasel.results.ledger import on_record
    from qasel.results.runs import read_runs
    from qasel.results.tables import by_settings
    from qasel.training.recipe import assigned, settings

    if grid and any((paper, variant, dataset, seeds, over, set_)):
        raise QaselError(f"{grid} names the grid; leave --paper, --variant … --set out")
    if workers and scheduler:
        raise QaselError("--workers are of this machine; --scheduler has its own: choose one")
    if grid:
        recipes = sweep.read_grids(grid, ROOMS)
    elif paper:
        values: dict[str, list[Any]] = {}
        for key, value in map(assigned, over or ()):
            values.setdefault(key, []).append(value)
        recipes = sweep.Grid(
            paper,
            variant or (),
            dataset or ("sample",),
            parse_seeds(seeds or "0"),
            settings(set_ or ()),
            values,
        ).recipes(ROOMS)
    else:
        raise QaselError("name a YAML file of grids, or at least one --paper")

    todo = [recipe for recipe in recipes if not sweep.held(recipe, data_dir)]
    held = len(recipes) - len(todo)
    if dry_run:
        for recipe in recipes:
            line = sweep.described(ROOMS[recipe.paper], recipe)
            typer.echo(f"{'to run' if recipe in todo else 'held  '}  {line}")
        typer.echo(f"{len(todo)} to run, {held} held")
        return 0
    failures = []
    if todo:
        sweep.check(ROOMS, todo, data_dir)
        pool = (
            sweep.remote_workers(scheduler, device)
            if scheduler
            else sweep.local_workers(workers, device, len(todo))
        )
        with pool as found:

            def tell(row: "Row") -> None:
                tqdm.write(told(ROOMS[row.recipe["paper"]], row, out))

            failures = sweep.sweep(ROOMS, todo, found, out, data_dir, tell)
    if rows := on_record(recipes):
        typer.echo(by_settings(read_runs(ROOMS.values(), rows)))
    typer.echo(f"{len(todo) - len(failures)} run, {len(failures)} failed, {held} held before")
    for failure in failures:
        line = sweep.described(ROOMS[failure.recipe.paper], failure.recipe)
        typer.echo(f"qasel: failed: {line}  [{failure.recipe.slug}]: {failure.reason}", err=True)
    return 1 if failures else 0
