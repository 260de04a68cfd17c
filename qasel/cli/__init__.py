"""The `qasel` command: a module of this package for each group of its parts."""

import io
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import typer

from qasel.cli import data, papers, rank
from qasel.errors import QaselError

try:
    from typer.exceptions import TyperException as CommandError
except ImportError:  # older Typers have click's own
    from click import ClickException as CommandError  # type: ignore[assignment]

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Notebooks and tools for answer selection.",
)
app.add_typer(data.app, name="data")
_COMMANDS: tuple[Callable[..., int | None], ...] = (
    papers.run, papers.sweep, papers.check, papers.table, papers.figures, papers.notebooks,
    papers.compare, rank.rank, rank.evaluate,
)  # fmt: skip
for command in _COMMANDS:
    app.command()(command)

_usual_text = warnings.formatwarning


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status.

    0: done; 1: runs of a sweep failed, each named on stderr, or a checked row is off; 2: bad
    input, described in one line there; 130: interrupted.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a pipe on Windows would refuse most letters
            # Names of files may hold bytes that are no letters at all.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    warnings.formatwarning = _as_text  # type: ignore[assignment]
    arguments = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    try:
        status = app(args=arguments, prog_name="qasel", standalone_mode=False)
        sys.stdout.flush()
        if status == 130:  # newer Typers turn an interruption into its status
            raise KeyboardInterrupt
        return status if isinstance(status, int) else 0
    except CommandError as error:
        context = getattr(error, "ctx", None)
        help_ = f"see `{context.command_path if context else 'qasel'} --help`"
        message = f"{error.format_message().rstrip('.')}; {help_}"
    except QaselError as error:
        message = str(error)
    except BrokenPipeError:
        # Whoever read our output has read enough (`qasel … | head`); what is left goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except (MemoryError, RuntimeError) as error:
        # PyTorch's error has a class of its own only for a GPU's memory.
        text = str(error).lower()
        signs = ("out of memory", "alloc_failed", "allocate memory")
        if not isinstance(error, MemoryError) and not any(sign in text for sign in signs):
            raise
        message = (
            "memory is short; make room, or choose settings that need less, such as a smaller "
            "`batch` (`--set batch=…`)"
        )
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        message = f"{where}{error.strerror or error}"
    except (KeyboardInterrupt, typer.Abort):
        print("qasel: interrupted", file=sys.stderr)
        return 130
    print("qasel: error:", " ".join(message.split()), file=sys.stderr)
    return 2


def _as_text(message: Warning | str, category: type[Warning], *place: Any) -> str:
    """A warning of ours in a line, without the place in the code; others' as usual."""
    if category.__module__.startswith("qasel."):
        return f"qasel: warning: {message}\n"
    return _usual_text(message, category, *place)
