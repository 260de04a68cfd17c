"""A paper's claims about its systems (A beats B): kept as data, judged by our runs."""

import pandas as pd

from qasel.results import Room, tables
from qasel.results.compare import Claim, judged, summary

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
    """A paper's claims next to our runs, as by `judged`; `runs` defaults to the ledger."""
    return judged(room, (Claim(*line[:-1]) for line in stated(room).itertuples(index=False)), runs)


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
