"""The docstrings of the standard library, read from its source files; nothing is imported."""

from __future__ import annotations

import ast
import os
import sysconfig
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hierseed.errors import CorpusError

MIN_WORDS = 12  # shorter ones ("Return self.") say nothing about their subject

# Where the source of a documented module carries another name.
ALIASES = {
    "_collections_abc": "collections.abc",
    "_pydecimal": "decimal",
    "_pydatetime": "datetime",
    "_pyio": "io",
    "_strptime": "time",
    "_pyrepl": "code",
    "encodings": "codecs",
    "genericpath": "os.path",
    "ntpath": "os.path",
    "posixpath": "os.path",
    "turtledemo": "turtle",
}

LEFT_OUT = {
    "__pycache__",
    "_vendor",
    "dist-packages",
    "idlelib",
    "lib2to3",
    "site-packages",
    "test",
    "tests",
}

Definition = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Docstring:
    """One document: its dotted name, the module that the reference documents, its text."""

    id: str
    module: str
    text: str


def read_docstrings(modules: list[str], folder: Path | None = None) -> list[Docstring]:
    """Read every docstring of the named modules that is long enough; a text is kept once.

    Modules that this Python does not have, or has no source for, give no documents.
    """
    folder = folder or Path(sysconfig.get_paths()["stdlib"])
    documented = set(modules)
    found: list[Docstring] = []
    seen: set[str] = set()
    times: Counter[str] = Counter()  # a property's getter and setter share a name
    for file in _sources(folder):
        name = ".".join(file.relative_to(folder).with_suffix("").parts)
        name = name.removesuffix(".__init__")
        module = _documented_as(name, documented)
        if module is None:
            continue
        for qualified, text in _walk(name, file):
            if len(text.split()) >= MIN_WORDS and text not in seen:
                seen.add(text)
                times[qualified] += 1
                number = f" ({times[qualified]})" if times[qualified] > 1 else ""
                found.append(Docstring(qualified + number, module, text))
    if not found:
        raise CorpusError(
            f"no docstrings found in {folder}: this Python comes without the source files of its "
            "library. Run the demo with a Python that has them (python.org, conda, most systems)."
        )
    return found


def _sources(folder: Path) -> Iterator[Path]:
    """Give source files in a fixed order; tests and what users installed are not entered."""
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(set(folders) - LEFT_OUT)
        yield from (Path(here, file) for file in sorted(files) if file.endswith(".py"))


def _documented_as(name: str, documented: set[str]) -> str | None:
    """Find the longest documented prefix of a dotted name: `email.mime.text` is on page `email`."""
    head, *rest = name.split(".")
    parts = [*ALIASES.get(head, head).split("."), *rest]
    for length in range(len(parts), 0, -1):
        prefix = ".".join(parts[:length])
        if prefix in documented:
            return prefix
    return None


def _walk(name: str, file: Path) -> Iterator[tuple[str, str]]:
    """Dotted name and text of each docstring in one file; expressions are never entered."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError, OSError):
        return  # a template or a damaged file is no document
    open_nodes: list[tuple[str, ast.AST]] = [(name, tree)]
    while open_nodes:
        prefix, node = open_nodes.pop()
        if isinstance(node, Definition):
            text = ast.get_docstring(node)
            if text:
                yield prefix, text
        inner: list[tuple[str, ast.AST]] = []
        for field in ("body", "handlers", "orelse", "finalbody"):
            for child in getattr(node, field, ()):
                if isinstance(child, ast.stmt | ast.ExceptHandler):
                    own = f".{getattr(child, 'name', '')}" if isinstance(child, Definition) else ""
                    inner.append((prefix + own, child))
        open_nodes.extend(reversed(inner))
