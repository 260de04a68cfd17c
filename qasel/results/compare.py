"""Systems compared: two of them by tests, a paper's claims judged, all of them on all data sets."""

import difflib
import string
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from qasel.datasets.registry import COLLECTIONS
from qasel.errors import QaselError
from qasel.evaluation import (
    Comparison,
    bootstrap_interval,
    mean_interval,
    paired_ttest,
    randomisation_test,
    tukey_hsd_randomised,
)
from qasel.evaluation.measures import NAMES
from qasel.results import Room
from qasel.results.runs import (
    COMPARISON,
    DATASETS,
    QUICK,
    TABLE,
    Target,
    by_question,
    read_runs,
    shown,
)
from qasel.results.tables import (
    FEWEST,
    NOT_RUN,
    Marked,
    Table,
    csv_of,
    escape_latex,
    markdown_table,
    published,
    require_format,
    spelled,
    split_of,
)

ALPHA = 0.05
"""A difference is significant if p is below this."""

# Two systems


@dataclass(frozen=True)
class Significance:
    """Two systems compared on the questions of a split.

    Both tests are paired over questions, on the `values` of each system by question, averaged
    over `seeds`: those that both have, where one run of a system that draws nothing serves all of
    the other's (`seeded`: one of the two does draw). `t` is Student's test and `randomisation`
    Fisher's. They take the trained systems as given; how much runs differ is in `by_seed`, the
    difference of the two means in each seed.
    """

    data: str
    measure: str
    first: str
    second: str
    vectors: str
    seeds: tuple[int, ...]
    seeded: bool
    by_seed: tuple[float, ...]
    means: tuple[float, float]
    t: Comparison
    randomisation: Comparison
    values: tuple[Mapping[str, float], Mapping[str, float]] = field(repr=False)

    @property
    def over_seeds(self) -> float | None:
        """Half of the 95 % interval (t) of the mean of `by_seed`; None with one seed."""
        return mean_interval(self.by_seed)[2]


def significance(
    room: Room,
    dataset: str,
    measure: str = "map",
    first: str | None = None,
    second: str = "DCA",
    runs: pd.DataFrame | None = None,
    split: str = "test",
) -> Significance | None:
    """Compare `first` (the paper's own system by default) with `second` on a split.

    None without runs of both with the same vectors and a common seed. `runs` default to the
    ledger.
    """
    systems = shown(room, dataset, first or room.main, second, runs=runs, split=split)
    return between(systems, measure) if systems else None


def between(systems: Mapping[str, pd.DataFrame], measure: str = "map") -> Significance | None:
    """Compare two systems by name, each with the lines of its runs on one split.

    None without a common seed.
    """
    if len(systems) < 2 or any(lines.empty for lines in systems.values()):
        return None
    first, second = systems
    runs = [
        lines.drop_duplicates("seed", keep="last").set_index("seed") for lines in systems.values()
    ]
    drawn = [bool(lines["seeded"].iloc[0]) for lines in runs]
    for i, other in ((0, 1), (1, 0)):
        if not drawn[i]:  # one run serves all seeds
            runs[i] = runs[i].iloc[[0] * len(runs[other])].set_axis(runs[other].index)
    seeds = sorted(runs[0].index.intersection(runs[1].index))
    if not seeds:
        return None
    ours, others = (lines.loc[seeds] for lines in runs)
    a, b = (by_question(lines, measure) for lines in (ours, others))
    line = ours.iloc[0]
    gaps = zip(ours["values"], others["values"], strict=True)
    return Significance(
        data=line["dataset"] if line["split"] == "test" else f"{line['dataset']} {line['split']}",
        measure=measure,
        first=first,
        second=second,
        vectors=line["vectors"],
        seeds=tuple(seeds),
        seeded=any(drawn),
        by_seed=tuple(fmean(x[measure].values()) - fmean(y[measure].values()) for x, y in gaps),
        means=(fmean(a.values()), fmean(b.values())),
        t=paired_ttest(a, b),
        randomisation=randomisation_test(a, b),
        values=(a, b),
    )


