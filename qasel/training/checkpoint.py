"""Checkpoints: tensors and plain values in one safetensors file, written atomically."""

import json
import os
import secrets
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from qasel.errors import QaselError


def save(path: Path, tensors: dict[str, Tensor], values: dict[str, Any]) -> None:
    """Write a checkpoint atomically: a reader sees the old one or the new one, never half.

    Raises `QaselError` if it cannot be written, for example on a full disk.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    # Copies on the CPU: safetensors refuses tensors that share memory.
    plain = {name: tensor.detach().cpu().clone().contiguous() for name, tensor in tensors.items()}
    try:
        save_file(plain, aside, metadata={"values": json.dumps(values)})
        # safetensors makes its files private; these are no more secret than their folder.
        aside.chmod(path.parent.stat().st_mode & 0o666)
        aside.replace(path)
    except (OSError, SafetensorError) as error:
        raise QaselError(f"{path}: cannot be written ({error})") from error
    finally:
        aside.unlink(missing_ok=True)


def load(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Load tensors (to the CPU) and values; raises `QaselError` if the file is not a checkpoint."""
    try:
        with safe_open(path, framework="pt") as file:
            # Copies: some systems cannot replace a file that is mapped into memory.
            tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
            values = json.loads(file.metadata()["values"])
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
        raise QaselError(f"{path}: not a readable checkpoint ({error})") from error
    return tensors, values


def require_same(folder: Path, known: str | None, learnt_from: str) -> None:
    """Raise `QaselError` if a checkpoint says (`known`) that it was learnt from something else."""
    if known not in (None, "", learnt_from):  # older checkpoints do not say
        other = "a network that learns from other data or word vectors, or by other settings"
        raise QaselError(f"{folder}: holds {other}; remove that folder, or give another one")
