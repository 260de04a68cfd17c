"""The ledger of measured runs, and what is read from it: tables, tests, comparisons.

No paper is imported here: a paper comes in as a `Room`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qasel.errors import QaselError

if TYPE_CHECKING:
    from qasel.training.recipe import Recipe

OPTIONS = {"paper": "paper", "variant": "variant", "dataset": "dataset", "seed": "seeds"}
"""Field of a recipe that says which run it is, never among its settings → the option it has."""


@dataclass(frozen=True)
class Room:
    """A paper's systems, or the yardsticks', as the rest of the package uses them.

    `variants` are the rows of its tables that can be run, `main` is the paper's own system.
    `recipe(variant, dataset, vectors=, scale=, seed=)` gives a row's settings,
    `ranker(recipe, vectors, device)` an untrained ranker and `load(folder, vectors, device)` a
    saved one. `published` is the file of the numbers that the paper prints (None: it prints none).
    """

    name: str
    title: str
    variants: tuple[str, ...]
    main: str
    recipe: Callable[..., Any]
    ranker: Callable[..., Any]
    load: Callable[..., Any]
    published: Path | None = None

    def rows(self, asked: Sequence[str]) -> Sequence[str]:
        """The variants asked for, each once: none means the paper's own system, `all` all rows.

        Raises `QaselError` for `all` beside others.
        """
        if "all" not in asked:
            return list(dict.fromkeys(asked)) or [self.main]
        if len(asked) > 1:
            raise QaselError(
                "variant 'all' is all there are; leave the others out, or leave it out"
            )
        return self.variants

    def configured(
        self, variant: str, dataset: str, settings: Mapping[str, Any], vectors: str = ""
    ) -> "Recipe":
        """A row's recipe with some settings changed; raises `QaselError` for what it cannot take.

        The scale comes first, as it has settings of its own. `vectors` are for a row that reads
        any, and left alone by others, where a setting of that name is refused. A user's own files
        are named by their whole path: two folders may have files of the same name.
        """
        for key in OPTIONS:
            if key in settings:
                raise QaselError(f"{key!r} is no setting of a run: name it by --{OPTIONS[key]}")
        # Heavy, and not needed to name the papers.
        from qasel.datasets.load import full_name, full_path
        from qasel.text.encoders import full_encoder_name
        from qasel.text.vectors import full_vectors_name

        others = dict(settings)
        whole = {"vectors": full_vectors_name, "encoder": full_encoder_name, "corpus": full_path}
        for key, named in whole.items():
            if isinstance(others.get(key), str):
                others[key] = named(others[key])
        scale = others.pop("scale", "paper")
        words = full_vectors_name(vectors) or None
        own = self.recipe(variant, full_name(dataset), scale=scale, vectors=words)
        return own.change(**others)
