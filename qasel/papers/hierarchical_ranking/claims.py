"""What the paper says of its systems, each comparison beside the same one in our runs."""

from collections.abc import Iterable

import numpy as np
import pandas as pd
from scipy import stats

from qasel.papers.hierarchical_ranking.heads import SCHEMES
from qasel.papers.hierarchical_ranking.recipes import MAIN, PAPER
from qasel.results.claims import HELD, SPREAD, Claim, judged
from qasel.results.compare import pooled, significance
from qasel.results.experiments import varied
from qasel.results.ledger import Row, read_ledger
from qasel.results.tables import comparison, counted, markdown_table, pick, published

DATASETS = {"wikiqa": "WikiQA", "trecqa": "TREC-QA"}

JOINT = "joint training beats one level"
COMPARISONS = {
    f"{JOINT} (list)": [(f"{family}(list)", "CA(list)") for family in ("MTL", "RI", "PRI")],
    f"{JOINT} (point)": [(f"{family}(point)", "CA(point)") for family in ("MTL", "RI", "PRI")],
    f"{JOINT} (pair)": [(f"{family}(pair)", "CA(pair)") for family in ("MTL", "RI")],
    "progressive beats plain integration": [("PRI(list)", "RI(list)")],
    "the main system beats the strong baseline": [("PRI(list)", "DCA")],
    "each level is needed": [
        ("PRI(list)", "PRI(list) w/o point-level"),
        ("PRI(list)", "PRI(list) w/o pair-level"),
    ],
    "levels, not parameters": [("PRI(list)", "PRI(all list)")],
}
"""Claim → (the system said to be better, the other one); all are about MAP."""


def claims(rows: Iterable[Row] | None = None) -> pd.DataFrame:
    """What the paper concludes, a line a comparison and data set; see `results.claims.judged`."""
    return judged(
        PAPER,
        [
            Claim(text, first, second, dataset)
            for text, pairs in COMPARISONS.items()
            for first, second in pairs
            for dataset in DATASETS
        ],
        rows,
    )


def together(rows: Iterable[Row] | None = None) -> list[str]:
    """Joint training against one level, all comparisons of a data set as one, in sentences.

    Of those that were run: the mean of the paper's differences and of ours, and a test of ours
    (see `results.compare.pooled`). `rows` default to the ledger.
    """
    rows = list(read_ledger(PAPER) if rows is None else rows)
    table = published(PAPER).query("table == 'table-1' and metric == 'MAP'")
    printed = table.set_index(["row", "dataset"])["value"]
    pairs = [
        pair for text, found in COMPARISONS.items() if text.startswith(JOINT) for pair in found
    ]
    told = []
    for dataset, shown in DATASETS.items():
        tested = [(pair, significance(PAPER, dataset, "map", *pair, rows)) for pair in pairs]
        ran = [(pair, found) for pair, found in tested if found]
        if not ran:
            told.append(f"**{shown}**: not run yet.")
            continue
        known = np.mean([printed[a, dataset] - printed[b, dataset] for (a, b), _ in ran])
        ours = pooled(found for _, found in ran)
        above = sum(found.t.difference > 0 for _, found in ran)
        told.append(
            f"**{shown}**: {len(ran)} of {len(pairs)} comparisons {'were' if ran[1:] else 'was'} "
            f"run, in {above} of which joint training is ahead. Their mean difference is "
            f"{known:+.4f} in the paper and {ours.difference:+.4f} in our runs (p = {ours.p:.3f})."
        )
    return told


