"""Whole candidate lists on the device, as integers, cut into tiles of similar lengths.

A batch holds whole questions. Its pairs are sorted by length and cut into tiles, each padded to its
own longest sentence. A question is encoded once per tile, not once per pair.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from qasel.datasets.base import Split
from qasel.text import PADDING, Vocabulary
from qasel.text.encoders import ContextualVectors, Encoder, Pieces, span

Numbering = Vocabulary | ContextualVectors
"""What turns texts into numbers."""


@dataclass(frozen=True)
class Sentences:
    """Ragged sentences: `tokens` `[all words]`, sentence i at `start[i] : start[i] + length[i]`."""

    tokens: Tensor
    start: Tensor
    length: Tensor

    @classmethod
    def encode(cls, texts: list[str], vocabulary: Numbering, device: torch.device) -> "Sentences":
        """Tokenise and number the texts; an empty one becomes a single padding word."""
        return cls.of([row or [PADDING] for row in vocabulary.numbers_of(texts)], device)

    @classmethod
    def of(cls, rows: list[list[int]], device: torch.device) -> "Sentences":
        """Sentences from rows of numbers, none of them empty."""
        length = torch.tensor([len(row) for row in rows])
        tokens = torch.tensor([number for row in rows for number in row])
        start = length.cumsum(0) - length
        return cls(tokens.to(device), start.to(device), length.to(device))

    def padded(self, index: Tensor) -> tuple[Tensor, Tensor]:
        """Word numbers `[rows, longest]` (0 = padding) and lengths `[rows]` of some sentences."""
        length = self.length[index]
        place = torch.arange(int(length.max()), device=length.device)
        inside = place < length[:, None]
        numbers = self.tokens[torch.where(inside, self.start[index, None] + place, 0)]
        return torch.where(inside, numbers, PADDING), length


@dataclass(frozen=True)
class Tile:
    """Some pairs of a batch, padded to the longest among them.

    `question` `[questions, n]` and `answer` `[pairs, m]` are word numbers, `question_length` and
    `answer_length` their lengths; pair i belongs to row `question_of[i]` of `question`.
    """

    question: Tensor
    question_length: Tensor
    question_of: Tensor
    answer: Tensor
    answer_length: Tensor

    @property
    def real_question(self) -> Tensor:
        """Where `question` has a word, `[questions, n]`."""
        return _inside(self.question, self.question_length)

    @property
    def real_answer(self) -> Tensor:
        """Where `answer` has a word, `[pairs, m]`."""
        return _inside(self.answer, self.answer_length)


def _inside(numbers: Tensor, length: Tensor) -> Tensor:
    return torch.arange(numbers.shape[1], device=length.device) < length[:, None]


@dataclass(frozen=True)
class Batch:
    """A batch of whole candidate lists.

    `labels` and `mask` are `[questions, candidates]`; `slot` `[pairs]` is where in them (flattened)
    the tiles' pairs belong; `index` `[questions]` has the questions' numbers in the split. Tiles
    are `Tile`s or `PairTile`s. `vectors` `[numbers, size]` are the split's own, if it has any.
    """

    index: Tensor
    tiles: tuple[Any, ...]
    slot: Tensor
    labels: Tensor
    mask: Tensor
    vectors: Tensor | None = None

    def as_lists(self, pairs: Tensor) -> Tensor:
        """Arrange pairs' values `[pairs, …]`, in tile order, as `[questions, candidates, …]`."""
        flat = pairs.new_zeros(self.mask.numel(), *pairs.shape[1:])
        return flat.index_copy(0, self.slot, pairs).reshape(*self.mask.shape, *pairs.shape[1:])


