"""The schemes of the paper as data: the `Head`s of every row."""

from qasel.layers.heads import LIST, PAIR, POINT, PROGRESSIVE, Head, Scheme

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
    "PRI(list)": PROGRESSIVE,
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
