"""qasel: notebooks and a small package for neural and structured answer selection."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qasel.datasets import load_dataset
    from qasel.evaluation import evaluate
    from qasel.text import load_vectors

__all__ = ["evaluate", "load_dataset", "load_vectors"]

_HOMES = {"evaluate": "evaluation", "load_dataset": "datasets", "load_vectors": "text"}


def __getattr__(name: str) -> Any:
    """Import on first use: `qasel --help` should not wait for numpy and its friends."""
    if name not in _HOMES:
        raise AttributeError(f"module 'qasel' has no attribute {name!r}")
    return getattr(importlib.import_module(f"qasel.{_HOMES[name]}"), name)
