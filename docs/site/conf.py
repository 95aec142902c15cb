"""Sphinx settings. `docs/site/build.py` collects the pages and runs Sphinx on them."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent))

import hierseed

project, author = "hierseed", "the authors of hierseed"
release = version = hierseed.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
myst_enable_extensions = ["dollarmath", "deflist"]
myst_dmath_allow_space = myst_dmath_allow_digits = False  # $250 is an amount of money
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # tables of results begin at any level of heading
default_role = "code"  # docstrings write `name` as Markdown does
smartquotes_action = "qe"  # quotes and ellipses: `--option` keeps its dashes
highlight_language = "text"

autodoc_typehints = "none"  # the signature says nothing that the text does not
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
napoleon_google_docstring = False
napoleon_use_param = napoleon_use_rtype = False
# names that end in an underscore keep it, and no types are guessed
napoleon_custom_sections = [("Attributes", "params_style")]
napoleon_attr_annotations = False

html_theme = "furo"
html_title = "hierseed"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_favicon = "static/icon.svg"
html_copy_source = html_show_sourcelink = html_show_copyright = False
html_theme_options = {
    "light_logo": "icon.svg",
    "dark_logo": "icon.svg",
    "light_css_variables": {
        "color-brand-primary": "#8a5a2b",
        "color-brand-content": "#8a5a2b",
        "color-brand-visited": "#8a5a2b",
        "color-background-secondary": "#fbfaf7",
        "color-sidebar-background": "#fbfaf7",
        "color-sidebar-link-text--top-level": "#45413c",
        "color-admonition-background": "#fbfaf7",
    },
    "dark_css_variables": {
        "color-sidebar-link-text--top-level": "#c9c4ba",
        "color-brand-primary": "#d9a066",
        "color-brand-content": "#d9a066",
        "color-brand-visited": "#d9a066",
    },
}
html_math_renderer = "mathml"

ITEM = re.compile(r"^(\s*)([\w*, `]+?) : (.*)$")


def tidy_items(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    """Read `name : description` as this project writes it, beside numpydoc's `name : type`.

    What follows the colon is a type only if a description of its own stands below it, which begins
    with a capital.
    """
    kept: list[str] = []
    for at, line in enumerate(lines):
        found = ITEM.match(line)
        below = lines[at + 1] if at + 1 < len(lines) else ""
        if found is None or not _in_section(lines[:at]):
            kept.append(line)
            continue
        deeper = len(below) - len(below.lstrip()) > len(found[1])
        if deeper and below.strip()[:1].isupper() and not line.rstrip().endswith(","):
            kept.append(line)
        else:
            kept += [found[1] + found[2], f"{found[1]}    {found[3]}"]
    lines[:] = kept


def _in_section(lines: list[str]) -> bool:
    """True below a heading such as Parameters, and not in examples."""
    for at in range(len(lines) - 1, 0, -1):
        if lines[at].strip() and set(lines[at].strip()) == {"-"}:
            return lines[at - 1].strip() in {"Parameters", "Attributes", "Raises"}
    return False


def _mathml(translator: Any, node: nodes.Element, block: bool) -> None:
    """Equations as MathML, made while the page is built: no script, no font, no network."""
    made = tex2mathml(node.astext(), as_block=block)
    translator.body.append(made.replace("<mtable", '<mtable displaystyle="true"'))
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Register what this site adds to Sphinx."""
    # before napoleon, whose priority is 500
    app.connect("autodoc-process-docstring", tidy_items, priority=400)
    inline = (lambda self, node: _mathml(self, node, False), None)
    block = (lambda self, node: _mathml(self, node, True), None)
    for name in ("csv", "tsv", "output"):
        app.add_lexer(name, TextLexer)
    app.add_html_math_renderer("mathml", inline, block)
