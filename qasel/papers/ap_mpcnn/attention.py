"""How much each word of one sentence matters to the other sentence (equations 1-6).

Shapes: P pairs, n words of a question, m of an answer, d numbers a word vector.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from qasel.layers import masked_softmax


def unit(words: Tensor) -> Tensor:
    """Vectors of length 1 in the direction of `words` `[…, d]`; a zero vector stays zero."""
    return F.normalize(words, dim=-1)


def attention_weights(
    question: Tensor, answer: Tensor, real_question: Tensor, real_answer: Tensor
) -> tuple[Tensor, Tensor]:
    """A₁ `[P, n]` and A₂ `[P, m]` of unit vectors `[P, n, d]` and `[P, m, d]`, zero at padding.

    The cosine matrix D is never made: the sum of a row of D is the product of the word's unit
    vector with the sum of the other sentence's unit vectors. Softmax is over real words only.
    """
    # Not as matrix products: half precision, which those have on a GPU, is too coarse for softmax.
    rows = (question * answer.sum(1, keepdim=True)).sum(-1)  # E₁
    columns = (answer * question.sum(1, keepdim=True)).sum(-1)  # E₂
    return masked_softmax(rows, real_question), masked_softmax(columns, real_answer)


def cosine_matrix(question: Tensor, answer: Tensor) -> Tensor:
    """D (equation 1), `[…, n, m]`, of word vectors `[…, n, d]` and `[…, m, d]`: to look at."""
    return unit(question) @ torch.transpose(unit(answer), -1, -2)
