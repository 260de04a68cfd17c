"""A paper's claims about its systems (A beats B): kept as data, judged by our runs."""

from collections.abc import Iterable
from typing import NamedTuple

import pandas as pd

from qasel.results import Room, tables
from qasel.results.compare import INTERVAL, Significance, significance
from qasel.results.runs import read_runs
from qasel.results.tables import NOT_RUN

CLAIM_COLUMNS = ["claim", "systems", "data", "measure", "paper", "ours", INTERVAL, "p", "seeds",
                 "verdict"]  # fmt: skip
SAME = "no difference"
HELD, LEANS = "clearly the paper's way", "the paper's way, not clearly"
AGAINST, LEANS_AGAINST = "clearly the other way", "the other way, not clearly"


class Claim(NamedTuple):
    """A paper's claim, in its text or by its numbers, of how `first` and `second` compare.

    `metric` is spelled as in the paper's `published.csv`. If a number of the two is missing there,
    the claim is that `first` is better.
    """

    text: str
    first: str
    second: str
    dataset: str
    metric: str = "MAP"


def judged(room: Room, claims: Iterable[Claim], runs: pd.DataFrame | None = None) -> pd.DataFrame:
    """One line per claim: the paper's difference of means, ours, and a verdict.

    Ours is over the seeds that both systems have, with its 95 % interval and p over questions and
    seeds (the family “claims”). All cells but the seeds are text. `runs` defaults to the ledger.
    """
    runs = read_runs([room]) if runs is None else runs
    key = ["row", "dataset", "metric"]
    printed = tables.published(room).drop_duplicates(key).set_index(key)["value"]
    lines = []
    for text, first, second, dataset, metric in claims:
        split, measure = tables.split_of(metric)
        found = significance(room, dataset, measure, first, second, runs, split)
        a, b = (printed.get((system, dataset, metric)) for system in (first, second))
        paper = None if a is None or b is None else float(a - b)
        ours = found.estimate if found else None
        line = [
            text,
            f"{first} over {second}",
            *tables.spelled(room, dataset, metric),
            "better" if paper is None else f"{paper:+.3f}",
            f"{ours.difference:+.3f}" if ours else "–",
            f"{ours.low:+.3f} to {ours.high:+.3f}" if ours else "–",
            tables.p_value(ours.p) if ours else "–",
            ours.seeds if ours else 0,
            verdict(found, paper),
        ]
        lines.append(line)
    return pd.DataFrame(lines, columns=CLAIM_COLUMNS)


def verdict(found: Significance | None, paper: float | None = None) -> str:
    """Which way our runs point, by the paper's difference (None or 0: `first` is better)."""
    if found is None:
        return NOT_RUN
    ours = found.estimate.difference
    if abs(ours) < 0.0005:  # what three digits show as 0
        return SAME
    if ours * (paper or 1.0) > 0:
        return HELD if found.clear else LEANS
    return AGAINST if found.clear else LEANS_AGAINST


def claims_table(frame: pd.DataFrame) -> str:
    """The claims as Markdown, without data and measure where they are the same in every line."""
    alike = [c for c in ("data", "measure") if c in frame and frame[c].nunique() == 1]
    return tables.markdown_table(frame.drop(columns=alike) if len(frame) > 1 else frame)


def summary(frame: pd.DataFrame) -> str:
    """The verdicts counted, in a few sentences."""
    ran = frame[frame["seeds"] > 0]
    text = f"{len(frame)} comparisons, {len(ran)} of them run by us."
    if ran.empty:
        return text
    count = ran["verdict"].value_counts()
    order = (HELD, LEANS, SAME, LEANS_AGAINST, AGAINST)
    parts = "; ".join(f"{count[name]} {name}" for name in order if name in count)
    seeds = " to ".join(str(number) for number in sorted({ran["seeds"].min(), ran["seeds"].max()}))
    return (
        f"{text} Of those: {parts} (clear: the 95 % interval over questions and seeds leaves zero "
        f"out; one seed is never clear where training is random; seeds per comparison: {seeds})."
    )


def stated(room: Room) -> pd.DataFrame:
    """A paper's claims, in order, from the `claims.csv` next to its published numbers.

    Columns: the fields of `Claim`, and `section` of the paper. Raises `QaselError` if the room is
    no paper's.
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
        return tables.csv_of(frame[tables.COLUMNS])
    found = claims(room, runs)
    parts, notes = tables.parts_of(frame)
    own, _ = tables.own_numbers(room, frame)
    counted = f"{len(own)} numbers of the paper's own systems: {tables.counts(own)}."
    parts["What the paper says of its systems"] = found.assign(section=stated(room)["section"])
    return tables.as_text(parts, [*notes, counted, summary(found)], format_)
