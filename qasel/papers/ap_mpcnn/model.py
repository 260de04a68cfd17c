"""AP-MPCNN: attention (equations 1-6), comparison layers and the network that scores pairs.

Shapes: P pairs, n words of a question, m of an answer, word vectors of size d, M widths, F filters.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from qasel.layers import masked_softmax
from qasel.papers.ap_mpcnn.convolution import HolisticConvolution
from qasel.papers.ap_mpcnn.recipes import APMPCNNRecipe
from qasel.text import PADDING
from qasel.text.features.overlap import Idf, is_content, overlap_features, word_tables
from qasel.training.batching import Batch, Tile


def attention_weights(
    question: Tensor, answer: Tensor, real_question: Tensor, real_answer: Tensor
) -> tuple[Tensor, Tensor]:
    """A₁ `[P, n]` and A₂ `[P, m]` from unit vectors `[P, n, d]` and `[P, m, d]`, zero at padding.

    The cosine matrix D is never built: the sum of a row of D is the product of the word's unit
    vector with the sum of the other sentence's unit vectors. Softmax is over real words only.
    """
    rows = (question * answer.sum(1, keepdim=True)).sum(-1)  # E₁
    columns = (answer * question.sum(1, keepdim=True)).sum(-1)  # E₂
    return masked_softmax(rows, real_question), masked_softmax(columns, real_answer)


TINY = 1e-8
"""Lower bound on the product of two vectors' lengths, so that zero vectors have the cosine 0."""


def _length(x: Tensor, dim: int) -> Tensor:
    # Bounded below, as the gradient of a root at 0 is not finite.
    return x.square().sum(dim).clamp(min=TINY**2).sqrt()


def _cosine(product: Tensor, x_length: Tensor, y_length: Tensor) -> Tensor:
    return product / (x_length * y_length).clamp(min=TINY)


def horizontal(x: Tensor, y: Tensor) -> Tensor:
    """Cosine and Euclidean distance of each filter's M values, `[P, 2·F]` (figure 6, comU₂).

    `x` and `y` are pooled sentences, `[P, M, F]`. The two numbers of a filter are next to each
    other.
    """
    cosine = _cosine((x * y).sum(1), _length(x, 1), _length(y, 1))
    return torch.stack([cosine, _length(x - y, 1)], dim=-1).flatten(1)


def vertical(x: Tensor, y: Tensor, difference: str = "sum") -> Tensor:
    """Cosine, Euclidean distance and |x − y| of all pairs of widths, `[P, 3·M²]` (figure 7, comU₁).

    `x` and `y` are as in `horizontal`. |x − y| is one number, as the printed size of the vector
    implies: the sum over the filters, or with `difference="mean"` the mean. With "vector" it is one
    number per filter, as in He et al. (2015), and the result is `[P, (2 + F)·M²]`. The numbers of a
    pair of widths are next to each other; the second sentence's width varies fastest.
    """
    product = (x[:, :, None] * y[:, None]).sum(-1)  # [P, M, M]
    cosine = _cosine(product, _length(x, 2)[:, :, None], _length(y, 2)[:, None])
    gap = x[:, :, None] - y[:, None]  # [P, M, M, F]
    absolute = gap.abs()
    if difference != "vector":
        absolute = getattr(absolute, difference)(-1, keepdim=True)
    return torch.cat([cosine[..., None], _length(gap, -1)[..., None], absolute], dim=-1).flatten(1)


def compared_size(filters: int, widths: int, sparse: bool, difference: str = "sum") -> int:
    """Return the size of the comparison vector H_v (equation 21): 631 at the paper's settings."""
    absolute = filters if difference == "vector" else 1
    return 2 * filters + (2 + absolute) * widths**2 + (4 if sparse else 0)


UNKNOWN = 0.25
"""The vector of unknown words is drawn uniformly from −0.25 … 0.25 (section 3.1)."""


