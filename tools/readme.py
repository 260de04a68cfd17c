"""Write the generated parts of the README and the pages of results: `python tools/readme.py`.

All numbers are from the ledger or printed in the papers. Tests fail if a page is out of date.
"""

import shlex
from collections.abc import Callable
from pathlib import Path

import nbformat
import pandas as pd

from qasel.files import write_whole
from qasel.locations import NOTEBOOKS, ROOT
from qasel.papers import PAPERS, ROOMS
from qasel.results import Room, matrix, matrix_text
from qasel.results.check import recorded
from qasel.results.claims import claims, claims_table
from qasel.results.runs import read_runs
from qasel.results.tables import (
    ABOVE,
    BELOW,
    LEGEND,
    NO_BREAK,
    OTHER_SCOPE,
    REPRODUCED,
    cell,
    comparison,
    counts,
    markdown_table,
    own_numbers,
    put_between,
    side_by_side,
)

README = ROOT / "README.md"
RESULTS = ROOT / "docs" / "results"
LEADERS = 3
"""Number of systems per data set in the table of systems side by side."""
VERDICTS = (REPRODUCED, ABOVE, BELOW)
SEEDS = 5
"""Number of seeds of a complete row."""
PLACES = {
    "Colab": (
        "https://colab.research.google.com/assets/colab-badge.svg",
        "https://colab.research.google.com/github/qasel/qasel/blob/main/notebooks/",
    ),
    "Binder": (
        "https://mybinder.org/badge_logo.svg",
        "https://mybinder.org/v2/gh/qasel/qasel/main?labpath=notebooks/",
    ),
}
"""Service that runs a notebook → (its badge, the address that a file name completes)."""
WRITTEN = "<!-- Written by tools/readme.py from the ledger; change that instead. -->\n\n"


# The README


def notebooks() -> str:
    """Return a table of the notebooks: titles, and where they run without an installation."""
    lines = []
    for path in sorted(NOTEBOOKS.glob("[0-9]*.ipynb")):
        first = nbformat.read(path, as_version=4).cells[0].source
        title = first.splitlines()[0].removeprefix("# ")
        places = [f"[![{n}]({badge})]({to}{path.name})" for n, (badge, to) in PLACES.items()]
        lines.append([f"[{path.stem[:2]}](notebooks/{path.name})", title, " ".join(places)])
    columns = ["notebook", "what it teaches", "run it in the browser"]
    return markdown_table(pd.DataFrame(lines, columns=columns))


def papers(runs: pd.DataFrame) -> str:
    """Return a table of the papers: how many numbers were run, their verdicts, and the headline."""
    lines = []
    for number, name in enumerate(PAPERS, 1):
        room = ROOMS[name]
        frame = comparison(room, runs)
        own, _ = own_numbers(room, frame[~frame["metric"].str.startswith("dev ")])
        main = own[(own["row"] == room.main) & (own["measure"] == "MAP")]
        main = main[main["runs"] > 0] if main["runs"].any() else main
        best = (main if len(main) else own).iloc[0]
        ours = "–" if pd.isna(best["ours"]) else f"{best['ours']:.3f}"
        lines.append(
            {
                "": str(number),
                "paper": f"[{room.title}](docs/results/papers/{name}.md)",
                "numbers": str(len(own)),
                "run": str((own["runs"] > 0).sum()),
                f"{SEEDS} seeds": str((own["runs"] >= SEEDS).sum()),
                **{name: str((own["verdict"] == name).sum()) for name in VERDICTS},
                "headline": f"{best['row']}, {best['data']} {best['measure']}",
                "paper's": f"{best['paper']:.3f}",
                "ours": ours,
            }
        )
    return markdown_table(pd.DataFrame(lines))


def filled(text: str, runs: pd.DataFrame | None = None) -> str:
    """Return a README with the current tables; raises `QaselError` if it lacks their markers."""
    runs = read_runs(ROOMS.values()) if runs is None else runs
    for name, new in {"notebooks": notebooks(), "papers": papers(runs)}.items():
        text = put_between(text, name, new, README.name)
    return text


# The pages of results


def page(room: Room, runs: pd.DataFrame) -> str:
    """Return a paper's page: its numbers beside ours, and its claims with a verdict each."""
    text = section(room, comparison(room, runs)).removeprefix(f"### {room.title}\n\n")
    judged = claims_table(claims(room, runs))
    return f"# {room.title}\n\n{LEGEND}\n\n{text}\n## What the paper claims\n\n{judged}"


def section(room: Room, frame: pd.DataFrame) -> str:
    """Return a paper's heading, the table of test scores, and what was not run.

    Numbers that the paper prints for the dev split are only counted.
    """
    on_dev = frame["metric"].str.startswith("dev ")
    text = f"### {room.title}\n\n{side_by_side(room, frame[~on_dev])}"
    dev, _ = own_numbers(room, frame[on_dev])
    if len(dev):
        text += (
            f"\nOn the dev split, of {len(dev)} more numbers: {counts(dev)} (in the notebook, and "
            f"by `qasel table {room.name}`).\n"
        )
    return text


def side_page(runs: pd.DataFrame) -> str:
    """Return the page of systems side by side."""
    return (
        "# Systems side by side\n\n"
        "The best systems of each data set by their test scores; at the top of a long list, some "
        "of that is luck. `qasel compare` prints all systems, `--format csv` every number, and "
        "`qasel sweep data/matrix.yaml` runs what is missing. *MiniLM* and *MPNet* under ms-ranker "
        f"are ours, in place of the paper's BERT.\n\n{leaders(runs)}"
    )


