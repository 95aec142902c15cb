"""The demo's corpus: docstrings of the standard library, with chapters of its reference as topics.

They are read from source files; nothing is imported.
"""

from __future__ import annotations

import ast
import os
import sysconfig
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hierseed.errors import CorpusError
from hierseed.taxonomy import Taxonomy

REFERENCE = Path(__file__).parent / "library.txt"
MIN_DOCUMENTS = 15  # a topic with fewer is left out: too few to draw seeds from and to score
SEEDS = 4
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
class DemoCorpus:
    """Documents with their true topics, and the seeds that the method may see."""

    ids: list[str]
    texts: list[str]
    taxonomy: Taxonomy
    gold: NDArray[np.intp]  # topic id of each document
    y: NDArray[np.intp]  # the same for seeds, -1 elsewhere
    absent: list[str]  # modules in the reference without any document here
    small: list[str]  # modules with too few documents


def load_corpus(
    *, min_documents: int = MIN_DOCUMENTS, seeds: int = SEEDS, random_state: int = 0
) -> DemoCorpus:
    """Read the docstrings, keep modules with enough of them, draw seeds at random."""
    reference = Taxonomy.read(REFERENCE)
    leaves = np.flatnonzero(reference.tree.level == 2)
    path_of = {reference.names[leaf]: reference.paths[leaf] for leaf in leaves}
    documents = read_docstrings(list(path_of))
    counts = Counter(document.module for document in documents)
    kept = {module for module, count in counts.items() if count >= min_documents}
    taxonomy = Taxonomy.from_paths([path for module, path in path_of.items() if module in kept])
    topic_of = {module: taxonomy.index(path_of[module]) for module in kept}

    documents = [document for document in documents if document.module in kept]
    gold = np.array([topic_of[document.module] for document in documents], dtype=np.intp)
    return DemoCorpus(
        ids=[document.id for document in documents],
        texts=[document.text for document in documents],
        taxonomy=taxonomy,
        gold=gold,
        y=draw_seeds(gold, seeds, random_state),
        absent=[module for module in path_of if not counts[module]],
        small=[module for module in path_of if 0 < counts[module] < min_documents],
    )


def draw_seeds(gold: NDArray[np.intp], seeds: int, random_state: int) -> NDArray[np.intp]:
    """Draw seeds of each topic at random; return the topic of each seed, -1 for other documents."""
    random = np.random.default_rng(random_state)
    y = np.full(len(gold), -1, dtype=np.intp)
    for topic in np.unique(gold):
        members = np.flatnonzero(gold == topic)
        drawn = random.choice(members, size=min(seeds, len(members)), replace=False)
        y[drawn] = topic
    return y


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
