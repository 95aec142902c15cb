"""Any Python callable that takes a list of texts and returns a matrix."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np

from hierseed.embed.embedder import Vectors, as_text_list, fingerprint
from hierseed.errors import EmbeddingError

NAMED: set[str] = set()  # functions that the user of this process has named
FUNCTION = re.compile(r"function:[^+]*")  # in the name of an embedder
PROBE = ["A court rules on the budget.", "Cells divide.", "ein zwei drei"]


class FunctionEmbedder:
    """Wraps `function(list of texts) -> matrix`.

    A function can't be hashed, so the fingerprint is its name and the vectors it gives to
    three fixed sentences, to three decimals: another model behind the same name is noticed.
    """

    def __init__(self, function: Callable[[list[str]], Any], name: str | None = None) -> None:
        self.function = function
        home = getattr(function, "__module__", type(function).__module__)
        title = getattr(function, "__qualname__", type(function).__qualname__)
        self.name = name or f"function:{home}:{title}"
        NAMED.add(self.name)

    @cached_property
    def _probe(self) -> Vectors:
        return self._call(PROBE)

    @property
    def dimension(self) -> int:
        """Length of a vector, found by embedding three texts."""
        return int(self._probe.shape[1])

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the name and of three vectors."""
        return fingerprint(self.name, np.round(self._probe.astype(np.float64), 3) + 0.0)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Call the function and check what it gives back."""
        rows = as_text_list(texts)
        return self._call(rows) if rows else np.empty((0, self.dimension), dtype=np.float32)

    def _call(self, texts: list[str]) -> Vectors:
        vectors = np.asarray(self.function(texts), dtype=np.float32)
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise EmbeddingError(
                f"{self.name} gave an array of shape {vectors.shape} for {len(texts):,} texts. "
                "It must return one row per text, as a matrix."
            )
        return vectors


def allow_functions(name: str) -> None:
    """Allow the functions in the name of an embedder, which the user has named elsewhere."""
    NAMED.update(FUNCTION.findall(name))


def refuse_unnamed(name: str, place: str) -> None:
    """Refuse an embedder that only a file names and that would run a Python function.

    Whoever wrote the file could otherwise choose which code runs here.
    """
    unknown = [one for one in FUNCTION.findall(name) if one not in NAMED]
    if unknown:
        raise EmbeddingError(
            f"the vectors in {place!r} were made with the Python function {unknown[0]!r}, and a "
            "file must not choose which code runs.",
            f"If you trust it, name it again with {{embedder:{unknown[0]}}}",
        )


def import_function(target: str) -> FunctionEmbedder:
    """Find `package.module:function` and wrap it."""
    module, _, attribute = target.partition(":")
    if not attribute:
        raise EmbeddingError(
            f"{target!r} names no function.", "Write {embedder:function:package.module:function}"
        )
    try:
        found: Any = import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as fault:
        raise EmbeddingError(
            f"the function {target!r} can't be imported ({fault}). Check the module's name, and "
            "that it is installed or in the current folder."
        ) from None
    return FunctionEmbedder(found, name=f"function:{target}")
