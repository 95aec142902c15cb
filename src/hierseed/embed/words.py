"""Documents as means of word vectors: what GloVe files and fastText share."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
from scipy import sparse

from hierseed.embed.embedder import Vectors

WORD = re.compile(r"\w+")
CHUNK = 1024

Lookup = Callable[[list[str]], tuple[Vectors, np.ndarray]]


def split_words(text: str) -> list[str]:
    """Runs of letters and digits, in any script, as they are written."""
    return WORD.findall(text)


def mean_of_words(texts: Sequence[str], dimension: int, lookup: Lookup) -> Vectors:
    """Average the vectors of each text's known words; each different word is looked up once.

    `lookup(words)` returns a matrix and, for each word, whether it is known.
    """
    vectors = np.zeros((len(texts), dimension), dtype=np.float32)
    for start in range(0, len(texts), CHUNK):
        column: dict[str, int] = {}
        ids: list[int] = []
        bounds = [0]
        for text in texts[start : start + CHUNK]:
            ids.extend(column.setdefault(word, len(column)) for word in split_words(text))
            bounds.append(len(ids))
        if not column:
            continue
        table, known = lookup(list(column))
        counted = sparse.csr_array(
            (known.astype(np.float32)[ids], ids, bounds), shape=(len(bounds) - 1, len(column))
        )
        total = counted.sum(axis=1)
        vectors[start : start + CHUNK] = counted @ table / np.maximum(total, 1)[:, None]
    return vectors
