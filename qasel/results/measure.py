"""Measure a recipe: train, evaluate on the test split once, write the ledger's row."""

import datetime
import hashlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from qasel.datasets import Dataset, load_dataset
from qasel.datasets.base import Split
from qasel.datasets.registry import COLLECTIONS
from qasel.errors import QaselError
from qasel.evaluation import Run, evaluate
from qasel.files import FilePath, require_writable
from qasel.locations import results_dir
from qasel.rankers import Ranker
from qasel.results.ledger import Row, code_revision, on_record, versions
from qasel.text import Vectors, load_vectors, tokenize
from qasel.text.encoders import own_fingerprint
from qasel.text.vectors import KNOWN, parts_of
from qasel.training import Recipe, describe_device
from qasel.training.recipe import write_card
from qasel.training.trainer import LAST


def measure(
    recipe: Recipe,
    make_ranker: Callable[[Recipe, Vectors, torch.device], Ranker],
    device: torch.device,
    out: Path,
    data_dir: FilePath | None = None,
    *,
    ledger: bool = True,
) -> Row:
    """The row of a recipe: from `out/SLUG` if it was finished there, else from a new run.

    `out/SLUG` gets the checkpoint while training (from which a killed run resumes), then the model,
    the TREC runs of all splits but train, and the row. The ledger gets the row too, unless `ledger`
    is False and the caller adds it. Raises `QaselError` if the finished run in `out/SLUG` is of
    other data or word vectors: a user's own files may have changed since.
    """
    folder = out / recipe.slug
    if (folder / f"{recipe.slug}.json").exists():
        row = Row.read(folder / f"{recipe.slug}.json")
        if row.data and not _is_current(row, recipe, data_dir):
            raise QaselError(
                f"{recipe.dataset}: its data, word vectors or encoder have changed since the run "
                f"in {folder}; remove that folder, or give another one by --out, to run it anew"
            )
        if ledger and not held(recipe, data_dir):
            row.write()
        return row
    revision = code_revision()
    dataset, vectors = inputs(recipe, data_dir)
    # After all checks of the input, and before hours of training.
    require_writable(folder)
    if ledger:
        require_writable(results_dir() / recipe.paper, "QASEL_RESULTS")
    read = fingerprint(recipe, dataset, vectors, data_dir)
    ranker = make_ranker(recipe, vectors, device)
    history = ranker.fit(dataset.train, dataset.dev, folder, **beside(dataset))
    parameters = getattr(ranker, "parameter_count", None)  # before ranking, which adds new words
    scores, speed = {}, {}
    for name, split in dataset.splits.items():
        if name != "train":
            run, speed[name] = timed_run(ranker, split)
            run.write(folder / f"{name}.run")
            scores[name] = evaluate(run, split, dataset.scoring)
    ranker.save(folder)
    lines = [f"| {name} | {s.map:.4f} | {s.mrr:.4f} |" for name, s in scores.items()]
    write_card(folder, recipe, "\n".join(("| split | MAP | MRR |", "| :-- | --: | --: |", *lines)))
    read_words: dict[str, Any] = {"name": vectors.name}
    if vectors.name:
        read_words["coverage"] = round(vectors.coverage(_words(dataset)), 4)
    row = Row(
        recipe=recipe.as_dict(),
        hash=recipe.hash,
        slug=recipe.slug,
        scores={name: dict(s.mean) for name, s in scores.items()},
        questions={name: s.questions for name, s in scores.items()},
        per_question=_rounded({name: s.per_question for name, s in scores.items()}),
        history=_rounded(history.epochs),
        best_epoch=history.best_epoch,
        seconds=round(history.seconds, 1),
        device=describe_device(device, getattr(recipe, "precision", "float32")),
        vectors=read_words,
        versions=versions(),
        revision=revision,
        chosen=history.chosen,
        parameters=parameters,
        ranked_per_second=speed.get("test"),
        data=read,
        finished=datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds"),
    )
    if ledger:
        row.write()
    row.write(folder)
    (folder / LAST).unlink(missing_ok=True)
    return row


def held(recipe: Recipe, data_dir: FilePath | None = None) -> bool:
    """Whether the ledger has a row of the recipe, made from what a user's own files hold now.

    They may have changed since, and other files may have the same name.
    """
    return any(_is_current(row, recipe, data_dir) for row in on_record([recipe]))


def _is_current(row: Row, recipe: Recipe, data_dir: FilePath | None) -> bool:
    """Whether a row's run read what the recipe's files hold now."""
    return by_name(recipe) or row.data == fingerprint(recipe, *inputs(recipe, data_dir), data_dir)


def beside(dataset: Dataset) -> dict[str, Any]:
    """What a data set passes to `fit` besides its splits: auxiliary tasks, articles."""
    given = {"tasks": dataset.tasks, "articles": dataset.articles}
    return {name: value for name, value in given.items() if value}


def by_name(recipe: Recipe) -> bool:
    """Whether names alone identify all inputs, with none of a user's own files among them."""
    corpus, encoder = (getattr(recipe, name, "") for name in ("corpus", "encoder"))
    return (
        recipe.dataset in COLLECTIONS
        and not own_fingerprint(encoder)
        and (not recipe.vectors or {*parts_of(recipe.vectors)} <= {*KNOWN})
        and (not corpus or corpus in COLLECTIONS)
    )


def inputs(recipe: Recipe, data_dir: FilePath | None = None) -> tuple[Dataset, Vectors]:
    """Load the data and vectors of a run; raises `QaselError` for candidates without a label."""
    dataset = recipe.load(data_dir)
    dataset.require_labels()
    return dataset, vectors_for(recipe, dataset, data_dir)


def fingerprint(
    recipe: Recipe, dataset: Dataset, vectors: Vectors, data_dir: FilePath | None = None
) -> str:
    """The fingerprints of a run's inputs: data, word vectors, articles, an encoder's folder.

    A user's own data folder counts as a whole, whatever part of it a protocol or a fold takes.
    """
    named = recipe.dataset in COLLECTIONS
    parts = [(dataset if named else load_dataset(recipe.dataset, "all", data_dir)).fingerprint]
    if vectors.size:
        parts.append(vectors.fingerprint)
    if dataset.articles:
        articles = "\n".join(dataset.articles)
        parts.append(hashlib.sha256(articles.encode()).hexdigest()[:16])
    if encoder := own_fingerprint(getattr(recipe, "encoder", "")):
        parts.append(encoder)
    return " ".join(parts)


def timed_run(ranker: Ranker, split: Split) -> tuple[Run, float]:
    """Rank a split; returns the run, and the number of candidates ranked per second."""
    started = time.perf_counter()
    run = ranker.rank(split)
    return run, round(split.pairs / (time.perf_counter() - started), 1)


DIGITS = 6
"""Decimals kept of values that a row has hundreds of; its means are kept in full."""


def _rounded(values: Any) -> Any:
    """Dicts and lists of numbers, each fraction rounded to `DIGITS` decimals."""
    return json.loads(json.dumps(values), parse_float=lambda text: round(float(text), DIGITS))


def vectors_for(recipe: Recipe, dataset: Dataset, data_dir: FilePath | None = None) -> Vectors:
    """The recipe's word vectors, of the words of the data set only; empty if it names none."""
    if not recipe.vectors:
        return Vectors.empty("")
    return load_vectors(recipe.vectors, data_dir, _words(dataset))


def _words(dataset: Dataset) -> set[str]:
    texts = {text for split in dataset.splits.values() for text in split.texts}
    texts |= {text for t in dataset.tasks.values() for p in t.pairs for text in (p.left, p.right)}
    return {word for text in texts for word in tokenize(text)}
