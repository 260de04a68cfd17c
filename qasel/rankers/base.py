"""What every system is: a `Ranker`."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, Self, runtime_checkable

from qasel.datasets.base import Dataset, Split
from qasel.errors import QaselError
from qasel.evaluation.run import Run


@dataclass(frozen=True)
class History:
    """How a fit went.

    `epochs` has one dict an epoch, with keys such as "epoch", "loss", "dev_map"; it is empty
    for a ranker that learns without epochs. `best_epoch` is the "epoch" of the model kept;
    `chosen` are the values that were picked on dev, such as {"C": 10.0}.
    """

    epochs: list[dict[str, float]] = field(default_factory=list)
    best_epoch: int | None = None
    seconds: float = 0.0
    chosen: dict[str, float] = field(default_factory=dict)


@runtime_checkable
class Ranker(Protocol):
    """Anything that learns from a split (or needs not) and ranks the candidates of another.

    Those of a paper's room are made from a recipe, word vectors and a device, by which `load` also
    reads them back. Their `fit` wants a dev split, and takes a folder for checkpoints, from which
    a killed run goes on; and, where the data set has any, auxiliary `tasks` and `articles`.
    """

    def fit(self, train: Split, *args: Any, **more: Any) -> History:
        """Learn from `train`; choose among epochs or settings by a dev split, if at all."""
        ...

    def rank(self, split: Split) -> Run:
        """Score every candidate of `split`; labels are not looked at."""
        ...

    def save(self, folder: Path) -> None:
        """Write all that `rank` needs into a folder; nothing is pickled."""
        ...

    @classmethod
    def load(cls, folder: Path, *args: Any) -> Self:
        """The ranker that was saved in a folder."""
        ...


def as_split(given: Split) -> Split:
    """The split itself; `QaselError` for anything else, such as a whole data set."""
    if not isinstance(given, Split):
        hint = ", such as data.train" if isinstance(given, Dataset) else ""
        raise QaselError(f"a ranker takes a split{hint}, not a {type(given).__name__}")
    return given
