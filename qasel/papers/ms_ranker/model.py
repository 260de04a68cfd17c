"""MS-Ranker: reading a pair (equations 1-11), pre-ranker, agent, and the rewards that train it.

Shapes: P pairs of a tile, n words of a question, m of a candidate, d the hidden size of a GRU, so
that a word's state has size 2d. All candidates are read at once; only evidence goes step by step.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from qasel.layers import masked_max, masked_softmax, on_real
from qasel.layers.pair_encoder import PairEncoder, part_of
from qasel.layers.recurrent import bidirectional
from qasel.papers.ms_ranker.recipes import MSRankerRecipe
from qasel.text.encoders import Encoder
from qasel.training.batching import Batch, PairTile, Tile


class Reading(NamedTuple):
    """The encoding of P pairs, before any evidence.

    `words` `[P, m, 2d]` are the states of the candidates' words, with the mask `real` `[P, m]`;
    `candidate` and `question` `[P, 2d]` are last states (O and E₁); `match` `[P, 2d]` is V_qc.
    """

    words: Tensor
    real: Tensor
    candidate: Tensor
    question: Tensor
    match: Tensor


class BiGRU(nn.Module):
    """A bidirectional GRU (equations 1 and 2) that never reads padding."""

    def __init__(self, size: int, hidden: int) -> None:
        super().__init__()
        self.gru = nn.GRU(size, hidden, batch_first=True, bidirectional=True)

    def forward(self, words: Tensor, length: Tensor) -> tuple[Tensor, Tensor]:
        """Words `[S, L, size]` → states `[S, L, 2d]`, 0 at padding, and last states `[S, 2d]`."""
        return bidirectional(self.gru, words, length)


class Reader(nn.Module, ABC):
    """Reads pairs for the pre-ranker or the agent; words and sentences have vectors of `size`."""

    size: int

    @abstractmethod
    def read(self, tile: Tile, vectors: Tensor) -> Reading:
        """Read the pairs of one tile."""

    def match_of(self, tile: Tile, vectors: Tensor) -> Tensor:
        """V_qc alone of the pairs of one tile, `[P, 2d]`: all that a pre-ranker needs."""
        return self.read(tile, vectors).match

    def forward(self, batch: Batch, vectors: Tensor) -> Reading:
        """Read the pairs of a batch, in tile order, padded to the batch's longest candidate."""
        tiles = [self.read(tile, vectors) for tile in batch.tiles]
        words, real, *others = zip(*tiles, strict=True)
        longest = max(part.shape[1] for part in real)
        return Reading(
            torch.cat([F.pad(part, (0, 0, 0, longest - part.shape[1])) for part in words]),
            torch.cat([F.pad(part, (0, longest - part.shape[1])) for part in real]),
            *map(torch.cat, others),
        )


class PairReader(Reader):
    """A fine-tuned transformer in place of encoding and QC-attention (section 4.5).

    The state of [CLS] is both V_qc and O of a pair; that of the question alone is E₁.
    """

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.pairs = PairEncoder(encoder)
        self.size = encoder.size

    def read(self, tile: PairTile, vectors: Tensor) -> Reading:  # type: ignore[override]
        """Read the pairs of one tile; `vectors` are not used."""
        states = self.pairs(tile.pairs).last_hidden_state
        words, real = part_of(states, tile.candidate_start, tile.candidate_length)
        question = self.pairs.vectors(tile.question)[tile.question_of]
        return Reading(words, real, states[:, 0], question, states[:, 0])

    def match_of(self, tile: PairTile, vectors: Tensor) -> Tensor:  # type: ignore[override]
        """The state of [CLS] of the pairs of one tile; their questions are not read alone."""
        return self.pairs.vectors(tile.pairs)


def scalar_product(of_both: Tensor, *others: nn.Linear) -> None:
    """Initialise an attention score as a scalar product: v₃ (or v₆) one, the other vectors zero.

    Initialised with noise, the attention stays uniform over the words, and no word ever finds its
    match (docs/notes/ms-ranker.md).
    """
    nn.init.ones_(of_both)
    for other in others:
        nn.init.zeros_(other.weight)


