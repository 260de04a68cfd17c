"""qasel: notebooks and a small package for neural and structured answer selection.

    import qasel
    from qasel.rankers import BM25

    data = qasel.load_dataset("sample")  # or "wikiqa", …, or a folder of your own
    ranker = BM25()
    ranker.fit(data.train, data.dev)
    print(qasel.evaluate(ranker.rank(data.test), data.test))

`load_dataset`, `evaluate` and `load_vectors` are imported from here, the baselines from
`qasel.rankers`, the papers' rankers from `qasel.papers`, and the ledger of measured runs from
`qasel.results`. The package offers everything that the `qasel` command does.
"""

import importlib as _importlib
import typing as _typing

from qasel.locations import require_numba_cache as _require_numba_cache

_require_numba_cache()

__all__ = ["evaluate", "load_dataset", "load_vectors"]
_HOMES = {"evaluate": ".evaluation", "load_dataset": ".datasets", "load_vectors": ".text"}

if _typing.TYPE_CHECKING:
    from qasel.datasets import load_dataset
    from qasel.evaluation import evaluate
    from qasel.text import load_vectors


def __getattr__(name: str) -> _typing.Any:
    """Import on first use, so that `qasel --help` need not wait for numpy and the like."""
    if name not in _HOMES:
        raise AttributeError(f"module 'qasel' has no attribute {name!r}")
    return getattr(_importlib.import_module(_HOMES[name], __name__), name)


def __dir__() -> list[str]:
    """List what tab completion offers, even before anything is imported."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
