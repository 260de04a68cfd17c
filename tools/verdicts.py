"""Count verdicts before and after a change of the rules: `python tools/verdicts.py REVISION`.

Both counts use the current ledger, once with the rules of the package at REVISION and once with
the current rules. Fills the tables of docs/notes/verdicts.md.
"""

import argparse
import importlib
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from qasel.errors import QaselError
from qasel.files import write_whole
from qasel.locations import ROOT, results_dir
from qasel.papers import PAPERS, ROOMS
from qasel.results import tables

PAGE = ROOT / "docs" / "notes" / "verdicts.md"
BEGIN, END = "<!-- counts:begin -->", "<!-- counts:end -->"
CLAIMS = dict.fromkeys(PAPERS, "claims") | {"question-relevancy": "held", "ap-mpcnn": "parts"}
"""Paper → the function of its report that judges its claims."""

Counts = dict[str, dict[str, dict[str, int]]]
"""Paper → "numbers" or "claims" → verdict → how many."""


def counts() -> Counts:
    """Count the verdicts of all papers under the imported package."""
    found: Counts = {}
    for name, function in CLAIMS.items():
        report = importlib.import_module(f"qasel.papers.{name.replace('-', '_')}.report")
        numbers, _ = tables.own_numbers(ROOMS[name], tables.comparison(ROOMS[name]))
        frames = {"numbers": numbers, "claims": getattr(report, function)()}
        found[name] = {
            what: {verdict: int(n) for verdict, n in frame["verdict"].value_counts().items()}
            for what, frame in frames.items()
        }
    return found


def counts_at(revision: str) -> Counts:
    """Count them under the package at another revision; raises `QaselError` for an unknown one."""
    archive = ["git", "-C", str(ROOT), "archive", revision, "qasel", "data"]
    made = subprocess.run(archive, capture_output=True)
    if made.returncode:
        raise QaselError(made.stderr.decode().strip())
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(made.stdout)) as files:
            files.extractall(folder, filter="data")
        where = {"PYTHONPATH": folder, "QASEL_RESULTS": str(results_dir())}
        command = [sys.executable, str(Path(__file__).resolve()), "--json"]
        told = subprocess.run(command, capture_output=True, check=True, env=os.environ | where)
    return json.loads(told.stdout)


def table(what: str, before: Counts, after: Counts) -> str:
    """Return a table with a row per paper and time, and a column per verdict."""
    lines = [
        {"paper": name, "rules": when} | found[name][what]
        for name in PAPERS
        for when, found in (("before", before), ("after", after))
    ]
    frame = pd.DataFrame(lines).fillna(0)
    verdicts: Mapping[str, type] = dict.fromkeys(frame.columns[2:], int)
    return tables.markdown_table(frame.astype(verdicts))


def filled(text: str, before: Counts, after: Counts) -> str:
    """Return the page with the current tables; raises `QaselError` if it lacks its markers."""
    head, begun, rest = text.partition(BEGIN)
    _, ended, tail = rest.partition(END)
    if not begun or not ended:
        raise QaselError(f"{PAGE.name} has no lines {BEGIN} and {END} to put the counts between")
    parts = [
        f"{what.capitalize()}:\n\n{table(what, before, after)}" for what in ("numbers", "claims")
    ]
    return f"{head}{BEGIN}\n\n{chr(10).join(parts)}\n{END}{tail}"


def main() -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("revision", nargs="?", help="whose rules stood before")
    parser.add_argument("--json", action="store_true", help="print the counts of now, no page")
    asked = parser.parse_args()
    if asked.json:
        print(json.dumps(counts()))
        return 0
    if asked.revision is None:
        parser.error("name a revision, or ask for --json")
    try:
        text = PAGE.read_text(encoding="utf-8")
        write_whole(PAGE, filled(text, counts_at(asked.revision), counts()))
    except QaselError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{PAGE.name}: filled")
    return 0


if __name__ == "__main__":
    sys.exit(main())
