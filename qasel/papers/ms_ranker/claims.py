"""What the paper says of its parts, and how far our numbers are from its own."""

from collections.abc import Iterable

import pandas as pd

from qasel.papers.ms_ranker.recipes import ABLATIONS, ENCODERS, MAIN, PAPER, PRE_RANKER, WITH_AGENT
from qasel.results.claims import Claim, judged
from qasel.results.compare import Significance, between, significance
from qasel.results.ledger import Row, mean_score, read_ledger
from qasel.results.tables import DATASETS, NOT_RUN, counted, pick, published

NEEDED = {
    "w/o Rewards": "rewards are needed",
    "w/o Pre-Ranker": "the pre-ranker's order is needed",
    "w/o Evidence": "evidence is needed",
    "w/o RL action": "the action must weigh the evidence",
    "w/o the Gate": "the gate is needed",
}
"""Row of table 4 → what the paper concludes from it."""
CLAIMS = [
    *(Claim(NEEDED[row], MAIN, row, "wikiqa", "dev MAP") for row in ABLATIONS),
    *(
        Claim("the agent beats its pre-ranker", MAIN, PRE_RANKER, d)
        for d in ("wikiqa", "semeval-cqa")
    ),
    *(
        Claim("the agent helps a transformer", f"{name}{WITH_AGENT}", name, "wikiqa")
        for name in ENCODERS
    ),
]
"""Table 4; the conclusion, of models that match with the question alone; and table 3."""


def claims(rows: Iterable[Row] | None = None) -> pd.DataFrame:
    """What the paper concludes, a line a comparison; see `results.claims.judged`.

    Two kinds of line have no number in the paper: the pre-ranker's, and those of MiniLM, which
    stands in for BERT. `rows` default to the ledger.
    """
    return judged(PAPER, CLAIMS, rows)


def over_order(
    dataset: str, rows: Iterable[Row] | None = None, others: Iterable[Row] | None = None
) -> Significance | None:
    """MS-Ranker over the order of the file, on test MAP; None when one of the two was not run.

    That order is the article's on WikiQA, the thread's on SemEval. `others` are the yardsticks'
    rows, by default the ledger's.
    """
    main = counted(PAPER, rows).get((MAIN, dataset), {})
    order = counted("yardsticks", others).get(("given order", dataset), {})
    if not main or not order:
        return None
    return between({MAIN: main[pick(main)], "given order": order[pick(order)]})


def encoders(rows: Iterable[Row] | None = None) -> list[Significance | None]:
    """Frozen MiniLM's vectors over GloVe's, and fine-tuned MiniLM over those: test MAP, WikiQA.

    Each with its own vectors or encoder; None for a pair without a common seed. `rows` default
    to the ledger.
    """
    runs = counted(PAPER, rows)
    names = ("MiniLM", f"{MAIN} + MiniLM (frozen)", MAIN)
    choices = {name: runs.get((name, "wikiqa"), {}) for name in names}
    found = {name: choice[pick(choice)] if choice else [] for name, choice in choices.items()}
    return [between({name: found[name] for name in pair}) for pair in (names[1:], names[:2])]


def gaps(rows: Iterable[Row] | None = None, others: Iterable[Row] | None = None) -> pd.DataFrame:
    """Test MAP of table 2, a column a data set: the paper's, ours, and what is near ours.

    Means over seeds; differences are over common seeds, p Fisher's randomisation test over the
    questions. All cells are text. `rows` and `others` (the yardsticks') default to the ledger.
    """
    rows = list(read_ledger(PAPER) if rows is None else rows)
    known = published(PAPER).query("row == @MAIN and metric == 'MAP'")
    values = known.drop_duplicates("dataset").set_index("dataset")["value"]
    runs = counted(PAPER, rows)
    columns = {}
    for dataset, paper in values.items():
        choices = [runs.get((name, dataset), {}) for name in (MAIN, PRE_RANKER, "w/o Rewards")]
        means = [mean_score(c[pick(c)], "map") if c else None for c in choices]
        plain = significance(PAPER, dataset, "map", "w/o Rewards", MAIN, rows)
        order = over_order(dataset, rows, others)
        gap = None if means[0] is None else means[0] - paper
        columns[DATASETS[dataset]] = {
            "MS-Ranker, the paper": f"{paper:.3f}",
            "MS-Ranker, ours": _told(means[0]),
            "gap": _told(gap, "+"),
            "Pre-Ranker, ours": _told(means[1]),
            "w/o Rewards, ours": _told(means[2]),
            "w/o Rewards over MS-Ranker, ours": _difference(plain),
            "what that closes of the gap": f"{plain.t.difference / -gap:.0%}"
            if plain and gap
            else NOT_RUN,
            "order of the file": _told(order.means[1] if order else None),
            "MS-Ranker over that order, ours": _difference(order),
        }
    return pd.DataFrame(columns)


def _told(value: float | None, sign: str = "") -> str:
    return NOT_RUN if value is None else f"{value:{sign}.3f}"


def _difference(found: Significance | None) -> str:
    if found is None:
        return NOT_RUN
    p = found.randomisation.p
    return f"{found.t.difference:+.3f} (p {'< 0.001' if p < 0.001 else f'= {p:.3f}'})"
