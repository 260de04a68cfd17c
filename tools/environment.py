"""Write environment.yml from pyproject.toml: `python tools/environment.py`."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def environment() -> str:
    """Return the text of environment.yml: Python and pip from conda, the packages from pip."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    installed = ("notebooks", "parse", "sweep", "test", "transformers")
    packages = [*project["dependencies"], *(p for name in installed for p in extras[name])]
    lines = [
        "# Written by tools/environment.py from pyproject.toml; change that instead.",
        "name: qasel",
        "channels:",
        "  - conda-forge",
        "dependencies:",
        f"  - python{project['requires-python']}",
        "  - pip",
        "  - pip:",
        "      - -c constraints.txt",
        *(f'      - "{package}"' for package in dict.fromkeys(packages)),
        "      - -e .",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    (ROOT / "environment.yml").write_text(environment(), encoding="utf-8")