class APMPCNN(nn.Module):
    """Scores pairs of sentences; the recipe can switch off each part of the paper.

    `attention` puts a copy of each word, scaled by its attention weight, beside the word;
    `wide` surrounds sentences with zeros; `sparse` adds the four overlap features to the comparison
    vector. They read the buffers `content` and `idf` `[words]`, which are set by `set_words`;
    before that, no word is a stop word and idf is 0.

    `vectors` `[words, d]` are trained if `recipe.vectors_rate` is above 0. Words whose vector is
    all 0 are unknown and share one vector, drawn once.
    """

    unknown: Tensor
    content: Tensor
    idf: Tensor
    unseen: Tensor

    def __init__(self, vectors: Tensor, recipe: APMPCNNRecipe) -> None:
        super().__init__()
        r, (words, size) = recipe, vectors.shape
        self.attention, self.sparse, self.difference = r.attention, r.sparse, r.difference
        self.vectors = nn.Parameter(vectors.clone(), requires_grad=r.vectors_rate > 0)
        self.register_buffer("unknown", torch.empty(size).uniform_(-UNKNOWN, UNKNOWN))
        if r.sparse:
            self.register_buffer("content", torch.ones(words, dtype=torch.bool))
            self.register_buffer("idf", torch.zeros(words))
            self.register_buffer("unseen", torch.zeros(()))  # idf of a word met after training
        self.convolution = HolisticConvolution(
            size, r.filters, r.widths, weighted=r.attention, wide=r.wide
        )
        entries = compared_size(r.filters, r.widths, r.sparse, r.difference)
        self.hidden = nn.Linear(entries, r.hidden)
        self.dropout = nn.Dropout(r.dropout)
        self.output = nn.Linear(r.hidden, 1)

    def set_words(self, words: Sequence[str], idf: Idf) -> None:
        """Set what the sparse features need to know of the words, in the order of their numbers."""
        self.unseen.fill_(idf(""))
        for table, values in zip((self.content, self.idf), word_tables(words, idf), strict=True):
            table.copy_(values)

    @torch.inference_mode(False)
    def add_words(self, words: Sequence[str]) -> None:
        """Set the same for words with the next numbers, which are not in the training texts."""
        if self.sparse:
            content = torch.tensor([is_content(word) for word in words], dtype=torch.bool)
            self.content = torch.cat([self.content, content.to(self.content.device)])
            self.idf = torch.cat([self.idf, self.unseen.expand(len(words))])

    def words(self, numbers: Tensor) -> Tensor:
        """Vectors of word numbers, `[…, d]`: zeros for padding, one vector for unknown words."""
        found = self.vectors[numbers]
        found = torch.where((found == 0).all(-1, keepdim=True), self.unknown, found)
        return found * (numbers != PADDING)[..., None]

    def pooled(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Both sentences of all pairs after max pooling, `[P, M, F]` each (equation 13)."""
        present = [part.flatten() for tile in batch.tiles for part in (tile.question, tile.answer)]
        # Padding is always among them and comes first, so row 0 of the table is zeros.
        numbers = torch.cat([present[0].new_tensor([PADDING]), *present]).unique()
        place = numbers.new_zeros(len(self.vectors))
        place[numbers] = torch.arange(len(numbers), device=numbers.device)
        words = self.words(numbers)
        units = F.normalize(words, dim=-1)
        table = self.convolution.project(words)
        tiles = [self._winners(tile, table, units, place) for tile in batch.tiles]
        questions, answers = zip(*tiles, strict=True)
        rows, weights = zip(*questions, *answers, strict=True)
        # A single look-up per batch, as each one has a gradient of the size of the table.
        weight = torch.cat(weights) if self.attention else None
        question, answer = self.convolution.pool(table, torch.cat(rows), weight).chunk(2)
        return question, answer

    def _winners(self, tile: Tile, table: Tensor, units: Tensor, place: Tensor) -> tuple[Any, Any]:
        """Return rows and weights of the words kept by pooling, for both sides of a tile's pairs.

        `units` `[U, d]` are unit vectors of the batch's words, `place` maps words to table rows.
        """
        find, pairs = self.convolution.winners, tile.question_of
        question, answer = place[tile.question], place[tile.answer]
        if not self.attention:  # a question is then the same for all candidates
            row, _ = find(table, question, tile.question_length, None)
            return (row[pairs], None), find(table, answer, tile.answer_length, None)
        question, length = question[pairs], tile.question_length[pairs]
        real = tile.real_question[pairs], tile.real_answer
        of_question, of_answer = attention_weights(units[question], units[answer], *real)
        asked = find(table, question, length, of_question)
        return asked, find(table, answer, tile.answer_length, of_answer)

    def compare(self, question: Tensor, answer: Tensor, overlap: Tensor) -> Tensor:
        """H_v (figure 9) of pooled sentences `[P, M, F]` and sparse features, `[P, entries]`."""
        across, down = horizontal(question, answer), vertical(question, answer, self.difference)
        return torch.cat([across, down, overlap], dim=1)

    def compared(self, batch: Batch) -> Tensor:
        """H_v of all pairs of a batch, `[P, entries]`."""
        overlap = torch.cat([self.overlap(tile) for tile in batch.tiles])
        return self.compare(*self.pooled(batch), overlap)

    def overlap(self, tile: Tile) -> Tensor:
        """The sparse features of a tile's pairs (equations 16-19), `[P, 4]`, or `[P, 0]` if off."""
        if not self.sparse:
            return self.vectors.new_zeros(len(tile.answer), 0)
        question = tile.question[tile.question_of]
        return overlap_features(question, tile.answer, self.content, self.idf)

    def predict(self, compared: Tensor) -> tuple[Tensor, Tensor]:
        """Log odds `[P]` that an answer is right, and the hidden layer H_L `[P, hidden]`.

        Equations 22 and 23 before the sigmoid.
        """
        hidden = self.hidden(compared).tanh()
        return self.output(self.dropout(hidden))[:, 0].float(), hidden

    def with_hidden(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Log odds as `forward` has them, and H_L, `[questions, candidates, hidden]`."""
        log_odds, hidden = self.predict(self.compared(batch))
        return batch.as_lists(log_odds), batch.as_lists(hidden)

    def forward(self, batch: Batch) -> Tensor:
        """Log odds, `[questions, candidates]`, 0 at padding. f(q, p) is their sigmoid."""
        return self.with_hidden(batch)[0]
