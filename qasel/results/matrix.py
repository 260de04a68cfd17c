"""All systems on all data sets: which runs are compared, their means, wins and ties, cost."""

from collections.abc import Collection, Iterable
from itertools import combinations
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd

from qasel.datasets.registry import COLLECTIONS, nearest
from qasel.errors import QaselError
from qasel.evaluation import all_pairs, hierarchical_bootstrap
from qasel.evaluation.significance import RESAMPLES
from qasel.results.compare import ALPHA, at, by_seed, common, paired
from qasel.results.families import FAMILIES, Family
from qasel.results.runs import COMPARISON, DATASETS, QUICK, TABLE, target_name

WIDER_OF_OWN = {"mixed": ("answered", "all"), "answered": ("all",)}
"""Protocol of a user's own data → the protocols whose test split has all of its questions."""


def entries(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs that are compared, with columns `system` and `under`, in the papers' order.

    A system is a variant. Its name includes the vectors or encoder if they are not the usual ones
    (those of most variants of its paper on the data set or, if it has no such run, its recipe's
    own), the scale if its data set has both, and the paper if two have a variant of that name. A
    run counts on its own target and, cut to their questions, on narrower targets on which others
    were run: `under` is then the protocol of the run.
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

    own = lines["changed"].map(lambda changed: changed.keys().isdisjoint({"vectors", "encoder"}))
    read = lines.assign(own=own)[lines["vectors"] != ""].groupby(["paper", "dataset", "vectors"])
    found = read.agg(variants=("variant", "nunique"), own=("own", "max")).reset_index("vectors")
    found = found[found["own"] | (found["variants"] > 1)].sort_values(["variants", "own"])
    most = found["vectors"].groupby(level=["paper", "dataset"]).last().to_dict()
    as_most = lines["vectors"] == lines[["paper", "dataset"]].agg(tuple, axis=1).map(most)
    usual = as_most.where(keys.isin(keys[as_most]), own)

    def name(line: pd.Series) -> str:
        system = line["variant"] + (f", {QUICK}" if both_scales[line.name] else "")
        if not usual[line.name]:
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
        asked = {q for values in same["values"] for scores in values.values() for q in scores}
        taken = set(same["system"])  # a system's runs on the nearest target count, and no others
        for under in (known.wider if known else WIDER_OF_OWN).get(protocol, ()):
            of_it = (lines["dataset"] == dataset) & (protocols == under)
            wide = lines[of_it & ~lines["system"].isin(taken)]
            taken |= set(wide["system"])
            cut = [
                {m: {q: x for q, x in scores.items() if q in asked} for m, scores in values.items()}
                for values in wide["values"]
            ]
            yield wide.assign(under=under, values=cut, target=target)


def chosen(
    lines: pd.DataFrame, systems: Collection[str] = (), data: Collection[str] = ()
) -> pd.DataFrame:
    """The `entries` of these systems and data sets (`wikiqa` or `wikiqa/mixed`); by default, all.

    Raises `QaselError` for a name that no run has.
    """
    datasets = lines["target"].str.rpartition("/")[0]
    for what, known, asked in (
        ("system", lines["system"], systems),
        ("data set", [*datasets, *lines["target"]], data),
    ):
        for name in asked:
            if name not in set(known):
                others = ", ".join(dict.fromkeys(known))
                hint = nearest(name, known).rstrip() or f"there are: {others}"
                raise QaselError(f"no run of the {what} {name!r} in the ledger; {hint}")
    of_systems = lines["system"].isin(systems or lines["system"])
    of_data = (lines["target"].isin(data) | datasets.isin(data)) if data else True
    return lines[of_systems & of_data]


def matrix(lines: pd.DataFrame, measure: str = "map") -> pd.DataFrame:
    """Systems × targets of `entries`: one line per pair that was run, by target and system.

    Known data sets come first, and within a target the best system; `place` is the order in which
    the systems came. A line has:

    - `values`: question → value, averaged over the runs that have it; `mean`: the mean of these;
    - `by_seed`: the table of that name; `means`: the mean of each run, or none if runs differ in
      their questions (folds); `std`: the means' sample standard deviation (None for one run);
    - `seconds` to train, `parameters` and `ranked_per_second`: means over the runs that have any;
      times are of the `device` (with its threads) on which most runs of the matrix were measured;
      `range`: the least and the most seconds;
    - `compared`: whether it has the questions that most systems on the target have (in a tie, the
      larger set). Only such lines are tested against each other.

    Raises `QaselError` for a measure that a run lacks.
    """
    key = ["target", "system"]
    if lines.empty:
        return pd.DataFrame(index=pd.MultiIndex.from_arrays([[], []], names=key))
    place = {system: n for n, system in enumerate(lines["system"].unique())}
    device = ""
    if "device" in lines:
        # The precision of training is a setting like any other, though it stands with the device.
        where = lines["device"].str.replace(", bfloat16", "")
        device = where.mode().iloc[0]
        lines = lines.copy()
        lines.loc[where != device, ["seconds", "ranked_per_second"]] = None
    cells = pd.DataFrame(
        {"target": target, "system": system, "place": place[system], "device": device}
        | _cell(group, measure)
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
    """The entries of `matrix` for the runs of one system on one target."""
    runs = [values.get(measure) for values in lines["values"]]
    if None in runs:
        known = ", ".join(next(v for v in lines["values"] if measure not in v))
        raise QaselError(f"unknown measure {measure!r}; of single questions there are: {known}")
    table = pd.DataFrame(runs)
    values = table.mean().to_dict()
    means = table.mean(axis=1).tolist() if table.notna().all(axis=None) else []
    costs = lines[["seconds", "parameters", "ranked_per_second"]].astype(float)
    return {
        **lines[["paper", "vectors", "under", "scale"]].iloc[0],
        "measure": measure,
        "values": values,
        "means": means,
        "by_seed": by_seed(lines, measure),
        "questions": len(values),
        "runs": len(lines),
        "mean": fmean(values.values()),
        "std": float(np.std(means, ddof=1)) if len(means) > 1 else None,
        **costs.mean(),
        "range": (costs["seconds"].min(), costs["seconds"].max()),
    }


def targets(cells: pd.DataFrame) -> list[str]:
    """The targets of a matrix, in its order."""
    return list(cells.index.unique("target"))


def systems(cells: pd.DataFrame) -> list[str]:
    """The systems of a matrix, in the order in which they came."""
    return list(cells.sort_values("place", kind="stable").index.unique("system"))


def pairs(column: pd.DataFrame) -> pd.DataFrame:
    """Compare each pair of systems in one target's lines, better first: the family “columns”.

    One line per pair, with the `difference` of means and a `p` that is corrected for all pairs.
    Pairs without a common seed are tested by their means over seeds, without the variance over
    seeds. Empty for one system or one question.
    """
    family = FAMILIES["columns"]
    runs = column.loc[column["compared"] & ~column.index.isin(family.leave_out), "by_seed"]
    if len(runs) < 2 or runs.iloc[0].shape[1] < 2:
        return pd.DataFrame(columns=["difference", "p"])
    questions = list(runs.iloc[0])
    named = list(combinations(runs.index, 2))
    shared = pd.Series({(a, b): common(runs[a], runs[b]) for a, b in named})
    # Enough for the smallest p that Holm asks for.
    resamples = max(RESAMPLES, round(2 * len(named) / ALPHA))
    found = pd.DataFrame(np.nan, shared.index, ["difference", "p"])
    for seeds, part in shared.groupby(shared):
        names = dict.fromkeys(name for pair in part.index for name in pair)
        shown_at = {
            name: at(runs[name], seeds) if seeds else runs[name].mean().to_frame().T
            for name in names
        }
        values = {name: table[questions].to_numpy() for name, table in shown_at.items()}
        gaps = [values[a].mean() - values[b].mean() for a, b in part.index]
        found.loc[part.index, "difference"] = gaps
        found.loc[part.index, "p"] = all_pairs(values, list(part.index), resamples=resamples)
    return found.assign(p=family.adjusted(found["p"].to_numpy()))


def with_tests(cells: pd.DataFrame) -> pd.DataFrame:
    """A matrix with the numbers of significant `wins` and `losses`, of `ties`, and a list `beats`.

    `beats` names the systems beaten. The numbers are missing for a system that is not compared.
    """
    tallies = {}
    for target in targets(cells):
        tested = pairs(cells.loc[target])
        clear = [
            pair if difference > 0 else pair[::-1]
            for pair, difference, p in tested.itertuples()
            if p < ALPHA
        ]
        names = {name for pair in tested.index for name in pair}
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


def worth(cells: pd.DataFrame, family: Family) -> pd.DataFrame:
    """Compare the pairs of a family, an idea's system with it and without it, on each target.

    `difference` is that of the means over the `seeds` that both have, with its 95 % interval
    (`low`, `high`) and the `ADJUSTED` p, corrected for all lines of the frame. `CLEAR` marks lines
    with p below `ALPHA` and two seeds or more, so that p includes the variance over seeds. Pairs
    that cannot be compared are left out, and so are targets on which both are runs on a wider one
    (`under`), as they are compared there.
    """
    lines = []
    comparable = cells[cells["compared"] & (cells["questions"] > 1)]
    for idea, (having, lacking) in family.pairs.items():
        for target in filter(family.takes, targets(cells)):
            if not {(target, having), (target, lacking)} <= set(comparable.index):
                continue
            a, b = (comparable.loc[(target, system)] for system in (having, lacking))
            runs = paired(a["by_seed"], b["by_seed"])
            if runs is None or (a["under"] and b["under"]):
                continue
            found = hierarchical_bootstrap(*(side.to_numpy() for side in runs))
            lines.append((idea, target_name(target), having, lacking, found.questions, found.seeds,
                          found.difference, found.low, found.high, found.p))  # fmt: skip
    columns = ["idea", "data", "with", "without", "questions", "seeds", "difference", "low", "high",
               ADJUSTED]  # fmt: skip
    frame = pd.DataFrame(lines, columns=columns)
    frame[ADJUSTED] = family.adjusted(frame[ADJUSTED])
    return frame.assign(**{CLEAR: (frame[ADJUSTED] < ALPHA) & (frame["seeds"] > 1)})
