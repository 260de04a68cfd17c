"""Network layers that more than one paper uses."""

from qasel.layers.masked import masked_max, masked_softmax, on_real
from qasel.layers.max_over_time import MaxOverTime

__all__ = ["MaxOverTime", "masked_max", "masked_softmax", "on_real"]
