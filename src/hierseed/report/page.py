"""Render what `gather` found as one self-contained HTML file.

The corpus travels as JSON in a script element of a type that no browser runs, with every
character that could close the element escaped; the page's own script writes it as text nodes.
The content security policy allows that one script and one style by their hashes, and no network.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from string import Template
from typing import Any

PARTS = Path(__file__).parent / "parts"
SCRIPTS = ("state", "tree", "search", "burst", "map", "detail", "history", "start")


def render(gathered: dict[str, Any]) -> str:
    """Return the page as text."""
    style = _read("page.css")
    script = "(function () {\n" + "\n".join(_read(f"{name}.js") for name in SCRIPTS) + "})();\n"
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return Template(_read("page.html")).substitute(
        version=html.escape(_version()),
        policy=html.escape(policy),
        title=html.escape(str(gathered["title"])),
        style=style,
        script=script,
        data=to_json(gathered),
    )


def to_json(value: Any) -> str:
    r"""JSON that is safe inside a script element.

    Examples
    --------
    >>> to_json("</script>")
    '"\\u003c/script\\u003e"'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    text = text.encode("utf-8", "replace").decode("utf-8")  # lone surrogates can't be written
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


@cache
def _read(name: str) -> str:
    return (PARTS / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return "sha256-" + base64.b64encode(digest).decode("ascii")


def _version() -> str:
    try:
        return version("hierseed")
    except PackageNotFoundError:
        return ""
