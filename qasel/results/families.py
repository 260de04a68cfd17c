"""Families of tests, as data: what is tested together, and how its p values are corrected."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import yaml
from scipy import stats

from qasel.evaluation import holm
from qasel.results.runs import SAMPLE

CORRECTIONS = {
    "holm": (holm, "Holm"),
    "benjamini-hochberg": (stats.false_discovery_control, "Benjamini-Hochberg"),
    "none": (np.asarray, "not corrected"),
}
"""Correction → the function that adjusts a family's p values, and its name."""


@dataclass(frozen=True)
class Family:
    """Tests that answer one `question`; the fields are explained in families.yaml."""

    name: str
    question: str
    correction: str
    data: str = ""
    leave_out: tuple[str, ...] = ()
    pairs: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def takes(self, target: str) -> bool:
        """Whether tests on a target (`wikiqa/answered`) belong to the family."""
        return not self.data or (self.data == SAMPLE) == target.startswith(f"{SAMPLE}/")

    def adjusted(self, p: Sequence[float] | np.ndarray) -> np.ndarray:
        """The p values of the whole family, corrected for their number."""
        values = np.asarray(p, dtype=np.float64)
        return CORRECTIONS[self.correction][0](values) if len(values) else values

    def caption(self, tests: int) -> str:
        """The family and its correction, for the caption of a table of `tests` tests."""
        return f"Family “{self.name}”: {tests} tests, {CORRECTIONS[self.correction][1]}."


FAMILIES = {
    name: Family(name, **fields)
    for name, fields in yaml.safe_load(
        Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
    ).items()
}
"""The families that tables and notebooks use, by name."""
