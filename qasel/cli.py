"""The `qasel` command."""

import typer

from qasel import cli_papers, cli_rank

app = typer.Typer(no_args_is_help=True, add_completion=False)
for command in (cli_papers.run, cli_papers.table, cli_papers.figures, cli_papers.notebooks):
    app.command()(command)
for command in (cli_rank.rank, cli_rank.evaluate):
    app.command()(command)


def main() -> None:
    """Run the command."""
    app()
