"""Reuse vectors of an earlier job for documents that have the same id and text now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from operator import eq
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.embed.corpus import hash_text
from hierseed.io.corpus import Corpus, Document
from hierseed.io.documents import DocumentVectors, Key


def rows_of(known: DocumentVectors, corpus: Corpus) -> NDArray[np.intp] | None:
    """Rows of the documents of a corpus, in any order; None where one is not known."""
    if len(corpus) == known.X.shape[0] and all(map(eq, known.keys(), _keys(corpus))):
        return np.arange(len(corpus))
    rows = [known.row_of.get(key, -1) for key in _keys(corpus)]
    return None if -1 in rows else np.array(rows, dtype=np.intp)


class VectorReuse:
    """Take vectors while a corpus follows the order of the known ones.

    With `anywhere` documents are found beyond that point too, at the cost of holding all keys.
    """

    def __init__(self, known: DocumentVectors | None, anywhere: bool = False) -> None:
        self._known = known
        self._anywhere = anywhere
        self._keys = known.keys() if known else iter(())
        self._in_order = True
        self._at = 0

    def take(self, batch: list[Document]) -> Any:
        """Vectors of the next documents, or None where they are not known."""
        if self._known is None:
            return None
        wanted = list(_keys(batch))
        if self._in_order and list(islice(self._keys, len(batch))) == wanted:
            start, self._at = self._at, self._at + len(batch)
            return self._known.X[start : self._at]
        self._in_order = False
        if not self._anywhere:
            self._known = None
            return None
        rows = [self._known.row_of.get(key, -1) for key in wanted]
        return None if -1 in rows else self._known.X[np.array(rows, dtype=np.intp)]


def _keys(documents: Iterable[Document]) -> Iterator[Key]:
    return ((document.id, hash_text(document.text)) for document in documents)
