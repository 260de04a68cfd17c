"""Network layers that more than one paper uses."""

from qasel.layers.max_over_time import MaxOverTime

__all__ = ["MaxOverTime"]
