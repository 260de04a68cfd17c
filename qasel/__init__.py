"""qasel: notebooks and a small package for neural and structured answer selection.

    import qasel
    from qasel.rankers import BM25

    data = qasel.load_dataset("sample")  # or "wikiqa", …, or a folder of your own
    ranker = BM25()
    ranker.fit(data.train, data.dev)
    print(qasel.evaluate(ranker.rank(data.test), data.test))

`load_dataset`, `evaluate` and `load_vectors` are here; rankers without training in
`qasel.rankers`, those of the papers in `qasel.papers`, the ledger of measured runs in
`qasel.results`. All that the command `qasel` does is in the package.
"""

import typing as _typing

from qasel.locations import require_numba_cache as _require_numba_cache

_require_numba_cache()

__all__ = ["evaluate", "load_dataset", "load_vectors"]

if _typing.TYPE_CHECKING:
    from qasel.datasets import load_dataset
    from qasel.evaluation import evaluate
    from qasel.text import load_vectors


def __getattr__(name: str) -> _typing.Any:
    """Import on first use: `qasel --help` should not wait for numpy and its friends."""
    found: _typing.Any
    match name:
        case "evaluate":
            from qasel.evaluation import evaluate as found
        case "load_dataset":
            from qasel.datasets import load_dataset as found
        case "load_vectors":
            from qasel.text import load_vectors as found
        case _:
            raise AttributeError(f"module 'qasel' has no attribute {name!r}")
    return found


def __dir__() -> list[str]:
    """What tab completion offers, before anything is imported too."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
