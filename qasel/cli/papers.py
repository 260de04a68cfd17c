"""`qasel run | table | figures | notebooks`: the papers' recipes, results and pages."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qasel.cli.data import DataDir
from qasel.errors import QaselError
from qasel.files import shown

if TYPE_CHECKING:
    from qasel.results import Room
    from qasel.results.ledger import Row


def run(
    paper: Annotated[
        str, typer.Argument(help="A paper, e.g. hierarchical-ranking, or yardsticks.")
    ],
    variant: Annotated[
        list[str] | None,
        typer.Option(
            help="A row of the paper's tables, or `all`; may be repeated. Default: its own system."
        ),
    ] = None,
    dataset: Annotated[
        str, typer.Option(help="A data set, or a folder: see `qasel data list`.")
    ] = "sample",
    seeds: Annotated[str, typer.Option(help="Seeds, separated by commas.")] = "0",
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="key=value: another setting of the recipe.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for models and runs.")] = Path("runs"),
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

    place = resolve_device(device)
    room = ROOMS[paper]
    recipes = []
    for name in room.rows(variant or ()):
        chosen = room.configured(name, dataset, settings(set_ or ()))
        recipes += [chosen.change(seed=seed) for seed in parse_seeds(seeds)]
    rows = []
    for chosen in recipes:
        before = on_record([chosen])
        rows.append(measure(chosen, room.ranker, place, out, data_dir))
        tqdm.write(told(room, rows[-1], out))
        if before and on_record([chosen]) != before:
            tqdm.write(f"  in the ledger in place of {_known(before[0])}")
    if len(rows) > 1:
        tqdm.write(by_settings(read_runs([room], rows)))


def told(room: "Room", row: "Row", out: Path) -> str:
    """What came of a run, in a line."""
    from qasel.results.runs import changed

    recipe, dev, test = row.recipe, row.scores["dev"], row.scores["test"]
    settings = changed(room, recipe)
    return (
        f"{recipe['variant']}  {recipe['dataset']} ({recipe['protocol']})  seed {recipe['seed']}  "
        f"{settings}{'  ' if settings else ''}{_chosen(row)}"
        f"dev MAP {dev['map']:.4f}  test MAP {test['map']:.4f} MRR {test['mrr']:.4f}  "
        f"{row.seconds:.0f} s  {out / row.slug}"
    )


def _chosen(row: "Row") -> str:
    """The epoch and the values that dev has chosen, where there was a choice."""
    told = f"epoch {row.best_epoch} of {len(row.history)}  " if row.best_epoch else ""
    return told + "".join(f"{name} {value:g}  " for name, value in row.chosen.items())


def _known(row: "Row") -> str:
    """What a row of the ledger says, and of which run."""
    test = row.scores["test"]
    return (
        f"test MAP {test['map']:.4f} MRR {test['mrr']:.4f} "
        f"({row.finished[:10]}, {row.device}, revision {row.revision})"
    )


def parse_seeds(text: str) -> list[int]:
    """`0,1,2` → [0, 1, 2]; raises `QaselError` for anything else."""
    try:
        seeds = [int(part) for part in text.split(",")]
    except ValueError:
        raise QaselError(f"--seeds {text!r}: expected numbers and commas, e.g. 0,1,2") from None
    if min(seeds) < 0:
        raise QaselError(f"--seeds {text!r}: a seed cannot be negative")
    return list(dict.fromkeys(seeds))


def table(
    paper: Annotated[str, typer.Argument(help="A paper, e.g. hierarchical-ranking.")],
    format_: Annotated[str, typer.Option("--format", help="md, csv or latex.")] = "md",
) -> None:
    """Print every number of the paper beside ours, from the ledger."""
    from qasel.papers import ROOMS
    from qasel.results.tables import comparison, render

    typer.echo(render(comparison(ROOMS[paper]), format_).rstrip("\n"))


def figures(
    paper: Annotated[
        str, typer.Argument(help="A paper, or `compare` (systems side by side); default: all.")
    ] = "",
    out: Annotated[Path | None, typer.Option(help="Folder; default: figures/.")] = None,
) -> None:
    """Draw a paper's figures from the ledger, each as PDF, SVG and PNG."""
    from qasel import locations
    from qasel.figures import compare
    from qasel.figures.style import save
    from qasel.papers import PAPERS, ROOMS
    from qasel.papers.figures import FIGURES
    from qasel.results.runs import read_runs
    from qasel.results.tables import published

    for name in [paper] if paper else [*PAPERS, compare.NAME]:
        if name == compare.NAME:
            found = compare.figures(read_runs(ROOMS.values()))
        else:
            published(ROOMS[name])  # which the yardsticks have not
            found = dict(FIGURES[name]())
        for title, figure in found.items():
            for path in save(figure, title, out or locations.FIGURES):
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
    out: Annotated[Path, typer.Option(help="Folder for the executed notebooks.")] = Path(
        "runs/notebooks"
    ),
) -> None:
    """Run notebooks through papermill, in the current folder.

    All parameters are checked before the first notebook runs; an unknown one is refused.
    """
    from qasel.cli.notebooks import execute, plan

    for path, chosen in plan(names or [], parameters or []).items():
        typer.echo(f"{path.stem} → {execute(path, out, chosen)}")
