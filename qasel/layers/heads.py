"""Ranking levels as data: which heads a network has, the loss of each, and which reads which.

A model is a backbone and a tuple of `Head`s. Each head has features r of its own; its enhanced
features r̂ put those of the heads that it reads before its own (Gao et al. 2020, equations 11-15).
"""

from dataclasses import dataclass

from qasel.errors import QaselError

LEVELS = ("point", "pair", "list")
LOSSES = (*LEVELS, "ap")
"""The losses by name; `qasel.training.losses.level_loss` has one for each."""


@dataclass(frozen=True)
class Head:
    """A ranking level: its `name`, the `loss` that trains it, and the heads it `reads`."""

    name: str
    loss: str
    reads: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scheme:
    """The heads of a variant, in order (a head reads earlier ones), and the one that ranks."""

    heads: tuple[Head, ...]
    ranks: str

    def __post_init__(self) -> None:
        earlier: set[str] = set()
        for head in self.heads:
            if head.loss not in LOSSES:
                known = ", ".join(LOSSES)
                raise QaselError(f"head {head.name!r}: unknown loss {head.loss!r}; known: {known}")
            if not set(head.reads) <= earlier:
                raise QaselError(f"head {head.name!r} reads a head that does not come before it")
            earlier.add(head.name)
        if self.ranks not in earlier:
            raise QaselError(f"no head {self.ranks!r} to rank with")

    def sources(self, name: str) -> tuple[str, ...]:
        """The heads whose features make up r̂ of head `name`, its own last."""
        head = next(head for head in self.heads if head.name == name)
        read = [source for other in head.reads for source in self.sources(other)]
        return (*read, name)


POINT, PAIR, LIST = (Head(level, level) for level in LEVELS)

PROGRESSIVE = Scheme(
    (POINT, Head("pair", "pair", ("point",)), Head("list", "list", ("pair",))), "list"
)
"""PRI(list), equation 14: each level reads the one before."""