def ablation(rows: Iterable[Row] | None = None) -> list[str]:
    """Whether levels help beyond the size of the network (table 2), in sentences of Markdown."""
    frame = claims(rows).set_index(["systems", "data"])
    told = []
    for shown in DATASETS.values():
        size = frame.loc["PRI(list) over PRI(all list)", shown]
        less = {level: f"PRI(list) over PRI(list) w/o {level}-level" for level in ("point", "pair")}
        judged_less = {level: frame.loc[systems, shown] for level, systems in less.items()}
        if not any(line["seeds"] for line in (size, *judged_less.values())):
            told.append(f"**{shown}**: not run yet.")
            continue
        if not size["seeds"]:
            so = "Whether it is the levels or the size is open here."
        elif size["verdict"] == HELD:
            so = "So the levels help beyond the size of the network."
        else:
            so = "So these runs do not show that the levels help beyond the size of the network."
        told.append(
            f"**{shown}**: PRI(list) against three list losses on the same graph: {_judged(size)}. "
            + "".join(
                f"Against itself without the {level} level: {_judged(line)}. "
                for level, line in judged_less.items()
            )
            + so
        )
    return told


def _judged(line: pd.Series) -> str:
    """In words: "+0.005 ± 0.012 (the paper's way, not clearly; p = 0.732, 3 seeds)"."""
    if not line["seeds"]:
        return "not run yet"
    seeds = f"{line['seeds']} seed{'s' if line['seeds'] > 1 else ''}"
    spread = "" if line[SPREAD] == "–" else f" ± {line[SPREAD]}"
    return f"{line['ours']}{spread} ({line['verdict']}; p = {line['p']}, {seeds})"


def answer(rows: Iterable[Row] | None = None) -> str:
    """Does hearing all three levels help? Means of the main rows, and a verdict, as Markdown."""
    rows = list(read_ledger(PAPER) if rows is None else rows)
    frame = comparison(PAPER, rows)
    frame = frame[(frame["table"] == "table-1") & (frame["metric"] == "MAP")]
    frame = frame.set_index(["row", "data"])
    cells = []
    for name, heard in (("DCA", "list"), ("CA(list)", "list"), (MAIN, "point, pair, list")):
        cells.append([name, heard])
        for shown in DATASETS.values():
            line = frame.loc[name, shown]
            spread = f" ± {line['std']:.3f}" if pd.notna(line["std"]) else ""
            mean = f"{line['ours']:.3f}{spread}" if line["runs"] else "–"
            cells[-1] += [mean, str(line["runs"])]
    header = ["system", "levels"]
    header += [text for shown in DATASETS.values() for text in (f"{shown} MAP", "seeds")]
    judgements = claims(rows)
    main = judgements[judgements["systems"].isin([f"{MAIN} over {n}" for n in ("CA(list)", "DCA")])]
    ran = main[main["seeds"] > 0]
    told = [f"{line['systems']} on {line['data']} {_judged(line)}" for _, line in ran.iterrows()]
    clear = int((ran["verdict"] == HELD).sum())
    text = "None of them has been compared yet."
    if told:
        text = f"Over the seeds that both have: {'; '.join(told)}. Hearing all three helps clearly "
        text += f"in {clear or 'none'} of these {len(ran)} comparisons."
    return markdown_table(header, cells, {2, 3, 4, 5}) + "\n" + text


def pair_level(rows: Iterable[Row] | None = None, epochs: int = 6) -> pd.DataFrame:
    """The pair loss on TREC-QA, epoch by epoch, and what came of it: dev and test MAP.

    A line for each system that learns the level and what follows the hidden layer of its pair
    head, of the first seed. `rows` default to the ledger.
    """
    rows = list(read_ledger(PAPER) if rows is None else rows)
    lines = {}
    for system in SCHEMES:
        for head, (first, *_) in varied(PAPER, system, "trecqa", "pair_head", rows).items():
            losses = [epoch["pair"] for epoch in first.history[:epochs] if "pair" in epoch]
            if losses:
                line: dict[str, float] = {f"epoch {n}": loss for n, loss in enumerate(losses, 1)}
                maps = {f"{split} MAP": first.scores[split]["map"] for split in ("dev", "test")}
                lines[f"{system}, {head}"] = line | maps
    return pd.DataFrame.from_dict(lines, orient="index")