def leaders(runs: pd.DataFrame) -> str:
    """Return a table of each data set's best systems, as in `qasel compare`."""
    cells = matrix.with_tests(matrix.matrix(matrix.entries(runs)))
    if cells.empty:
        return "Nothing was run yet at the paper's scale.\n"
    tables = []
    for target in matrix.targets(cells):
        column = cells.loc[target]
        frame = matrix_text.details(column).head(LEADERS)
        frame.insert(0, "data", [matrix_text.counted(cells, target), *[""] * (len(frame) - 1)])
        frame.insert(1, "system", frame.index)
        frame.insert(2, "paper", column["paper"])
        tables.append(frame)
    notes = "\n\n".join(matrix_text.notes_of(cells))
    return f"{markdown_table(pd.concat(tables))}\n{notes}\n"


def reproduction(runs: pd.DataFrame) -> str:
    """Return the page with the command of each published row."""
    parts = [
        "# Reproduce a row",
        "Each row that a paper prints for a system of its own is one command. `qasel run` trains "
        "it and adds it to the ledger. `qasel check` runs a row on record again, with one seed, "
        "and says whether the scores are the *same*, *within tolerance* or *off*; it leaves the "
        "ledger alone. The tolerance is the range in which 95 % of further seeds fall, or one "
        "point where fewer than three seeds are on record, and in rows with folds.",
        "Give `--seeds 0,1,2,3,4` for five seeds, and `--device cuda` for a GPU. In rows named "
        "(5-fold) a seed is a fold, and *ours* is the mean of the five: only `--seeds 0,1,2,3,4` "
        "repeats it. [Run a row](../guides/run.md) explains the data and the options.",
        "In the tables, *scores* has the paper's number, ours, and the verdict. ± is half the 95 % "
        "interval over seeds, from two seeds on. ✓ is *reproduced*: within one point of the "
        "paper's number, or within that interval where it is wider and is of three seeds or more. "
        f"↑ is *above* that range, ↓ *below* it, – is *not run*. {OTHER_SCOPE} means that our data "
        "differ from the paper's; the paper's own page tells how. *Time* is the mean of a training "
        "run, of an agent without that of its pre-ranker.",
    ]
    parts += [f"## {ROOMS[name].title}\n\n{commands(ROOMS[name], runs)}" for name in PAPERS]
    return "\n\n".join(parts)


def commands(room: Room, runs: pd.DataFrame) -> str:
    """Return a paper's rows as Markdown: scores, time and commands by row and data set.

    The device that most rows ran on stands above the table; another one is named with its time.
    """
    frame, _ = own_numbers(room, comparison(room, runs))
    known, lines = recorded(room, runs), []
    devices = pd.Series([_device(found) for found in known.values()])
    usual = devices.mode().iloc[0] if len(devices) else ""
    for (row, dataset), numbers in frame.groupby(["row", "dataset"], sort=False):
        line = {
            "row": row,
            "scores": "<br>".join(
                f"{n.data} {n.measure} {cell(n, n.interval)}" for n in numbers.itertuples()
            ),
        }
        if (found := known.get((row, dataset))) is not None:
            first = found.iloc[0]
            tests = found[found["split"] == first["split"]]
            line["seeds"] = str(tests["seed"].nunique())
            other = "" if (device := _device(found)) == usual else f" on {device}"
            line["time"] = f"{tests['seconds'].mean():,.0f}{NO_BREAK}s{other}"
            line["command"] = f"`{command('run', first)}`<br>`{command('check', first)}`"
        else:
            words = ["qasel", "run", room.name, "--variant", row, "--dataset", dataset]
            recipe = room.recipe(row, dataset)
            if getattr(recipe, "frozen", False) and not recipe.encoder:
                words += ["--set", "encoder=FOLDER"]
            line["seeds"], line["command"] = "0", f"`{shlex.join(words)}`"
        lines.append(line)
    columns = ["row", "scores", "seeds", "time", "command"]
    table = markdown_table(pd.DataFrame(lines, columns=columns, dtype=object).fillna("–"))
    return (f"Runs on {usual}, unless *time* names another device.\n\n" if usual else "") + table


def _device(found: pd.DataFrame) -> str:
    return "; ".join(sorted(set(found["device"])))


def command(name: str, line: pd.Series) -> str:
    """The command that trains (`run`) or reruns (`check`) a line of `recorded`."""
    words = ["qasel", name, line["paper"]]
    if name == "check":
        words += [line["variant"], "--dataset", line["dataset"], "--seed", str(line["seed"])]
    else:
        words += ["--variant", line["variant"], "--dataset", line["dataset"]]
        words += ["--seeds", str(line["seed"])]
        for key, value in line["changed"].items():
            words += ["--set", f"{key}={value}"]
    return shlex.join(words)


PAGES: dict[str, Callable[[pd.DataFrame], str]] = {
    "reproduction.md": reproduction,
    "side-by-side.md": side_page,
    **{f"papers/{name}.md": lambda runs, name=name: page(ROOMS[name], runs) for name in PAPERS},
}
"""File in `RESULTS` → function that writes it from the runs on record."""


def main() -> None:
    """Rewrite the README's tables and the pages in place."""
    runs = read_runs(ROOMS.values())
    text = README.read_text(encoding="utf-8")
    new = {README: filled(text, runs)}
    new |= {RESULTS / name: WRITTEN + write(runs) for name, write in PAGES.items()}
    for path, text in new.items():
        same = path.exists() and path.read_text(encoding="utf-8") == text
        if not same:
            write_whole(Path(path), text)
        print(f"{path.name}: {'unchanged' if same else 'rewritten'}")


if __name__ == "__main__":
    main()
