"""Table IV by setting: its two values and the recipe's own between them, the paper's and ours."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from qasel.papers.ap_mpcnn.recipes import MAIN, PAPER, SETTINGS, recipe
from qasel.results.ledger import Row
from qasel.results.tables import counted, pick, published

DATASET = "trecqa"


@dataclass(frozen=True)
class OneSetting:
    """A setting of table IV: test MAP by its value, in the order of the values.

    `own` is the value of the recipe, `rows` the variant of each value; `paper` has all three
    values and `ours` those that were run, a score for each seed that all of them have.
    """

    name: str
    own: float
    rows: dict[float, str]
    paper: dict[float, float] = field(default_factory=dict)
    ours: dict[float, list[float]] = field(default_factory=dict)

    def best(self, scores: dict[float, float]) -> list[float]:
        """The values with the highest score: more than one where it is a tie."""
        return [value for value, score in scores.items() if score == max(scores.values())]


def settings_of(rows: Iterable[Row] | None = None) -> list[OneSetting]:
    """The eight settings, each with the paper's numbers and ours; `rows` default to the ledger.

    The recipe's own value has the numbers of table V. Ours are of runs with the vectors that
    the recipe itself was run with; without a run of it there are none.
    """
    runs = counted(PAPER, rows)
    own_runs = runs.get((MAIN, DATASET))
    vectors = pick(own_runs) if own_runs else ""
    known = published(PAPER).query("metric == 'MAP' and kind == 'own'")
    paper = known.set_index("row")["value"]
    default = recipe()
    found: dict[str, OneSetting] = {}
    for row, change in SETTINGS.items():
        ((key, value),) = change.items()
        own = getattr(default, key)
        name = row.rpartition(" ")[0]
        setting = found.setdefault(name, OneSetting(name, own, {own: MAIN}))
        setting.rows[value] = row
    for setting in found.values():
        groups = {}
        for value, row in sorted(setting.rows.items()):
            setting.paper[value] = float(paper[row])
            group = runs.get((row, DATASET), {}).get(vectors, [])
            if group:
                groups[value] = {r.recipe["seed"]: r.scores["test"]["map"] for r in group}
        # Another seed can move a score as far as another setting: values are compared by the same.
        seeds = set.intersection(*map(set, groups.values())) if groups else set()
        if seeds:
            for value, scores in groups.items():
                setting.ours[value] = [scores[seed] for seed in sorted(seeds)]
    return list(found.values())
