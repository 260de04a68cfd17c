"""`qasel rank | evaluate`: a saved model on a reader's own questions, and any run's scores."""

from pathlib import Path
from typing import Annotated

import typer

from qasel.cli.options import DataDir, Device
from qasel.errors import QaselError


def rank(
    model_dir: Annotated[Path, typer.Argument(help="A folder that `qasel run` wrote.")],
    questions_file: Annotated[Path, typer.Argument(help="Questions and candidates, TSV or JSONL.")],
    out: Annotated[Path | None, typer.Option(help="File for the run; default: print it.")] = None,
    device: Device = "auto",
    data_dir: DataDir = None,
) -> None:
    """Rank your own questions with a saved model; the result is a TREC run."""
    from qasel.datasets import read_questions
    from qasel.papers import ROOMS
    from qasel.text import Vectors, load_vectors, tokenize
    from qasel.training import resolve_device
    from qasel.training.recipe import of_this_version, read_recipe

    place = resolve_device(device)
    if not model_dir.is_dir():
        raise QaselError(f"{model_dir}: no such folder; `qasel run` writes one per run")
    try:
        recipe = read_recipe(model_dir)
        name, vectors = recipe["paper"], recipe["vectors"]
        if not isinstance(name, str) or not isinstance(vectors, str):
            raise TypeError("expected texts")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise QaselError(f"{model_dir} is not a model folder: no readable recipe.json") from error
    split = read_questions(questions_file)
    words = {word for text in split.texts for word in tokenize(text)}
    try:
        known = load_vectors(vectors, data_dir, words) if vectors else Vectors.empty("")
    except QaselError as error:
        typer.echo(f"qasel: warning: {error}; words new to the model count as unknown", err=True)
        known = Vectors.empty(vectors)
    with of_this_version(model_dir):
        ranker = ROOMS[name].load(model_dir, known, place)
    run = ranker.rank(split)
    if out:
        run.write(out)
    else:
        typer.echo(run.text().rstrip("\n"))


def evaluate(
    run: Annotated[Path, typer.Argument(help="A TREC run.")],
    qrels: Annotated[
        Path, typer.Argument(help="TREC qrels, or the labelled questions (.tsv or .jsonl).")
    ],
    protocol: Annotated[str, typer.Option(help="trec or semeval.")] = "trec",
) -> None:
    """Print MAP, MRR and P@1 of a run (and AvgRec under the protocol semeval), in percent."""
    from qasel.datasets import read_questions
    from qasel.datasets.tables import JSON_SUFFIXES, TABLE_SUFFIXES
    from qasel.evaluation import Run, read_qrels
    from qasel.evaluation import evaluate as measure

    found = Run.read(run)
    # Qrels are often called .txt.
    suffixes = {*TABLE_SUFFIXES, *JSON_SUFFIXES} - {".txt"}
    labelled = qrels.name.lower().removesuffix(".gz").endswith(tuple(suffixes))
    known = read_questions(qrels) if labelled else read_qrels(qrels)
    typer.echo(measure(found, known, protocol).in_percent)
