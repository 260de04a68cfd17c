"""Reading a question and a candidate: BiGRU and QC-attention (equations 1-11), or a transformer.

Shapes: P pairs of a tile, n words of a question, m of a candidate, d the
hidden size of a GRU, so that a word has 2d numbers.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from qasel.layers import masked_max, masked_softmax, on_real
from qasel.layers.pair_encoder import PairEncoder
from qasel.layers.recurrent import all_states
from qasel.text.encoders import Encoder
from qasel.training.batching import Batch, Tile


@dataclass(frozen=True)
class Reading:
    """What is known of P pairs before any evidence.

    `words` `[P, m, 2d]` are the candidates' states, real where `real` `[P, m]`; `candidate` and
    `question` `[P, 2d]` the last states of both directions (O and E₁); `match` `[P, 2d]` is V_qc.
    """

    words: Tensor
    real: Tensor
    candidate: Tensor
    question: Tensor
    match: Tensor


class BiGRU(nn.Module):
    """Equations 1 and 2; padding is never read."""

    def __init__(self, size: int, hidden: int) -> None:
        super().__init__()
        self.gru = nn.GRU(size, hidden, batch_first=True, bidirectional=True)

    def forward(self, words: Tensor, length: Tensor) -> tuple[Tensor, Tensor]:
        """Words `[S, L, size]` → states `[S, L, 2d]`, 0 at padding, and last states `[S, 2d]`."""
        return all_states(self.gru, words, length)


class Reader(nn.Module, ABC):
    """What pre-ranker and agent each have; `size` numbers describe a word or a sentence."""

    size: int

    @abstractmethod
    def read(self, tile: Tile, vectors: Tensor) -> Reading:
        """The pairs of one tile."""

    def match_of(self, tile: Tile, vectors: Tensor) -> Tensor:
        """V_qc alone, `[P, 2d]`, of the pairs of one tile: all that a pre-ranker needs."""
        return self.read(tile, vectors).match

    def matches(self, batch: Batch, vectors: Tensor) -> Tensor:
        """V_qc of the pairs of a batch, in tile order."""
        return torch.cat([self.match_of(*part) for part in _parts(batch, vectors)])

    def forward(self, batch: Batch, vectors: Tensor) -> Reading:
        """The pairs of a batch, in tile order, padded to the longest candidate of the batch."""
        tiles = [self.read(*part) for part in _parts(batch, vectors)]
        longest = max(tile.words.shape[1] for tile in tiles)
        return Reading(
            torch.cat([F.pad(t.words, (0, 0, 0, longest - t.words.shape[1])) for t in tiles]),
            torch.cat([F.pad(t.real, (0, longest - t.real.shape[1])) for t in tiles]),
            torch.cat([t.candidate for t in tiles]),
            torch.cat([t.question for t in tiles]),
            torch.cat([t.match for t in tiles]),
        )


def _parts(batch: Batch, vectors: Tensor) -> Iterator[tuple[Tile, Tensor]]:
    """The tiles of a batch with the vectors of their words: its own, if it has such."""
    return ((tile, vectors if batch.vectors is None else batch.vectors) for tile in batch.tiles)


class PairReader(Reader):
    """A fine-tuned transformer in place of encoding and QC-attention (section 4.5).

    Its [CLS] is what is known of the pair, V_qc and O; that of the question alone is E₁.
    """

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.pairs = PairEncoder(encoder)
        self.size = encoder.size

    def read(self, tile: Tile, vectors: Tensor) -> Reading:
        """The pairs of one tile; `vectors` are not read."""
        found = self.pairs(tile)
        _, question = self.pairs.encode_alone(tile.question, tile.question_length)
        words = found.candidate
        return Reading(words.states, words.real, found.cls, question[tile.question_of], found.cls)

    def match_of(self, tile: Tile, vectors: Tensor) -> Tensor:
        """[CLS] of the pairs of one tile; their questions need not be read alone."""
        return self.pairs.vectors(tile)


class WordReader(Reader):
    """The encoding layer and the QC-attention over word vectors."""

    def __init__(self, size: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.size = 2 * hidden
        self.encode = BiGRU(size, hidden)
        self.of_question = nn.Linear(2 * hidden, 1, bias=False)  # v₁
        self.of_candidate = nn.Linear(2 * hidden, 1, bias=False)  # v₂
        self.of_both = nn.Parameter(torch.empty(2 * hidden).normal_(std=(2 * hidden) ** -0.5))  # v₃
        # W_qc in four parts, for [h_c; U_c; h_c ⊙ U_c; U_Q ⊙ U_c], and b_qc with the first.
        self.compare = nn.ModuleList(
            nn.Linear(2 * hidden, 2 * hidden, bias=part == 0) for part in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def read(self, tile: Tile, vectors: Tensor) -> Reading:
        """The pairs of one tile, words as `vectors`; each question is encoded once."""
        # Vectors of a frozen encoder are kept in half precision.
        asked, given = vectors[tile.question].float(), vectors[tile.answer].float()
        question, question_last = self.encode(self.dropout(asked), tile.question_length)
        answer, answer_last = self.encode(self.dropout(given), tile.answer_length)
        match = self.match(question, answer, tile)
        return Reading(
            answer, tile.real_answer, answer_last, question_last[tile.question_of], match
        )

    def match(self, question: Tensor, answer: Tensor, tile: Tile) -> Tensor:
        """V_qc of a tile's pairs (equations 3-11), `[P, 2d]`, from the words of each side."""
        h_q = question[tile.question_of]
        real_q, real_c = tile.real_question[tile.question_of], tile.real_answer
        alpha = (h_q * self.of_both) @ answer.transpose(1, 2)  # [P, n, m]
        alpha = alpha + self.of_question(question)[tile.question_of]
        alpha = alpha + self.of_candidate(answer).transpose(1, 2)
        p = masked_softmax(alpha, real_q[:, :, None], dim=1)
        u_c = p.transpose(1, 2) @ h_q  # question-aware words of the candidate
        beta = masked_max(alpha, real_q[:, :, None], dim=1)
        u_q = masked_softmax(beta, real_c)[:, None] @ answer  # [P, 1, 2d]
        # W(Σ pᵢ hᵢ) = Σ pᵢ W hᵢ: two of the four parts of W_qc m_j (equations 9 and 10) can be
        # had from the words of the question, which are few.
        of_c, of_u, of_both, of_q = self.compare
        from_question = of_u(question)[tile.question_of] + of_q(u_q * h_q)
        m = on_real(of_c, answer, real_c) + on_real(of_both, answer * u_c, real_c)
        m = m + p.transpose(1, 2) @ from_question
        # tanh grows with its argument, so it may come after the maximum.
        return masked_max(m, real_c[:, :, None], dim=1).tanh()


class Head(nn.Module):
    """The MLP from a state to the two actions (equations 18 and 19).

    W₁ in two halves, one for V_qc and one for V_ec: a pre-ranker has the first only.
    """

    def __init__(self, size: int, dropout: float, evidence: bool) -> None:
        super().__init__()
        self.of_match = nn.Linear(size, size)
        self.of_evidence = nn.Linear(size, size, bias=False) if evidence else None
        self.act = nn.Linear(size, 2)
        self.dropout = nn.Dropout(dropout)

    def forward(self, v_qc: Tensor, v_ec: Tensor | None = None) -> Tensor:
        """Log probabilities of "wrong" and "right", `[…, 2]`, of states `[…, size]` each."""
        hidden = self.of_match(self.dropout(v_qc))
        if self.of_evidence is not None:
            hidden = hidden + self.of_evidence(self.dropout(v_ec))
        return self.act(hidden.tanh()).float().log_softmax(-1)
