"""The Fake News Challenge (FNC-1): what the body of an article makes of a headline.

Its official form is two CSV files: stances (headline, body id, stance) and bodies (id, text).
"""

from collections.abc import Sequence
from pathlib import Path

from qasel.datasets.lines import read_csv
from qasel.datasets.pairs import Pair, PairTask
from qasel.datasets.places import find, missing
from qasel.datasets.registry import Collection
from qasel.errors import QaselError

LABELS = ("agree", "disagree", "discuss", "unrelated")
FILES = ("train_stances.csv", "train_bodies.csv")
PUBLISHED = 49972
"""Pairs of the official training set."""


def read_fnc(known: Collection, folders: Sequence[Path]) -> PairTask:
    """The training pairs, headline and body, in the order of the stances.

    Raises `QaselError` for a file that is not there, and, with file and line, for an unknown
    stance, a body id that no body has or two have, and what `read_csv` raises.
    """
    stances, bodies = (find(folders, name) or missing(known, "train", FILES) for name in FILES)
    texts: dict[str, str] = {}
    for line, (identity, text) in read_csv(bodies, ("Body ID", "articleBody")):
        if identity in texts:
            raise QaselError(f"{bodies}:{line}: body id {identity!r} occurs twice")
        texts[identity] = " ".join(text.split())
    pairs = []
    for line, (headline, identity, stance) in read_csv(stances, ("Headline", "Body ID", "Stance")):
        if stance not in LABELS:
            what = f"unknown stance {stance!r}; known: {', '.join(LABELS)}"
            raise QaselError(f"{stances}:{line}: {what}")
        if identity not in texts:
            raise QaselError(f"{stances}:{line}: body id {identity!r} is not in {bodies}")
        pairs.append(Pair(" ".join(headline.split()), texts[identity], LABELS.index(stance)))
    if not pairs:
        raise QaselError(f"{stances}: no stances in the file")
    notes = () if len(pairs) == PUBLISHED else (f"{len(pairs)} of {PUBLISHED} pairs",)
    return PairTask("fnc-1", LABELS, tuple(pairs), notes)
