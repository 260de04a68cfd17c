"""Pre-trained transformer encoders (BERT and its family), by name or folder.

Needs the extra `transformers`, which is imported only when an encoder is loaded. Weights are
read from safetensors files; nothing is unpickled and no code of a model is run.
"""

import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qasel.errors import QaselError
from qasel.text.encoder_folders import find_encoder, one_line, quiet
from qasel.text.frames import Frame, frame_of
from qasel.text.vocabulary import PADDING

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

FAMILIES = ("bert", "distilbert", "electra", "roberta", "xlm-roberta")
"""Model families that are known to work, as `model_type` in a config.json has them."""

_AFTER_PADDING = ("roberta", "xlm-roberta")
"""Families whose positions are counted from the padding's number on, and so are fewer."""


@dataclass(frozen=True)
class Encoder:
    """A pre-trained encoder: its tokenizer, and fresh copies of its model.

    `name` is what it was asked for by, `folder` where it lies, `longest` how many pieces it reads
    at once, special tokens included, and `size` how many numbers the state of one has.
    """

    name: str
    folder: Path
    tokenizer: "PreTrainedTokenizerFast" = field(repr=False)
    longest: int
    size: int

    def model(self) -> "PreTrainedModel":
        """A fresh copy with the pre-trained weights, float32, on the CPU, without pooler.

        Raises `QaselError` for weights that cannot be read or do not fit.
        """
        import torch

        library = quiet("transformers")
        # What a file lacks is drawn at random, if only a pooler: leave the caller's seed alone.
        with torch.random.fork_rng(devices=[]):
            try:
                model, report = library.AutoModel.from_pretrained(
                    self.folder,
                    dtype=torch.float32,
                    attn_implementation="sdpa",
                    use_safetensors=True,
                    local_files_only=True,
                    trust_remote_code=False,
                    output_loading_info=True,
                )
            except Exception as error:  # the library raises whatever its parts raise
                raise _refused(self.folder, f"unreadable weights ({one_line(error)})") from error
        if missing := sorted(k for k in report["missing_keys"] if not k.startswith("pooler.")):
            raise _refused(self.folder, f"no weights for {missing[0]} and {len(missing) - 1} more")
        # The [CLS] state is used as it is; a pooler would be a parameter without gradient.
        if hasattr(model, "pooler"):
            model.pooler = None
        return model

    @cached_property
    def alone(self) -> Frame:
        """The special tokens around a single text."""
        return frame_of(self.tokenizer, 1)

    @cached_property
    def pair(self) -> Frame:
        """The special tokens around a question and a candidate."""
        return frame_of(self.tokenizer, 2)

    @property
    def padding(self) -> int:
        """The number of the tokenizer's padding token (which need not be `PADDING`)."""
        return self.tokenizer.pad_token_id

    @cached_property
    def fingerprint(self) -> str:
        """sha256 over everything in the folder that a result depends on."""
        total = hashlib.sha256()
        for pattern in ("*.json", "*.txt", "*.safetensors"):
            for path in sorted(self.folder.glob(pattern)):
                with path.open("rb") as file:
                    digest = hashlib.file_digest(file, "sha256").hexdigest()
                total.update(f"{path.name} {digest}\n".encode())
        return total.hexdigest()


def load_encoder(name: str) -> Encoder:
    """An encoder by a name of the hub (`bert-base-uncased`), a folder, or `all-MiniLM-L6-v2`.

    See `find_encoder` for where it is looked for, `FAMILIES` for what it may be. Raises
    `QaselError` where the extra is missing, a name is found nowhere, or a folder is no encoder.
    """
    quiet("transformers")
    folder = find_encoder(name)
    config = _config(folder)
    if not any(folder.glob("model*.safetensors")):
        raise _refused(folder, "no weights in safetensors form (other forms are not read)")
    tokenizer = _tokenizer(folder)
    if len(tokenizer) > config["vocab_size"]:
        counts = f"{len(tokenizer)} pieces, the model only {config['vocab_size']}"
        raise _refused(folder, f"the tokenizer has {counts}")
    positions = config["max_position_embeddings"]
    if config["model_type"] in _AFTER_PADDING:
        positions -= tokenizer.pad_token_id + 1
    longest = min(positions, tokenizer.model_max_length)
    encoder = Encoder(name, folder, tokenizer, longest, config["hidden_size"])
    if not all(encoder.alone.parts) or not all(encoder.pair.parts):
        raise _refused(folder, "its tokenizer does not make [CLS] question [SEP] candidate [SEP]")
    return encoder


def _config(folder: Path) -> dict[str, Any]:
    """What is needed of config.json, after a look at whether it is an encoder's."""
    path = folder / "config.json"
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise _refused(folder, "it has no config.json") from error
    except (OSError, ValueError) as error:
        raise _refused(folder, f"its config.json cannot be read ({one_line(error)})") from error
    family = values.get("model_type") if isinstance(values, dict) else None
    if family not in FAMILIES:
        known = ", ".join(FAMILIES)
        raise _refused(folder, f"model type {family!r} is none of {known}")
    if values.get("is_decoder") or values.get("is_encoder_decoder"):
        raise _refused(folder, "it is a decoder")
    if "dim" in values:  # DistilBERT's word for it
        values.setdefault("hidden_size", values["dim"])
    for key in ("vocab_size", "max_position_embeddings", "hidden_size"):
        if type(values.get(key)) is not int or values[key] < 1:
            raise _refused(folder, f"its config.json has no sound {key!r}")
    return values


def _tokenizer(folder: Path) -> "PreTrainedTokenizerFast":
    # Without files the library makes a tokenizer of nothing, and says nothing.
    if not any((folder / name).exists() for name in ("tokenizer.json", "vocab.txt", "vocab.json")):
        raise _refused(folder, "it has no tokenizer (tokenizer.json, or a vocabulary)")
    try:
        tokenizer = quiet("transformers").AutoTokenizer.from_pretrained(
            folder, use_fast=True, local_files_only=True, trust_remote_code=False
        )
    except Exception as error:  # the library raises whatever its parts raise
        raise _refused(folder, f"unreadable tokenizer ({one_line(error)})") from error
    if not tokenizer.is_fast:
        raise _refused(folder, "it has no fast tokenizer (tokenizer.json)")
    # An empty text is kept as the number PADDING, which must not be a word's.
    if tokenizer.pad_token_id is None or PADDING not in tokenizer.all_special_ids:
        raise _refused(folder, "its tokenizer needs a padding token, and a special token first")
    return tokenizer


def _refused(folder: Path, reason: str) -> QaselError:
    wanted = "expected config.json, model.safetensors and tokenizer.json of a BERT-family encoder"
    return QaselError(f"{folder} is not an encoder: {reason}; {wanted}")
