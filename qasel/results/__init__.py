"""The ledger of measured runs, and what is derived from it: tables, tests, comparisons.

No paper is imported here: each is passed in as a `Room`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qasel.errors import QaselError

if TYPE_CHECKING:
    from qasel.training.recipe import Recipe

OPTIONS = {"paper": "paper", "variant": "variant", "dataset": "dataset", "seed": "seeds"}
"""Recipe field that says which run it is, and so is not a setting → its command-line option."""


@dataclass(frozen=True)
class Room:
    """The systems of a paper, or the yardsticks, as the rest of the package uses them.

    `variants` are the rows of its tables that can be run, `main` is the paper's own system.
    `recipe(variant, dataset, vectors=, scale=, seed=)` returns a row's recipe, and `kind(variant)`
    the class of its ranker. `published` is the file of the numbers that the paper prints (None: it
    prints none).
    """

    name: str
    title: str
    variants: tuple[str, ...]
    main: str
    recipe: Callable[..., Any]
    kind: Callable[[str], Any]
    published: Path | None = None

    def ranker(self, recipe: "Recipe", *inputs: Any) -> Any:
        """An untrained ranker for a recipe, word vectors and a device."""
        return self.kind(recipe.variant)(recipe, *inputs)

    def load(self, folder: Path, *inputs: Any) -> Any:
        """The ranker saved in a folder; `inputs` are word vectors and a device."""
        from qasel.training.recipe import read_recipe

        return self.kind(read_recipe(folder)["variant"]).load(folder, *inputs)

    def rows(self, asked: Sequence[str]) -> Sequence[str]:
        """The requested variants, each once: none means the paper's own system, `all` all rows.

        Raises `QaselError` for `all` together with others.
        """
        if "all" not in asked:
            return list(dict.fromkeys(asked)) or [self.main]
        if len(asked) > 1:
            raise QaselError(
                "variant 'all' means every row: give it alone, or name single rows without it"
            )
        return self.variants

    def configured(
        self, variant: str, dataset: str, settings: Mapping[str, Any], vectors: str = ""
    ) -> "Recipe":
        """A row's recipe with some settings changed; raises `QaselError` for invalid settings.

        The scale is applied first, as it has settings of its own. `vectors` are for rows that read
        word vectors; other rows ignore them, but refuse a setting of that name. A user's own files
        are named by absolute path, as files in two folders may have the same name.
        """
        for key in OPTIONS:
            if key in settings:
                raise QaselError(f"{key!r} is no setting of a run: name it by --{OPTIONS[key]}")
        # Slow to import, and not needed to name the papers.
        from qasel.datasets.load import full_name, full_path
        from qasel.text.vectors import full_vectors_name

        whole = {"vectors": full_vectors_name, "encoder": full_path, "corpus": full_path}
        others = {
            key: whole[key](value) if key in whole and isinstance(value, str) else value
            for key, value in settings.items()
        }
        scale = others.pop("scale", "paper")
        words = full_vectors_name(vectors) or None
        own = self.recipe(variant, full_name(dataset), scale=scale, vectors=words)
        return own.change(**others)
