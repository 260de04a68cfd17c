"""A pre-trained encoder as a layer: question and candidate read as one row."""

import inspect
from typing import Any, Literal

import torch
from torch import Tensor, nn

from qasel.text.encoders import Encoder, Pieces


class PairEncoder(nn.Module):
    """Encodes rows of pieces with a copy of a pre-trained encoder (`model`)."""

    def __init__(self, encoder: Encoder, head: Literal["", "classifier"] = "") -> None:
        super().__init__()
        self.model = encoder.model(head).train()
        reads_types = "token_type_ids" in inspect.signature(self.model.forward).parameters
        self.typed = reads_types and "token_type_ids" in encoder.tokenizer.model_input_names

    def forward(self, pieces: Pieces) -> Any:
        """The model's output: `last_hidden_state` `[rows, longest, d]`, or a head's `logits`."""
        types = {"token_type_ids": pieces.types} if self.typed else {}
        mask = pieces.real.long()
        return self.model(input_ids=pieces.numbers, attention_mask=mask, **types)

    def vectors(self, pieces: Pieces, mean: bool = False) -> Tensor:
        """One vector per row, `[rows, d]`: the state of [CLS], or the mean over all pieces."""
        states = self(pieces).last_hidden_state
        if not mean:
            return states[:, 0]
        real = pieces.real[..., None]
        return (states * real).sum(1) / real.sum(1)


def part_of(states: Tensor, start: Tensor, length: Tensor) -> tuple[Tensor, Tensor]:
    """Each row's `length` `[rows]` states from `start` `[rows]` on, 0 beyond; and their mask."""
    place = torch.arange(int(length.max()), device=length.device)
    real = place < length[:, None]
    source = torch.where(real, start[:, None] + place, 0)
    rows = torch.arange(len(start), device=start.device)[:, None]
    return states[rows, source] * real[..., None], real
