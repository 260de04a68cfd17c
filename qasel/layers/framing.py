"""Ragged texts on a device put between special tokens, all rows at once."""

from itertools import chain
from typing import NamedTuple

import torch
from torch import Tensor, nn

from qasel.text.encoders import Frame


class Framed(NamedTuple):
    """Rows for a transformer: `numbers`, `types` and `real`, `[rows, longest]` each.

    `starts` has, for each text, the place `[rows]` of its first piece.
    """

    numbers: Tensor
    types: Tensor
    real: Tensor
    starts: tuple[Tensor, ...]


class Framing(nn.Module):
    """Puts texts into a tokenizer's frame, as the tokenizer itself would."""

    specials: Tensor

    def __init__(self, frame: Frame, padding: int) -> None:
        super().__init__()
        self.frame, self.padding = frame, padding
        flat = [*chain(*frame.parts), padding], [*chain(*frame.part_types), 0]
        self.register_buffer("specials", torch.tensor(flat), persistent=False)

    def forward(self, texts: list[Tensor], kept: list[Tensor]) -> Framed:
        """Texts `[rows, width]` each, of which the first `kept` `[rows]` pieces (0 or more) count.

        What lies beyond them is never read.
        """
        rows, device = len(kept[0]), kept[0].device
        sizes = [*map(len, self.frame.parts), 1]  # the last is the padding
        *parts, padding = self.specials.split(sizes, dim=1)
        # All that a row may hold, padded texts and all; a row then picks its pieces from it.
        columns, types = [parts[0][0].expand(rows, -1)], [parts[0][1]]
        total = torch.full((rows,), sizes[0], device=device)
        starts, gaps = [], []
        for text, count, kind, part in zip(
            texts, kept, self.frame.text_types, parts[1:], strict=True
        ):
            starts.append(total)
            gaps.append((total + count, text.shape[1] - count))
            total = total + count + part.shape[1]
            columns += [text, part[0].expand(rows, -1)]
            types += [text.new_full((text.shape[1],), kind), part[1]]
        all_numbers = torch.cat([*columns, padding[0].expand(rows, -1)], dim=1)
        all_types = torch.cat([*types, padding[1]])
        place = torch.arange(int(total.max()), device=device)
        real = place < total[:, None]
        source = place.expand_as(real)
        for end, gap in gaps:
            source = source + (place >= end[:, None]) * gap[:, None]
        source = torch.where(real, source, all_numbers.shape[1] - 1)
        return Framed(all_numbers.gather(1, source), all_types[source], real, tuple(starts))
