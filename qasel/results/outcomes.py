"""What is compared side by side: runs of systems on tests, from the ledger or just finished."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from qasel.datasets import Dataset
from qasel.datasets.registry import COLLECTIONS
from qasel.evaluation import Run, evaluate
from qasel.papers import ROOMS
from qasel.papers import paper as room
from qasel.rankers.base import History, Ranker
from qasel.results.ledger import Row, read_ledger
from qasel.results.measure import timed_run
from qasel.results.tables import DATASETS, counted
from qasel.training.recipe import SCALES

SAMPLE = "sample"
"""The bundled data set."""
QUICK = "quick"
"""The scale for walkthroughs: it counts on data that no paper has scores of (see `_small`)."""


class Target(NamedTuple):
    """The test questions of a data set under a protocol: a column of the matrix.

    Systems can be compared on the same questions only, so that one data set under two protocols
    is two targets.
    """

    dataset: str
    protocol: str

    @classmethod
    def of(cls, dataset: str, protocol: str, split: str = "test") -> "Target":
        """That of a test split; `test-2017` under the protocol `b-2016` is the test of `b-2017`."""
        later = split.removeprefix("test")
        return cls(dataset, protocol.rpartition("-")[0] + later if later else protocol)

    @property
    def key(self) -> str:
        """As the command takes it: `wikiqa/answered`."""
        return f"{self.dataset}/{self.protocol}"

    @property
    def name(self) -> str:
        """As readers know it: `WikiQA (answered)`, `SemEval-2017 B`."""
        if self.dataset == "semeval-cqa":
            task, _, year = self.protocol.partition("-")
            return f"SemEval-{year} {task.upper()}"
        return f"{DATASETS.get(self.dataset, self.dataset)} ({self.protocol})"


WIDER = {
    Target("wikiqa", "mixed"): ("answered",),
    Target("sample", "mixed"): ("answered",),
    Target("trecqa", "clean"): ("raw",),
}
"""Target → the protocols under which all of its questions, with the same candidates, are some of
those of the test."""
_WIDER_OF_OWN = {"mixed": ("answered", "all"), "answered": ("all",)}
"""The same for a folder of one's own, by protocol."""


@dataclass(frozen=True)
class Outcome:
    """One run of a system on a target.

    `scores` are measure → question → value in 0..1. `seconds` counts training only; `parameters`
    and `ranked_per_second` as in a `Row`. `vectors` names word vectors or an encoder. `under` is
    the protocol of the run where that is a wider one than the target's (see `WIDER`), `scale` and
    `seed` are the recipe's.
    """

    system: str
    target: Target
    scores: Mapping[str, Mapping[str, float]]
    seconds: float
    parameters: int | None = None
    ranked_per_second: float | None = None
    paper: str = ""
    vectors: str = ""
    under: str = ""
    scale: str = "paper"
    seed: int | None = None


def just_measured(
    system: str, ranker: Ranker, history: History, data: Dataset
) -> tuple[Run, Outcome]:
    """Rank the test split of `data` with a ranker that was fitted: the run, and its outcome."""
    # Before ranking, which adds the vectors of new words to a network that training never saw.
    parameters = getattr(ranker, "parameter_count", None)
    run, speed = timed_run(ranker, data.test)
    scores = evaluate(run, data.test, data.scoring).per_question
    target = Target.of(data.name, data.protocol)
    return run, Outcome(system, target, scores, history.seconds, parameters, speed)


class _Key(NamedTuple):
    """What makes two rows runs of one system, but for the vectors."""

    paper: str
    variant: str
    scale: str


def outcomes(rows: Iterable[Row] | None = None) -> list[Outcome]:
    """Those of the rows that count, by paper and in the order of its variants; seeds in order.

    A row counts if its recipe is its variant's own but for vectors and seed, at the scale
    "paper" or, on the bundled sample and a reader's own data, "quick". A system is a variant; its
    vectors or encoder are named where they are not the usual ones, its scale where its data set
    has both, and its paper where two have a variant of the same name. A run counts on
    its own target and, cut to their questions, on narrower ones that others were run on. `rows`
    default to the ledger.
    """
    standing = _standing(read_ledger() if rows is None else rows)
    at = {(key, _dataset(choices)) for key, choices in standing}
    shared = _shared_names(key for key, _ in standing)
    result: list[Outcome] = []
    for key, choices in standing:
        for vectors, group in choices.items():
            name = key.variant
            whole = (key._replace(scale="paper"), _dataset(choices))
            if key.scale == QUICK and whole in at:
                name += f", {QUICK}"
            if vectors != _usual(group[0]):
                name += f", {vectors or 'no vectors'}"
            name += f" ({key.paper})" if key.variant in shared else ""
            result += [outcome for row in group for outcome in _of_row(name, row, vectors)]
    result += _on_fewer(result)
    # A system's runs on several data sets belong together.
    places = {outcome.system: i for i, outcome in reversed(list(enumerate(result)))}
    return sorted(result, key=lambda outcome: places[outcome.system])