def pooled(found: Iterable[Significance]) -> Comparison:
    """Several comparisons on the same questions as one: each question's mean over them, tested.

    Fisher's randomisation test. Comparisons may share systems, which is then part of the mean.
    Raises `QaselError` for values of different questions.
    """
    sides = [pd.DataFrame(values) for values in zip(*(one.values for one in found), strict=True)]
    if any(side.isna().any(axis=None) for side in sides):
        raise QaselError("comparisons on different questions cannot be pooled")
    first, second = (side.mean().to_dict() for side in sides)
    return randomisation_test(first, second)


SPREAD = "± over seeds"


def compared(found: Iterable[Significance | None]) -> pd.DataFrame:
    """Tests of two systems as a table, a line each; those not run for both are left out.

    `difference` is of the means over the questions, with half of its 95 % interval over seeds;
    `t-test` and `randomisation` are p values.
    """
    columns = ["systems", "data", "measure", "first", "second", "difference", SPREAD,
               "t-test", "randomisation", "questions", "seeds"]  # fmt: skip
    lines = [
        (
            f"{test.first} over {test.second}", test.data, test.measure.upper(), *test.means,
            test.t.difference, test.over_seeds, test.t.p, test.randomisation.p, test.t.n,
            len(test.seeds),
        )
        for test in found
        if test
    ]  # fmt: skip
    return pd.DataFrame(lines, columns=columns).round(3)


# What a paper says of two systems, beside the same comparison in our runs

CLAIM_COLUMNS = ["claim", "systems", "data", "measure", "paper", "ours", SPREAD, "p", "seeds",
                 "verdict"]  # fmt: skip
NUMBERS = {"paper", "ours", SPREAD, "p", "seeds"}
SAME = "no difference"
HELD, LEANS = "clearly the paper's way", "the paper's way, not clearly"
AGAINST, LEANS_AGAINST = "clearly the other way", "the other way, not clearly"


class Claim(NamedTuple):
    """A paper says, in its text or by its numbers, how `first` and `second` compare.

    `metric` is spelled as in the paper's `published.csv`. Where a number of the two is missing
    there, the text says that `first` is better.
    """

    text: str
    first: str
    second: str
    dataset: str
    metric: str = "MAP"


def judged(room: Room, claims: Iterable[Claim], runs: pd.DataFrame | None = None) -> pd.DataFrame:
    """One line per claim: the difference of means, the paper's and ours, and a verdict.

    Ours is over the seeds that both systems have, beside half of its 95 % interval over them; p is
    Fisher's randomisation test over the questions, on each question's mean over seeds, not
    corrected for the number of lines. All cells are text. `runs` default to the ledger.
    """
    runs = read_runs([room]) if runs is None else runs
    lines = []
    for claim in claims:
        split, measure = split_of(claim.metric)
        pair = claim.first, claim.second
        found = significance(room, claim.dataset, measure, *pair, runs, split)
        lines.append(judge(room, claim, found))
    return pd.DataFrame(lines, columns=CLAIM_COLUMNS)


def judge(room: Room, claim: Claim, found: Significance | None) -> list[str | int]:
    """The cells of a claim's line, given the test of its two systems in our runs."""
    data, name = spelled(room, claim.dataset, claim.metric)
    known = published(room)
    known = known[(known["dataset"] == claim.dataset) & (known["metric"] == claim.metric)]
    values = known.drop_duplicates("row").set_index("row")["value"]
    printed = {claim.first, claim.second} <= set(values.index)
    difference = float(values[claim.first] - values[claim.second]) if printed else None
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
    clear = found.randomisation.p < ALPHA and spread is not None and abs(ours) > spread
    if ours * (paper or 1.0) > 0:
        return HELD if clear else LEANS
    return AGAINST if clear else LEANS_AGAINST


def claims_table(frame: pd.DataFrame) -> str:
    """The claims as Markdown, without columns that say the same in every line."""
    if len(frame) > 1:
        alike = [c for c in ("data", "measure") if c in frame and frame[c].nunique() == 1]
        frame = frame.drop(columns=alike)
    numbers = {i for i, name in enumerate(frame.columns) if name in NUMBERS}
    return markdown_table(list(frame.columns), frame.astype(str).to_numpy().tolist(), numbers)


