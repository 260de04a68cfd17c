"""All runs on record as one data frame, which says of each what it counts for."""

import statistics
from collections.abc import Collection, Hashable, Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

import pandas as pd

from qasel.datasets.registry import COLLECTIONS
from qasel.errors import QaselError
from qasel.results import Room
from qasel.results.ledger import Row, read_ledger
from qasel.training.recipe import SCALES

VECTORS = "glove.840B.300d"
"""The vectors of the papers: runs with them go before runs with others."""
DATASETS = {name: known.label for name, known in COLLECTIONS.items() if known.label}
"""How data sets are spelled in tables and figures."""
MEASURES = {"MAP": "map", "MRR": "mrr", "P@1": "p1", "AvgRec": "avgrec", "accuracy": "acc"}
"""Names of measures in `published.csv` → ours."""
SAMPLE = "sample"
"""The bundled data set."""
QUICK = "quick"
"""The scale for walkthroughs."""

TABLE, COMPARISON = "the paper's tables", "comparison only"
EXPERIMENT, OTHER_DATA, UNKNOWN = "experiment", "other data", "not known to this version"
COLUMNS = (
    "paper", "variant", "dataset", "protocol", "split", "target", "vectors", "scale", "seed",
    "counts", "changed", "seeded", "place", "recipe", "values", "history", "best_epoch",
    "seconds", "parameters", "ranked_per_second", "device",
)  # fmt: skip
"""Of the frame of runs, before a column for each measure; see `read_runs`."""


class Target(NamedTuple):
    """The test questions of a data set under a protocol, on which systems can be compared."""

    dataset: str
    protocol: str

    @classmethod
    def of(cls, dataset: str, protocol: str, split: str = "test") -> "Target":
        """That of a test split; `test-2017` under the protocol `b-2016` is the test of `b-2017`."""
        later = split.removeprefix("test")
        return cls(dataset, protocol.rpartition("-")[0] + later if later else protocol)

    @property
    def key(self) -> str:
        """As the command takes it: `wikiqa/answered`."""
        return f"{self.dataset}/{self.protocol}"

    @property
    def name(self) -> str:
        """As readers know it: `WikiQA (answered)`, `SemEval-2017 B`."""
        known = COLLECTIONS.get(self.dataset)
        if known and self.protocol in known.labels:
            return known.labels[self.protocol]
        return f"{DATASETS.get(self.dataset, self.dataset)} ({self.protocol})"


def read_runs(rooms: Iterable[Room], rows: Iterable[Row] | None = None) -> pd.DataFrame:
    """A line per run and split (dev, test, test-2017), in the order of the rows.

    `rows` default to the ledger's of these papers. A line has the recipe's paper, variant,
    dataset, protocol, scale and seed; `vectors`, or the encoder of a recipe without any; `target`,
    the test questions; `counts`, what the run counts for:

    - `TABLE`: its paper's tables and all comparisons. Its recipe is the variant's own but for
      vectors, seed and, on a user's own data, the protocol.
    - `COMPARISON`: the same at the scale "quick", on data that no paper has scores of.
    - `EXPERIMENT`: none of these. `changed` has the settings that are not the variant's own.
    - `OTHER_DATA`: a user's own data have changed since.
    - `UNKNOWN`: this version of the code does not have the paper, variant or settings.

    Then `seeded`, whether another seed gives another run; `place`, by which runs sort as the
    papers list their variants; the whole `recipe`; `values`, measure → question → value in 0..1;
    `history` and `best_epoch`; `seconds` of training, `parameters` trained, candidates
    `ranked_per_second` (None: not measured) and the `device`; and a column for each measure.
    """
    known = {room.name: (place, room) for place, room in enumerate(rooms)}
    rows = [row for name in known for row in read_ledger(name)] if rows is None else list(rows)
    newest = {row.recipe["dataset"]: row for row in sorted(rows, key=lambda row: row.finished)}

    @cache
    def own(paper: str, *arguments: Any) -> tuple[dict[str, Any], dict[str, Any], bool]:
        return _own(known[paper][1], *arguments)

    lines = []
    for row in rows:
        recipe = row.recipe
        paper, dataset, scale = (recipe[name] for name in ("paper", "dataset", "scale"))
        vectors = recipe["vectors"] or recipe.get("encoder", "")
        run = {name: recipe.get(name) for name in COLUMNS if name in recipe} | {
            "vectors": vectors,
            "counts": UNKNOWN,
            "changed": {},
            "seeded": True,
            "recipe": recipe,
            "history": row.history,
            "best_epoch": row.best_epoch,
            "seconds": row.seconds,
            "parameters": row.parameters,
            "ranked_per_second": row.ranked_per_second,
            "device": row.device,
        }
        if paper in known and recipe["variant"] in (variants := known[paper][1].variants):
            key = (recipe["variant"], dataset, scale, recipe["seed"])
            try:
                usual, unsaid, run["seeded"] = own(paper, *key, None)
                same, _, _ = own(paper, *key, vectors)
            except QaselError:
                pass  # another version's settings
            else:
                whole = unsaid | recipe
                run["recipe"] = whole
                run["changed"] = _different(whole, usual | {"scale": "paper"})
                other = _different(whole, same).keys() - {
                    "protocol" if dataset not in COLLECTIONS else ""
                }
                small = dataset == SAMPLE or dataset not in COLLECTIONS
                if dataset not in COLLECTIONS and _data(row) != _data(newest[dataset]):
                    run["counts"] = OTHER_DATA
                elif other or (scale == QUICK and not small):
                    run["counts"] = EXPERIMENT
                else:
                    run["counts"] = COMPARISON if scale == QUICK else TABLE
                place = known[paper][0], SCALES.index(scale), variants.index(recipe["variant"])
                run["place"] = place
        for split in dict.fromkeys([*row.scores, *row.per_question]):
            line = run | {"split": split, "values": row.per_question.get(split, {})}
            line["target"] = Target.of(dataset, recipe["protocol"], split)
            lines.append(line | row.scores.get(split, {}))
    measures = dict.fromkeys([*MEASURES.values(), *(name for line in lines for name in line)])
    return pd.DataFrame(lines, columns=[*COLUMNS, *(m for m in measures if m not in COLUMNS)])


