"""One room (subpackage) per paper, and one for yardsticks; no room imports another.

`ROOMS["ms-ranker"]` is a paper's `Room`; its package is imported on first access.
"""

from collections.abc import Iterator, Mapping

from qasel.datasets.registry import unknown
from qasel.errors import QaselError
from qasel.results import Room

PAPERS = (
    "hierarchical-ranking",
    "latent-structured",
    "ms-ranker",
    "question-relevancy",
    "ap-mpcnn",
)


class Rooms(Mapping[str, Room]):
    """Mapping from name to room; raises `QaselError` for an unknown name."""

    names = (*PAPERS, "yardsticks")

    def __getitem__(self, name: str) -> Room:
        match name:
            case "hierarchical-ranking":
                from qasel.papers.hierarchical_ranking import ROOM
            case "latent-structured":
                from qasel.papers.latent_structured import ROOM
            case "ms-ranker":
                from qasel.papers.ms_ranker import ROOM
            case "question-relevancy":
                from qasel.papers.question_relevancy import ROOM
            case "ap-mpcnn":
                from qasel.papers.ap_mpcnn import ROOM
            case "yardsticks":
                from qasel.papers.yardsticks import ROOM
            case _:
                raise QaselError(unknown("paper", name, self.names))
        return ROOM

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


ROOMS = Rooms()
