"""Checkpoints: tensors and plain values in one safetensors file, written aside, then renamed."""

import json
import os
from pathlib import Path
from typing import Any

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
    # Copies on the CPU: safetensors refuses tensors that share memory.
    plain = {name: tensor.detach().cpu().clone().contiguous() for name, tensor in tensors.items()}
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


def require_same(folder: Path, known: str | None, learnt_from: str) -> None:
    """Raise `QaselError` if what a checkpoint was learnt from is `known`, and something else."""
    if known not in (None, "", learnt_from):  # older checkpoints do not say
        other = "a network that learns from other data or word vectors, or by other settings"
        raise QaselError(f"{folder}: holds {other}; remove that folder, or give another one")
