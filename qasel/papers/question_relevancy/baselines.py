"""The two rows of table 1 that learn nothing, as a recipe runs them."""

from qasel.papers.question_relevancy.recipes import BASELINES as OF_TABLE_1
from qasel.papers.question_relevancy.recipes import RelevancyRecipe
from qasel.rankers import BASELINES
from qasel.rankers.baselines import Baseline
from qasel.training import reference


class Reference(reference.Reference):
    """A baseline under its name in table 1."""

    recipe_type = RelevancyRecipe
    recipe: RelevancyRecipe

    def make(self) -> Baseline:
        """The baseline of the row."""
        return BASELINES[OF_TABLE_1[self.recipe.variant]]()