def summary(frame: pd.DataFrame) -> str:
    """The verdicts counted, in a few sentences."""
    ran = frame[frame["seeds"] > 0]
    text = f"{len(frame)} comparisons, {len(ran)} of them run by us."
    if ran.empty:
        return text
    count = ran["verdict"].value_counts()
    order = (HELD, LEANS, SAME, LEANS_AGAINST, AGAINST)
    parts = "; ".join(f"{count[name]} {name}" for name in order if name in count)
    fewest, most = int(ran["seeds"].min()), int(ran["seeds"].max())
    seeds = str(most) if fewest == most else f"{fewest} to {most}"
    return (
        f"{text} Of those: {parts} (clear: p over questions below {ALPHA}, and zero outside "
        f"the 95 % interval over seeds; seeds a comparison: {seeds})."
    )


# Systems × test questions

WIDER_OF_OWN = {"mixed": ("answered", "all"), "answered": ("all",)}
"""A protocol of a user's own data → those whose test has all of its questions."""


def entries(runs: pd.DataFrame) -> pd.DataFrame:
    """The lines of runs that are compared, with `system` and `under`, in the papers' order.

    A system is a variant; its vectors or encoder are named where they are not the usual ones, its
    scale where its data set has both, and its paper where two have a variant of the same name. A
    run counts on its own target and, cut to their questions, on narrower ones that others were
    run on: `under` is then the protocol of the run.
    """
    lines = runs[
        runs["counts"].isin((TABLE, COMPARISON))
        & runs["split"].str.startswith("test").astype(bool)
        & runs["values"].astype(bool)
    ]
    if lines.empty:
        return lines.assign(system="", under="")
    group = ["paper", "scale", "variant", "dataset"]
    came = pd.Series(range(len(lines)), lines.index).groupby(
        [lines[c] for c in [*group, "vectors"]]
    )
    lines = lines.assign(came=came.transform("min"), under="")
    lines = lines.sort_values(["place", "dataset", "came", "seed"], kind="stable")
    papers = lines.groupby("variant")["paper"].nunique()
    whole = set(
        lines.loc[lines["scale"] != QUICK, ["paper", "variant", "dataset"]].itertuples(
            index=False, name=None
        )
    )

    def name(line: pd.Series) -> str:
        told = line["variant"]
        if line["scale"] == QUICK and (line["paper"], line["variant"], line["dataset"]) in whole:
            told += f", {QUICK}"
        if {"vectors", "encoder"} & line["changed"].keys():
            told += f", {line['vectors'] or 'no vectors'}"
        return told + (f" ({line['paper']})" if papers[line["variant"]] > 1 else "")

    lines["system"] = lines.apply(name, axis=1)
    lines = pd.concat([lines, *_on_fewer(lines)], ignore_index=True)
    # A system's runs on several data sets belong together.
    first = lines.groupby("system", sort=False).ngroup()
    return lines.iloc[np.argsort(first, kind="stable")].reset_index(drop=True)


def _on_fewer(lines: pd.DataFrame) -> Iterable[pd.DataFrame]:
    """The runs that are worth a look on a narrower target too, which others were run on."""
    for target, same in lines.groupby("target", sort=False):
        asked = {q for values in same["values"] for scores in values.values() for q in scores}
        protocols = [t.protocol for t in lines["target"]]
        wide = lines.assign(under=protocols)[
            [t.dataset == target.dataset and t.protocol in _wider(target) for t in lines["target"]]
        ]
        cut = [
            {m: {q: x for q, x in scores.items() if q in asked} for m, scores in values.items()}
            for values in wide["values"]
        ]
        if cut:
            yield wide.assign(values=cut, target=[target] * len(cut))


def _wider(target: Target) -> tuple[str, ...]:
    """The protocols whose test holds all questions of the target's, and more."""
    known = COLLECTIONS.get(target.dataset)
    return (known.wider if known else WIDER_OF_OWN).get(target.protocol, ())


class Tally(NamedTuple):
    """How a system does against each of the others on a data set."""

    wins: int
    ties: int
    losses: int

    def __str__(self) -> str:
        return f"{self.wins} / {self.ties} / {self.losses}"


