"""Everything that hierseed raises on purpose.

HierSeedError
├── TaxonomyError        the tree is not a tree, or a path is not in it
├── SeedError            a seed names no topic, no row, or a leaf has none
├── CorpusError          documents or vectors that can't be used
│   ├── StoreInUseError      another process writes these vectors
│   └── StoreDamagedError    vectors on disk were changed or cut off
├── EmbeddingError       text could not be turned into vectors
├── ModelError           a saved model, or one that is not fitted
├── ProjectError         a workbench project that can't be opened or changed so
└── MissingDependency    an extra is not installed; prints the install line

A message has three parts: what is wrong, where, and what to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

SHOWN = 5  # offenders named in one message; the rest are counted


class HierSeedError(Exception):
    """Any fault that the caller can mend."""


class TaxonomyError(HierSeedError, ValueError):
    """The taxonomy is faulty, or a path is not in it."""


class SeedError(HierSeedError, ValueError):
    """The seeds do not fit the taxonomy or the corpus."""


class CorpusError(HierSeedError, ValueError):
    """The documents or their vectors can't be used."""


class StoreInUseError(CorpusError):
    """Another process is writing the vector store."""


class StoreDamagedError(CorpusError):
    """Files of a vector store were changed, cut off or lost after they were written."""


class EmbeddingError(HierSeedError, RuntimeError):
    """Text could not be turned into vectors."""


class ModelError(HierSeedError, ValueError):
    """A model folder can't be read, or a model is not fitted."""


class ProjectError(HierSeedError, ValueError):
    """A workbench project can't be opened, or can't be changed in this way."""


class MissingDependency(HierSeedError, ImportError):  # noqa: N818 - the contract's name
    """An optional package is absent."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the package {package!r}, which is not installed. "
            f"Install it with: pip install 'hierseed[{extra}]'"
        )


def name_some(items: Iterable[object], shown: int = SHOWN) -> str:
    """List the first few offenders and count the rest: `'a', 'b' and 3 more`."""
    every: Sequence[object] = list(items)
    text = ", ".join(repr(item) for item in every[:shown])
    return text if len(every) <= shown else f"{text} and {len(every) - shown:,} more"
