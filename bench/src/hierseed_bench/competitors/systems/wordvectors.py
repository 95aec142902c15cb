"""Word vectors to start from: skip-gram trained on the training texts, or a GloVe file.

One source serves every system of a comparison, and its name goes into the record: the
originals each used another download.
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hierseed.errors import EmbeddingError
from hierseed.files import model_home
from hierseed_bench.competitors.systems.skipgram import SkipGram
from hierseed_bench.competitors.systems.text import SPECIAL, Vocabulary

SPREAD = 0.25  # unknown words: uniform in -SPREAD … SPREAD, as in all four originals


class VectorSource(Protocol):
    """Anything that gives vectors for the words of a corpus."""

    @property
    def name(self) -> str:
        """The name in records."""

    @property
    def dimension(self) -> int:
        """Length of a vector."""

    def fit(self, texts: Sequence[str], device: str = "auto") -> dict[str, NDArray[np.float32]]:
        """Return a vector per word."""


@dataclass(frozen=True)
class RandomVectors:
    """Random vectors for all words."""

    dimension: int = 100
    name: str = "random"

    def fit(self, texts: Sequence[str], device: str = "auto") -> dict[str, NDArray[np.float32]]:
        """Return nothing: every word is unknown."""
        return {}


@dataclass(frozen=True)
class GloveFile:
    """Vectors in GloVe's text form: a word and its numbers a line, plain or .gz."""

    path: Path

    @property
    def name(self) -> str:
        """Name of the file without its folder."""
        return f"glove file {Path(self.path).name}"

    @property
    def dimension(self) -> int:
        """Numbers on the first line."""
        with _open(self.path) as file:
            return len(file.readline().split(" ")) - 1

    def fit(self, texts: Sequence[str], device: str = "auto") -> dict[str, NDArray[np.float32]]:
        """Read the file; the texts are ignored."""
        size, table = self.dimension, {}
        with _open(self.path) as file:
            for number, line in enumerate(file, 1):
                word, *numbers = line.rstrip().split(" ")
                if len(numbers) != size:
                    raise EmbeddingError(
                        f"{Path(self.path).name} line {number}: {len(numbers)} numbers where the "
                        f"first line has {size}. Correct the line, or use another file."
                    )
                table[word] = np.array(numbers, dtype=np.float32)
        return table


def initial_vectors(
    vocabulary: Vocabulary, source: VectorSource, texts: Sequence[str], seed: int, device: str
) -> tuple[NDArray[np.float32], float]:
    """Rows for a vocabulary, and the share of its words that the source knows.

    Padding is zero; a word the source lacks is drawn at random.
    """
    table = source.fit(texts, device)
    rng = np.random.default_rng([seed, 30])
    rows = rng.uniform(-SPREAD, SPREAD, (len(vocabulary), source.dimension)).astype(np.float32)
    known = 0
    for number, word in enumerate(vocabulary.words):
        if word in table:
            rows[number] = table[word]
            known += 1
    rows[0] = 0.0
    return rows, known / max(len(vocabulary) - len(SPECIAL), 1)


def vector_source(wanted: VectorSource | str | None) -> VectorSource:
    """Find a source by its name; by default skip-gram with 100 dimensions on the corpus."""
    if wanted is None or wanted == "skip-gram":
        return SkipGram(cache=model_home() / "wordvectors")
    if wanted == "random":
        return RandomVectors()
    if isinstance(wanted, str):
        kind, _, file = wanted.partition(":")
        if kind == "glove" and Path(file).is_file():
            return GloveFile(Path(file))
        raise EmbeddingError(
            f"no word vectors {wanted!r}. Use skip-gram, random, or glove:FILE with a file of "
            "GloVe's text form."
        )
    return wanted


def _open(path: str | Path) -> Any:
    opener = gzip.open if str(path).endswith(".gz") else open
    return opener(path, "rt", encoding="utf-8")
