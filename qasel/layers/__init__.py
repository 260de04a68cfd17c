"""Network layers that more than one paper uses."""

from qasel.layers.convolution import MaxOverTime
from qasel.layers.masked import masked_max, masked_softmax, on_real

__all__ = ["MaxOverTime", "masked_max", "masked_softmax", "on_real"]
