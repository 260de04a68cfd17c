"""AP-MPCNN as boxes and arrows, from the recipe."""

from itertools import pairwise

from qasel.figures.diagrams import Arrow, Box, Diagram
from qasel.papers.ap_mpcnn.comparison import compared_size
from qasel.papers.ap_mpcnn.recipes import APMPCNNRecipe

WORDS, PLAIN, TRAINED, OUT = "#F4F4F4", "#E4ECF5", "#F8E9DD", "#DDF0E4"


def network(recipe: APMPCNNRecipe) -> Diagram:
    """Figure 2 from left to right, all four parts on: the question above, the answer below."""
    r = recipe
    size = compared_size(r.filters, r.widths, sparse=True)
    boxes = {
        "sparse": Box("sparse features", 3.95, 0, "[4]", PLAIN, 1.6),
        "horizontal": Box("horizontal", 7.75, 0.85, f"[{2 * r.filters:,}]", PLAIN, 1.25),
        "vertical": Box("vertical", 7.75, -0.85, f"[{3 * r.widths**2}]", PLAIN, 1.25),
        "H": Box(r"compared  $H_v$", 9.4, 0, f"[{size:,}]", PLAIN, 1.4),
        "hidden": Box("hidden layer", 11.05, 0, f"[{size:,}] to [{r.hidden}]", TRAINED, 1.4),
        "f": Box("f(q, p)", 12.55, 0, "triplet loss", OUT, 1.1),
    }
    sides = (("question", 1, "n", 1.1, "answer"), ("answer", 2, "m", -1.1, "question"))
    arrows = [Arrow(start, end) for start, end in pairwise(("H", "hidden", "f"))]
    arrows += [Arrow(part, "H") for part in ("horizontal", "sparse", "vertical")]
    for name, number, words, y, other in sides:
        weighted = f"[{words}, d] to [{words}, 2d]"
        boxes |= {
            name: Box(f"{name} words", 0, y, f"$S_{number}$ [{words}, d]", WORDS, 1.45),
            f"{name} copy": Box(f"weights  $A_{number}$", 1.95, y, weighted, PLAIN, 1.5),
            f"{name} maps": Box(
                f"windows of 1–{r.widths}", 3.95, y, f"{r.filters} filters each", TRAINED, 1.6
            ),
            f"{name} pooled": Box(
                f"max  regM$_{number}$", 5.85, y, f"[{r.widths}, {r.filters}]", PLAIN, 1.4
            ),
        }
        arrows += [Arrow(name, "sparse"), Arrow(other, f"{name} copy")]
        flow = (name, f"{name} copy", f"{name} maps", f"{name} pooled")
        arrows += [Arrow(start, end) for start, end in pairwise(flow)]
        arrows += [Arrow(f"{name} pooled", part) for part in ("horizontal", "vertical")]
    return Diagram(boxes, arrows)
