"""Systems compared: two of them by tests, a paper's claims judged, all of them on all data sets."""

import difflib
import string
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from statistics import fmean
from typing import Any, NamedTuple

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
from qasel.results import Room, tables
from qasel.results.runs import COMPARISON, DATASETS, QUICK, TABLE, read_runs, shown, target_name
from qasel.results.tables import FEWEST, NOT_RUN

ALPHA = 0.05
"""A difference is significant if p is below this."""
SEEDS = "± over seeds"

# Two systems


@dataclass(frozen=True)
class Significance:
    """Two systems compared on the questions of a split, by paired tests over the questions.

    `values` are each system's by question, averaged over the `seeds` that both have; one run of a
    system that draws nothing serves all seeds (`seeded`: at least one of the two draws). `t` is
    Student's test and `randomisation` Fisher's: both take the trained systems as given. How much
    runs differ is in `by_seed`, the difference of the two means for each seed.
    """

    data: str
    measure: str
    first: str
    second: str
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
    """Compare two systems, given by name with the lines of their runs on one split.

    None without a common seed.
    """
    if len(systems) < 2 or any(lines.empty for lines in systems.values()):
        return None
    first, second = systems
    a, b = (
        lines.drop_duplicates("seed", keep="last").set_index("seed") for lines in systems.values()
    )
    drawn = [bool(lines["seeded"].iloc[0]) for lines in (a, b)]
    if not drawn[0]:  # one run serves all seeds
        a = a.iloc[[0] * len(b)].set_axis(b.index)
    if not drawn[1]:
        b = b.iloc[[0] * len(a)].set_axis(a.index)
    seeds = sorted(a.index.intersection(b.index))
    if not seeds:
        return None
    a, b = a.loc[seeds], b.loc[seeds]
    x, y = by_question(a, measure), by_question(b, measure)
    line = a.iloc[0]
    runs = zip(a["values"], b["values"], strict=True)
    return Significance(
        data=line["dataset"] if line["split"] == "test" else f"{line['dataset']} {line['split']}",
        measure=measure,
        first=first,
        second=second,
        seeds=tuple(seeds),
        seeded=any(drawn),
        by_seed=tuple(fmean(p[measure].values()) - fmean(q[measure].values()) for p, q in runs),
        means=(fmean(x.values()), fmean(y.values())),
        t=paired_ttest(x, y),
        randomisation=randomisation_test(x, y),
        values=(x, y),
    )


def by_question(lines: pd.DataFrame, measure: str) -> dict[str, float]:
    """Each question's value, the mean over the runs that have it."""
    found: dict[str, list[float]] = {}
    for values in lines["values"]:
        for question, value in values[measure].items():
            found.setdefault(question, []).append(value)
    return {question: fmean(values) for question, values in found.items()}


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


def compared(found: Iterable[Significance | None]) -> pd.DataFrame:
    """Tests of two systems as a table, one line each; pairs that were not run are left out.

    `difference` is of the means over the questions, with half of its 95 % interval over seeds;
    `t-test` and `randomisation` are p values.
    """
    columns = ["systems", "data", "measure", "first", "second", "difference", SEEDS,
               "t-test", "randomisation", "questions", "seeds"]  # fmt: skip
    lines = [
        [f"{test.first} over {test.second}", test.data, test.measure.upper(), *test.means,
         test.t.difference, test.over_seeds, test.t.p, test.randomisation.p, test.t.n,
         len(test.seeds)]
        for test in found if test
    ]  # fmt: skip
    return pd.DataFrame(lines, columns=columns).round(3)


# What a paper says of two systems, beside the same comparison in our runs

CLAIM_COLUMNS = ["claim", "systems", "data", "measure", "paper", "ours", SEEDS, "p", "seeds",
                 "verdict"]  # fmt: skip
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

    Ours is over the seeds that both systems have, with half of its 95 % interval over them; p is
    Fisher's randomisation test over the questions, on each question's mean over seeds, not
    corrected for the number of lines. All cells but the seeds are text. `runs` default to the
    ledger.
    """
    runs = read_runs([room]) if runs is None else runs
    lines = []
    for claim in claims:
        split, measure = tables.split_of(claim.metric)
        systems = claim.first, claim.second
        found = significance(room, claim.dataset, measure, *systems, runs, split)
        lines.append(judge(room, claim, found))
    return pd.DataFrame(lines, columns=CLAIM_COLUMNS)


def judge(room: Room, claim: Claim, found: Significance | None) -> list[str | int]:
    """The cells of a claim's line, given the test of its two systems in our runs."""
    known = tables.published(room)
    known = known[(known["dataset"] == claim.dataset) & (known["metric"] == claim.metric)]
    values = known.drop_duplicates("row").set_index("row")["value"]
    printed = {claim.first, claim.second} <= set(values.index)
    paper = float(values[claim.first] - values[claim.second]) if printed else None
    spread = found.over_seeds if found else None
    return [
        claim.text,
        f"{claim.first} over {claim.second}",
        *tables.spelled(room, claim.dataset, claim.metric),
        "better" if paper is None else f"{paper:+.3f}",
        f"{found.t.difference:+.3f}" if found else "–",
        "–" if spread is None else f"{spread:.3f}",
        f"{found.randomisation.p:.3f}" if found else "–",
        len(found.seeds) if found else 0,
        verdict(found, paper),
    ]


