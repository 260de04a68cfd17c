"""What a paper says of two systems, beside the same comparison in our runs."""

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from qasel.results.compare import Significance, significance
from qasel.results.ledger import Row, read_ledger
from qasel.results.tables import MEASURES, NOT_RUN, markdown_table, published, spelled

SPREAD = "± over seeds"
COLUMNS = ["claim", "systems", "data", "measure", "paper", "ours", SPREAD, "p", "seeds", "verdict"]
NUMBERS = {"paper", "ours", SPREAD, "p", "seeds"}
SIGNIFICANT = 0.05
SAME = "no difference"
HELD, LEANS = "clearly the paper's way", "the paper's way, not clearly"
AGAINST, LEANS_AGAINST = "clearly the other way", "the other way, not clearly"


@dataclass(frozen=True)
class Claim:
    """A paper says, in its text or by its numbers, how `first` and `second` compare.

    `metric` is spelled as in the paper's `published.csv`. Where a number of the two is missing
    there, the text says that `first` is better.
    """

    text: str
    first: str
    second: str
    dataset: str
    metric: str = "MAP"


def judged(paper: str, claims: Iterable[Claim], rows: Iterable[Row] | None = None) -> pd.DataFrame:
    """One line a claim (`COLUMNS`): the difference of means, the paper's and ours, and a verdict.

    Ours is over the seeds that both systems have, beside half of its 95 % interval over them; p is
    Fisher's randomisation test over the questions, on each question's mean over seeds, not
    corrected for the number of lines. All cells are text. `rows` default to the ledger.
    """
    rows = list(read_ledger(paper) if rows is None else rows)
    lines = []
    for claim in claims:
        *split, measure = claim.metric.split()
        found = significance(
            paper, claim.dataset, MEASURES[measure], claim.first, claim.second, rows,
            split[0] if split else "test",
        )  # fmt: skip
        lines.append(line(paper, claim, found))
    return pd.DataFrame(lines, columns=COLUMNS)


def line(paper: str, claim: Claim, found: Significance | None) -> list[str | int]:
    """The cells of a claim's line (`COLUMNS`), given the test of its two systems in our runs."""
    data, name = spelled(paper, claim.dataset, claim.metric)
    known = published(paper).drop_duplicates(["row", "dataset", "metric"])
    values = known.set_index(["row", "dataset", "metric"])["value"]
    keys = [(system, claim.dataset, claim.metric) for system in (claim.first, claim.second)]
    printed = all(key in values.index for key in keys)
    difference = float(values[keys[0]] - values[keys[1]]) if printed else None
    spread = found.over_seeds if found else None
    return [
        claim.text,
        f"{claim.first} over {claim.second}",
        data,
        name,
        "better" if difference is None else f"{difference:+.3f}",
        f"{found.t.difference:+.3f}" if found else "–",
        f"{spread:.3f}" if spread is not None else "–",
        f"{found.randomisation.p:.3f}" if found else "–",
        len(found.seeds) if found else 0,
        verdict(found, difference),
    ]


def verdict(found: Significance | None, paper: float | None = None) -> str:
    """Which way our runs point, seen from the paper's difference (None: `first` is better).

    Clearly, if p over the questions is small and the interval over the seeds leaves zero out: the
    test over questions does not know that a run made again comes out otherwise. So one run alone
    is never clear, but of systems that draw nothing.
    """
    if found is None:
        return NOT_RUN
    ours = found.t.difference
    if abs(ours) < 0.0005:  # what three digits show as 0
        return SAME
    spread = found.over_seeds if found.seeded else 0.0
    clear = found.randomisation.p < SIGNIFICANT and spread is not None and abs(ours) > spread
    if ours * (paper or 1.0) > 0:
        return HELD if clear else LEANS
    return AGAINST if clear else LEANS_AGAINST


def told(frame: pd.DataFrame) -> str:
    """The table as Markdown, without columns that say the same in every line."""
    if len(frame) > 1:
        frame = frame.loc[
            :, [c not in ("data", "measure") or frame[c].nunique() > 1 for c in frame]
        ]
    cells = [[str(value) for value in line] for line in frame.itertuples(index=False)]
    flush_right = {i for i, name in enumerate(frame.columns) if name in NUMBERS}
    return markdown_table(list(frame.columns), cells, flush_right)


def summary(frame: pd.DataFrame) -> str:
    """The verdicts counted, in a few sentences."""
    ran = frame[frame["seeds"] > 0]
    text = f"{len(frame)} comparisons, {len(ran)} of them run by us."
    if ran.empty:
        return text
    count = ran["verdict"].value_counts()
    parts = "; ".join(
        f"{count[name]} {name}" for name in (HELD, LEANS, SAME, LEANS_AGAINST, AGAINST)
        if name in count
    )  # fmt: skip
    fewest, most = int(ran["seeds"].min()), int(ran["seeds"].max())
    seeds = str(most) if fewest == most else f"{fewest} to {most}"
    return (
        f"{text} Of those: {parts} (clear: p over questions below {SIGNIFICANT}, and zero outside "
        f"the 95 % interval over seeds; seeds a comparison: {seeds})."
    )


def compared(found: Iterable[Significance | None]) -> pd.DataFrame:
    """Tests of two systems as a table, a line each; those not run for both are left out.

    `difference` is of the means over the questions, with half of its 95 % interval over seeds;
    `t-test` and `randomisation` are p values.
    """
    lines = [
        (
            f"{test.first} over {test.second}",
            test.data,
            test.measure.upper(),
            *test.means,
            test.t.difference,
            test.over_seeds,
            test.t.p,
            test.randomisation.p,
            test.t.n,
            len(test.seeds),
        )
        for test in found
        if test
    ]
    columns = ["systems", "data", "measure", "first", "second", "difference", SPREAD,
               "t-test", "randomisation", "questions", "seeds"]  # fmt: skip
    return pd.DataFrame(lines, columns=columns).round(3)
