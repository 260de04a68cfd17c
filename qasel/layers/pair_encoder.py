"""Ragged texts on a device put between special tokens, all rows at once."""

import inspect
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, Protocol

import torch
from torch import Tensor, nn

from qasel.errors import QaselError
from qasel.text.encoders import Encoder, Frame
from qasel.text.tokens import PADDING


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


class Pairs(Protocol):
    """The part of a `Tile` of batching that is read here (numbers are those of `Subwords`)."""

    @property
    def question(self) -> Tensor: ...  # noqa: D102
    @property
    def question_length(self) -> Tensor: ...  # noqa: D102
    @property
    def question_of(self) -> Tensor: ...  # noqa: D102
    @property
    def answer(self) -> Tensor: ...  # noqa: D102
    @property
    def answer_length(self) -> Tensor: ...  # noqa: D102


@dataclass(frozen=True)
class Pieces:
    """States of S texts' pieces, `states` `[S, L, d]`: 0 where not `real` `[S, L]`.

    An empty text has one piece all the same, the special token that follows it, so that no
    attention ever is over nothing.
    """

    states: Tensor
    real: Tensor


@dataclass(frozen=True)
class PairStates:
    """What the transformer makes of P pairs.

    `question` has n pieces a pair, `candidate` m; `cls` `[P, d]` are the states of [CLS].
    """

    question: Pieces
    candidate: Pieces
    cls: Tensor


class PairEncoder(nn.Module):
    """Reads pairs, or texts alone, with a copy of a pre-trained encoder (`model`).

    A pair has at most `longest` pieces, special tokens included (at most, and by default, what
    the encoder can read). A longer one is cut at the ends as the library does it: the candidate,
    as long as the question takes no more than half of the room, so that the question's first
    pieces up to there are never cut; the question gets more only where the candidate is short.
    Raises `QaselError` where `longest` leaves no room for a piece of each.
    """

    def __init__(self, encoder: Encoder, longest: int | None = None) -> None:
        super().__init__()
        self.longest = min(longest or encoder.longest, encoder.longest)
        self.room = self.longest - encoder.pair.specials
        if self.room < 2:
            raise QaselError(
                f"{self.longest} pieces are too few for a pair: "
                f"{encoder.pair.specials} are special tokens; give {encoder.pair.specials + 2}"
            )
        self.alone_room = self.longest - encoder.alone.specials
        self.size = encoder.size
        self.alone = Framing(encoder.alone, encoder.padding)
        self.pair = Framing(encoder.pair, encoder.padding)
        self.model = encoder.model().train()
        reads_types = "token_type_ids" in inspect.signature(self.model.forward).parameters
        self.typed = encoder.pair.typed and reads_types

    def forward(self, tile: Pairs) -> PairStates:
        """The pairs of a tile."""
        framed, kept = self.frame(tile)
        states = self._states(framed)
        widths = (tile.question.shape[1], tile.answer.shape[1])
        asked, given = (
            _pick(states, start, count, min(width, self.room))
            for start, count, width in zip(framed.starts, kept, widths, strict=True)
        )
        return PairStates(asked, given, states[:, 0])

    def vectors(self, tile: Pairs, mean: bool = False) -> Tensor:
        """One vector a pair, `[P, d]`: the state of [CLS], or the mean over all of its pieces."""
        framed, _ = self.frame(tile)
        states = self._states(framed)
        if not mean:
            return states[:, 0]
        real = framed.real[..., None]
        return (states * real).sum(1) / real.sum(1)

    def frame(self, tile: Pairs) -> tuple[Framed, tuple[Tensor, Tensor]]:
        """The pairs of a tile as the model reads them, and how many pieces of either text."""
        question, question_length = _texts(tile.question, tile.question_length)
        answer, answer_length = _texts(tile.answer, tile.answer_length)
        kept = self.cut(question_length[tile.question_of], answer_length)
        return self.pair([question[tile.question_of], answer], list(kept)), kept

    def encode_alone(self, numbers: Tensor, length: Tensor) -> tuple[Pieces, Tensor]:
        """Texts `[S, L]` of `length` `[S]`, each on its own: their pieces, and [CLS] `[S, d]`."""
        numbers, length = _texts(numbers, length)
        kept = length.clamp(max=self.alone_room)
        framed = self.alone([numbers], [kept])
        states = self._states(framed)
        width = min(numbers.shape[1], self.alone_room)
        return _pick(states, framed.starts[0], kept, width), states[:, 0]

    def cut(self, question: Tensor, candidate: Tensor) -> tuple[Tensor, Tensor]:
        """How many pieces of each are read, of lengths `[P]` each."""
        # The longer one gets the odd piece.
        half = self.room // 2 + (self.room % 2) * (question > candidate)
        kept = question.minimum(half.maximum(self.room - candidate))
        return kept, candidate.minimum(self.room - kept)

    def _states(self, framed: Framed) -> Tensor:
        types = {"token_type_ids": framed.types} if self.typed else {}
        mask = framed.real.long()
        read = self.model(input_ids=framed.numbers, attention_mask=mask, **types)
        return read.last_hidden_state


def _texts(numbers: Tensor, length: Tensor) -> tuple[Tensor, Tensor]:
    """Numbers and true lengths: batching keeps an empty text as a single `PADDING`."""
    empty = (length == 1) & (numbers[:, 0] == PADDING)
    return numbers, length - empty.long()


def _pick(states: Tensor, start: Tensor, count: Tensor, width: int) -> Pieces:
    """The states `[S, width, d]` of the pieces from `start` on."""
    place = torch.arange(width, device=start.device)
    real = place < count.clamp(min=1)[:, None]
    source = torch.where(real, start[:, None] + place, 0)
    rows = torch.arange(len(start), device=start.device)[:, None]
    return Pieces(states[rows, source] * real[..., None], real)
