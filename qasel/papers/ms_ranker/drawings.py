"""One step of the agent as boxes and arrows, from the recipe."""

from qasel.figures.diagrams import Arrow, Box, Diagram
from qasel.papers.ms_ranker.recipes import MSRankerRecipe

WORDS, ONCE, STEP, OUT = "#F4F4F4", "#E4ECF5", "#F8E9DD", "#DDF0E4"


def agent(recipe: MSRankerRecipe) -> Diagram:
    """Equations 1-23 from left to right: the question above, the evidence below.

    No arrow crosses another: O_t stands under the evidence for that.
    """
    size = 2 * recipe.hidden
    boxes = {
        "Q": Box("question words", 0, 1.3, "[n, d]", WORDS, 1.5),
        "C": Box("candidate words", 0, 0, "[m, d]", WORDS, 1.5),
        "HQ": Box("BiGRU  $H_Q$", 1.8, 1.3, f"[n, {size}]", ONCE, 1.3),
        "HC": Box("BiGRU  $H_C$", 1.8, 0, f"[m, {size}]", ONCE, 1.3),
        "QC": Box(
            "QC-attention", 3.6, 0.85, f"[m, {4 * size:,}] to $V_{{qc}}$ [{size}]", ONCE, 1.75
        ),
        "O": Box("last states  $O_t$", 1.8, -2.35, f"[{size}]", ONCE, 1.5),
        "E": Box("evidence  $E_t$", 3.6, -1.5, f"[{size}]", STEP, 1.3),
        "EC": Box(
            "EC-attention", 3.6, -0.65, f"[m, {2 * size}] to $V_{{ec}}$ [{size}]", STEP, 1.75
        ),
        "P": Box(
            "MLP, softmax", 5.6, 0.1, r"$s_t$" + f" [{2 * size}] to " + r"$P_{post}$", STEP, 1.65
        ),
        "L": Box("list $L$", 7.45, 0.85, "sorted by $P_{post}$", OUT, 1.35),
        "gate": Box(
            r"gate: $E_t$ and $P_{post}O_t$",
            7.45,
            -1.3,
            r"if $P_{post}$ > " + f"{recipe.threshold:g}",
            STEP,
            1.85,
        ),
        "next": Box("evidence  $E_{t+1}$", 9.35, -1.3, f"[{size}]", STEP, 1.4),
        "R": Box("reward", 9.35, 0.85, r"$AP_t - AP_{t-1}$", OUT, 1.3),
    }
    arrows = [
        Arrow("Q", "HQ"),
        Arrow("C", "HC"),
        Arrow("HQ", "QC"),
        Arrow("HC", "QC"),
        Arrow("HC", "EC"),
        Arrow("HC", "O"),
        Arrow("E", "EC"),
        Arrow("QC", "P"),
        Arrow("EC", "P"),
        Arrow("P", "L"),
        Arrow("P", "gate"),
        Arrow("L", "R"),
        Arrow("O", "gate"),
        Arrow("E", "gate"),
        Arrow("gate", "next"),
    ]
    return Diagram(boxes, arrows)