RUNS = 10
"""Fewer do not tell how two scores go together."""


def both_splits(rows: Iterable[Row] | None = None) -> dict[str, pd.DataFrame]:
    """Data set → system, dev MAP and test MAP of each run that counts, if they are `RUNS`.

    Of each system the runs with the vectors that its row of the tables has. `rows` default to the
    ledger.
    """
    lines: dict[str, list[tuple[str, float, float]]] = {}
    for (system, dataset), choices in counted(PAPER, rows).items():
        if dataset in DATASETS:
            lines.setdefault(dataset, []).extend(
                (system, row.scores["dev"]["map"], row.scores["test"]["map"])
                for row in choices[pick(choices)]
            )
    return {
        dataset: pd.DataFrame(sorted(lines[dataset]), columns=["system", "dev", "test"])
        for dataset in DATASETS
        if len(lines.get(dataset, ())) >= RUNS
    }


def judged_by_dev(rows: Iterable[Row] | None = None) -> list[str]:
    """How dev and test MAP go together over the runs, in sentences of Markdown."""
    told = []
    for dataset, frame in both_splits(rows).items():
        found = stats.spearmanr(frame["dev"], frame["test"])
        spread = frame["test"].max() - frame["test"].min()
        best = frame.loc[frame["dev"].idxmax()]
        above = int((frame["test"] > best["test"]).sum())
        told.append(
            f"**{DATASETS[dataset]}**: {len(frame)} runs, whose test MAP spans {spread:.3f}. Rank "
            f"correlation of dev and test (Spearman): {found.statistic:+.2f} (p = "
            f"{found.pvalue:.2f}, as if all runs were independent). The run with the highest dev "
            f"MAP ({best['dev']:.3f}, {best['system']}) has a test MAP of {best['test']:.3f}; "
            f"{above} of the others are above that."
        )
    return told or ["There are too few runs yet."]


def convergence(rows: Iterable[Row] | None = None) -> list[str]:
    """Whether the list loss falls faster in PRI(list) than alone (figure 4), and the best epoch
    comes earlier, in sentences of Markdown.
    """
    runs = counted(PAPER, rows)
    told = []
    for dataset, shown in DATASETS.items():
        systems = {name: runs.get((name, dataset), {}) for name in (MAIN, "CA(list)")}
        vectors = pick(*systems.values())
        if vectors is None:
            told.append(f"{shown}: not run for both systems yet.")
            continue
        curves = {name: _mean_curve(choice[vectors]) for name, choice in systems.items()}
        joint, alone = curves.values()
        epochs = min(len(joint), len(alone))
        lower = int((joint[:epochs] < alone[:epochs]).sum())
        once = all(len(choice[vectors]) == 1 for choice in systems.values())
        best = {
            name: np.mean([row.best_epoch for row in choice[vectors]])
            for name, choice in systems.items()
        }
        shown_best = ", ".join(
            f"{f'{epoch:.1f}'.removesuffix('.0')} for {name}" for name, epoch in best.items()
        )
        held = [lower > epochs / 2, bool(best[MAIN] < best["CA(list)"])]
        told.append(
            f"**{shown}**: the list loss of PRI(list) is the lower one in {lower} of the {epochs} "
            f"epochs that {'both runs' if once else 'all runs'} went through, so it "
            f"{'falls' if held[0] else 'does not fall'} faster. The best dev epoch is "
            f"{'' if once else 'on average '}{shown_best}, so PRI(list) "
            f"{'needs fewer' if held[1] else 'does not need fewer'} epochs. "
            f"Of the paper's two findings {('neither comes', 'one comes', 'both come')[sum(held)]} "
            f"back{', in one run of each' if once else ''}."
        )
    return told


def _mean_curve(rows: list[Row]) -> np.ndarray:
    shortest = min(len(row.history) for row in rows)
    return np.mean([[e["list"] for e in row.history[:shortest]] for row in rows], axis=0)