class Cell:
    """A system on a target, by one measure: what its runs have in common, and their means.

    `values` are question → value, the mean of the runs that have it. `means` are those of the
    runs, one a seed, or empty where runs have different questions (folds); `by_seed` has them by
    the seeds that are known. `seconds` to train, `parameters` and `ranked_per_second` are means
    over runs; None where no run tells.
    """

    def __init__(self, lines: pd.DataFrame, measure: str):
        runs = [values.get(measure) for values in lines["values"]]
        if None in runs:
            known = ", ".join(next(v for v in lines["values"] if measure not in v))
            raise QaselError(f"unknown measure {measure!r}; of single questions there are: {known}")
        self.values = by_question(lines, measure)
        same = all(values.keys() == self.values.keys() for values in runs)
        self.means = tuple(fmean(values.values()) for values in runs) if same else ()
        seeds = zip(lines["seed"], self.means, strict=False)
        self.by_seed = {seed: mean for seed, mean in seeds if not pd.isna(seed)}
        self.runs = len(lines)
        self.seconds = fmean(lines["seconds"])
        self.parameters = _known_mean(lines["parameters"])
        self.ranked_per_second = _known_mean(lines["ranked_per_second"])
        first = lines.iloc[0]
        self.paper, self.vectors = first["paper"], first["vectors"]
        self.under, self.scale = first["under"], first["scale"]

    @cached_property
    def mean(self) -> float:
        """Over all questions."""
        return fmean(self.values.values())

    @property
    def over_seeds(self) -> tuple[float | None, float | None]:
        """Standard deviation over seeds, half-width of the 95 % t interval; None for one seed."""
        return mean_interval(self.means)[1:] if self.means else (None, None)

    @cached_property
    def over_questions(self) -> tuple[float, float] | None:
        """95 % bootstrap interval over questions, of their means over runs; None for one."""
        return bootstrap_interval(list(self.values.values())) if len(self.values) > 1 else None


def _known_mean(values: pd.Series) -> float | None:
    known = values.dropna()
    return fmean(known) if len(known) else None


@dataclass(frozen=True, eq=False)
class Matrix:
    """Cells by (system, target); a pair that was not run has none.

    On each target those systems are compared that have the questions that most have; the others
    are in `left_out`.
    """

    cells: Mapping[tuple[str, Target], Cell]
    measure: str = "map"
    _tests: dict[Target, dict[tuple[str, str], Comparison]] = field(
        default_factory=dict, init=False, repr=False
    )

    @classmethod
    def of(cls, lines: pd.DataFrame, measure: str = "map") -> "Matrix":
        """The matrix of `entries`; raises `QaselError` for a measure that one of them lacks."""
        groups = lines.groupby(["system", "target"], sort=False) if len(lines) else ()
        return cls({(s, Target(*t)): Cell(group, measure) for (s, t), group in groups}, measure)

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """The systems, in the order in which they came."""
        return tuple(dict.fromkeys(system for system, _ in self.cells))

    @cached_property
    def targets(self) -> tuple[Target, ...]:
        """The targets: known data sets first, by protocol."""
        order = [*DATASETS]

        def place(target: Target) -> tuple[int, Target]:
            known = target.dataset in order
            return order.index(target.dataset) if known else len(order), target

        return tuple(sorted({target for _, target in self.cells}, key=place))

    def column(self, target: Target) -> dict[str, Cell]:
        """The systems that were run on a target, best first."""
        cells = {s: self.cells[s, target] for s in self.systems if (s, target) in self.cells}
        return dict(sorted(cells.items(), key=lambda item: -item[1].mean))

    def questions(self, target: Target) -> frozenset[str]:
        """The questions that most systems have there (the larger set, where two have as many)."""
        counts = Counter(frozenset(cell.values) for cell in self.column(target).values())
        return max(counts, key=lambda questions: (counts[questions], len(questions)))

    def left_out(self, target: Target) -> dict[str, int]:
        """Systems that were run on other questions, and on how many; they are not compared."""
        asked = self.questions(target)
        column = self.column(target).items()
        return {name: len(cell.values) for name, cell in column if cell.values.keys() != asked}

    def compared(self, target: Target) -> list[str]:
        """The systems that are compared on a target, best first."""
        others = self.left_out(target)
        return [system for system in self.column(target) if system not in others]

    def tests(self, target: Target) -> dict[tuple[str, str], Comparison]:
        """Each pair of the systems compared, better one first, by the randomised Tukey HSD.

        p is corrected for the number of systems. Empty for one system, or one question.
        """
        if target not in self._tests:
            systems = self.compared(target)
            enough = len(systems) > 1 and len(self.questions(target)) > 1
            values = {system: self.cells[system, target].values for system in systems}
            self._tests[target] = tukey_hsd_randomised(values) if enough else {}
        return self._tests[target]

    def beaten(self, system: str, target: Target) -> list[str]:
        """The systems that this one beats significantly, best first."""
        found = self.tests(target)
        return [b for (a, b), test in found.items() if a == system and test.p < ALPHA]

    def tally(self, system: str, target: Target) -> Tally | None:
        """Significant wins, ties and significant losses; None where it is not compared."""
        found = self.tests(target)
        if not any(system in pair for pair in found):
            return None
        wins = len(self.beaten(system, target))
        losses = sum(b == system and test.p < ALPHA for (_, b), test in found.items())
        return Tally(wins, len(self.compared(target)) - 1 - wins - losses, losses)

    def leaders(self, count: int) -> list[str]:
        """The systems that are among the `count` best on some target, in the matrix's order."""
        best = {system for target in self.targets for system in list(self.column(target))[:count]}
        return [system for system in self.systems if system in best]

    def only(self, systems: Sequence[str] = (), data: Sequence[str] = ()) -> "Matrix":
        """The part with these systems and data sets (`wikiqa`, or `wikiqa/mixed`); none: all.

        Tests are then corrected for the systems that are left. Raises `QaselError` for a name
        that the matrix does not have.
        """
        chosen = {_known(name, self.systems, "system") for name in systems or self.systems}
        named = dict.fromkeys(name for t in self.targets for name in (t.dataset, t.key))
        asked = {_known(name, named, "data set") for name in data or named}
        cells = {
            (system, target): cell
            for (system, target), cell in self.cells.items()
            if system in chosen and asked & {target.dataset, target.key}
        }
        return Matrix(cells, self.measure)


