"""The yardsticks that read no labels: `qasel.rankers` under the names of their recipes."""

from qasel.papers.yardsticks.recipes import BASELINES as NAMES
from qasel.papers.yardsticks.recipes import BaselineRecipe
from qasel.rankers import BASELINES, RandomRanker
from qasel.rankers.baselines import Baseline
from qasel.training import reference


class Reference(reference.Reference):
    """A baseline of this room. Only the random one depends on the recipe's seed."""

    recipe_type = BaselineRecipe
    recipe: BaselineRecipe

    def make(self) -> Baseline:
        """The baseline that the variant names."""
        kind = BASELINES[NAMES[self.recipe.variant]]
        return kind(self.recipe.seed) if kind is RandomRanker else kind()
