"""Contextual vectors of texts: the last layer of a pre-trained encoder that does not learn."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence
from tqdm.auto import tqdm

from qasel.products import by_onednn
from qasel.text.encoders import Encoder, Subwords
from qasel.text.features.pairs import memory

VERSION = 1
"""Part of what the cache goes by: raise it when the vectors change."""


@dataclass(frozen=True)
class ContextualVectors:
    """Vectors of all pieces of some texts; numbers texts as a `Vocabulary` does.

    `matrix` is float16 `[1 + pieces, size]`. A piece's number is its row, another one wherever it
    stands; row 0 is for padding. `rows` has the rows of each text.
    """

    matrix: np.ndarray
    rows: dict[str, range]

    def numbers_of(self, texts: Sequence[str]) -> list[list[int]]:
        """The numbers of many texts' pieces; raises `KeyError` for a text that was not read."""
        return [list(self.rows[text]) for text in texts]


def contextual_vectors(
    encoder: Encoder,
    texts: Iterable[str],
    *,
    batch: int = 64,
    device: torch.device | str = "cpu",
) -> ContextualVectors:
    """Vectors of the pieces of texts (those of `Subwords`) by an encoder.

    Every text is read on its own. Special tokens have no rows, but an empty text has one, that
    of the special token which follows it, as in batching. `batch` texts are read at once on
    `device`; neither changes the result by more than rounding. The vectors are kept in
    `cache_dir()` by the texts, in whatever order, and the encoder's files. Raises `QaselError`
    for weights that cannot be read or a cache that cannot be written.
    """
    different = tuple(sorted(set(texts)))
    compute = memory().cache(_vectors, ignore=["encoder", "batch", "device"])
    matrix, ends = compute(encoder, different, encoder.fingerprint, VERSION, batch, str(device))
    rows = map(range, ends[:-1].tolist(), ends[1:].tolist())
    return ContextualVectors(matrix, dict(zip(different, rows, strict=True)))


@torch.inference_mode()
def _vectors(
    encoder: Encoder,
    texts: tuple[str, ...],
    fingerprint: str,
    version: int,
    batch: int,
    device: str,
) -> tuple[np.ndarray, np.ndarray]:
    """The matrix, one text after the other, and where each text's rows end, padding's first."""
    before, after = encoder.alone.parts
    rows = [[*before, *row, *after] for row in Subwords(encoder).numbers_of(texts)]
    length = np.array([max(len(r) - encoder.alone.specials, 1) for r in rows], dtype=np.int64)
    ends = np.cumsum([1, *length])
    found = np.zeros((ends[-1], encoder.size), dtype=np.float16)
    model = encoder.model().eval().to(device)
    order = np.argsort(-length, kind="stable")
    with tqdm(total=len(rows), desc="vectors", unit="text", leave=False) as bar:
        for first in range(0, len(rows), batch):
            some = order[first : first + batch]
            chosen = [torch.tensor(rows[i]) for i in some]
            numbers = pad_sequence(chosen, batch_first=True, padding_value=encoder.padding)
            sizes = torch.tensor([len(row) for row in chosen])
            mask = (torch.arange(numbers.shape[1]) < sizes[:, None]).long()
            with by_onednn():
                states = model(input_ids=numbers.to(device), attention_mask=mask.to(device))
            states = states.last_hidden_state.half().cpu().numpy()
            for i, state in zip(some, states, strict=True):
                found[ends[i] : ends[i + 1]] = state[len(before) :][: length[i]]
            bar.update(len(some))
    return found, ends