def _known(name: str, known: Iterable[str], what: str) -> str:
    """`name`, if it is known; raises `QaselError` with the nearest ones if not."""
    folded = {key.casefold(): key for key in known}
    if name in folded.values():
        return name
    close = difflib.get_close_matches(name.casefold(), folded, n=3)
    near = "did you mean " + " or ".join(repr(folded[key]) for key in close) + "?"
    hint = near if close else f"there are: {', '.join(folded.values())}"
    raise QaselError(f"no run of the {what} {name!r} in the ledger; {hint}")


ADJUSTED, SEEDS, CLEAR = "p, adjusted", "± over seeds", "clear"
IDEA_COLUMNS = [
    "idea", "data", "with", "without", "questions", "runs", "difference", "low", "high", SEEDS,
    ADJUSTED, CLEAR,
]  # fmt: skip


def worth(matrix: Matrix, ideas: Mapping[str, tuple[str, str]]) -> pd.DataFrame:
    """Idea → (system with it, system without it): a line a data set that both were run on.

    `difference` of the means, with a 95 % bootstrap interval over questions (`low`, `high`), and
    `ADJUSTED` p of the paired randomisation test, for the number of lines by Benjamini and
    Hochberg: these pairs were named beforehand, so that the correction is for them only and not
    for all pairs there are. Both are over questions, each with its mean over the runs, which
    `runs` counts for the two systems (`3 / 1`): they cannot tell an idea from a seed. `SEEDS` is
    half of the 95 % interval of the difference over the seeds that both have, paired, from two
    on. `CLEAR` are lines with p below `ALPHA` whose interval over the seeds leaves zero out.
    Pairs that cannot be compared are left out, and so is a target on which both are runs
    on a wider one (`under`), where they are compared anyhow.
    """
    lines = []
    for idea, (having, lacking) in ideas.items():
        for target in matrix.targets:
            together = matrix.compared(target) if len(matrix.questions(target)) > 1 else ()
            if having not in together or lacking not in together:
                continue
            a, b = (matrix.cells[system, target] for system in (having, lacking))
            if a.under and b.under:
                continue
            gaps = [
                a.by_seed[seed] - b.by_seed[seed] for seed in sorted(a.by_seed.keys() & b.by_seed)
            ]
            gap, _, half = mean_interval(gaps) if gaps else (0.0, None, None)
            low, high = bootstrap_interval(a.values, b.values)
            clear = half is not None and abs(gap) > half
            what = (idea, target.name, having, lacking, len(a.values), f"{a.runs} / {b.runs}")
            p = randomisation_test(a.values, b.values).p
            lines.append((*what, a.mean - b.mean, low, high, half, p, clear))
    frame = pd.DataFrame(lines, columns=IDEA_COLUMNS)
    if lines:
        frame[ADJUSTED] = stats.false_discovery_control(frame[ADJUSTED])
        frame[CLEAR] &= frame[ADJUSTED] < ALPHA
    return frame


