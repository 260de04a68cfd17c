"""All runs on record as one data frame, which says what each of them counts for."""

from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Any

import pandas as pd

from qasel.datasets.registry import COLLECTIONS
from qasel.errors import QaselError
from qasel.results import Room
from qasel.results.ledger import Row, read_ledger
from qasel.training.recipe import SCALES

VECTORS = "glove.840B.300d"
"""The papers' word vectors: runs with them are preferred to runs with others."""
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
REPEATED = "run in float32 too"
RECIPE_COLUMNS = ("paper", "variant", "dataset", "protocol", "scale", "seed")
ROW_COLUMNS = ("history", "best_epoch", "seconds", "parameters", "ranked_per_second", "device")
COLUMNS = (
    *RECIPE_COLUMNS, "split", "target", "vectors", "counts", "changed", "seeded", "place",
    "recipe", "values", *ROW_COLUMNS,
)  # fmt: skip
"""Columns of the frame of runs, before one column per measure; see `read_runs`."""


def target_of(dataset: str, protocol: str, split: str = "test") -> str:
    """The name of the test questions on which systems can be compared: `wikiqa/answered`.

    `test-2017` under the protocol `b-2016` is the test of `b-2017`.
    """
    later = split.removeprefix("test")
    return f"{dataset}/{protocol.rpartition('-')[0] + later if later else protocol}"


def target_name(target: str) -> str:
    """A target as readers know it: `WikiQA (answered)`, `SemEval-2017 B`."""
    dataset, _, protocol = target.rpartition("/")
    known = COLLECTIONS.get(dataset)
    if known and protocol in known.labels:
        return known.labels[protocol]
    return f"{DATASETS.get(dataset, dataset)} ({protocol})"


def read_runs(rooms: Iterable[Room], rows: Iterable[Row] | None = None) -> pd.DataFrame:
    """One line per run and split (dev, test, test-2017), in the order of the rows.

    `rows` defaults to the ledger's rows of these papers. A line has the recipe's paper, variant,
    dataset, protocol, scale and seed; `vectors`, or the encoder if it has none; `target`, the test
    questions; and `counts`, what the run counts for:

    - `TABLE`: its paper's tables and all comparisons. Its recipe is the variant's own except for
      vectors, seed, precision and, on a user's own data, the protocol.
    - `COMPARISON`: comparisons only. The same at the scale "quick", on data without papers' scores.
    - `EXPERIMENT`: neither. `changed` has the settings that differ from the variant's own.
    - `REPEATED`: nothing, as the same recipe was run in float32 too, not only in bfloat16.
    - `OTHER_DATA`: a user's own data have changed since.
    - `UNKNOWN`: this version of the code does not have the paper, variant or settings.

    Then `seeded`, whether the seed makes a difference; `place`, which sorts runs in the order in
    which papers list their variants; the whole `recipe`; `values`, measure → question → value in
    0..1; `history` and `best_epoch`; `seconds` of training, trained `parameters`, candidates
    `ranked_per_second` (None: not measured) and the `device`; and one column per measure.
    """
    known = {room.name: (place, room) for place, room in enumerate(rooms)}
    rows = [row for name in known for row in read_ledger(name)] if rows is None else list(rows)
    newest = {row.recipe["dataset"]: row for row in sorted(rows, key=lambda row: row.finished)}

    lines = []
    for row in rows:
        recipe = row.recipe
        run: dict[str, Any] = {"counts": UNKNOWN, "changed": {}, "seeded": True, "recipe": recipe}
        run |= {name: recipe[name] for name in RECIPE_COLUMNS}
        run |= {name: getattr(row, name) for name in ROW_COLUMNS}
        run["vectors"] = recipe["vectors"] or recipe.get("encoder", "")
        if recipe["paper"] in known:
            run |= _standing(*known[recipe["paper"]], row, newest[recipe["dataset"]])
        for split in dict.fromkeys([*row.scores, *row.per_question]):
            line = run | {"split": split, "values": row.per_question.get(split, {})}
            line["target"] = target_of(recipe["dataset"], recipe["protocol"], split)
            lines.append(line | row.scores.get(split, {}))
    measures = dict.fromkeys([*MEASURES.values(), *(name for line in lines for name in line)])
    runs = pd.DataFrame(lines, columns=[*COLUMNS, *(m for m in measures if m not in COLUMNS)])
    exact = runs["recipe"].map(lambda recipe: recipe.get("precision") == "float32")
    alike = runs["recipe"].map(lambda recipe: str(sorted((recipe | {"precision": ""}).items())))
    runs.loc[~exact & alike.isin(alike[exact]), "counts"] = REPEATED
    return runs


def _standing(place: int, room: Room, row: Row, newest: Row) -> dict[str, Any]:
    """What a run counts for, given the newest run on its data; empty for one of another version."""
    recipe, public = row.recipe, row.recipe["dataset"] in COLLECTIONS
    try:
        order = SCALES.index(recipe["scale"]), room.variants.index(recipe["variant"])
        whole, changed, seeded = _beside_own(room, recipe)
        vectors = recipe["vectors"] or recipe.get("encoder", "")
        _, other, _ = _beside_own(room, recipe, vectors)
    except (QaselError, ValueError):
        return {}
    quick = recipe["scale"] == QUICK
    # The first fingerprint is that of the data set.
    read, now = ((r.data or "").partition(" ")[0] for r in (row, newest))
    if not public and read != now:
        counts = OTHER_DATA
    elif other.keys() - {"scale", "precision", *(() if public else ("protocol",))}:
        counts = EXPERIMENT
    elif quick:
        counts = EXPERIMENT if public and recipe["dataset"] != SAMPLE else COMPARISON
    else:
        counts = TABLE
    found = {"counts": counts, "changed": changed, "seeded": seeded, "recipe": whole}
    return found | {"place": (place, *order)}


