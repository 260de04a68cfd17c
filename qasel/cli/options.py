"""Options that several commands have."""

from pathlib import Path
from typing import Annotated, Literal

import typer

_DATA = "Folder with the data; before $QASEL_DATA and data/."
DataDir = Annotated[Path | None, typer.Option(help=_DATA, exists=True, file_okay=False)]
NewDataDir = Annotated[Path | None, typer.Option(help=_DATA)]
"""One that is made if need be."""
Paper = Annotated[str, typer.Argument(help="A paper, e.g. hierarchical-ranking, or yardsticks.")]
Variants = Annotated[
    list[str] | None,
    typer.Option(
        "--variant",
        help="A row of the paper's tables, or `all`; may be repeated. Default: its own system.",
    ),
]
Seeds = Annotated[
    list[str] | None,
    typer.Option(help="Seeds, separated by commas; may be repeated. Default: 0."),
]
Settings = Annotated[
    list[str] | None, typer.Option("--set", help="key=value: another setting of the recipe.")
]
Device = Annotated[str, typer.Option(help="auto, cpu or cuda.")]
Out = Annotated[Path, typer.Option(help="Folder for models and runs.")]
Format = Annotated[
    Literal["md", "csv", "latex"], typer.Option("--format", help="Format of the table.")
]
