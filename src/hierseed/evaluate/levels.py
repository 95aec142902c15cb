"""Which cluster a document is in at each level, when it has several topics or stops early.

At level k a document is in its topic of that level. Where its path ends above level k it
is in the cluster "stopped at <that topic>", and None is one cluster. So level k is the
taxonomy cut at depth k, and every document is scored at every level. Of several topics a
document has the most specific ones: one that lies above another is implied by it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.core.tree import Tree
from hierseed.errors import CorpusError
from hierseed.evaluate.label_sets import Ints, Labels, Memberships, memberships, pair_up


def fill_down(levels: NDArray[Any]) -> Ints:
    """Repeat the last topic of each path below its end; "stopped at t" is written t.

    Unambiguous: a topic belongs to one level, so t below that level can only mean this.
    """
    filled = np.array(levels, dtype=np.int64)
    for k in range(1, filled.shape[1]):
        column = filled[:, k]
        stopped = column < 0
        column[stopped] = filled[stopped, k - 1]
    return filled


def gold_levels(tree: Tree, gold: Labels) -> list[Memberships]:
    """Gold clusters at each level, from one id or a list of ids a document."""
    labels = memberships(gold)
    highest = int(labels.cluster.max(initial=-1))
    if highest >= len(tree):
        raise CorpusError(
            f"a gold label is topic {highest}, but the taxonomy has topics 0 … {len(tree) - 1}. "
            "Gold labels must be ids of the taxonomy that is passed with them."
        )
    document, paths = most_specific(labels.document, tree.ancestors[labels.cluster], labels.n)
    filled = fill_down(paths)
    return [_at(document, filled[:, k], labels.n) for k in range(tree.height)]


def most_specific(document: NDArray[Any], paths: NDArray[Any], n: int) -> tuple[Ints, Ints]:
    """Drop each path of a document that is the beginning of another path of it."""
    if _is_one_each(document, n):
        return document, paths
    width = int(paths.max(initial=-1)) + 2
    own = document.astype(np.int64)[:, None] * width + paths + 1
    last = np.maximum((paths >= 0).sum(axis=1) - 1, 0)
    is_last = np.arange(paths.shape[1]) == last[:, None]
    implied = np.isin(own[is_last], own[~is_last & (paths >= 0)])
    return document[~implied], paths[~implied]


def predicted_levels(
    levels: NDArray[Any], height: int, n: int, rows: NDArray[Any] | None, named: bool
) -> list[Memberships]:
    """Predicted clusters at each level; a document without a row is None."""
    levels = np.asarray(levels)
    if levels.ndim != 2 or levels.shape[1] != height:
        raise CorpusError(
            f"predictions have the shape {levels.shape}, the taxonomy {height} levels. "
            f"Give one column per level: (documents, {height})."
        )
    if rows is None and len(levels) != n:
        raise CorpusError(
            f"{len(levels):,} rows of predictions for {n:,} gold documents. Give one row per "
            "document, or pass `rows`, the document that each row belongs to."
        )
    if not named:  # cluster ids of different levels must differ when paths stop early
        width = int(levels.max(initial=-1)) + 1
        levels = np.where(levels < 0, -1, levels + width * np.arange(height))
    document = np.arange(n) if rows is None else np.asarray(rows)
    if document.shape != levels.shape[:1]:
        raise CorpusError(
            f"rows has the shape {document.shape} for {len(levels):,} rows of predictions: give "
            "the document of each. Of assignments a that is score(…, a.path, gold, rows=a.row); "
            "a.levels has the primary topics alone, one row a document."
        )
    if len(document) and not (document.min() >= 0 and document.max() < n):
        raise CorpusError(
            f"rows names documents {document.min()} … {document.max()}, but there are gold labels "
            f"for 0 … {n - 1}"
        )
    document, levels = most_specific(document, levels, n)
    filled = fill_down(levels)
    return [_at(document, filled[:, k], n) for k in range(height)]


def _at(document: NDArray[Any], cluster: Ints, n: int) -> Memberships:
    if _is_one_each(document, n):
        return Memberships(np.arange(n), cluster, n)
    return pair_up(document, cluster, n)


def _is_one_each(document: NDArray[Any], n: int) -> bool:
    return len(document) == n and bool((document == np.arange(n)).all())