def verdict(found: Significance | None, paper: float | None = None) -> str:
    """Which way our runs point, seen from the paper's difference (None: `first` is better).

    Clearly, if p over the questions is below `ALPHA` and the interval over seeds leaves zero out:
    the test over questions does not know that another run comes out otherwise. So one seed alone
    is never clear, unless neither system draws anything.
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
    ].assign(system="", under="")
    if lines.empty:
        return lines
    group = ["paper", "scale", "variant", "dataset", "vectors"]
    lines["came"] = lines.groupby(group, sort=False).ngroup()
    lines = lines.sort_values(["place", "dataset", "came", "seed"], kind="stable")
    papers = lines.groupby("variant")["paper"].nunique()
    keys = lines[["paper", "variant", "dataset"]].agg(tuple, axis=1)
    both_scales = (lines["scale"] == QUICK) & keys.isin(keys[lines["scale"] != QUICK])

    def name(line: pd.Series) -> str:
        system = line["variant"] + (f", {QUICK}" if both_scales[line.name] else "")
        if {"vectors", "encoder"} & line["changed"].keys():
            system += f", {line['vectors'] or 'no vectors'}"
        return system + (f" ({line['paper']})" if papers[line["variant"]] > 1 else "")

    lines["system"] = lines.apply(name, axis=1)
    lines = pd.concat([lines, *_on_fewer(lines)], ignore_index=True)
    # A system's runs on several data sets belong together.
    first = lines.groupby("system", sort=False).ngroup()
    return lines.iloc[np.argsort(first, kind="stable")].reset_index(drop=True)


def _on_fewer(lines: pd.DataFrame) -> Iterable[pd.DataFrame]:
    """Runs under a wider protocol, cut to the questions of each narrower target in `lines`."""
    protocols = lines["target"].str.rpartition("/")[2]
    for target, same in lines.groupby("target", sort=False):
        dataset, _, protocol = str(target).rpartition("/")
        known = COLLECTIONS.get(dataset)
        wider = (known.wider if known else WIDER_OF_OWN).get(protocol, ())
        wide = lines.assign(under=protocols)
        wide = wide[(wide["dataset"] == dataset) & protocols.isin(wider)]
        asked = {q for values in same["values"] for scores in values.values() for q in scores}
        cut = [
            {m: {q: x for q, x in scores.items() if q in asked} for m, scores in values.items()}
            for values in wide["values"]
        ]
        yield wide.assign(values=cut, target=target)


def chosen(
    lines: pd.DataFrame, systems: Collection[str] = (), data: Collection[str] = ()
) -> pd.DataFrame:
    """The `entries` of these systems and data sets (`wikiqa`, or `wikiqa/mixed`); none: all.

    Raises `QaselError` for a name that no run has.
    """
    datasets = lines["target"].str.rpartition("/")[0]
    for what, known, asked in (
        ("system", lines["system"], systems),
        ("data set", [*datasets, *lines["target"]], data),
    ):
        folded = {name.casefold(): name for name in known}
        for name in set(asked) - set(folded.values()):
            close = difflib.get_close_matches(name.casefold(), folded, n=3)
            near = "did you mean " + " or ".join(repr(folded[key]) for key in close) + "?"
            hint = near if close else f"there are: {', '.join(folded.values())}"
            raise QaselError(f"no run of the {what} {name!r} in the ledger; {hint}")
    of_systems = lines["system"].isin(systems or lines["system"])
    of_data = (lines["target"].isin(data) | datasets.isin(data)) if data else True
    return lines[of_systems & of_data]


def matrix(lines: pd.DataFrame, measure: str = "map") -> pd.DataFrame:
    """Systems × targets of `entries`: a line per pair that was run, by target and system.

    Known data sets come first, and of each target the best system; `place` has the order in which
    the systems came. Of a line's runs:

    - `values`: question → value, the mean of the runs that have it; `mean` is over them all;
    - `means`: of each run, or none where runs have different questions (folds), and `by_seed`,
      those of a known seed; `std` and `half`, their sample deviation and half of the 95 % t
      interval of their mean (None for one seed);
    - `seconds` to train, `parameters` and `ranked_per_second`: means of the runs that have any;
    - `compared`: whether it has the questions that most systems have on the target (the larger
      set, where two have as many). Only such lines are tested against each other.

    Raises `QaselError` for a measure that a run lacks.
    """
    key = ["target", "system"]
    if lines.empty:
        return pd.DataFrame(index=pd.MultiIndex.from_arrays([[], []], names=key))
    place = {system: n for n, system in enumerate(lines["system"].unique())}
    cells = pd.DataFrame(
        {"target": target, "system": system, "place": place[system]} | _cell(group, measure)
        for (target, system), group in lines.groupby(key, sort=False)
    )
    known = cells["target"].str.rpartition("/")[0].map({name: n for n, name in enumerate(DATASETS)})
    cells = cells.assign(known=known.fillna(len(DATASETS)), worst=-cells["mean"])
    cells = cells.sort_values(["known", "target", "worst"], kind="stable", ignore_index=True)
    asked = cells["values"].map(frozenset)
    most = {
        target: max(sets, key=lambda questions: (list(sets).count(questions), len(questions)))
        for target, sets in asked.groupby(cells["target"])
    }
    cells["compared"] = asked == cells["target"].map(most)
    return cells.drop(columns=["known", "worst"]).set_index(key)


def _cell(lines: pd.DataFrame, measure: str) -> dict[str, Any]:
    """What `matrix` says of the runs of one system on one target."""
    runs = [values.get(measure) for values in lines["values"]]
    if None in runs:
        known = ", ".join(next(v for v in lines["values"] if measure not in v))
        raise QaselError(f"unknown measure {measure!r}; of single questions there are: {known}")
    values = by_question(lines, measure)
    same = all(run.keys() == values.keys() for run in runs)
    means = [fmean(run.values()) for run in runs] if same else []
    seeds = zip(lines["seed"], means, strict=False)
    _, std, half = mean_interval(means) if means else (None, None, None)
    costs = {name: lines[name].dropna() for name in ("seconds", "parameters", "ranked_per_second")}
    return {
        **lines[["paper", "vectors", "under", "scale"]].iloc[0],
        "measure": measure,
        "values": values,
        "means": means,
        "by_seed": {seed: mean for seed, mean in seeds if not pd.isna(seed)},
        "questions": len(values),
        "runs": len(lines),
        "mean": fmean(values.values()),
        "std": std,
        "half": half,
        **{name: fmean(known) if len(known) else None for name, known in costs.items()},
    }


def targets(cells: pd.DataFrame) -> list[str]:
    """The targets of a matrix, in its order."""
    return list(cells.index.unique("target"))


def systems(cells: pd.DataFrame) -> list[str]:
    """The systems of a matrix, in the order in which they came."""
    return list(cells.sort_values("place", kind="stable").index.unique("system"))


def pairs(column: pd.DataFrame) -> dict[tuple[str, str], Comparison]:
    """Each pair of systems compared in one target's lines, better first: randomised Tukey HSD.

    p is corrected for the number of systems. Empty for one system, or one question.
    """
    values = column.loc[column["compared"], "values"]
    enough = len(values) > 1 and len(values.iloc[0]) > 1
    return tukey_hsd_randomised(values.to_dict()) if enough else {}


def with_tests(cells: pd.DataFrame) -> pd.DataFrame:
    """A matrix with `wins`, `ties` and `losses`, significant ones, and the systems it `beats`.

    Missing where a system is not compared with any.
    """
    tallies = {}
    for target in targets(cells):
        tested = pairs(cells.loc[target])
        clear = [pair for pair, test in tested.items() if test.p < ALPHA]
        names = {name for pair in tested for name in pair}
        for system in names:
            beats = [other for better, other in clear if better == system]
            losses = sum(other == system for _, other in clear)
            ties = len(names) - 1 - len(beats) - losses
            tallies[target, system] = len(beats), ties, losses, beats
    columns = ["wins", "ties", "losses", "beats"]
    lines = [tallies.get(key, (pd.NA, pd.NA, pd.NA, [])) for key in cells.index]
    frame = pd.DataFrame(lines, cells.index, columns)
    return cells.join(frame.astype(dict.fromkeys(columns[:3], "Int64")))


ADJUSTED, CLEAR = "p, adjusted", "clear"


def worth(cells: pd.DataFrame, ideas: Mapping[str, tuple[str, str]]) -> pd.DataFrame:
    """Idea → (system with it, system without it): a line per data set that both were run on.

    `difference` of the means, with a 95 % bootstrap interval over questions (`low`, `high`), and
    `ADJUSTED` p of the paired randomisation test, corrected for the number of lines by Benjamini
    and Hochberg: only for these pairs, as they were named beforehand. Both use each question's
    mean over the runs, which `runs` counts for the two systems (`3 / 1`), so they cannot tell an
    idea from a seed. `SEEDS` is half of the 95 % interval of the paired difference over the seeds
    that both have, from two on. `CLEAR` are lines with p below `ALPHA` whose interval over seeds
    leaves zero out. Left out are pairs that cannot be compared, and targets on which both are runs
    on a wider one (`under`), where they are compared anyhow.
    """
    lines = []
    comparable = cells[cells["compared"] & (cells["questions"] > 1)]
    for idea, (having, lacking) in ideas.items():
        for target in targets(cells):
            if not {(target, having), (target, lacking)} <= set(comparable.index):
                continue
            a, b = (comparable.loc[(target, system)] for system in (having, lacking))
            if a["under"] and b["under"]:
                continue
            common = sorted(a["by_seed"].keys() & b["by_seed"])
            gaps = [a["by_seed"][seed] - b["by_seed"][seed] for seed in common]
            gap, _, half = mean_interval(gaps) if gaps else (0.0, None, None)
            low, high = bootstrap_interval(a["values"], b["values"])
            p = randomisation_test(a["values"], b["values"]).p
            clear = half is not None and abs(gap) > half
            runs = f"{a['runs']} / {b['runs']}"
            lines.append((idea, target_name(target), having, lacking, a["questions"], runs,
                          a["mean"] - b["mean"], low, high, half, p, clear))  # fmt: skip
    columns = ["idea", "data", "with", "without", "questions", "runs", "difference", "low", "high",
               SEEDS, ADJUSTED, CLEAR]  # fmt: skip
    frame = pd.DataFrame(lines, columns=columns)
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
"""Of the CSV, one line per pair: `under` as in `entries`, measures in 0..1, `std` and the seeds'
95 % interval empty for one seed and for folds, wins, ties and losses empty where a system is not
compared, `beats` with `; ` between."""


def render(cells: pd.DataFrame, format_: str = "md") -> str:
    """A matrix `with_tests` as `md`, `latex` (booktabs) or `csv`; ends with a newline.

    `md` and `latex` have a table of means with superscripts, one of details per data set, and
    notes. Raises `QaselError` for another format.
    """
    if format_ == "csv":
        intervals = [_over_questions(values) or (None, None) for values in cells["values"]]
        frame = cells.reset_index()
        frame[["dataset", "_", "protocol"]] = frame["target"].str.rpartition("/")
        frame[["question_low", "question_high"]] = pd.DataFrame(intervals)
        frame["seed_low"] = frame["mean"] - frame["half"]
        frame["seed_high"] = frame["mean"] + frame["half"]
        frame["beats"] = frame["beats"].map("; ".join)
        return tables.csv_of(frame[COLUMNS])
    marks = letters(cells)
    parts = {f"{NAMES[cells['measure'].iloc[0]]}, mean over seeds": overview(cells)}
    for target in targets(cells):
        column = cells.loc[target]
        frame = details(column)
        frame.insert(0, "paper", column["paper"])
        frame.insert(0, "", [marks[system] for system in column.index])
        frame.insert(1, "system", column.index)
        parts[counted(cells, target)] = frame
    return tables.as_text(parts, notes_of(cells), format_)


def _over_questions(values: Mapping[str, float]) -> tuple[float, float] | None:
    """95 % bootstrap interval over questions; None for one question."""
    return bootstrap_interval(list(values.values())) if len(values) > 1 else None


def letters(cells: pd.DataFrame) -> dict[str, str]:
    """A letter per system, in the order in which they came; numbers where letters run out."""
    names = systems(cells)
    marks = string.ascii_lowercase if len(names) <= 26 else map(str, range(1, len(names) + 1))
    return dict(zip(names, marks, strict=False))


def overview(cells: pd.DataFrame) -> pd.DataFrame:
    """Systems × data sets: means, and superscripts for the systems that each one beats there."""
    marks = letters(cells)
    means = pd.Series([_marked(cell, marks) for cell in cells.itertuples()], cells.index)
    table = means.unstack("target").loc[systems(cells), targets(cells)]
    table = table.rename(columns=target_name).fillna("–")
    table.insert(0, "paper", cells["paper"].groupby("system").first())
    table.insert(0, "system", table.index)
    table.insert(0, "", table.index.map(marks))
    return table


def _marked(cell: Any, marks: Mapping[str, str]) -> str:
    """A mean, with the letters of the systems beaten; three or more in a row as `a–c`."""
    if not cell.compared:
        return f"{cell.mean:.3f} ({cell.questions} questions)"
    places, names = list(marks), list(marks.values())
    beaten = sorted(places.index(name) for name in cell.beats)
    parts = []
    for _, group in groupby(enumerate(beaten), lambda x: x[1] - x[0]):
        run = [names[place] for _, place in group]
        parts.append(f"{run[0]}–{run[-1]}" if len(run) > 2 else ",".join(run))
    return f"{cell.mean:.3f}" + (f"<sup>{','.join(parts)}</sup>" if parts else "")


READING = (
    "A win, a loss and a superscript each stand for "
    f"p < {ALPHA:g} by the randomised Tukey HSD over questions (each question's mean over "
    "seeds), corrected for all systems of the data set. ± over seeds: half of the 95 % t "
    f"interval; – for fewer than {FEWEST} seeds, and for folds, which share no question. "
    "Over questions: 95 % bootstrap interval. Cost: means over runs, each on its own device, "
    "without what an earlier run had left to build on (features, a first stage); – where it "
    "was not measured. Parameters: all numbers that training sets, with the word vectors where "
    "those are trained."
)
OVER_QUESTIONS, TALLY = "95 % over questions", "wins / ties / losses"


def details(column: pd.DataFrame) -> pd.DataFrame:
    """The lines of one target as they are printed, best first: intervals, tally, cost."""
    lines = []
    for cell in column.itertuples():
        ends = _over_questions(cell.values)
        few = pd.isna(cell.half) or len(cell.means) < FEWEST
        remarks = ", ".join([cell.under] * bool(cell.under) + [QUICK] * (cell.scale == QUICK))
        runs = str(cell.runs) if cell.means else f"{cell.runs} folds"
        tally = f"{cell.wins} / {cell.ties} / {cell.losses}"
        line = {
            NAMES[cell.measure]: f"{cell.mean:.3f}",
            SEEDS: "–" if few else f"{cell.half:.3f}",
            OVER_QUESTIONS: f"{ends[0]:.3f} to {ends[1]:.3f}" if ends else "–",
            "runs": f"{runs} ({remarks})" if remarks else runs,
            TALLY: "not compared" if pd.isna(cell.wins) else tally,
            "s to train": f"{cell.seconds:,.0f}" if cell.seconds >= 10 else f"{cell.seconds:.1f}",
            "parameters": _number(cell.parameters),
            "ranked a second": _number(cell.ranked_per_second),
        }
        lines.append(line)
    return pd.DataFrame(lines, column.index)


def _number(value: float) -> str:
    if pd.isna(value):
        return "–"
    return f"{value / 1e6:.1f} M" if value >= 1e6 else f"{value:,.0f}"


def counted(cells: pd.DataFrame, target: str) -> str:
    """A target with the numbers of its questions and systems."""
    column = cells.loc[target]
    asked, ran = column.loc[column["compared"], "questions"].iloc[0], len(column)
    questions, systems = ("" if number == 1 else "s" for number in (asked, ran))
    return f"{target_name(target)}: {asked} question{questions}, {ran} system{systems}"


def notes_of(cells: pd.DataFrame) -> list[str]:
    """How to read the tables, and what could not be compared."""
    notes = [READING]
    if wider := sorted(set(cells["under"]) - {""}):
        notes.append(
            f"Runs ({' or '.join(wider)}): trained and chosen under that protocol, whose test has "
            "these questions and a few more; measured on these."
        )
    if (cells["scale"] == QUICK).any():
        notes.append(
            f"Runs ({QUICK}): with settings made for the sample, which is too small for the "
            "papers' own."
        )
    for target, others in cells[~cells["compared"]].groupby("target", sort=False):
        named = ", ".join(f"{key[1]} ({n})" for key, n in others["questions"].items())
        asked = cells.loc[target].query("compared")["questions"].iloc[0]
        notes.append(
            f"Not compared on {target_name(target)}, run on other than its {asked}: {named}."
        )
    return notes