# The matrix as text

COLUMNS = [
    "paper", "system", "vectors", "dataset", "protocol", "under", "scale", "measure", "questions",
    "runs", "mean", "std", "seed_low", "seed_high", "question_low", "question_high",
    "wins", "ties", "losses", "beats", "seconds", "parameters", "ranked_per_second",
]  # fmt: skip
"""Of the CSV, one line a cell: `under` as in `entries`, measures in 0..1, `std` and the seeds'
95 % interval empty for one seed and for folds, the tally empty where a system is not compared,
`beats` with `; ` between."""


def render(matrix: Matrix, format_: str = "md") -> str:
    """The matrix as `md`, `latex` (booktabs) or `csv`; ends with a newline.

    `md` and `latex` have a table of means with superscripts, one of details a data set, and notes.
    """
    if format_ == "csv":
        return csv_of(frame(matrix))
    in_markdown = require_format(format_) == "md"
    tables = [overview(matrix), *(detail(matrix, target) for target in matrix.targets)]
    parts = [table.markdown() if in_markdown else table.latex() for table in tables]
    for note in notes_of(matrix):
        parts.append(f"{note}\n" if in_markdown else f"\\par {escape_latex(note)}\n")
    return "\n".join(parts)


def frame(matrix: Matrix) -> pd.DataFrame:
    """One line a cell, with `COLUMNS`."""
    lines = []
    for target in matrix.targets:
        for system, cell in matrix.column(target).items():
            deviation, half = cell.over_seeds
            lines.append((
                cell.paper, system, cell.vectors, *target, cell.under, cell.scale, matrix.measure,
                len(cell.values), cell.runs, cell.mean, deviation,
                *((None, None) if half is None else (cell.mean - half, cell.mean + half)),
                *(cell.over_questions or (None, None)),
                *(matrix.tally(system, target) or (None, None, None)),
                "; ".join(matrix.beaten(system, target)),
                cell.seconds, cell.parameters, cell.ranked_per_second,
            ))  # fmt: skip
    whole = dict.fromkeys(("wins", "ties", "losses"), "Int64")
    return pd.DataFrame(lines, columns=COLUMNS).astype(whole)


def letters(matrix: Matrix) -> dict[str, str]:
    """A letter a system, in the matrix's order; numbers where the alphabet is too short."""
    systems, marks = matrix.systems, list(string.ascii_lowercase)
    if len(systems) > len(marks):
        marks = [str(number) for number in range(1, len(systems) + 1)]
    return dict(zip(systems, marks, strict=False))


def overview(matrix: Matrix) -> Table:
    """Systems × data sets: means, and superscripts for the systems that each one beats there."""
    known = letters(matrix)
    cells: list[list[str | Marked]] = []
    for system in matrix.systems:
        line = [matrix.cells.get((system, target)) for target in matrix.targets]
        paper = next(cell.paper for cell in line if cell)
        marked = [_marked(matrix, system, target, known) for target in matrix.targets]
        cells.append([known[system], system, paper, *marked])
    header = ["", "system", "paper", *(target.name for target in matrix.targets)]
    title = f"{NAMES[matrix.measure]}, mean over seeds"
    return Table(title, header, cells, set(range(3, len(header))))


def _marked(matrix: Matrix, system: str, target: Target, known: dict[str, str]) -> str | Marked:
    """A mean, with the letters of the systems beaten; three or more in a row as `a–c`."""
    cell = matrix.cells.get((system, target))
    if cell is None:
        return "–"
    if system in matrix.left_out(target):
        return f"{cell.mean:.3f} ({len(cell.values)} questions)"
    places, marks = list(known), list(known.values())
    rows: list[list[int]] = []
    for place in sorted(places.index(name) for name in matrix.beaten(system, target)):
        if rows and place == rows[-1][-1] + 1:
            rows[-1].append(place)
        else:
            rows.append([place])
    named = (
        [f"{marks[row[0]]}–{marks[row[-1]]}"] if len(row) > 2 else [marks[i] for i in row]
        for row in rows
    )
    return f"{cell.mean:.3f}", ",".join(mark for part in named for mark in part)


