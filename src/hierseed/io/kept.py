"""Vectors of an earlier run, for documents that have the same id and text now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from operator import eq
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.embed.corpus import hash_text
from hierseed.embed.store import VectorStore, read_ids
from hierseed.io.corpus import Corpus, Document


def rows_of(store: VectorStore, corpus: Corpus) -> NDArray[np.intp] | None:
    """Rows of a corpus' documents in a store, in whatever order; None where one is not there."""
    keys = read_ids(store.folder, len(store))
    if len(corpus) == len(store) and all(map(eq, keys, _keys(corpus))):
        return np.arange(len(store))
    row_of = _row_of(store)
    rows = []
    for key in _keys(corpus):
        if key not in row_of:
            return None
        rows.append(row_of[key])
    return np.array(rows, dtype=np.intp)


class KeptVectors:
    """Follows a corpus through a store, until they part.

    With `anywhere` documents are found beyond that point too, at the cost of holding all ids.
    """

    def __init__(self, store: VectorStore | None, anywhere: bool = False) -> None:
        self._store = store
        self._anywhere = anywhere
        self._keys = read_ids(store.folder, len(store)) if store else iter(())
        self._row_of: dict[tuple[str, str], int] | None = None
        self._at = 0

    def take(self, batch: list[Document]) -> Any:
        """Vectors of the next documents, or None where they are not known."""
        if self._store is None:
            return None
        wanted = list(_keys(batch))
        if self._row_of is None and list(islice(self._keys, len(batch))) == wanted:
            start, self._at = self._at, self._at + len(batch)
            return self._store[start : self._at]
        if not self._anywhere:
            self._store = None
            return None
        if self._row_of is None:
            self._row_of = _row_of(self._store)
        rows = [self._row_of.get(key, -1) for key in wanted]
        return None if -1 in rows else self._store[np.array(rows, dtype=np.intp)]


def _keys(documents: Iterable[Document]) -> Iterator[tuple[str, str]]:
    return ((document.id, hash_text(document.text)) for document in documents)


def _row_of(store: VectorStore) -> dict[tuple[str, str], int]:
    return {key: row for row, key in enumerate(read_ids(store.folder, len(store)))}
