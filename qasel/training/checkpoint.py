"""Checkpoints: tensors and plain values in one safetensors file, written aside, then renamed."""

import json
import os
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from qasel.errors import QaselError


def save(path: Path, tensors: dict[str, Tensor], values: dict[str, Any]) -> None:
    """Write a checkpoint so that a reader sees the old one or the new one, never half.

    Raises `QaselError` where it cannot be written, as on a full disk.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    try:
        save_file(plain, aside, metadata={"values": json.dumps(values)})
        # safetensors lets nobody else read its files; these are no more secret than their folder.
        aside.chmod(path.parent.stat().st_mode & 0o666)
        aside.replace(path)
    except (OSError, SafetensorError) as error:
        raise QaselError(f"{path}: cannot be written ({error})") from error
    finally:
        aside.unlink(missing_ok=True)


def load(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Tensors (on the CPU) and values; raises `QaselError` for a file that is not a checkpoint."""
    try:
        with safe_open(path, framework="pt") as file:
            # Copies: where a file is mapped into memory, some systems would not replace it later.
            tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
            values = json.loads(file.metadata()["values"])
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
        raise QaselError(f"{path}: not a readable checkpoint ({error})") from error
    return tensors, values


def require_same(folder: Path, values: dict[str, Any], learnt_from: str) -> None:
    """Raise `QaselError` if a checkpoint's values tell that it was learnt from something else."""
    # Older checkpoints do not say.
    if values.get("learnt_from") not in (None, "", learnt_from):
        raise QaselError(
            f"{folder}: holds a network that learns from other data or word vectors, or by other "
            "settings; remove that folder, or give another one"
        )


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The optimiser's state as named tensors."""
    state = optimizer.state_dict()["state"]
    return {
        f"optimizer.{parameter}.{name}": torch.as_tensor(value)
        for parameter, entries in state.items()
        for name, value in entries.items()
    }


def restore_optimizer(optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    """Put back what `optimizer_tensors` gave."""
    state: dict[int, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        if key.startswith("optimizer."):
            _, parameter, name = key.split(".", 2)
            state.setdefault(int(parameter), {})[name] = tensor
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
