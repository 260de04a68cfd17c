"""Contextual vectors of texts: the last layer of a pre-trained encoder that does not learn."""

from collections.abc import Sequence

import numpy as np
import torch
from joblib import Memory
from torch.nn.utils.rnn import pad_sequence
from tqdm.auto import tqdm

from qasel.files import require_writable
from qasel.text.encoders import Encoder
from qasel.text.features.pairs import cache_dir
from qasel.text.subwords import Subwords

VERSION = 1
"""Part of what the cache goes by: raise it when the vectors change."""


def contextual_vectors(
    encoder: Encoder,
    texts: Sequence[str],
    *,
    batch: int = 64,
    device: torch.device | str = "cpu",
) -> list[np.ndarray]:
    """Vectors of each text's pieces (those of `Subwords`), float16 `[pieces, encoder.size]`.

    Every text is read on its own. Special tokens have no rows, but an empty text has one, that
    of the special token which follows it, as in batching. `batch` texts are read at once on
    `device`; neither changes the result by more than rounding. The vectors are kept in
    `cache_dir()` by the texts and the encoder's files. Raises `QaselError` for weights that
    cannot be read or a cache that cannot be written.
    """
    if not texts:
        return []
    require_writable(cache_dir())
    different = tuple(dict.fromkeys(texts))
    compute = Memory(cache_dir(), verbose=0).cache(_vectors, ignore=["encoder", "batch", "device"])
    found, length = compute(encoder, different, encoder.fingerprint, VERSION, batch, str(device))
    rows = np.split(found, length.cumsum()[:-1])
    of_text = dict(zip(different, rows, strict=True))
    return [of_text[text] for text in texts]


@torch.inference_mode()
def _vectors(
    encoder: Encoder,
    texts: tuple[str, ...],
    fingerprint: str,
    version: int,
    batch: int,
    device: str,
) -> tuple[np.ndarray, np.ndarray]:
    """Vectors of all pieces, one text after the other, and how many each text has."""
    before, after = encoder.alone.parts
    rows = [[*before, *row, *after] for row in Subwords(encoder).numbers_of(texts)]
    length = np.array([max(len(r) - encoder.alone.specials, 1) for r in rows], dtype=np.int64)
    start = length.cumsum() - length
    found = np.empty((length.sum(), encoder.size), dtype=np.float16)
    model = encoder.model().eval().to(device)
    order = np.argsort(-length, kind="stable")
    with tqdm(total=len(rows), desc="vectors", unit="text", leave=False) as bar:
        for first in range(0, len(rows), batch):
            some = order[first : first + batch]
            chosen = [torch.tensor(rows[i]) for i in some]
            numbers = pad_sequence(chosen, batch_first=True, padding_value=encoder.padding)
            sizes = torch.tensor([len(row) for row in chosen])
            mask = (torch.arange(numbers.shape[1]) < sizes[:, None]).long()
            states = model(input_ids=numbers.to(device), attention_mask=mask.to(device))
            states = states.last_hidden_state.half().cpu().numpy()
            for i, state in zip(some, states, strict=True):
                found[start[i] : start[i] + length[i]] = state[len(before) :][: length[i]]
            bar.update(len(some))
    return found, length
