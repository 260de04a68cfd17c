"""A device that is not the CPU, for machines that have no other.

Its tensors hold CPU tensors, which do the work, but they are as strict as a GPU's: an operation on
tensors of two places raises, and so do `numpy()` of one and random numbers from a generator of the
CPU. It has no arithmetic of its own: same numbers in, same numbers out. What it cannot show is
speed, memory, and the rounding of a GPU.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from typing import Any
from unittest import mock

import pytest
import torch
from torch import _VF, Tensor, nn
from torch.autograd.grad_mode import set_multithreading_enabled
from torch.nn.utils.rnn import PackedSequence
from torch.utils import backend_registration
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_leaves, tree_map

NAME = "elsewhere"
SIZES_STAY = ("_pack_padded_sequence", "_pack_padded_sequence_backward", "_pad_packed_sequence")
"""Operations that want, or give, the sizes of a packed sequence on the CPU, also on a GPU."""


@cache
def register() -> None:
    """Tell PyTorch of the device; skips the test where PyTorch cannot have one made in Python."""
    setup = getattr(backend_registration, "_setup_privateuseone_for_python_backend", None)
    if setup is None:
        pytest.skip("this version of PyTorch takes no device that is made in Python")
    setup(NAME)
    # From now on `torch.utils.checkpoint` asks it, whichever device computes.
    getattr(torch, NAME).get_amp_supported_dtype = lambda: [torch.bfloat16]


class There(Tensor):
    """A tensor on the device; `raw` is what it holds."""

    raw: Tensor

    @staticmethod
    def __new__(cls, raw: Tensor) -> "There":
        with torch.inference_mode(False):
            made = Tensor._make_wrapper_subclass(
                cls,
                raw.shape,
                strides=raw.stride(),
                storage_offset=raw.storage_offset(),
                dtype=raw.dtype,
                device=torch.device(NAME, 0),
            )
        made.raw = raw
        return made

    def __repr__(self) -> str:
        return f"There({self.raw})"

    def tolist(self) -> list[Any]:
        return self.detach().cpu().tolist()

    def new_tensor(self, data: Any) -> Tensor:
        return torch.tensor(data, dtype=self.dtype, device=self.device)

    def numpy(self, **_: Any) -> None:
        raise TypeError(f"a tensor on {NAME!r} is no NumPy array; it needs cpu() first")

    __array__ = numpy

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return _do(func, args, kwargs or {})


class _Factories(TorchDispatchMode):
    """Sends what has no tensor there yet, but asks for the device."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        there = any(isinstance(leaf, There) for leaf in tree_leaves((args, kwargs)))
        return _do(func, args, kwargs) if there or _asks(kwargs) else func(*args, **kwargs)


def _asks(kwargs: dict[str, Any]) -> bool:
    return kwargs.get("device") is not None and torch.device(kwargs["device"]).type == NAME


def _do(func, args, kwargs):
    name = func.overloadpacket.__name__
    tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
    there = {id(tensor.raw): tensor for tensor in tensors if isinstance(tensor, There)}
    here = [tensor for tensor in tensors if not isinstance(tensor, There)]
    if there and not _may_meet(name, args, here):
        raise RuntimeError(f"{name}: tensors on {NAME!r} and on 'cpu'")
    if kwargs.get("generator") is not None:
        raise RuntimeError(f"{name}: a generator of the CPU for {NAME!r}")
    leaves = kwargs.get("device") is not None and not _asks(kwargs)
    with _disable_current_modes():
        found = func(*tree_map(_down, args), **tree_map(_down, kwargs))
    if leaves or (name == "copy_" and not isinstance(args[0], There)):
        return found
    if name in SIZES_STAY and isinstance(found, tuple):
        return There(found[0]), found[1]
    return tree_map(partial(_up, there), found)


def _up(there: dict[int, There], value: Any) -> Any:
    if not isinstance(value, Tensor):
        return value
    # What was changed in place is the tensor that it was.
    return there[id(value)] if id(value) in there else There(value)


def _may_meet(name: str, args: tuple[Any, ...], here: list[Tensor]) -> bool:
    """Whether a GPU would take these tensors of the CPU beside its own."""
    if name in SIZES_STAY:
        return any(tensor is args[1] for tensor in here)
    if name.startswith(("index", "_index_put")):
        return isinstance(args[0], There) and not any(tensor.is_floating_point() for tensor in here)
    if name in ("copy_", "_has_compatible_shallow_copy_type"):  # the second only asks
        return True
    return not here or (name not in ("cat", "stack") and all(tensor.dim() == 0 for tensor in here))


def _down(value: Any) -> Any:
    if isinstance(value, torch.device):
        return torch.device("cpu")
    return value.raw if isinstance(value, There) else value


def _recurrent(kind: type[nn.RNNBase]):
    """Its `forward`, of packed texts: what a GPU has kernels for goes over the CPU here."""
    usual = kind.forward

    def forward(self, words: PackedSequence, state: None = None):
        if not isinstance(words.data, There):
            return usual(self, words, state)
        weights = [weight.cpu() for weight in self._flat_weights]
        zeros = torch.zeros(2 * self.num_layers, int(words.batch_sizes[0]), self.hidden_size)
        function, zeros = (_VF.lstm, (zeros, zeros)) if kind is nn.LSTM else (_VF.gru, zeros)
        rest = (self.bias, self.num_layers, self.dropout, self.training, self.bidirectional)
        out, *last = function(words.data.cpu(), words.batch_sizes, zeros, weights, *rest)
        order = words.unsorted_indices
        last = [h.to(words.data.device).index_select(1, order) for h in last]
        out = words._replace(data=out.to(words.data.device))
        return out, tuple(last) if kind is nn.LSTM else last[0]

    return forward


def _tensor(data: Any, *, device: Any = None, **kwargs: Any) -> Tensor:
    made = TENSOR(data, **kwargs)
    return made if device is None else made.to(device)


def _to(module: nn.Module, *args: Any, **kwargs: Any) -> nn.Module:
    torch.__future__.set_overwrite_module_params_on_conversion(True)
    try:
        return TO(module, *args, **kwargs)
    finally:
        torch.__future__.set_overwrite_module_params_on_conversion(False)


TENSOR, TO = torch.tensor, nn.Module.to


@contextmanager
def device() -> Iterator[torch.device]:
    """The device, for as long as this lasts."""
    register()
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(torch, "tensor", _tensor))
        stack.enter_context(mock.patch.object(nn.Module, "to", _to))
        for kind in (nn.GRU, nn.LSTM):
            stack.enter_context(mock.patch.object(kind, "forward", _recurrent(kind)))
        # The threads of other devices were counted before this one came.
        stack.enter_context(set_multithreading_enabled(False))
        stack.enter_context(_Factories())
        yield torch.device(NAME, 0)
