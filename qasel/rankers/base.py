"""What every system is: a `Ranker`."""

from dataclasses import dataclass, field
from typing import Protocol, Self, runtime_checkable

from qasel.datasets.base import Split
from qasel.evaluation.run import Run
from qasel.files import FilePath


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
    """Anything that learns from a split (or needs not) and ranks the candidates of another."""

    def fit(self, train: Split, dev: Split | None = None) -> History:
        """Learn from `train`; choose among epochs or settings by `dev`, if at all."""
        ...

    def rank(self, split: Split) -> Run:
        """Score every candidate of `split`; labels are not looked at."""
        ...

    def save(self, path: FilePath) -> None:
        """Write all that `rank` needs into the folder `path`; nothing is pickled."""
        ...

    @classmethod
    def load(cls, path: FilePath) -> Self:
        """The ranker that was saved in the folder `path`."""
        ...
