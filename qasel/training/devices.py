"""Seeds and devices."""

import os
import platform

import torch

from qasel.errors import QaselError

DEVICES = ("auto", "cpu", "cuda")

# CUDA's matrix products are repeatable only with a fixed workspace, set before the first one.
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")


def resolve_device(name: str) -> torch.device:
    """The named device (`auto`: CUDA if available); raises `QaselError` if unknown or absent."""
    if name not in DEVICES:
        raise QaselError(f"unknown device {name!r}; known: {', '.join(DEVICES)}")
    if name == "cuda" and not torch.cuda.is_available():
        raise QaselError("device 'cuda' was asked for, but PyTorch finds no CUDA GPU; use 'cpu'")
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda":
        _repeatable()
    return torch.device(name)


def _repeatable() -> None:
    """Keep a GPU from shortening float32 numbers (TF32), and from attention that varies."""
    torch.backends.cudnn.allow_tf32 = False
    # Their backward passes are repeatable in PyTorch's strict mode only; `seed_all` just warns.
    torch.backends.cuda.enable_flash_sdp(False)
    torch.backends.cuda.enable_mem_efficient_sdp(False)
    torch.backends.cuda.enable_cudnn_sdp(False)


def describe_device(device: torch.device, precision: str = "float32") -> str:
    """The device in words, for the ledger, with the `precision` of training if not float32."""
    if device.type == "cuda":  # where training is always in bfloat16, see `trainer`
        return f"{torch.cuda.get_device_name(device)}, bfloat16"
    threads = torch.get_num_threads()
    words = f"{platform.machine()}, {threads} thread{'s' if threads > 1 else ''}"
    return f"CPU ({words}{'' if precision == 'float32' else ', ' + precision})"


def seed_all(*parts: int) -> None:
    """Seed PyTorch with several integers, and ask for deterministic kernels.

    Seeding by (seed, epoch) lets a killed run resume bit for bit without saved generator states.
    """
    torch.use_deterministic_algorithms(True, warn_only=True)
    # No code here reads memory before writing it, and filling it takes time.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    torch.manual_seed(joined(*parts))


def joined(*parts: int) -> int:
    """Combine several integers into one seed."""
    seed = 0
    for part in parts:
        seed = seed * 1_000_003 + part
    return seed % 2**63  # the range that PyTorch takes
