"""Squashing functions for loops that numba compiles, and how those are to be compiled."""

import numpy as np
import torch
from numba import config, njit, set_num_threads

# What keeps numba's loops from being vectorised, or slows them, is not there: a division that may
# raise (its default), many arrays read and written in one loop, a view of a row made for every row.
compiled = njit(cache=True, error_model="numpy", fastmath={"nsz", "contract"})
_HALF, ONE = np.float32(0.5), np.float32(1)
_SATURATED = np.float32(7.9053111)
# The rational approximation of Eigen and XLA, from the highest power of x down.
_P13, _P11, _P9, _P7, _P5, _P3, _P1 = np.array(
    [
        -2.76076847742355e-16,
        2.00018790482477e-13,
        -8.60467152213735e-11,
        5.12229709037114e-08,
        1.48572235717979e-05,
        6.37261928875436e-04,
        4.89352455891786e-03,
    ],
    np.float32,
)
_Q6, _Q4, _Q2, _Q0 = np.array(
    [1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03],
    np.float32,
)


def take_torchs_threads() -> None:
    """Let parallel loops that this thread calls have as many threads as PyTorch has."""
    set_num_threads(min(torch.get_num_threads(), config.NUMBA_NUM_THREADS))


@compiled
def tanh(x):  # pragma: no cover
    """tanh to within 2e-7, in operations that vectorise; not a number stays so."""
    x = _SATURATED if x > _SATURATED else x
    x = -_SATURATED if x < -_SATURATED else x
    y = x * x
    p = (((((_P13 * y + _P11) * y + _P9) * y + _P7) * y + _P5) * y + _P3) * y + _P1
    q = ((_Q6 * y + _Q4) * y + _Q2) * y + _Q0
    return x * p / q


@compiled
def logistic(x):  # pragma: no cover
    """1 / (1 + e⁻ˣ), by way of `tanh`."""
    return _HALF + _HALF * tanh(_HALF * x)
