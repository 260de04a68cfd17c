"""The schemes of the paper as data: which ranking levels there are, and which reads which.

A model is a backbone and a tuple of `Head`s. Each head has its own comparison
and aggregation features r; its enhanced features r̂ (equations 11-15) put those
of the heads that it reads before its own.
"""

from dataclasses import dataclass

from qasel.errors import QaselError

LEVELS = ("point", "pair", "list")
LOSSES = (*LEVELS, "ap")


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
            if head.loss not in LOSSES or not set(head.reads) <= earlier:
                raise QaselError(f"head {head.name!r} has an unknown loss or reads a later head")
            earlier.add(head.name)
        if self.ranks not in earlier:
            raise QaselError(f"no head {self.ranks!r} to rank with")

    def sources(self, name: str) -> tuple[str, ...]:
        """The heads whose features make up r̂ of head `name`, its own last."""
        head = next(head for head in self.heads if head.name == name)
        read = [source for other in head.reads for source in self.sources(other)]
        return (*read, name)


POINT, PAIR, LIST = (Head(level, level) for level in LEVELS)

SCHEMES: dict[str, Scheme] = {
    "CA(point)": Scheme((POINT,), "point"),
    "CA(pair)": Scheme((PAIR,), "pair"),
    "CA(list)": Scheme((LIST,), "list"),
    "MTL(point)": Scheme((POINT, PAIR, LIST), "point"),
    "MTL(pair)": Scheme((POINT, PAIR, LIST), "pair"),
    "MTL(list)": Scheme((POINT, PAIR, LIST), "list"),
    # Equations 11, 12 and 13.
    "RI(point)": Scheme((PAIR, LIST, Head("point", "point", ("pair", "list"))), "point"),
    "RI(pair)": Scheme((POINT, LIST, Head("pair", "pair", ("point", "list"))), "pair"),
    "RI(list)": Scheme((POINT, PAIR, Head("list", "list", ("point", "pair"))), "list"),
    # Equations 15 and 14.
    "PRI(point)": Scheme(
        (LIST, Head("pair", "pair", ("list",)), Head("point", "point", ("pair",))), "point"
    ),
    "PRI(list)": Scheme(
        (POINT, Head("pair", "pair", ("point",)), Head("list", "list", ("pair",))), "list"
    ),
    # Table 2.
    "PRI(list) w/o point-level": Scheme((PAIR, Head("list", "list", ("pair",))), "list"),
    "PRI(list) w/o pair-level": Scheme((POINT, Head("list", "list", ("point",))), "list"),
    "PRI(all list)": Scheme(
        (Head("point", "list"), Head("pair", "list", ("point",)), Head("list", "list", ("pair",))),
        "list",
    ),
}
# The rebuilt baseline (Bian et al. 2017) has the form of CA(list); its recipe sets k-max attention.
SCHEMES["DCA"] = SCHEMES["CA(list)"]

BEYOND: dict[str, Scheme] = {
    "CA(ap)": Scheme((Head("list", "ap"),), "list"),
    "PRI(list→ap)": Scheme(
        (POINT, Head("pair", "pair", ("point",)), Head("list", "ap", ("pair",))), "list"
    ),
}
"""Not in the paper: CA(list) and PRI(list) with the list level trained for AP itself."""