def _standing(rows: Iterable[Row]) -> list[tuple[_Key, dict[str, list[Row]]]]:
    """The rows that count, by system but for the vectors, then data set, then by vectors."""
    by_paper: dict[str, list[Row]] = {name: [] for name in ROOMS}
    for row in _of_the_newest_data(rows):
        if row.recipe["paper"] in ROOMS:  # one of another version may know more
            by_paper[row.recipe["paper"]].append(row)
    found = []
    for paper, own in by_paper.items():
        for scale in SCALES if own else ():
            kept = [row for row in own if scale != QUICK or _small(row.recipe["dataset"])]
            runs = counted(paper, kept, scale)
            order = list(room(paper).VARIANTS)
            for variant, dataset in sorted(runs, key=lambda key: (order.index(key[0]), key[1])):
                found.append((_Key(paper, variant, scale), runs[variant, dataset]))
    return found


def _of_the_newest_data(rows: Iterable[Row]) -> list[Row]:
    """The rows but for those of a folder of one's own before what it holds was changed."""
    rows = list(rows)
    newest = {row.recipe["dataset"]: row for row in sorted(rows, key=lambda row: row.finished)}

    def stands(row: Row) -> bool:
        name = row.recipe["dataset"]
        return name in COLLECTIONS or _data(row) == _data(newest[name])

    return [row for row in rows if stands(row)]


def _data(row: Row) -> str:
    """The fingerprint of a row's data set alone."""
    return (row.data or "").partition(" ")[0]


def set_aside(rows: Iterable[Row]) -> list[Row]:
    """The rows that do not count.

    Experiments with other settings, data that have changed, and what this version of the code
    does not know.
    """
    rows = list(rows)
    counting = {
        row.hash for _, choices in _standing(rows) for group in choices.values() for row in group
    }
    return [row for row in rows if row.hash not in counting]


def _small(dataset: str) -> bool:
    return dataset == SAMPLE or dataset not in COLLECTIONS


def _dataset(choices: dict[str, list[Row]]) -> str:
    """The data set of runs that differ in vectors and seed only."""
    return next(iter(choices.values()))[0].recipe["dataset"]


def _usual(row: Row) -> str:
    """The vectors, or else the encoder, that the row's variant has on its data by default."""
    recipe = row.recipe
    default = room(recipe["paper"]).recipe(recipe["variant"], recipe["dataset"])
    return default.vectors or getattr(default, "encoder", "")


def _on_fewer(found: list[Outcome]) -> list[Outcome]:
    """The runs that are worth a look on a narrower target too, which others were run on."""
    asked: dict[Target, set[str]] = {}
    for outcome in found:
        for values in outcome.scores.values():
            asked.setdefault(outcome.target, set()).update(values)

    def cut(outcome: Outcome, target: Target) -> Outcome:
        scores = {
            measure: {question: x for question, x in values.items() if question in asked[target]}
            for measure, values in outcome.scores.items()
        }
        return replace(outcome, target=target, scores=scores, under=outcome.target.protocol)

    return [
        cut(outcome, target)
        for target in asked
        for outcome in found
        if outcome.target.dataset == target.dataset and outcome.target.protocol in _wider(target)
    ]


def _wider(target: Target) -> tuple[str, ...]:
    """The protocols whose test holds all questions of the target's, and more."""
    if target.dataset in COLLECTIONS:
        return WIDER.get(target, ())
    return _WIDER_OF_OWN.get(target.protocol, ())


def _shared_names(keys: Iterable[_Key]) -> set[str]:
    """Variants that more than one paper has."""
    papers: dict[str, set[str]] = {}
    for key in keys:
        papers.setdefault(key.variant, set()).add(key.paper)
    return {variant for variant, names in papers.items() if len(names) > 1}


def _of_row(system: str, row: Row, vectors: str) -> list[Outcome]:
    """An outcome a test split; what a split has no single questions of is left out."""
    recipe = row.recipe
    return [
        Outcome(
            system,
            Target.of(recipe["dataset"], recipe["protocol"], split),
            scores,
            row.seconds,
            row.parameters,
            row.ranked_per_second,
            recipe["paper"],
            vectors,
            scale=recipe["scale"],
            seed=recipe["seed"],
        )
        for split, scores in row.per_question.items()
        if split.startswith("test")
    ]