class EncodedSplit:
    """A split as integers on a device; makes `Batch`es.

    The integers are those of `vocabulary`. For vectors that depend on the context, they are rows of
    `vectors` `[numbers, size]` (row 0 is padding), which come with the split.
    """

    # Pairs per tile: small tiles have less padding, large ones keep a GPU busy.
    tile_pairs: ClassVar[dict[str, int]] = {"cpu": 64, "cuda": 512}

    def __init__(
        self, split: Split, vocabulary: Any, device: torch.device, vectors: Tensor | None = None
    ) -> None:
        self.split, self.device = split, device
        self.vectors = None if vectors is None else vectors.to(device)
        candidates = [candidate for q in split for candidate in q.candidates]
        self._encode([q.text for q in split], [c.text for c in candidates], vocabulary)
        self.count = torch.tensor([len(q.candidates) for q in split], device=device)
        self.first = self.count.cumsum(0) - self.count
        # Unknown labels count as 0: ranking never reads them.
        labels = [float(candidate.label or 0) for candidate in candidates]
        self.labels = torch.tensor(labels, device=device)

    def __len__(self) -> int:
        return len(self.split)

    def _encode(self, questions: list[str], answers: list[str], vocabulary: Numbering) -> None:
        self.questions = Sentences.encode(questions, vocabulary, self.device)
        self.answers = Sentences.encode(answers, vocabulary, self.device)
        self.sizes = self.answers.length  # `[all pairs]`, by which pairs are put into tiles

    def batches(
        self, size: int, shuffle: torch.Generator | None = None, pairs: int | None = None
    ) -> Iterator[Batch]:
        """Yield batches of `size` questions, in file order or shuffled by a (CPU) generator.

        A batch of more than `pairs` pairs is split into parts with no more, or one question each.
        """
        count = len(self)
        order = torch.randperm(count, generator=shuffle) if shuffle else torch.arange(count)
        for index in order.split(size) if count else ():
            for part in self._parted(index, pairs) if pairs else (index,):
                yield self.batch(part.to(self.device))

    def _parted(self, index: Tensor, pairs: int) -> Iterator[Tensor]:
        counts = self.count.cpu()[index].tolist()
        first = held = 0
        for place, count in enumerate(counts):
            if held and held + count > pairs:
                yield index[first:place]
                first, held = place, 0
            held += count
        yield index[first:]

    def batch(self, index: Tensor) -> Batch:
        """The batch of the questions with these numbers."""
        count = self.count[index]
        place = torch.arange(int(count.max()), device=self.device)
        mask = place < count[:, None]
        pair = torch.where(mask, self.first[index, None] + place, 0)
        slot = mask.flatten().nonzero()[:, 0]
        tiles, order = [], []
        for chosen in self._tile_slots(slot, pair):
            rows, question_of = (chosen // mask.shape[1]).unique(return_inverse=True)
            tiles.append(self._tile(index[rows], question_of, pair.flatten()[chosen]))
            order.append(chosen)
        labels = torch.where(mask, self.labels[pair], 0.0)
        return Batch(index, tuple(tiles), torch.cat(order), labels, mask, self.vectors)

    def _tile(self, questions: Tensor, question_of: Tensor, pairs: Tensor) -> Any:
        """The tile of some questions and pairs, by their numbers in the split."""
        return Tile(*self.questions.padded(questions), question_of, *self.answers.padded(pairs))

    def _tile_slots(self, slot: Tensor, pair: Tensor) -> tuple[Tensor, ...]:
        """Slots of the pairs, sorted by size and cut into tiles."""
        size = self.sizes[pair.flatten()[slot]]
        by_size = slot[torch.argsort(size, stable=True)]
        return by_size.tensor_split(-(-len(slot) // self.tile_pairs[self.device.type]))


@dataclass(frozen=True)
class PairTile:
    """Some pairs of a batch as a transformer reads them: `pairs` `[pairs, n]`.

    A pair's candidate is the `candidate_length` `[pairs]` pieces from `candidate_start` `[pairs]`
    on. `question` `[questions, m]` are the questions alone; pair i belongs to row `question_of[i]`.
    """

    pairs: Pieces
    candidate_start: Tensor
    candidate_length: Tensor
    question: Pieces
    question_of: Tensor


class PairedSplit(EncodedSplit):
    """A split whose tiles (`PairTile`) hold pairs of similar length, tokenised for an encoder.

    Tiles are small, as a transformer also computes at padding (docs/notes/yardsticks.md). A pair is
    cut to `longest` pieces, see `Encoder.pieces`.
    """

    tile_pairs: ClassVar[dict[str, int]] = {"cpu": 16, "cuda": 64}

    def __init__(
        self, split: Split, encoder: Encoder, device: torch.device, longest: int | None = None
    ) -> None:
        self.longest = longest
        super().__init__(split, encoder, device)

    def _encode(self, questions: list[str], answers: list[str], encoder: Encoder) -> None:  # type: ignore[override]
        asked = [q.text for q in self.split for _ in q.candidates]
        encoded = encoder.pieces(asked, answers, self.longest)
        spans = [span(encoded, row, 1) for row in range(len(answers))]
        self.start, self.length = torch.tensor(spans, device=self.device).T
        self.pairs, self.pair_types = self._ragged(encoded)
        self.sizes = self.pairs.length
        self.alone, self.alone_types = self._ragged(encoder.pieces(questions))

    def _ragged(self, encoded: Any) -> tuple[Sentences, Sentences]:
        """The pieces of each text and their token types, 0 where the encoder has none."""
        numbers = encoded["input_ids"]
        types = encoded.get("token_type_ids") or [[0] * len(row) for row in numbers]
        return Sentences.of(numbers, self.device), Sentences.of(types, self.device)

    def _tile(self, questions: Tensor, question_of: Tensor, pairs: Tensor) -> PairTile:
        read = _pieces(self.pairs, self.pair_types, pairs)
        asked = _pieces(self.alone, self.alone_types, questions)
        return PairTile(read, self.start[pairs], self.length[pairs], asked, question_of)


def _pieces(numbers: Sentences, types: Sentences, index: Tensor) -> Pieces:
    padded, length = numbers.padded(index)
    return Pieces(padded, types.padded(index)[0], _inside(padded, length))
