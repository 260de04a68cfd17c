"""A paper's claims about its systems (A beats B): kept as data, judged by our runs."""

import pandas as pd

from qasel.results import Room, tables
from qasel.results.compare import (
    CLAIM_COLUMNS,
    Claim,
    Significance,
    between,
    judge,
    significance,
    summary,
)
from qasel.results.runs import read_runs, shown

SECTION = "section"
"""The column that tells where in the paper a claim is made."""


def stated(room: Room) -> pd.DataFrame:
    """A paper's claims, in order, from the `claims.csv` next to its published numbers.

    Columns: the fields of `Claim`, and `SECTION`. Raises `QaselError` if the room is no paper's.
    """
    tables.published(room)
    assert room.published  # otherwise the line above has raised
    return pd.read_csv(room.published.with_name("claims.csv"), keep_default_na=False)


def claims(room: Room, runs: pd.DataFrame | None = None) -> pd.DataFrame:
    """A paper's claims next to our runs, one line per claim; columns as in `judged`.

    `runs` defaults to the ledger.
    """
    runs = read_runs([room]) if runs is None else runs
    asked = [Claim(*line[:-1]) for line in stated(room).itertuples(index=False)]
    lines = [judge(room, claim, _tested(room, claim, runs)) for claim in asked]
    return pd.DataFrame(lines, columns=CLAIM_COLUMNS)


def _tested(room: Room, claim: Claim, runs: pd.DataFrame) -> Significance | None:
    """Compare a claim's two systems; one without word vectors is compared with any of the other."""
    split, measure = tables.split_of(claim.metric)
    names = claim.first, claim.second
    if found := significance(room, claim.dataset, measure, *names, runs, split):
        return found
    first, second = (shown(room, claim.dataset, n, runs=runs, split=split) for n in names)
    both = first | second
    without = any((lines["vectors"] == "").all() for lines in both.values())
    return between(both, measure) if without else None


def report(room: Room, format_: str = "md", runs: pd.DataFrame | None = None) -> str:
    """Every number of a paper next to ours; in `md` and `latex` also its claims and all counts."""
    frame = tables.comparison(room, runs)
    if format_ == "csv":
        return tables.render(frame, format_)
    found = claims(room, runs)
    parts, notes = tables.parts_of(frame)
    own, _ = tables.own_numbers(room, frame)
    counted = f"{len(own)} numbers of the paper's own systems: {tables.counts(own)}."
    parts["What the paper says of its systems"] = found.assign(**{SECTION: stated(room)[SECTION]})
    return tables.as_text(parts, [*notes, counted, summary(found)], format_)
