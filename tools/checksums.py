"""Write data/checksums.json: `python tools/checksums.py DATA_DIR`.

It has the SHA-256 and size of the uncompressed contents of every file in the folders of the known
collections below DATA_DIR.
"""

import hashlib
import json
import sys
from pathlib import Path

from qasel.datasets import registry
from qasel.datasets.lines import read_contents
from qasel.datasets.registry import COLLECTIONS
from qasel.locations import DATA


def checksums(data_dir: Path) -> dict[str, dict[str, dict[str, str | int]]]:
    """Return collection → file without `.gz`, relative to the data folder → sha256 and bytes."""
    found = dict(registry.checksums())  # of collections that are not below DATA_DIR
    for name, known in COLLECTIONS.items():
        if name == "sample" or name != known.folder:  # the sample is in git
            continue
        files = {}
        for path in sorted((data_dir / known.folder).rglob("*")):
            if path.is_file():
                contents = read_contents(path)
                relative = path.relative_to(data_dir).as_posix().removesuffix(".gz")
                digest = hashlib.sha256(contents).hexdigest()
                files[relative] = {"sha256": digest, "bytes": len(contents)}
        if files:
            found[name] = files
    return found


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python tools/checksums.py DATA_DIR")
    text = json.dumps(checksums(Path(sys.argv[1])), indent=1, sort_keys=True)
    (DATA / "checksums.json").write_text(text + "\n", encoding="utf-8")
