"""Measure a recipe: train, look at the test split once, write the ledger's row."""

import datetime
import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import replace
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
from qasel.results.ledger import Row, code_revision, place_of, versions
from qasel.text import Vectors, load_vectors, tokenize
from qasel.text.encoders import own_fingerprint
from qasel.text.vectors import CONTEXTS, KNOWN, completed
from qasel.training import Recipe, describe_device
from qasel.training.recipe import write_card
from qasel.training.trainer import forget

MakeRanker = Callable[[Recipe, Vectors, torch.device], Ranker]


def measure(
    recipe: Recipe,
    make_ranker: MakeRanker,
    device: torch.device,
    out: Path,
    data_dir: FilePath | None = None,
    *,
    ledger: bool = True,
) -> Row:
    """The row of a recipe, from `out/SLUG` if it was finished there, else by running it.

    `out/SLUG` gets the checkpoint while training (a killed run goes on from it), then the model,
    the TREC runs of all splits but train, and the row, which the ledger gets too unless `ledger`
    says that the caller adds it. Raises `QaselError` where the finished run of `out/SLUG` is of
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
    # Before the hours of training, and after all that may be wrong with the input.
    require_writable(folder)
    if ledger:
        require_writable(results_dir() / recipe.paper, "QASEL_RESULTS")
    read = fingerprint(recipe, dataset, vectors, data_dir)
    ranker = make_ranker(recipe, vectors, device)
    history = ranker.fit(dataset.train, dataset.dev, folder, **beside(dataset))
    parameters = getattr(ranker, "parameter_count", None)  # before ranking, which adds new words
    scores, questions, per_question, speed = {}, {}, {}, {}
    for name, split in dataset.splits.items():
        if name != "train":
            run, speed[name] = timed_run(ranker, split)
            run.write(folder / f"{name}.run")
            result = evaluate(run, split, dataset.scoring)
            scores[name], questions[name] = dict(result.mean), result.questions
            per_question[name] = result.per_question
    ranker.save(folder)
    lines = [f"| {name} | {s['map']:.4f} | {s['mrr']:.4f} |" for name, s in scores.items()]
    write_card(folder, recipe, "\n".join(("| split | MAP | MRR |", "| :-- | --: | --: |", *lines)))
    read_words: dict[str, Any] = {"name": vectors.name}
    if vectors.name:
        read_words["coverage"] = round(vectors.coverage(_words(dataset)), 4)
    row = Row(
        recipe=recipe.as_dict(),
        hash=recipe.hash,
        slug=recipe.slug,
        scores=scores,
        questions=questions,
        per_question=_rounded(per_question),
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
    forget(folder)
    return row


def held(recipe: Recipe, data_dir: FilePath | None = None) -> bool:
    """Whether the ledger has a row of the recipe, and of what a user's own files hold now.

    They may have changed since, and others may have the same name.
    """
    place = place_of(recipe)
    return place.exists() and _is_current(Row.read(place), recipe, data_dir)


def _is_current(row: Row, recipe: Recipe, data_dir: FilePath | None) -> bool:
    """Whether a row's run read what the recipe's files hold now."""
    if by_name(recipe):
        return True
    return row.data == fingerprint(recipe, *inputs(recipe, data_dir), data_dir)


def beside(dataset: Dataset) -> dict[str, Any]:
    """What a data set gives to training beyond its splits: auxiliary tasks, articles."""
    given = {"tasks": dataset.tasks, "articles": dataset.articles}
    return {name: value for name, value in given.items() if value}


def by_name(recipe: Recipe) -> bool:
    """Whether names alone say what is read, and none of it are a user's own files."""
    corpus, encoder = (getattr(recipe, name, "") for name in ("corpus", "encoder"))
    return (
        recipe.dataset in COLLECTIONS
        and not own_fingerprint(encoder)
        and (not recipe.vectors or recipe.vectors.removesuffix(CONTEXTS) in KNOWN)
        and (not corpus or corpus in COLLECTIONS)
    )


def inputs(recipe: Recipe, data_dir: FilePath | None = None) -> tuple[Dataset, Vectors]:
    """What a run reads; raises `QaselError` for candidates without a label."""
    dataset = recipe.load(data_dir)
    dataset.require_labels()
    return dataset, vectors_for(recipe, dataset, data_dir)


def fingerprint(
    recipe: Recipe, dataset: Dataset, vectors: Vectors, data_dir: FilePath | None = None
) -> str:
    """What a run reads, in a few digits each: data, word vectors, articles, an encoder's folder.

    Of a folder of one's own all that it holds counts, whatever a protocol or a fold takes of it.
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
    """The run of a split, and how many candidates were ranked a second."""
    started = time.perf_counter()
    run = ranker.rank(split)
    return run, round(split.pairs / (time.perf_counter() - started), 1)


DIGITS = 6
"""Decimals kept of what a row has hundreds of; its means are kept in full."""


def _rounded(values: Any) -> Any:
    """Dicts and lists of numbers, each fraction rounded to `DIGITS`."""
    return json.loads(json.dumps(values), parse_float=lambda text: round(float(text), DIGITS))


def vectors_for(recipe: Recipe, dataset: Dataset, data_dir: FilePath | None = None) -> Vectors:
    """The recipe's word vectors, cut to the words of the data set; none if it names none.

    With `CONTEXTS`, words that have none get theirs from the training texts.
    """
    if not recipe.vectors:
        return Vectors.empty("")
    known = load_vectors(recipe.vectors, data_dir, _words(dataset))
    if not recipe.vectors.endswith(CONTEXTS):
        return known
    sentences = map(tokenize, dict.fromkeys(dataset.train.texts))
    return replace(completed(known, sentences), name=recipe.vectors)


def _words(dataset: Dataset) -> set[str]:
    texts = {text for split in dataset.splits.values() for text in split.texts}
    texts |= {text for t in dataset.tasks.values() for p in t.pairs for text in (p.left, p.right)}
    return {word for text in texts for word in tokenize(text)}
