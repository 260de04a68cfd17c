"""Settings of the book: `make book`. The source folder is the root of the repository."""

import re

project = "qasel"
author = "the qasel authors"
copyright = author
root_doc = "docs/index"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx-mathjax-offline"]
include_patterns = ["docs/**", "notebooks/**", "CHANGELOG.md", "CONTRIBUTING.md"]
exclude_patterns = [
    ".*", "build", "runs", "data", "qasel", "tests", "tools", "figures", "**/.ipynb_checkpoints",
]  # fmt: skip

# The notebooks are shown as they were saved; nothing in them is run again.
nb_execution_mode = "off"
nb_ipywidgets_js = {}  # the saved outputs are pictures, so no script from a server
nb_merge_streams = True
nb_render_markdown_format = "myst"  # by default, tables in outputs are not rendered
myst_enable_extensions = ["amsmath", "dollarmath"]
myst_heading_anchors = 3

html_theme = "sphinx_book_theme"
html_title = "qasel"
html_extra_path = ["_extra"]
html_static_path = ["_static"]
html_css_files = ["book.css"]
html_context = {"default_mode": "auto"}
html_theme_options = {
    "use_download_button": False,
    "use_fullscreen_button": False,
    "navbar_persistent": [],  # the search field is in the side bar
}
html_copy_source = html_show_sourcelink = False

autodoc_default_options = {"members": True}
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_inherit_docstrings = False


def _literals(app, what, name, obj, options, lines):  # the signature is Sphinx's
    """Our docstrings set code in single backticks, as Markdown does; Sphinx wants two."""
    text = "\n".join(lines)
    parts = re.split(r"(`[^`]+`)", text)
    lines[:] = "".join(
        f"`{part}`" if part.startswith("`") else re.sub(r"([*|_\\])", r"\\\1", part)
        for part in parts
    ).split("\n")


def setup(app):
    """Register what prepares the docstrings."""
    app.connect("autodoc-process-docstring", _literals)