DETAILS = [
    SEEDS, "95 % over questions", "runs", "wins / ties / losses",
    "s to train", "parameters", "ranked a second",
]  # fmt: skip
"""Columns of a cell's details, after the mean."""


def detail(matrix: Matrix, target: Target) -> Table:
    """The systems on a data set, best first: intervals, tally, cost."""
    known = letters(matrix)
    cells = [
        [known[system], system, cell.paper, *details(matrix, system, target)]
        for system, cell in matrix.column(target).items()
    ]
    header = ["", "system", "paper", NAMES[matrix.measure], *DETAILS]
    return Table(counted(matrix, target), header, cells, set(range(3, len(header))))


def short(
    matrix: Matrix, target: Target, columns: Sequence[str] = DETAILS, count: int | None = None
) -> Table:
    """The `count` best systems on a data set (None: all) with some of their `DETAILS`."""
    cells = []
    for system in list(matrix.column(target))[:count]:
        mean, *rest = details(matrix, system, target)
        known = dict(zip(DETAILS, rest, strict=True))
        cells.append([system, mean, *(known[column] for column in columns)])
    title = counted(matrix, target)
    if len(cells) < len(matrix.column(target)):
        title += f"; the best {len(cells)}"
    header = ["system", NAMES[matrix.measure], *columns]
    return Table(title, header, cells, set(range(1, len(header))))


def counted(matrix: Matrix, target: Target) -> str:
    """A target with the numbers of its questions and systems."""
    asked, ran = len(matrix.questions(target)), len(matrix.column(target))
    questions, systems = ("" if number == 1 else "s" for number in (asked, ran))
    return f"{target.name}: {asked} question{questions}, {ran} system{systems}"


def details(matrix: Matrix, system: str, target: Target) -> list[str]:
    """The mean of a cell and its `DETAILS`, as they are printed."""
    cell = matrix.cells[system, target]
    _, half = cell.over_seeds
    ends = cell.over_questions
    tally = matrix.tally(system, target)
    remarks = ", ".join([cell.under] * bool(cell.under) + [QUICK] * (cell.scale == QUICK))
    runs = str(cell.runs) if cell.means else f"{cell.runs} folds"
    return [
        f"{cell.mean:.3f}",
        f"{half:.3f}" if half is not None and len(cell.means) >= FEWEST else "–",
        f"{ends[0]:.3f} to {ends[1]:.3f}" if ends else "–",
        f"{runs} ({remarks})" if remarks else runs,
        str(tally) if tally else "not compared",
        f"{cell.seconds:,.0f}" if cell.seconds >= 10 else f"{cell.seconds:.1f}",
        _number(cell.parameters),
        _number(cell.ranked_per_second),
    ]


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value / 1e6:.1f} M" if value >= 1e6 else f"{value:,.0f}"


def notes_of(matrix: Matrix) -> list[str]:
    """How to read the tables, and what could not be compared."""
    notes = [
        "A win, a loss and a superscript each stand for "
        f"p < {ALPHA:g} by the randomised Tukey HSD over questions (each question's mean over "
        "seeds), corrected for all systems of the data set. ± over seeds: half of the 95 % t "
        f"interval; – for fewer than {FEWEST} seeds, and for folds, which share no question. "
        "Over questions: 95 % bootstrap interval. Cost: means over runs, each on its own device, "
        "without what an earlier run had left to build on (features, a first stage); – where it "
        "was not measured. Parameters: all numbers that training sets, with the word vectors where "
        "those are trained."
    ]
    if wider := sorted({cell.under for cell in matrix.cells.values() if cell.under}):
        notes.append(
            f"Runs ({' or '.join(wider)}): trained and chosen under that protocol, whose test has "
            "these questions and a few more; measured on these."
        )
    if any(cell.scale == QUICK for cell in matrix.cells.values()):
        notes.append(
            f"Runs ({QUICK}): with settings made for the sample, which is too small for the "
            "papers' own."
        )
    for target in matrix.targets:
        if others := matrix.left_out(target):
            named = ", ".join(f"{system} ({count})" for system, count in others.items())
            asked = len(matrix.questions(target))
            notes.append(f"Not compared on {target.name}, run on other than its {asked}: {named}.")
    return notes