def _beside_own(
    room: Room, recipe: Mapping[str, Any], vectors: str | None = None
) -> tuple[dict[str, Any], dict[str, Any], bool]:
    """The whole recipe, those of its settings that differ from its row's own, and its `seeded`.

    Fields that older recipes lack are filled in. The row's own settings are those at the recipe's
    scale with these vectors; a scale other than "paper" counts as a difference.
    """
    scale, seed = recipe["scale"], recipe["seed"]
    own = room.recipe(recipe["variant"], recipe["dataset"], scale=scale, seed=seed, vectors=vectors)
    whole, plain = own.added | dict(recipe), own.added | own.as_dict() | {"scale": "paper"}
    names = dict.fromkeys([*whole, *plain])
    changed = {name: whole.get(name) for name in names if whole.get(name) != plain.get(name)}
    return whole, changed, own.seeded


def described(room: Room, recipe: Mapping[str, Any]) -> str:
    """A recipe on one line: paper, row, data, seed, and settings that differ from the row's own."""
    data = f"{recipe['dataset']} ({recipe['protocol']})"
    parts = recipe["paper"], recipe["variant"], data, f"seed {recipe['seed']}"
    return "  ".join(filter(None, (*parts, listed(_beside_own(room, recipe)[1]))))


def listed(settings: Mapping[str, Any]) -> str:
    """Settings as text: `scale=quick, margin=0.5`."""
    return ", ".join(f"{name}={value}" for name, value in settings.items())


def in_tables(room: Room, runs: pd.DataFrame | None = None) -> pd.DataFrame:
    """The lines of the runs that count in a paper's tables, in order of seeds.

    `runs` defaults to the ledger.
    """
    runs = read_runs([room]) if runs is None else runs
    found = runs[(runs["paper"] == room.name) & (runs["counts"] == TABLE)]
    return found.sort_values("seed", kind="stable")


def pick(lines: pd.DataFrame, variants: Collection[str]) -> str | None:
    """The vectors to show systems with, of those that all have: the papers' own, if among them.

    Otherwise those with the most runs, then the first by name; None if they have none in common.
    """
    found = lines.groupby("vectors")["variant"].agg(["nunique", "size"])
    common = found.loc[found["nunique"] == len(set(variants)), "size"].to_dict()
    return min(common, key=lambda name: (name != VECTORS, -common[name], name), default=None)


def shown(
    room: Room, dataset: str, *variants: str, runs: pd.DataFrame | None = None, split: str = "test"
) -> dict[str, pd.DataFrame]:
    """Variant → its lines of a split in the paper's tables, all with the same vectors.

    A variant without vectors goes with any. Empty if the others have no vectors in common. `runs`
    defaults to the ledger.
    """
    lines = in_tables(room, runs)
    lines = lines[
        (lines["dataset"] == dataset) & (lines["split"] == split) & lines["variant"].isin(variants)
    ]
    without = lines["vectors"] == ""
    readers = set(variants) - set(lines.loc[without, "variant"])
    vectors = pick(lines[~without], readers)
    if readers and vectors is None:
        return {}
    groups = dict(list(lines[without | (lines["vectors"] == vectors)].groupby("variant")))
    return {name: groups[name] for name in variants if name in groups}


def varied(
    room: Room,
    variant: str,
    dataset: str,
    setting: str,
    runs: pd.DataFrame | None = None,
    split: str = "test",
) -> dict[Hashable, pd.DataFrame]:
    """Value of a setting → the runs of a variant that have this value and its own other settings.

    They may differ in seed and precision. Values are in order, and within each the seeds; the
    variant's own value is among them. The vectors are those that tables show (`pick`). `runs`
    defaults to the ledger.
    """
    lines = read_runs([room]) if runs is None else runs
    asked = {"paper": room.name, "variant": variant, "dataset": dataset, "split": split}
    for column, value in (asked | {"scale": "paper"}).items():
        lines = lines[lines[column] == value]
    allowed = {setting, "vectors", "encoder", "precision"}
    lines = lines[lines["counts"].isin((TABLE, EXPERIMENT))]
    lines = lines[lines["changed"].map(lambda names: names.keys() <= allowed).astype(bool)]
    lines = lines[lines["vectors"] == pick(lines, [variant])].sort_values("seed", kind="stable")
    values = lines["recipe"].map(lambda recipe: recipe[setting])
    hashable = values.map(lambda value: tuple(value) if isinstance(value, list) else value)
    return dict(list(lines.groupby(hashable)))


def histories(systems: Mapping[str, pd.DataFrame], key: str) -> dict[str, list[list[float]]]:
    """System → one curve per run: the value of `key` in each epoch of its history."""
    return {
        name: [[epoch[key] for epoch in history] for history in lines["history"]]
        for name, lines in systems.items()
    }
