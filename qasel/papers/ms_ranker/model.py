"""Pre-ranker and agent. All candidates are read at once; only the evidence goes step by step."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from qasel.layers import masked_max, masked_softmax, on_real
from qasel.papers.ms_ranker.reading import Head, Reader, Reading
from qasel.training.batching import Batch


class PreRanker(nn.Module):
    """Reads each pair on its own: encoding layer, QC-attention, MLP (section 3.2.1)."""

    def __init__(
        self, vectors: Tensor, reader: Reader, *, dropout: float, train_vectors: bool
    ) -> None:
        super().__init__()
        self.vectors = nn.Parameter(vectors.clone(), requires_grad=train_vectors)
        self.reader = reader
        self.head = Head(reader.size, dropout, evidence=False)

    def forward(self, batch: Batch) -> Tensor:
        """Log probabilities of "wrong" and "right", `[questions, candidates, 2]`."""
        return batch.as_lists(self.head(self.reader.matches(batch, self.vectors)))


@dataclass(frozen=True)
class Walk:
    """How the agent went through some lists, candidate by candidate in the lists' order.

    `log_p` `[questions, steps, 2]`: log probabilities of the actions "wrong" and "right".
    `gate` `[questions, steps]`: how much of the evidence each candidate replaced, the mean over
    its numbers, 0 where it stayed out (or is padding).
    """

    log_p: Tensor
    gate: Tensor

    @property
    def p_post(self) -> Tensor:
        """P_post (equation 20), `[questions, steps]`."""
        return self.log_p[..., 1].exp()


class Agent(nn.Module):
    """The RL agent: reads a candidate with the question and with the evidence gathered so far.

    `evidence` False leaves out the evidence and its attention; `action` False lets every
    candidate into the evidence, whole; `gate` False mixes old and new half and half.
    """

    def __init__(
        self,
        vectors: Tensor,
        reader: Reader,
        *,
        dropout: float,
        train_vectors: bool,
        threshold: float,
        evidence: bool,
        action: bool,
        gate: bool,
    ) -> None:
        super().__init__()
        self.threshold, self.action = threshold, action
        self.vectors = nn.Parameter(vectors.clone(), requires_grad=train_vectors)
        self.reader = reader
        self.evidence = Evidence(reader.size, gate) if evidence else None
        self.head = Head(reader.size, dropout, evidence)

    def forward(self, batch: Batch, gather: bool = True) -> Walk:
        """Go through the lists of a batch; `gather` False keeps the first evidence throughout."""
        reading = self.reader(batch, self.vectors)
        if self.evidence is None:
            log_p = batch.as_lists(self.head(reading.match))
            return Walk(log_p, torch.zeros_like(log_p[..., 0]))
        return self._walk(self.evidence, reading, batch, gather)

    def _walk(self, evidence: "Evidence", reading: Reading, batch: Batch, gather: bool) -> Walk:
        """All questions of the batch take each step together, the longest lists first."""
        longest_first = batch.mask.sum(1).argsort(descending=True, stable=True)
        mask = batch.mask[longest_first]
        pairs = torch.arange(len(batch.slot), device=mask.device)
        # Pairs by step, and within a step by question: one gather now instead of one a step.
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
        places = longest_first[:, None] * mask.shape[1] + torch.arange(
            mask.shape[1], device=mask.device
        )
        places = places.T[mask.T]
        flat = batch.mask.new_zeros(batch.mask.numel(), 2, dtype=log_p[0].dtype)
        flat_gate = flat[:, 0].clone()
        return Walk(
            flat.index_copy(0, places, torch.cat(log_p)).view(*batch.mask.shape, 2),
            flat_gate.index_copy(0, places, torch.cat(gates).to(flat)).view(batch.mask.shape),
        )


class Evidence(nn.Module):
    """EC-attention (equations 12-17) and the gate (equations 21-23), for Q questions at once.

    Equation 12's v₄E is the same for every word and vanishes in the softmax of equation 13, so
    v₄ is left out.
    """

    def __init__(self, size: int, gate: bool) -> None:
        super().__init__()
        self.of_word = nn.Linear(size, 1, bias=False)  # v₅
        self.of_both = nn.Parameter(torch.empty(size).normal_(std=size**-0.5))  # v₆
        # W_ec in two halves: the words' half is the same whatever the evidence.
        self.from_words = nn.Linear(size, size)
        self.from_both = nn.Linear(size, size, bias=False)
        if gate:
            self.of_old = nn.Linear(size, size, bias=False)  # W_e
            self.of_new = nn.Linear(size, size, bias=False)  # W_o
        self.gated = gate

    def prepare(self, words: Tensor, real: Tensor) -> Tensor:
        """What equation 16 takes from the words alone, `[…, size]`."""
        return on_real(self.from_words, words, real)

    def attend(self, e: Tensor, words: Tensor, real: Tensor, prepared: Tensor) -> Tensor:
        """V_ec `[Q, size]`: evidence `[Q, size]` against words `[Q, m, size]`."""
        alpha = self.of_word(words) + words @ (e * self.of_both)[:, :, None]  # [Q, m, 1]
        p = masked_softmax(alpha, real[:, :, None], dim=1)
        u_e = p.transpose(1, 2) @ words  # [Q, 1, size]
        m = prepared + on_real(self.from_both, words * u_e, real)
        return masked_max(m, real[:, :, None], dim=1).tanh()

    def mix(self, old: Tensor, new: Tensor) -> tuple[Tensor, Tensor]:
        """E_{t+1} and the gate, `[Q, size]` each."""
        gate = torch.full_like(old, 0.5)
        if self.gated:
            gate = (self.of_old(old) + self.of_new(new)).sigmoid()
        return (1 - gate) * old + gate * new, gate
