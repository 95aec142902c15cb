"""Two representations side by side: what a model knows of language, and what the corpus teaches.

A pretrained embedder knows words that the corpus never explains; latent semantic analysis knows
how this corpus uses them. How much each block counts is a matter of the corpus and the topics:
`hierseed.estimators.block_weights` learns it from the seeds, and the preparation applies it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from os import PathLike
from pathlib import Path
from typing import Self

import numpy as np

from hierseed.embed.embedder import (
    Embedder,
    Vectors,
    as_text_list,
    fingerprint,
    is_fitted,
    is_trained,
    refuse_unfitted,
    unit_length,
)
from hierseed.embed.learned import sample_by_content
from hierseed.embed.lsa import Lsa

SUFFIX = "+lsa"
INNER, LEARNED = "inner", "lsa"  # folders
FORM = 2  # of the vectors; before it the first block had unit length, too


class Joined:
    """Vectors of an embedder as they are, then those of latent semantic analysis of unit length.

    The preparation scales both. It must see the first as they are: a weight of 0 for the second
    then gives what the embedder gives alone, to the bit.
    """

    def __init__(self, inner: Embedder, learned: Lsa | None = None) -> None:
        self.inner = inner
        self.learned = learned or Lsa()
        self.name = inner.name + SUFFIX

    @property
    def max_documents(self) -> int:
        """Documents it learns from."""
        return self.learned.max_documents

    @property
    def fitted(self) -> bool:
        """True once both have learned."""
        return self.learned.fitted and is_fitted(self.inner)

    @property
    def blocks(self) -> tuple[int, int]:
        """The length of each block."""
        return self.inner.dimension, self.learned.dimension

    @property
    def dimension(self) -> int:
        """Columns of both blocks together."""
        return sum(self.blocks)

    @property
    def fingerprint(self) -> str:
        """Hash of the fingerprints of both."""
        return fingerprint(SUFFIX, FORM, self.inner.fingerprint, self.learned.fingerprint)

    @property
    def cut(self) -> int:
        """Texts longer than the inner embedder's limit."""
        return int(getattr(self.inner, "cut", 0))

    @property
    def max_tokens(self) -> int:
        """Length limit of the inner embedder, 0 for none."""
        return int(getattr(self.inner, "max_tokens", 0))

    def fit(self, texts: Iterable[str]) -> Self:
        """Learn from a sample that is chosen by content."""
        sample = sample_by_content(texts, self.max_documents)
        if is_trained(self.inner):
            self.inner.fit(sample)
        self.learned.fit(sample)
        return self

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Embed with both at the same time, and put the blocks side by side.

        A text of which the corpus has no word has no content that could be compared with it,
        whatever the inner embedder makes of its letters: it gives zeros.
        """
        refuse_unfitted(self.name, self.fitted)
        rows = as_text_list(texts)
        with ThreadPoolExecutor(1) as other:
            learned = other.submit(self.learned.encode, rows)
            inner = self.inner.encode(rows)
            vectors = join(inner, learned.result())
        blank = np.flatnonzero(~learned.result().any(axis=1))  # most texts have known words
        vectors[blank[self.learned.unknown([rows[row] for row in blank])]] = 0.0
        return vectors

    def save(self, folder: str | PathLike[str]) -> None:
        """Write what each of the two has learned."""
        refuse_unfitted(self.name, self.fitted)
        place = Path(folder)
        self.learned.save(place / LEARNED)
        if is_trained(self.inner):
            self.inner.save(place / INNER)

    @classmethod
    def load(cls, folder: str | PathLike[str], inner: Embedder) -> Self:
        """Read what `save` wrote; the inner embedder is in `INNER`, where it has learned."""
        return cls(inner, Lsa.load(Path(folder) / LEARNED))


def join(inner: Vectors, learned: Vectors) -> Vectors:
    """Put the blocks side by side, the second scaled to unit length."""
    return np.hstack([np.asarray(inner, dtype=np.float32), unit_length(learned)])
