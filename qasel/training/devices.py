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
        torch.backends.cudnn.allow_tf32 = False  # which shortens float32 numbers
        # These are repeatable in PyTorch's strict mode only, and `seed_all` just warns.
        torch.backends.cuda.enable_flash_sdp(False)
        torch.backends.cuda.enable_mem_efficient_sdp(False)
        torch.backends.cuda.enable_cudnn_sdp(False)
    return torch.device(name)


def describe_device(device: torch.device, precision: str = "float32") -> str:
    """The device in words, for the ledger, with the `precision` of training if not float32.

    A CPU is named with the vector instructions that PyTorch uses there, such as AVX2 or AVX512:
    speed and rounding depend on them.
    """
    half = ", bfloat16" if precision == "bfloat16" else ""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device) + half
    threads = torch.get_num_threads()
    kind = f"{platform.machine()} {torch.backends.cpu.get_cpu_capability()}"
    return f"CPU ({kind}, {threads} thread{'s' if threads > 1 else ''}{half})"


def seed_all(seed: int, epoch: int) -> None:
    """Seed PyTorch with two integers, and ask for deterministic kernels.

    Seeding by (seed, epoch) lets a killed run resume bit for bit without saved generator states.
    """
    torch.use_deterministic_algorithms(True, warn_only=True)
    # No code here reads memory before writing it, and filling it takes time.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    torch.manual_seed(joined(seed, epoch))


def joined(seed: int, epoch: int) -> int:
    """Combine two integers into one seed, in the range that PyTorch takes."""
    return (seed * 1_000_003 + epoch) % 2**63
