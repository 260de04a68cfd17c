"""Rerun a row on record, and say how far off the new scores are."""

import shutil
from pathlib import Path

import pandas as pd
import torch
from scipy import stats

from qasel.errors import QaselError
from qasel.files import FilePath
from qasel.results import Room
from qasel.results.ledger import Row, on_record
from qasel.results.measure import measure
from qasel.results.runs import COMPARISON, TABLE, pick, read_runs
from qasel.results.tables import FEWEST, POINT, ROUNDING
from qasel.training import Recipe

SAME, WITHIN, OFF = VERDICTS = "same", "within tolerance", "off"
COLUMNS = ["split", "measure", "on record", "now", "difference", "tolerance", "verdict"]


def recorded(room: Room, runs: pd.DataFrame | None = None) -> dict[tuple[str, str], pd.DataFrame]:
    """Row and data set → its runs on record, in order of seeds, with the vectors that tables show.

    Where data have no runs at the paper's scale, those at the scale "quick" are taken. `runs`
    defaults to the ledger.
    """
    runs = read_runs([room]) if runs is None else runs
    runs = runs[(runs["paper"] == room.name) & runs["counts"].isin((TABLE, COMPARISON))]
    found = {}
    for (variant, dataset), lines in runs.groupby(["variant", "dataset"], sort=False):
        scale = "paper" if (lines["counts"] == TABLE).any() else "quick"
        lines = lines[lines["scale"] == scale]
        # A user's own data may be on record under several protocols, whose scores do not compare.
        lines = lines[lines["protocol"] == lines["protocol"].iloc[0]]
        lines = lines[lines["vectors"] == pick(lines, [variant])]
        found[variant, dataset] = lines.sort_values("seed", kind="stable")
    return found


def recipe_of(room: Room, line: pd.Series) -> Recipe:
    """The recipe of a line of `recorded`, as this version of the code makes it."""
    return room.configured(line["variant"], line["dataset"], line["changed"]).change(
        seed=int(line["seed"])
    )


def tolerances(lines: pd.DataFrame, measures: list[str]) -> pd.DataFrame:
    """How far a rerun may be from the run on record, by split and measure.

    From `FEWEST` seeds on, it is the half-width of the 95 % prediction interval for one more seed;
    otherwise one point, and so for folds, which differ in their questions.
    """
    found = {}
    for split, group in lines.groupby("split"):
        asked = {frozenset().union(*values.values()) for values in group["values"]}
        seeds, spread = len(group), pd.Series(POINT, measures)
        if seeds >= FEWEST and len(asked) == 1:
            factor = stats.t.ppf(0.975, seeds - 1) * (1 + 1 / seeds) ** 0.5
            spread = group[measures].std() * factor
        found[split] = spread
    return pd.DataFrame(found).T


def judged(old: Row, new: Row, allowed: pd.DataFrame) -> pd.DataFrame:
    """The scores of two runs of a recipe side by side, as a table of `COLUMNS`."""
    lines = []
    for split, scores in old.scores.items():
        for name, before in scores.items():
            now, tolerance = new.scores[split][name], allowed.loc[split, name]
            apart = abs(now - before)
            near = WITHIN if apart <= tolerance + ROUNDING else OFF
            verdict = SAME if apart <= ROUNDING else near
            lines.append([split, name, before, now, now - before, tolerance, verdict])
    return pd.DataFrame(lines, columns=COLUMNS)


def check(
    room: Room,
    variant: str,
    dataset: str,
    seed: int | None,
    device: torch.device,
    out: Path,
    data_dir: FilePath | None = None,
) -> tuple[Row, pd.DataFrame]:
    """Rerun a row on record without touching the ledger; `seed` None takes its first seed.

    Returns the new row, and a table of `COLUMNS`, one line per split and measure. Models and runs
    are written to a folder of the row's in `out`. A killed check goes on there; a finished one is
    removed by the next. Raises `QaselError` for a row, data set or seed without a run on record.
    """
    known = recorded(room)
    if (variant, dataset) not in known:
        there = [data for row, data in known if row == variant]
        hint = f"on record: {', '.join(there)}" if there else f"see `qasel table {room.name}`"
        raise QaselError(
            f"{room.name} has no run of {variant!r} on {dataset or 'any data'}; {hint}"
        )
    lines = known[variant, dataset]
    chosen = lines if seed is None else lines[lines["seed"] == seed]
    if chosen.empty:
        seeds = ", ".join(map(str, lines["seed"].unique()))
        raise QaselError(f"{variant!r} on {dataset} has no run of seed {seed}; on record: {seeds}")
    recipe = recipe_of(room, chosen.iloc[0])
    (old,) = on_record([recipe])
    place = out / f"check-{recipe.slug}"
    if (place / recipe.slug / f"{recipe.slug}.json").exists():
        shutil.rmtree(place)  # its first stages, too, would be read instead of run
    new = measure(recipe, room.ranker, device, place, data_dir, ledger=False)
    names = list(dict.fromkeys(name for scores in old.scores.values() for name in scores))
    return new, judged(old, new, tolerances(lines, names))