def _own(
    room: Room, variant: str, dataset: str, scale: str, seed: int, vectors: str | None
) -> tuple[dict[str, Any], dict[str, Any], bool]:
    """A variant's own recipe with these vectors, what older recipes leave out, and `seeded`."""
    own = room.recipe(variant, dataset, scale=scale, seed=seed, vectors=vectors)
    unsaid = own.added
    return unsaid | own.as_dict(), unsaid, own.seeded


def _different(recipe: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a recipe that are not its variant's own."""
    names = dict.fromkeys([*recipe, *own])
    return {name: recipe.get(name) for name in names if recipe.get(name) != own.get(name)}


def _data(row: Row) -> str:
    """The fingerprint of a row's data set alone."""
    return (row.data or "").partition(" ")[0]


def changed(room: Room, recipe: Mapping[str, Any]) -> str:
    """The settings of a recipe that are not its variant's own: `scale=quick, margin=0.5`."""
    variant, dataset, scale, seed = (recipe[n] for n in ("variant", "dataset", "scale", "seed"))
    own, unsaid, _ = _own(room, variant, dataset, scale, seed, None)
    return listed(_different(unsaid | dict(recipe), own | {"scale": "paper"}))


def listed(settings: Mapping[str, Any]) -> str:
    """Settings as text: `scale=quick, margin=0.5`."""
    return ", ".join(f"{name}={value}" for name, value in settings.items())


def in_tables(room: Room, runs: pd.DataFrame | None = None) -> pd.DataFrame:
    """The lines of the runs that count in a paper's tables, seeds in order.

    `runs` default to the ledger.
    """
    runs = read_runs([room]) if runs is None else runs
    found = runs[(runs["paper"] == room.name) & (runs["counts"] == TABLE)]
    return found.sort_values("seed", kind="stable")


def pick(lines: pd.DataFrame, variants: Collection[str]) -> str | None:
    """The vectors to show systems with: those that all have, the papers' own before others.

    Then those with the most runs, then by name; None when no vectors are common to all.
    """
    found = lines.groupby("vectors")["variant"].agg(["nunique", "size"])
    common = found.loc[found["nunique"] == len(set(variants)), "size"].to_dict()
    return min(common, key=lambda name: (name != VECTORS, -common[name], name), default=None)


def shown(
    room: Room,
    dataset: str,
    *variants: str,
    runs: pd.DataFrame | None = None,
    split: str = "test",
) -> dict[str, pd.DataFrame]:
    """Variant → its lines of a split in the paper's tables, all with the same vectors.

    Empty where the variants have no vectors in common. `runs` default to the ledger.
    """
    lines = in_tables(room, runs)
    lines = lines[
        (lines["dataset"] == dataset) & (lines["split"] == split) & lines["variant"].isin(variants)
    ]
    lines = lines[lines["vectors"] == pick(lines, variants)]
    groups = dict(list(lines.groupby("variant")))
    return {name: groups[name] for name in variants if name in groups}


def varied(
    room: Room,
    variant: str,
    dataset: str,
    setting: str,
    runs: pd.DataFrame | None = None,
    split: str = "test",
) -> dict[Hashable, pd.DataFrame]:
    """Value of a setting → the lines of runs that are a variant's own but for it and the seed.

    In the order of the values, seeds in order; the variant's own value is among them. Runs of the
    vectors that tables show (`pick`). `runs` default to the ledger.
    """
    lines = read_runs([room]) if runs is None else runs
    asked = {"paper": room.name, "variant": variant, "dataset": dataset, "split": split}
    for column, value in (asked | {"scale": "paper"}).items():
        lines = lines[lines[column] == value]
    allowed = {setting, "vectors", "encoder"}
    lines = lines[lines["counts"].isin((TABLE, EXPERIMENT))]
    lines = lines[lines["changed"].map(lambda names: names.keys() <= allowed).astype(bool)]
    lines = lines[lines["vectors"] == pick(lines, [variant])].sort_values("seed", kind="stable")
    return dict(list(lines.groupby(lines["recipe"].map(lambda recipe: recipe[setting]))))


def by_question(lines: pd.DataFrame, measure: str) -> dict[str, float]:
    """Each question's value, the mean over the runs that have it."""
    found: dict[str, list[float]] = {}
    for values in lines["values"]:
        for question, value in values[measure].items():
            found.setdefault(question, []).append(value)
    return {question: statistics.fmean(values) for question, values in found.items()}


def are_folds(lines: pd.DataFrame) -> bool:
    """Whether runs were measured on different questions, as in cross-validation, not by seeds."""
    return len({frozenset().union(*values.values()) for values in lines["values"]}) > 1


def histories(systems: Mapping[str, pd.DataFrame], key: str) -> dict[str, list[list[float]]]:
    """System → a curve per run: what an epoch's line of the history has under `key`."""
    return {
        name: [[epoch[key] for epoch in history] for history in lines["history"]]
        for name, lines in systems.items()
    }
