"""The special tokens that a tokenizer puts around one text, or around two."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Frame:
    """`parts[0] text₁ parts[1]`, or `parts[0] text₁ parts[1] text₂ parts[2]`.

    `parts` are piece numbers; `part_types` the token type of each of them, `text_types` those of
    the texts' pieces; `typed` says whether the tokenizer gives token types at all.
    """

    parts: tuple[tuple[int, ...], ...]
    part_types: tuple[tuple[int, ...], ...]
    text_types: tuple[int, ...]
    typed: bool

    @property
    def specials(self) -> int:
        """How many special tokens there are."""
        return sum(map(len, self.parts))


def frame_of(tokenizer: Any, texts: int) -> Frame:
    """The frame of one or two texts, read off what a (fast) tokenizer makes of short ones."""
    encoding = tokenizer(*["a"] * texts)
    numbers = encoding["input_ids"]
    types = encoding.get("token_type_ids", [0] * len(numbers))
    parts: list[list[int]] = [[] for _ in range(texts + 1)]
    part_types: list[list[int]] = [[] for _ in range(texts + 1)]
    text_types = [0] * texts
    part = 0
    for number, kind, owner in zip(numbers, types, encoding.sequence_ids(0), strict=True):
        if owner is None:
            parts[part].append(number)
            part_types[part].append(kind)
        else:
            part = owner + 1
            text_types[owner] = kind
    return Frame(
        tuple(map(tuple, parts)),
        tuple(map(tuple, part_types)),
        tuple(text_types),
        "token_type_ids" in encoding,
    )
