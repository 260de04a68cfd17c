"""What the paper says of its parts, its settings and its data, beside the same in our runs."""

from collections.abc import Iterable
from statistics import fmean

import pandas as pd

from qasel.datasets import Dataset
from qasel.papers.ap_mpcnn.grid import DATASET, settings_of
from qasel.papers.ap_mpcnn.recipes import ALONE, MAIN, PAPER
from qasel.results.claims import Claim, judged
from qasel.results.compare import significance
from qasel.results.ledger import Row, read_ledger
from qasel.results.tables import NOT_RUN, counted, published


def parts(rows: Iterable[Row] | None = None) -> pd.DataFrame:
    """Figure 11: all parts together against each alone; see `results.claims.judged`.

    The paper gives its figure no numbers; it says that all together are better than any alone.
    """
    return judged(
        PAPER,
        [
            Claim("four parts beat one", MAIN, alone, DATASET, metric)
            for alone in ALONE
            for metric in ("MAP", "MRR")
        ],
        rows,
    )


def settings(rows: Iterable[Row] | None = None) -> pd.DataFrame:
    """Table IV: of each setting's three values, which has the best test MAP, the paper's and ours.

    The recipe's own value is the one in the middle. `gap` is its mean less that of the better one
    of the other two, p Fisher's randomisation test of the two over the test questions (on common
    seeds), `runs` the seeds of each value. `rows` default to the ledger.
    """
    rows = list(read_ledger(PAPER) if rows is None else rows)
    lines = []
    for setting in settings_of(rows):
        means = {value: fmean(scores) for value, scores in setting.ours.items()}
        whole = len(means) == len(setting.paper)
        others = {value: mean for value, mean in means.items() if value != setting.own}
        rival = max(others, key=lambda value: others[value]) if whole else None
        found = (
            None
            if rival is None
            else significance(PAPER, DATASET, "map", MAIN, setting.rows[rival], rows)
        )
        lines.append(
            {
                "setting": setting.name,
                "values": _told(setting.paper),
                "recipe": f"{setting.own:g}",
                "best (paper)": _told(setting.best(setting.paper)),
                "best (ours)": _told(setting.best(means)) if whole else NOT_RUN,
                "gap": "" if rival is None else f"{means[setting.own] - means[rival]:+.3f}",
                "p": f"{found.randomisation.p:.3f}" if found else "",
                "runs": " / ".join(str(len(setting.ours.get(v, []))) for v in setting.paper),
            }
        )
    return pd.DataFrame(lines)


def _told(values: Iterable[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)


def summary(frame: pd.DataFrame) -> list[str]:
    """How often the recipe's own value is the best of its three, in two sentences."""
    told = []
    for whose in ("paper", "ours"):
        best = frame[f"best ({whose})"]
        ran = best.ne(NOT_RUN)
        alone = int((best == frame["recipe"]).sum())
        tied = sum(
            own in found.split(", ") for own, found in zip(frame["recipe"], best, strict=True)
        )
        where = {"paper": "In the paper's numbers", "ours": "In ours"}[whose]
        if not ran.any():
            told.append(f"{where}: not run yet.")
            continue
        told.append(
            f"{where} the recipe's value is the best in {tied} of {int(ran.sum())} settings, "
            f"in {tied - alone} of them level with another."
        )
    return told


def answered(rows: Iterable[Row] | None = None) -> pd.DataFrame:
    """Test MAP and MRR over all questions, as in the tables, and over those with a right answer.

    Means over seeds, one line a system and its vectors. A question without a right answer is one
    whose MAP is 0, which no ranking of a right answer gives. `rows` default to the ledger.
    """
    runs = counted(PAPER, rows)
    lines = {}
    for name in (MAIN, *ALONE):
        choices = runs.get((name, DATASET), {})
        for vectors, group in sorted(choices.items(), key=lambda choice: -len(choice[1])):
            found: dict[str, list[float]] = {}
            for row in group:
                values = pd.DataFrame(row.per_question["test"])
                with_answer = values[values["map"] > 0]
                for part in (values, with_answer):
                    for measure in ("map", "mrr"):
                        title = f"{measure.upper()} of {len(part)}"
                        found.setdefault(title, []).append(part[measure].mean())
            means = {title: fmean(scores) for title, scores in found.items()}
            lines[name, vectors] = means | {"runs": len(group)}
    table = pd.DataFrame.from_dict(lines, orient="index")
    table.index = pd.MultiIndex.from_tuples(lines, names=["system", "vectors"])
    return table


def statistics(dataset: Dataset) -> pd.DataFrame:
    """Table III: questions, pairs and the share of relevant pairs, the paper's and a data set's.

    One line a split, and their total; the paper's numbers are TREC-QA's (raw), whatever the
    data set.
    """
    known = published(PAPER).query("table == 'table-3'").set_index(["row", "metric"])["value"]
    splits = [dataset.train, dataset.dev, dataset.test]
    counts = {s.name: [len(s), s.pairs, s.positives] for s in splits}
    counts["total"] = [sum(column) for column in zip(*counts.values(), strict=True)]
    found: dict[tuple[str, str], dict[str, str]] = {}
    for name, (questions, pairs, positives) in counts.items():
        ours = {"questions": questions, "pairs": pairs, "relevant": positives / pairs}
        for metric, value in ours.items():
            told = (known[name, metric], value)
            form = "{:.3f}" if metric == "relevant" else "{:,.0f}"
            for whose, number in zip(("paper", dataset.name), told, strict=True):
                found.setdefault((metric, whose), {})[name] = form.format(number)
    return pd.DataFrame(found).rename_axis("split")
