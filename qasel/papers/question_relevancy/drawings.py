"""The multi-task network as boxes and arrows, from the recipe."""

from qasel.figures.diagrams import Arrow, Box, Diagram
from qasel.papers.question_relevancy.recipes import AUXILIARY, RelevancyRecipe

WORDS, SHARED, OWN, OUT = "#F4F4F4", "#E4ECF5", "#F8E9DD", "#DDF0E4"
CLASSES = {"QA": 2, "FNC": 4, "NLI": 3}


def network(recipe: RelevancyRecipe) -> Diagram:
    """Figure 1, from left to right: the main task above, every auxiliary task below it."""
    width, distances = recipe.width, len(recipe.features)
    boxes = {
        "pair": Box("two texts", 0, 0, "of any task", WORDS, 1.2),
        "x": Box("distances", 1.7, 0, f"[{distances}]", WORDS, 1.2),
        "shared": Box("shared layer", 3.4, 0, f"[{distances}] to [{width}]", SHARED, 1.45),
    }
    arrows = [Arrow("pair", "x"), Arrow("x", "shared")]
    tasks = {"main": ("questions", 2), **{n: (f"{n} task", CLASSES[n]) for n in AUXILIARY["ALL"]}}
    for place, (name, (told, classes)) in enumerate(tasks.items()):
        y = 1.2 - 0.8 * place
        end = "relevant or not: ranks" if name == "main" else "only to learn from"
        boxes[name] = Box(told, 5.3, y, f"[{width}] to [{width}]", OWN, 1.45)
        boxes[f"{name} out"] = Box(
            f"{classes} classes", 7.2, y, end, OUT if name == "main" else OWN, 1.75
        )
        arrows += [Arrow("shared", name), Arrow(name, f"{name} out")]
    return Diagram(boxes, arrows)
