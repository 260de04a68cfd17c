"""Paper 1's model as boxes and arrows, from the recipe and the declared schemes."""

from itertools import pairwise

from qasel.figures.diagrams import Arrow, Box, Diagram
from qasel.layers.heads import Scheme
from qasel.papers.hierarchical_ranking.recipes import HierarchicalRecipe

TINTS = {"point": "#FFF3CC", "pair": "#D6ECF8", "list": "#DDF0E4"}
"""A tint a loss, so that it is seen which loss trains a head."""
WORDS, SHARED, OWN = "#F4F4F4", "#E4ECF5", "#F8E9DD"


def feature_size(recipe: HierarchicalRecipe) -> int:
    """Numbers in the matching vector r = [r^q; r^a] of a head."""
    return 2 * len(recipe.kernels) * recipe.channels


def backbone(recipe: HierarchicalRecipe) -> Diagram:
    """Equations 1-5 from left to right: the question above, the answer below."""
    h, side = recipe.hidden, feature_size(recipe) // 2
    widths = f"{recipe.kernels[0]}–{recipe.kernels[-1]}"
    clip = f", {recipe.k_max} largest weights" if recipe.k_max else ""
    boxes = {
        "match": Box(r"$M = H^q {H^a}^\top$", 3.0, 0, "[n, m]", SHARED, 1.4),
        "r": Box(r"$r = [r^q; r^a]$", 9.55, 0, f"[{2 * side:,}]", OWN, 1.35),
        "score": Box("two-layer MLP", 11.15, 0, "score of the pair", OWN, 1.4),
    }
    arrows = [Arrow("r", "score")]
    sides = (("question", "q", "a", "n", 1), ("answer", "a", "q", "m", -1))
    for name, own, other, words, y in sides:
        match = "M" if own == "q" else r"M^\top"
        aligned = rf"$\hat{{H}}{{}}^{own} = \mathrm{{softmax}}({match})\,H^{other}$"
        compared = rf"$C^{own} = \hat{{H}}{{}}^{own} \odot H^{own}$"
        boxes |= {
            f"E{own}": Box(f"{name} words", 0, 1.1 * y, f"$E^{own}$ [{words}, d]", WORDS, 1.4),
            f"H{own}": Box(f"gates  $H^{own}$", 1.6, 1.1 * y, f"[{words}, {h}]", SHARED, 1.1),
            f"Ĥ{own}": Box(aligned, 4.95, 0.42 * y, f"[{words}, {h}]{clip}", SHARED, 1.95),
            f"C{own}": Box(compared, 6.55, 1.1 * y, f"[{words}, {h}]", OWN, 1.45),
            f"r{own}": Box(f"CNN {widths}, max", 8.2, 1.1 * y, f"$r^{own}$ [{side:,}]", OWN, 1.4),
        }
        flow = [f"E{own}", f"H{own}", f"C{own}", f"r{own}", "r"]
        arrows += [Arrow(start, end) for start, end in pairwise(flow)]
        arrows += [
            Arrow(f"H{own}", "match"),
            Arrow("match", f"Ĥ{own}"),
            Arrow(f"Ĥ{own}", f"C{own}"),
        ]
    return Diagram(boxes, arrows)


def wiring(scheme: Scheme, recipe: HierarchicalRecipe) -> Diagram:
    """A scheme from bottom to top: each head's own features, what it reads, its loss."""
    size = feature_size(recipe)
    boxes: dict[str, Box] = {}
    arrows = []
    place = {head.name: i for i, head in enumerate(scheme.heads)}
    middle = (len(scheme.heads) - 1) / 2
    for head in scheme.heads:
        x = 1.3 * (place[head.name] - middle)
        tint = TINTS[head.loss]
        ranks = head.name == scheme.ranks
        sources = scheme.sources(head.name)
        boxes |= {
            f"r {head.name}": Box(rf"$r_\mathrm{{{head.name}}}$", x, 0, "", tint, 0.9, 0.4),
            f"r̂ {head.name}": Box(
                rf"$\hat{{r}}_\mathrm{{{head.name}}}$", x, 0.85, f"{size * len(sources):,}", tint
            ),
            f"loss {head.name}": Box(
                f"MLP, {head.loss} loss", x, 1.7, "", tint, 1.22, 0.4, strong=ranks
            ),
        }
        arrows += [
            Arrow(f"r {head.name}", f"r̂ {head.name}"),
            Arrow(f"r̂ {head.name}", f"loss {head.name}"),
        ]
        for other in head.reads:
            far = place[head.name] - place[other] > 1
            arrows.append(Arrow(f"r̂ {other}", f"r̂ {head.name}", bend=-0.33 if far else 0.0))
    return Diagram(boxes, arrows)