class WordReader(Reader):
    """The encoding layer and the QC-attention over word vectors.

    `attention` is how its score is initialised: "dot", as a scalar product, or "noise".
    """

    def __init__(self, size: int, hidden: int, dropout: float, attention: str = "dot") -> None:
        super().__init__()
        self.size = 2 * hidden
        self.encode = BiGRU(size, hidden)
        self.of_question = nn.Linear(2 * hidden, 1, bias=False)  # v₁
        self.of_candidate = nn.Linear(2 * hidden, 1, bias=False)  # v₂
        self.of_both = nn.Parameter(torch.empty(2 * hidden).normal_(std=(2 * hidden) ** -0.5))  # v₃
        if attention == "dot":
            scalar_product(self.of_both, self.of_question, self.of_candidate)
        # W_qc in four parts, for [h_c; U_c; h_c ⊙ U_c; U_Q ⊙ U_c], and b_qc with the first.
        self.compare = nn.ModuleList(
            nn.Linear(2 * hidden, 2 * hidden, bias=part == 0) for part in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def read(self, tile: Tile, vectors: Tensor) -> Reading:
        """Read the pairs of one tile by their words' `vectors`; each question is encoded once."""
        # Vectors of a frozen encoder are kept in half precision.
        asked, given = vectors[tile.question].float(), vectors[tile.answer].float()
        question, question_last = self.encode(self.dropout(asked), tile.question_length)
        answer, answer_last = self.encode(self.dropout(given), tile.answer_length)
        match = self.match(question, answer, tile)
        return Reading(
            answer, tile.real_answer, answer_last, question_last[tile.question_of], match
        )

    def alpha(self, question: Tensor, answer: Tensor, tile: Tile) -> Tensor:
        """The attention scores of a tile's pairs (equation 3), `[P, n, m]`.

        `question` `[questions, n, 2d]` and `answer` `[P, m, 2d]` are states of words.
        """
        alpha = (question[tile.question_of] * self.of_both) @ answer.transpose(1, 2)
        alpha = alpha + self.of_question(question)[tile.question_of]
        return alpha + self.of_candidate(answer).transpose(1, 2)

    def attention(self, tile: Tile, vectors: Tensor) -> Tensor:
        """Attention of each candidate word over the question's words (equation 4), `[P, n, m]`."""
        question, _ = self.encode(vectors[tile.question].float(), tile.question_length)
        answer, _ = self.encode(vectors[tile.answer].float(), tile.answer_length)
        real = tile.real_question[tile.question_of][:, :, None]
        return masked_softmax(self.alpha(question, answer, tile), real, dim=1)

    def match(self, question: Tensor, answer: Tensor, tile: Tile) -> Tensor:
        """V_qc of a tile's pairs (equations 3-11), `[P, 2d]`; arguments as in `alpha`."""
        h_q = question[tile.question_of]
        real_q, real_c = tile.real_question[tile.question_of], tile.real_answer
        alpha = self.alpha(question, answer, tile)
        p = masked_softmax(alpha, real_q[:, :, None], dim=1)
        u_c = p.transpose(1, 2) @ h_q  # question-aware words of the candidate
        beta = masked_max(alpha, real_q[:, :, None], dim=1)
        u_q = masked_softmax(beta, real_c)[:, None] @ answer  # [P, 1, 2d]
        # W(Σ pᵢ hᵢ) = Σ pᵢ W hᵢ: two of the four parts of W_qc m_j (equations 9 and 10) can be
        # computed from the words of the question, which are few.
        of_c, of_u, of_both, of_q = self.compare
        from_question = of_u(question)[tile.question_of] + of_q(u_q * h_q)
        m = on_real(of_c, answer, real_c) + on_real(of_both, answer * u_c, real_c)
        m = m + p.transpose(1, 2) @ from_question
        # tanh is monotonic, so it may come after the maximum.
        return masked_max(m, real_c[:, :, None], dim=1).tanh()


class Head(nn.Module):
    """The MLP from a state to the two actions (equations 18 and 19).

    W₁ is split into halves for V_qc and for V_ec; a pre-ranker has the first only.
    """

    def __init__(self, size: int, dropout: float, evidence: bool) -> None:
        super().__init__()
        self.of_match = nn.Linear(size, size)
        self.of_evidence = nn.Linear(size, size, bias=False) if evidence else None
        self.act = nn.Linear(size, 2)
        self.dropout = nn.Dropout(dropout)

    def forward(self, v_qc: Tensor, v_ec: Tensor | None = None) -> Tensor:
        """Log probabilities of "wrong" and "right", `[…, 2]`, from states `[…, size]` each."""
        hidden = self.of_match(self.dropout(v_qc))
        if self.of_evidence is not None:
            hidden = hidden + self.of_evidence(self.dropout(v_ec))
        return self.act(hidden.tanh()).float().log_softmax(-1)


NO_CHANGE = 1e-9
"""Average precisions closer than this count as equal."""
NUMBERS = 1 << 25
"""Maximum number of entries `[lists, steps, steps]` at once, which grow with squared length."""


def prefix_precisions(keys: Tensor, labels: Tensor, mask: Tensor) -> Tensor:
    """AP_t (equation 25): average precision of the list L after each step, `[lists, steps]`.

    Candidates enter in the order of the columns of `keys` `[lists, steps]`, and L is kept sorted
    by key, largest first; a tied candidate goes below those already there. `labels` and `mask`
    have the same shape. AP is 0 until a relevant candidate enters, so it stays 0 on a list without
    any.
    """
    keys, right = keys.double(), (labels * mask).double()
    step = torch.arange(keys.shape[1], device=keys.device)
    # [lists, i, j]: i ranks above j.
    above = keys[:, :, None] > keys[:, None, :]
    above |= (keys[:, :, None] == keys[:, None, :]) & (step[:, None] < step)
    above = (above & mask[:, :, None]).double()
    # [lists, t, j]: what ranks above j among those that entered up to step t.
    all_above = above.cumsum(1)
    right_above = (above * right[:, :, None]).cumsum(1)
    entered = step <= step[:, None]
    precision = right[:, None] * entered * (1 + right_above) / (1 + all_above)
    return precision.sum(-1) / right.cumsum(1).clamp(min=1)


def rewards(keys: Tensor, labels: Tensor, mask: Tensor, no_change: float) -> Tensor:
    """R(a_t) (equation 24): the change in AP, or `no_change` if there is none; 0 at padding.

    Other arguments are as in `prefix_precisions`. On a list without a relevant candidate, no step
    changes AP.
    """
    rows = max(1, NUMBERS // keys.shape[1] ** 2)
    parts = zip(keys.split(rows), labels.split(rows), mask.split(rows), strict=True)
    precision = torch.cat([prefix_precisions(*part) for part in parts])
    change = precision.diff(dim=1, prepend=torch.zeros_like(precision[:, :1]))
    return torch.where(change.abs() < NO_CHANGE, no_change, change).float() * mask


class PreRanker(nn.Module):
    """Reads each pair on its own: encoding layer, QC-attention, MLP (section 3.2.1).

    Word vectors are the network's own, or those that come with a batch.
    """

    def __init__(self, vectors: Tensor, reader: Reader, recipe: MSRankerRecipe) -> None:
        super().__init__()
        self.vectors = nn.Parameter(vectors.clone(), requires_grad=recipe.vectors_rate > 0)
        self.reader = reader
        self.head = Head(reader.size, recipe.dropout, evidence=False)

    def forward(self, batch: Batch) -> Tensor:
        """Log probabilities of "wrong" and "right", `[questions, candidates, 2]`."""
        vectors = self.vectors if batch.vectors is None else batch.vectors
        match = torch.cat([self.reader.match_of(tile, vectors) for tile in batch.tiles])
        return batch.as_lists(self.head(match))


class Walk(NamedTuple):
    """The agent's walk through some lists, candidate by candidate, in the lists' order.

    `log_p` `[questions, steps, 2]`: log probabilities of the actions "wrong" and "right".
    `gate` `[questions, steps]`: share of the evidence that each candidate replaced (mean of the
    gate), 0 where it stayed out or is padding.
    """

    log_p: Tensor
    gate: Tensor

    @property
    def p_post(self) -> Tensor:
        """P_post (equation 20), `[questions, steps]`."""
        return self.log_p[..., 1].exp()


class Agent(nn.Module):
    """The RL agent: reads each candidate with the question and the evidence gathered so far."""

    def __init__(self, vectors: Tensor, reader: Reader, recipe: MSRankerRecipe) -> None:
        super().__init__()
        r = recipe
        self.threshold, self.action = r.threshold, r.action
        self.vectors = nn.Parameter(vectors.clone(), requires_grad=r.vectors_rate > 0)
        self.reader = reader
        self.evidence = Evidence(reader.size, r.gate, r.attention) if r.evidence else None
        self.head = Head(reader.size, r.dropout, r.evidence)

    def forward(self, batch: Batch, gather: bool = True) -> Walk:
        """Walk through the lists of a batch; `gather=False` keeps the first evidence throughout."""
        reading = self.reader(batch, self.vectors if batch.vectors is None else batch.vectors)
        if self.evidence is None:
            log_p = batch.as_lists(self.head(reading.match))
            return Walk(log_p, torch.zeros_like(log_p[..., 0]))
        return self._walk(self.evidence, reading, batch, gather)

    def _walk(self, evidence: "Evidence", reading: Reading, batch: Batch, gather: bool) -> Walk:
        """Take each step for all questions of a batch at once, the longest lists first."""
        longest_first = batch.mask.sum(1).argsort(descending=True, stable=True)
        mask = batch.mask[longest_first]
        pairs = torch.arange(len(batch.slot), device=mask.device)
        # Pairs by step, and within a step by question: one gather now instead of one per step.
        order = batch.as_lists(pairs)[longest_first].T[mask.T]
        walking = mask.sum(0)
        lengths = reading.real.sum(1)[order].split(walking.tolist())
        sizes = torch.stack([length.max() for length in lengths]).tolist()
        words, real = reading.words[order], reading.real[order]
        from_words = evidence.prepare(words, real)
        parts = (words, real, from_words, reading.match[order], reading.candidate[order])
        e = batch.as_lists(reading.question)[longest_first, 0]  # E₁: the question itself
        log_p, gates = [], []
        for size, (h, here, prepared, match, candidate) in zip(
            sizes, zip(*(part.split(walking.tolist()) for part in parts), strict=True), strict=True
        ):
            e = e[: len(h)]
            v_ec = evidence.attend(e, h[:, :size], here[:, :size], prepared[:, :size])
            step = self.head(match, v_ec)
            log_p.append(step)
            p_post = step[:, 1].exp()
            let_in = (p_post > self.threshold) if self.action else torch.ones_like(p_post).bool()
            let_in = let_in & gather
            mixed, gate = evidence.mix(e, p_post[:, None] * candidate if self.action else candidate)
            e = torch.where(let_in[:, None], mixed, e)
            gates.append(torch.where(let_in, gate.mean(1), 0.0))
        by_pair = torch.empty_like(order).index_copy(0, order, pairs)  # undoes the order
        scores, shares = torch.cat(log_p), torch.cat(gates).to(log_p[0])
        return Walk(batch.as_lists(scores[by_pair]), batch.as_lists(shares[by_pair]))


class Evidence(nn.Module):
    """EC-attention (equations 12-17) and the gate (equations 21-23), for Q questions at once.

    Equation 12's v₄E is the same for every word and cancels in the softmax of equation 13, so v₄
    is left out.
    """

    def __init__(self, size: int, gate: bool, attention: str = "dot") -> None:
        super().__init__()
        self.of_word = nn.Linear(size, 1, bias=False)  # v₅
        self.of_both = nn.Parameter(torch.empty(size).normal_(std=size**-0.5))  # v₆
        if attention == "dot":
            scalar_product(self.of_both, self.of_word)
        # W_ec is split in halves: that of the words does not depend on the evidence.
        self.from_words = nn.Linear(size, size)
        self.from_both = nn.Linear(size, size, bias=False)
        if gate:
            self.of_old = nn.Linear(size, size, bias=False)  # W_e
            self.of_new = nn.Linear(size, size, bias=False)  # W_o
        self.gated = gate

    def prepare(self, words: Tensor, real: Tensor) -> Tensor:
        """The part of equation 16 that depends on the `words` `[…, m, size]` alone, same shape."""
        return on_real(self.from_words, words, real)

    def attend(self, e: Tensor, words: Tensor, real: Tensor, prepared: Tensor) -> Tensor:
        """V_ec `[Q, size]`: evidence `[Q, size]` against words `[Q, m, size]`."""
        alpha = self.of_word(words) + words @ (e * self.of_both)[:, :, None]  # [Q, m, 1]
        p = masked_softmax(alpha, real[:, :, None], dim=1)
        u_e = p.transpose(1, 2) @ words  # [Q, 1, size]
        m = prepared + on_real(self.from_both, words * u_e, real)
        return masked_max(m, real[:, :, None], dim=1).tanh()

    def mix(self, old: Tensor, new: Tensor) -> tuple[Tensor, Tensor]:
        """Return E_{t+1} and the gate, of E_t and O_t; `[Q, size]` each."""
        gate = torch.full_like(old, 0.5)
        if self.gated:
            gate = (self.of_old(old) + self.of_new(new)).sigmoid()
        return (1 - gate) * old + gate * new, gate
